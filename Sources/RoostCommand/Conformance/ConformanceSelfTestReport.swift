internal import Roost
internal import RoostConformance

/// `roost conformance --self-test`: shows that the suite notices every fault it ships with.
struct ConformanceSelfTestReport: Encodable {
    struct Fault: Encodable {
        var type: String
        var fault: String
        var check: String
        var outcome: String
        var expected: String?
        var actual: String?
    }

    private var faults: [Fault] = []
    private var caught = 0
    private var missed = 0
    private var skipped = 0

    /// Tries every fault around stores of each type and prints a line for each, or one JSON object at the end.
    ///
    /// - Returns: `finding` when a fault is not caught.
    static func run(_ types: [String], _ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let filters = arguments.allValues("filter")
        let faults = FaultyStoreType.Fault.allCases.filter { fault in
            filters.isEmpty || filters.contains { fault.description.contains($0) || fault.caughtBy.contains($0) }
        }
        guard !faults.isEmpty else {
            throw UsageError("no fault's name and no check's ID contains the text of --filter")
        }
        var report = Self()
        for name in types {
            let type = try StoreRegistry.builtIn.type(named: name)
            guard type.capabilities.contains(.writing) else {
                throw UsageError("stores of type '\(name)' cannot be written; the self-test needs a type that can")
            }
            let fixture = StoreFixture.builtIn(type)
            for fault in faults {
                for result in ConformanceSelfTest.run([fault], on: fixture) {
                    report.add(result)
                    guard !arguments.has("json"), result.isFailure || !arguments.has("quiet") else { continue }
                    try console.print(result.text)
                }
            }
        }
        if arguments.has("json") {
            try console.printJSON(report)
        } else {
            try console.print(
                "\(report.faults.count) faults: \(report.caught) caught, \(report.missed) missed, \(report.skipped) skipped"
            )
        }
        return report.missed == 0 ? .success : .finding
    }

    private mutating func add(_ result: ConformanceSelfTest.Result) {
        var fault = Fault(type: result.store, fault: "\(result.fault)", check: result.check, outcome: "")
        switch result.outcome {
        case .caught(let failure):
            caught += 1
            (fault.outcome, fault.expected, fault.actual) = ("caught", failure.expected, failure.actual)
        case .missed:
            missed += 1
            fault.outcome = "missed"
        case .unsound(let failure):
            missed += 1
            (fault.outcome, fault.expected, fault.actual) = ("unsound", failure.expected, failure.actual)
        case .inapplicable(let capability):
            skipped += 1
            (fault.outcome, fault.expected) = ("skipped", "capability '\(capability)'")
        }
        faults.append(fault)
    }
}
