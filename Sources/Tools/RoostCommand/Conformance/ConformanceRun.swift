internal import Roost
internal import RoostConformance
internal import RoostCore

/// The checks that `roost conformance` runs, and the form of its report.
struct ConformanceRun {
    private let checks: [ConformanceCheck]
    private let fixtures: [StoreFixture]
    /// The format of the report, or nil for JSON.
    private let format: ConformanceReport.Format?
    private let detail: ConformanceReport.Detail
    private let isCancelled: () -> Bool

    /// Reads the command line.
    ///
    /// The run ends if `isCancelled` returns true after a check.
    init(
        _ arguments: ParsedArguments, registry: StoreRegistry, isCancelled: @escaping () -> Bool = { false }
    ) throws {
        self.isCancelled = isCancelled
        format = arguments.has("json") ? nil : try Self.format(arguments.value("format"))
        if arguments.has("json"), arguments.value("format") != nil {
            throw UsageError("option '--json' is a format of its own; leave out '--format'")
        }
        if arguments.has("quiet"), format != .text || arguments.has("verbose") {
            throw UsageError(
                "option '--quiet' prints failures as text; leave out '--json', '--format' and '--verbose'")
        }
        detail = arguments.has("quiet") ? .failures : arguments.has("verbose") ? .everything : .usual
        checks = try Self.checks(arguments.allValues("filter"))
        let exclusions = try arguments.allValues("exclude").map(Self.exclusion)
        fixtures = try Self.fixtures(try Self.types(arguments.positions, registry: registry), exclusions: exclusions)
        try Self.requireUse(of: exclusions, in: checks, on: fixtures)
    }

    /// Runs the checks, and passes the report to `write` piece by piece.
    ///
    /// A cancelled run reports the results so far, and throws `cancelled`.
    func run(write: (String) throws -> Void) throws -> ExitCode {
        try Workbench.requireTemporaryDirectory()
        let checkCount = checks.count * fixtures.count
        var report = ConformanceReport(format ?? .text, detail: detail)
        if format != nil { try write(report.beginning(checkCount: checkCount)) }
        var isInterrupted = false
        do {
            _ = try ConformanceRunner.run(checks, on: fixtures) { result in
                let text = report.add(result)
                if format != nil { try write(text) }
                if isCancelled(), report.results.count < checkCount { throw Interrupted() }
            }
        } catch is Interrupted {
            isInterrupted = true
        }
        if format != nil {
            try write(report.ending(isInterrupted: isInterrupted))
        } else {
            try write(Console.json(ConformanceJSON(report.results, isInterrupted: isInterrupted)) + "\n")
        }
        guard !isInterrupted else { throw Self.cancelled }
        return report.results.contains(where: \.isFailure) ? .finding : .success
    }

    private struct Interrupted: Error {}

    static var cancelled: StoreError { StoreError(.cancelled, "The run was cancelled; not all checks were made.") }

    // MARK: Reading the command line

    private static func format(_ name: String?) throws -> ConformanceReport.Format {
        guard let name else { return .text }
        do throws(ConformanceArgumentError) { return try ConformanceReport.Format(named: name) } catch {
            throw UsageError(error.message)
        }
    }

    private static func checks(_ filters: [String]) throws -> [ConformanceCheck] {
        do throws(ConformanceArgumentError) { return try ConformanceCheck.matching(filters) } catch {
            throw UsageError(error.message)
        }
    }

    /// An exclusion and its store type, which is nil for all types.
    private typealias Exclusion = (type: String?, exclusion: ConformanceExclusion)

    /// Reads `ID=REASON` or `TYPE:ID=REASON`.
    private static func exclusion(_ text: String) throws -> Exclusion {
        guard let equals = text.firstIndex(of: "=") else {
            throw UsageError("option '--exclude' needs the ID of a check and a reason: --exclude=\(text)=REASON")
        }
        let name = text[..<equals]
        let reason = String(text[text.index(after: equals)...])
        guard let colon = name.firstIndex(of: ":") else {
            return (nil, ConformanceExclusion(String(name), because: reason))
        }
        let check = String(name[name.index(after: colon)...])
        return (String(name[..<colon]), ConformanceExclusion(check, because: reason))
    }

    /// Refuses an exclusion that would have no effect.
    private static func requireUse(
        of exclusions: [Exclusion], in checks: [ConformanceCheck], on fixtures: [StoreFixture]
    ) throws {
        for (type, exclusion) in exclusions {
            if let type, !fixtures.contains(where: { $0.name == type }) {
                let hint = nearestName(to: type, among: fixtures.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
                throw UsageError("option '--exclude': type '\(type)' is not under test\(hint)")
            }
            guard checks.contains(where: { $0.id == exclusion.check }) else {
                throw UsageError(
                    "option '--exclude': '--filter' leaves out check '\(exclusion.check)'; leave out the exclusion, too"
                )
            }
        }
    }

    static func types(_ names: [String], registry: StoreRegistry) throws -> [any PersistentStoreType] {
        var types: [any PersistentStoreType] = []
        for name in names {
            guard !types.contains(where: { $0.name == name }) else { throw UsageError("type '\(name)' is given twice") }
            do throws(StoreError) { types.append(try registry.type(named: name)) } catch {
                throw UsageError(error.message)
            }
        }
        return types
    }

    private static func fixtures(
        _ types: [any PersistentStoreType], exclusions: [Exclusion]
    ) throws -> [StoreFixture] {
        try types.map { type in
            guard !(type is any ServerStoreType) || StoreFixture.server != nil else {
                throw UsageError(
                    "stores of type '\(type.name)' are on a server; set \(StoreFixture.serverVariable) to the parameters of a connection, such as 'host=/tmp dbname=test'"
                )
            }
            let own = exclusions.filter { $0.type == nil || $0.type == type.name }.map(\.exclusion)
            let fixture = StoreFixture.builtIn(type, exclusions: own)
            do throws(ConformanceFailure) { try fixture.requireSoundExclusions() } catch {
                throw UsageError("option '--exclude': \(error.actual)")
            }
            return fixture
        }
    }
}

/// The object that `roost conformance --json` prints.
private struct ConformanceJSON: Encodable {
    struct Check: Encodable {
        var type: String
        var id: String
        var behavior: String
        var passed = true
        var seconds: Double
        var missingCapability: String?
        var excluded: String?
        var failure: String?
    }

    let checks: [Check]
    let passed: Int
    let excluded: Int
    let failed: Int
    let interrupted: Bool

    init(_ results: [ConformanceResult], isInterrupted: Bool) {
        interrupted = isInterrupted
        let counts = ConformanceCounts(results)
        (passed, excluded, failed) = (counts.passed + counts.opposites, counts.excluded, counts.failed)
        checks = results.map { result in
            var check = Check(
                type: result.store, id: result.check.id, behavior: result.check.behavior, seconds: result.seconds)
            switch result.outcome {
            case .passed: break
            case .passedAsOpposite(let capability): check.missingCapability = "\(capability)"
            case .excluded(let exclusion, let failure):
                (check.passed, check.excluded, check.failure) = (false, exclusion.reason, Self.text(failure))
            case .failed(let failure): (check.passed, check.failure) = (false, Self.text(failure))
            }
            return check
        }
    }

    private static func text(_ failure: ConformanceFailure) -> String {
        "expected: \(failure.expected); actual: \(failure.actual)"
    }
}
