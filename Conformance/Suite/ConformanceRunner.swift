public import RoostCore

/// What became of one check on one store type.
public struct ConformanceResult: Sendable {
    /// How a check can end.
    public enum Outcome: Sendable {
        /// The store does what the check says.
        case passed
        /// The store lacks this capability and does what is promised instead.
        case passedAsOpposite(StoreCapability)
        /// It does something else.
        case failed(ConformanceFailure)
    }

    /// The check.
    public let check: ConformanceCheck
    /// The name of the fixture.
    public let store: String
    /// How it ended.
    public let outcome: Outcome

    /// Whether the check failed.
    public var isFailure: Bool {
        if case .failed = outcome { return true }
        return false
    }

    /// One line, or several for a failure.
    public var text: String {
        switch outcome {
        case .passed: "pass  \(check.id)"
        case .passedAsOpposite(let capability): "pass  \(check.id) (as its opposite: no \(capability))"
        case .failed(let failure):
            "FAIL  \(check.id): \(check.behaviour)\n  expected: \(failure.expected)\n  actual:   \(failure.actual)"
        }
    }
}

/// Runs checks outside a test framework, for the command line and for people.
public enum ConformanceRunner {
    /// Runs checks one after the other; `report` hears of each as it ends.
    public static func run(
        _ checks: [ConformanceCheck] = ConformanceCheck.all, on fixture: StoreFixture,
        report: (ConformanceResult) -> Void = { _ in }
    ) -> [ConformanceResult] {
        checks.map { check in
            var outcome =
                check.missingCapability(on: fixture).map { ConformanceResult.Outcome.passedAsOpposite($0) } ?? .passed
            do throws(ConformanceFailure) { try check.run(on: fixture) } catch { outcome = .failed(error) }
            let result = ConformanceResult(check: check, store: fixture.name, outcome: outcome)
            report(result)
            return result
        }
    }

    /// The results in one line: `sqlite: 150 checks, 148 passed (3 as opposites), 2 failed`.
    public static func summary(of results: [ConformanceResult], on fixture: StoreFixture) -> String {
        let failed = results.count(where: \.isFailure)
        let opposites = results.count { if case .passedAsOpposite = $0.outcome { true } else { false } }
        return
            "\(fixture.name): \(results.count) checks, \(results.count - failed) passed (\(opposites) as opposites), \(failed) failed"
    }
}
