package import RoostCore

/// The result of one check on one type of store.
package struct ConformanceResult: Sendable {
    package enum Outcome: Sendable {
        case passed
        /// The store lacks this capability and has the opposite behavior.
        case passedAsOpposite(StoreCapability)
        /// The store lacks the behavior, as the exclusion states.
        case excluded(ConformanceExclusion, ConformanceFailure)
        /// The check fails, passes although it is excluded, or cannot run because an exclusion is
        /// invalid.
        case failed(ConformanceFailure)
    }

    package let check: ConformanceCheck
    /// The name of the fixture.
    package let store: String
    package let outcome: Outcome
    package let seconds: Double

    package init(_ check: ConformanceCheck, store: String, outcome: Outcome, seconds: Double) {
        (self.check, self.store, self.outcome, self.seconds) = (check, store, outcome, seconds)
    }

    package var isFailure: Bool {
        if case .failed = outcome { return true }
        return false
    }
}

/// The number of checks with each outcome.
package struct ConformanceCounts: Sendable, Hashable, CustomStringConvertible {
    package private(set) var passed = 0
    /// The number of checks that passed as opposites, because the store lacks a capability.
    package private(set) var opposites = 0
    /// The number of checks that failed as their exclusions state.
    package private(set) var excluded = 0
    /// The number of all other failures.
    package private(set) var failed = 0

    package init(_ results: some Sequence<ConformanceResult>) {
        for result in results {
            switch result.outcome {
            case .passed: passed += 1
            case .passedAsOpposite: opposites += 1
            case .excluded: excluded += 1
            case .failed: failed += 1
            }
        }
    }

    package var total: Int { passed + opposites + excluded + failed }

    /// A line such as `150 checks: 144 passed, 3 passed as opposites, 1 excluded, 2 failed`.
    package var description: String {
        "\(total) \(total == 1 ? "check" : "checks"): \(passed) passed, \(opposites) passed as opposites, \(excluded) excluded, \(failed) failed"
    }
}
