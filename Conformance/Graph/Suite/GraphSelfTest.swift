/// Shows that the graph suite can fail.
///
/// Each check that is named for a fault passes on a sound store and fails on a store with the
/// fault.
package enum GraphSelfTest {
    /// The faults of stores that a context must not hide, and the check that finds each.
    package static let faults: [(fault: FaultyStoreType.Fault, check: String)] = [
        (.ignoresVersions, "merge.error"), (.ignoresUnchanged, "merge.detect"),
        (.ignoresExisting, "delete.concurrent-reference"), (.ignoresReferences, "delete.concurrent-delete"),
        (.namesNoMissingObject, "delete.concurrent-reference"), (.dropsLastLink, "relations.many-to-many"),
        (.forgetsPlaces, "relations.ordered"), (.admitsTakenValues, "merge.unique"), (.ignoresOrder, "fetch.pending"),
        (.ignoresLimit, "fetch.count"), (.miscounts, "fetch.count"), (.showsLaterCommits, "faults.one-state"),
        (.losesLastCommit, "identity.uri"), (.writesHalf, "merge.error"), (.listsIDsByKey, "fetch.count"),
        (.cutsSubentities, "identity.subentity"), (.leavesLinks, "delete.links"),
        (.truncatesAtNUL, "change.typed-dynamic"),
    ]

    /// The result for one fault.
    package enum Outcome: Sendable {
        /// The check passes on the sound store and fails on the faulty one.
        case caught(ConformanceFailure)
        /// The check passes on the faulty store.
        case missed
        /// The check fails on the sound store.
        case unsound(ConformanceFailure)
    }

    /// Tries a fault around stores of a fixture.
    package static func outcome(
        of fault: FaultyStoreType.Fault, caughtBy id: String, on fixture: StoreFixture
    ) async -> Outcome {
        guard let check = GraphCheck.named(id) else { return .missed }
        if case .failed(let failure) = await check.outcome(on: fixture) { return .unsound(failure) }
        if case .failed(let failure) = await check.outcome(on: fixture.faulty(fault)) { return .caught(failure) }
        return .missed
    }
}
