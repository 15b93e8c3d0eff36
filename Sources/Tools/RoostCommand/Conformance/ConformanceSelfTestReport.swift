internal import Roost
internal import RoostConformance
internal import RoostCore

/// The report of `roost conformance --self-test`, which shows whether the suite notices each fault.
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
    private var interrupted = false

    /// Tries the chosen faults on stores of each type.
    ///
    /// A cancelled run reports the faults so far, and throws `cancelled`.
    static func run(
        _ types: [String], arguments: ParsedArguments, isCancelled: () -> Bool, print: (String) throws -> Void
    ) throws -> ExitCode {
        let (isJSON, isQuiet) = (arguments.has("json"), arguments.has("quiet"))
        try requireFitting(arguments)
        let faults = try faults(arguments.allValues("filter"))
        let fixtures = try ConformanceRun.types(types, registry: StoreRegistry.standard).map { type in
            guard type.capabilities.contains(.writing) else {
                throw UsageError(
                    "stores of type '\(type.name)' cannot be written; choose a writable type for the self-test")
            }
            return StoreFixture.builtIn(type)
        }
        try Workbench.requireTemporaryDirectory()
        var report = Self()
        for (fixture, fault) in fixtures.flatMap({ fixture in faults.map { (fixture, $0) } }) {
            if isCancelled() {
                report.interrupted = true
                break
            }
            for result in ConformanceSelfTest.run([fault], on: fixture) {
                report.add(result)
                if !isJSON, result.isFailure || !isQuiet { try print(result.text) }
            }
        }
        if isJSON {
            try print(Console.json(report))
        } else if !isQuiet {
            try print(
                "\(report.faults.count) faults: \(report.caught) caught, \(report.missed) missed, \(report.skipped) skipped"
            )
        }
        guard !report.interrupted else { throw ConformanceRun.cancelled }
        return report.missed == 0 ? .success : .finding
    }

    private static func requireFitting(_ arguments: ParsedArguments) throws {
        if arguments.value("format") != nil {
            throw UsageError("option '--self-test' has no formats but text and '--json'; leave out '--format'")
        }
        if !arguments.allValues("exclude").isEmpty {
            throw UsageError("option '--self-test' needs every check; leave out '--exclude'")
        }
        if arguments.has("quiet"), arguments.has("json") || arguments.has("verbose") {
            throw UsageError("option '--quiet' prints failures as text; leave out '--json' and '--verbose'")
        }
    }

    private static func faults(_ filters: [String]) throws -> [FaultyStoreType.Fault] {
        let all = FaultyStoreType.Fault.allCases
        for filter in filters where !all.contains(where: { $0.matches(filter) }) {
            let hint = nearestName(to: filter, among: all.flatMap { ["\($0)", $0.caughtBy] })
            throw UsageError(
                "no fault matches '--filter=\(filter)' by its name or check\(hint.map { "; did you mean '\($0)'?" } ?? "")"
            )
        }
        return all.filter { fault in filters.isEmpty || filters.contains { fault.matches($0) } }
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
