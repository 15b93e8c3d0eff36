internal import Roost
internal import RoostConformance

/// What `roost conformance` was asked to run and how to report it.
struct ConformanceRun {
    private let checks: [ConformanceCheck]
    private let fixtures: [StoreFixture]
    /// Nil for JSON.
    private let format: ConformanceReport.Format?
    private let detail: ConformanceReport.Detail
    private let isCancelled: () -> Bool

    /// Reads the command line.
    ///
    /// `isCancelled` is asked after each check; true ends the run with code `cancelled`.
    ///
    /// - Throws: `UsageError` for a type that is not known, no check left, a mistaken exclusion, or options that exclude each other.
    init(
        _ arguments: ParsedArguments, _ registry: StoreRegistry, isCancelled: @escaping () -> Bool = { false }
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
        fixtures = try Self.fixtures(arguments.positions, exclusions, registry)
    }

    /// Runs the checks; `write` gets the report piece by piece.
    func run(write: (String) throws -> Void) throws -> ExitCode {
        var report = ConformanceReport(format ?? .text, detail: detail)
        if format != nil { try write(report.beginning(checkCount: checks.count * fixtures.count)) }
        let results = try ConformanceRunner.run(checks, on: fixtures) { result in
            if format != nil { try write(report.add(result)) }
            guard !isCancelled() else {
                throw StoreError(.cancelled, "The run was cancelled; not all checks were made.")
            }
        }
        try write(format == nil ? Console.json(ConformanceJSON(results)) + "\n" : report.ending())
        return results.contains(where: \.isFailure) ? .finding : .success
    }

    // MARK: Reading the command line

    private static func format(_ name: String?) throws -> ConformanceReport.Format {
        guard let name else { return .text }
        guard let format = ConformanceReport.Format(rawValue: name) else {
            let names = ConformanceReport.Format.allCases.map(\.rawValue)
            let hint = nearestName(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
            throw UsageError("option '--format' needs one of \(names.joined(separator: ", "))\(hint)")
        }
        return format
    }

    private static func checks(_ filters: [String]) throws -> [ConformanceCheck] {
        for filter in filters where !ConformanceCheck.all.contains(where: { $0.matches(filter) }) {
            let names = ConformanceCheck.all.flatMap { [$0.group, $0.id] }
            let hint =
                nearestName(to: filter, among: names).map { "did you mean '\($0)'?" }
                ?? "docs/conformance.md lists them all"
            throw UsageError("no check has an ID that '--filter=\(filter)' finds; \(hint)")
        }
        return ConformanceCheck.all.filter { check in filters.isEmpty || filters.contains { check.matches($0) } }
    }

    private static func exclusion(_ text: String) throws -> ConformanceExclusion {
        guard let equals = text.firstIndex(of: "=") else {
            throw UsageError("option '--exclude' needs the ID of a check and a reason: --exclude=\(text)=REASON")
        }
        return ConformanceExclusion(String(text[..<equals]), because: String(text[text.index(after: equals)...]))
    }

    private static func fixtures(
        _ names: [String], _ exclusions: [ConformanceExclusion], _ registry: StoreRegistry
    ) throws -> [StoreFixture] {
        var fixtures: [StoreFixture] = []
        for name in names {
            guard !fixtures.contains(where: { $0.name == name }) else {
                throw UsageError("type '\(name)' is given twice")
            }
            let type: any PersistentStoreType
            do throws(StoreError) { type = try registry.type(named: name) } catch { throw UsageError(error.message) }
            let fixture = StoreFixture.builtIn(type, exclusions: exclusions)
            do throws(ConformanceFailure) { try fixture.requireSoundExclusions() } catch {
                throw UsageError("option '--exclude': \(error.actual)")
            }
            fixtures.append(fixture)
        }
        return fixtures
    }
}

/// What `roost conformance --json` prints.
private struct ConformanceJSON: Encodable {
    struct Check: Encodable {
        var type: String
        var id: String
        var behaviour: String
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

    init(_ results: [ConformanceResult]) {
        let counts = ConformanceCounts(results)
        (passed, excluded, failed) = (counts.passed + counts.opposites, counts.excluded, counts.failed)
        checks = results.map { result in
            var check = Check(
                type: result.store, id: result.check.id, behaviour: result.check.behaviour, seconds: result.seconds)
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
