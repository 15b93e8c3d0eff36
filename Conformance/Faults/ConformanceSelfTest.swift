package import RoostCore

/// A test of the suite itself: for each fault, a check must pass on a sound store and fail on a
/// store with the fault.
public enum ConformanceSelfTest {
    /// The result of one fault on one store type.
    public struct Result: Sendable {
        package enum Outcome: Sendable {
            /// The check passes on the sound store and fails on the faulty one.
            case caught(ConformanceFailure)
            /// The check passes on the faulty store, or does not exist.
            case missed
            /// The check fails even on the sound store.
            case unsound(ConformanceFailure)
            /// The stores lack a capability that the check or the fault needs.
            case inapplicable(StoreCapability)
        }

        package let fault: FaultyStoreType.Fault
        /// The ID of the check that looks for the fault.
        package let check: String
        package let store: String
        package let outcome: Outcome

        /// Whether the suite missed the fault or the check is unsound.
        public var isFailure: Bool {
            switch outcome {
            case .caught, .inapplicable: false
            case .missed, .unsound: true
            }
        }

        /// One line: the outcome, the fault, the check, and the check's failure or a reason.
        public var text: String {
            switch outcome {
            case .caught(let failure): "caught  \(fault)  \(check)  \(Self.line(failure))"
            case .missed:
                ConformanceCheck.named(check) == nil
                    ? "MISSED  \(fault)  \(check)  the suite has no such check"
                    : "MISSED  \(fault)  \(check)  it passes on a store with the fault"
            case .unsound(let failure):
                "UNSOUND  \(fault)  \(check)  it fails on a store without the fault: \(Self.line(failure))"
            case .inapplicable(let capability): "skipped  \(fault)  \(check)  needs capability '\(capability)'"
            }
        }

        private static func line(_ failure: ConformanceFailure) -> String {
            // Values in the text may be long and have several lines.
            "expected \(failure.expected); actual \(failure.actual)".replacing("\n", with: " ").prefix(240).description
        }
    }

    /// Tests each fault with stores of `base`.
    ///
    /// Each fault costs up to two runs of its check. If the suite lacks the check, the fault counts
    /// as missed.
    public static func run(on base: StoreFixture) -> [Result] { run(FaultyStoreType.Fault.allCases, on: base) }

    /// Tests the faults with stores of `base`, and calls `report` after each.
    package static func run(
        _ faults: [FaultyStoreType.Fault], on base: StoreFixture,
        report: (Result) -> Void = { _ in }
    ) -> [Result] {
        faults.map { fault in
            let result = Result(
                fault: fault, check: fault.caughtBy, store: base.name, outcome: outcome(of: fault, on: base))
            report(result)
            return result
        }
    }

    /// Returns the results in one line: `memory: 46 faults, 44 caught, 0 missed, 2 skipped`.
    package static func summary(of results: [Result], on base: StoreFixture) -> String {
        let missed = results.count(where: \.isFailure)
        let skipped = results.count { if case .inapplicable = $0.outcome { true } else { false } }
        return
            "\(base.name): \(results.count) fault\(results.count == 1 ? "" : "s"), \(results.count - missed - skipped) caught, \(missed) missed, \(skipped) skipped"
    }

    private static func outcome(of fault: FaultyStoreType.Fault, on base: StoreFixture) -> Result.Outcome {
        guard let check = ConformanceCheck.named(fault.caughtBy) else { return .missed }
        if let missing = check.missingCapability(on: base) { return .inapplicable(missing) }
        if let ability = fault.neededAbility, !canShow(fault, on: base) { return .inapplicable(ability) }
        switch check.result(on: base).outcome {
        // A check that is excluded for this store fails without the fault too.
        case .failed(let failure), .excluded(_, let failure): return .unsound(failure)
        case .passed, .passedAsOpposite: break
        }
        do throws(ConformanceFailure) { try check.run(on: base.faulty(fault)) } catch { return .caught(error) }
        return .missed
    }

    /// Returns whether a new store has the ability that the fault requires.
    ///
    /// Returns true if no store can be created, because the check then reports the failure.
    private static func canShow(_ fault: FaultyStoreType.Fault, on base: StoreFixture) -> Bool {
        guard let bench = try? Workbench(base) else { return true }
        defer { bench.discard() }
        guard let store = try? bench.create() else { return true }
        return fault.canShow(in: store)
    }
}

extension StoreFixture {
    /// Returns a fixture of the same stores with a fault.
    package func faulty(_ fault: FaultyStoreType.Fault) -> StoreFixture {
        StoreFixture(
            FaultyStoreType(type, fault: fault), name: "\(name) that \(fault)",
            keepsClosedStores: keepsClosedStores, peer: peer
        ).with {
            $0.options = options
            $0.makeLocation = makeLocation
            $0.sample = sample
        }
    }
}
