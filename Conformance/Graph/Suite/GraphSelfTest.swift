package import RoostGraph

/// A test of the graph suite itself.
///
/// The check that looks for a fault must pass without the fault and fail with it.
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

    /// The faults of contexts, and the check that finds each.
    package static let plantedFaults: [(fault: PlantedFault, check: String)] = [
        (.makesSecondObject, "identity.unique"), (.fetchesOverChanges, "faults.no-overwrite"),
        (.readsOneByOne, "faults.company"), (.tracksAwaking, "faults.awake"), (.awakesTwice, "insert.defaults"),
        (.dropsLatched, "faults.latched"), (.keepsTemporaryReferences, "identity.temporary"),
        (.leavesInverse, "relations.inverse-to-one"), (.leavesFormerInverse, "relations.inverse-to-many"),
        (.leavesFormerPartner, "relations.one-to-one-steals"), (.addsOneSide, "relations.many-to-many"),
        (.removesOneSide, "relations.many-to-many"), (.readsToAppend, "relations.append-without-reading"),
        (.connectsContexts, "relations.other-context"), (.forgetsOrder, "relations.ordered"),
        (.cascadesNot, "delete.cascade-cycle"), (.nullifiesNot, "delete.nullify"),
        (.keepsOneWayReferences, "relations.one-way"), (.deniesNot, "delete.deny-at-save"),
        (.checksInsertsOnly, "validation.each-reason"), (.stopsAtFirstFailure, "validation.combined"),
        (.checksDeleted, "validation.deleted-exempt"), (.skipsTransientRules, "change.transient"),
        (.callsWillSaveOnce, "save.order-of-hooks"), (.writesEqualRows, "change.same-value"),
        (.keepsVersions, "save.versions"), (.keepsDerived, "save.derived"), (.forgetsMeanwhile, "save.in-background"),
        (.postsNoNotice, "save.order-of-hooks"), (.trustsDestinations, "delete.concurrent-reference"),
        (.detectsNothing, "merge.detect"), (.overwritesOnRollback, "merge.rollback"),
        (.swapsSides, "merge.object-trump"), (.dropsTheirSide, "merge.store-trump"),
        (.losesDuplicateValues, "merge.unique"), (.keepsDeletes, "rollback.all"), (.resetsNothing, "reset.dead"),
        (.reusesStaleRows, "merging.save-notice"), (.refreshesOverChanges, "refresh.merge"),
        (.keepsDeletedThere, "merging.save-notice"), (.mergesNothing, "merging.automatic"),
        (.ignoresForeignCommits, "merging.other-process"), (.ignoresPins, "fetch.generations"),
        (.countsSaved, "fetch.count"), (.overlooksRelated, "fetch.pending-related"),
        (.cutsWindowFirst, "fetch.pending-window"), (.showsChangedTwice, "fetch.pending"),
        (.undoesOneSide, "undo.insert"), (.undoForgetsOrder, "undo.order"),
        (.undoForgetsSavedDeletes, "undo.after-save"), (.undoesOthers, "undo.others"),
        (.recordsDisabled, "undo.faults-and-clears"), (.recordsReading, "undo.faults-and-clears"),
        (.keepsUndoSteps, "undo.faults-and-clears"), (.losesChildChanges, "child.one-level"),
        (.keepsChildDeletes, "child.one-level"), (.childReadsStore, "child.sees-parent"),
        (.childSkipsValidation, "child.validates"), (.childSavesThrough, "child.one-level"),
        (.showsDeleted, "results.rollback"), (.overlooksRelatedResults, "results.related-predicate"),
        (.keepsWindow, "results.limit"), (.overlooksMerged, "results.merge"), (.overlooksUndo, "results.undo"),
        (.overlooksReset, "results.reset"), (.dropsSlowReaders, "results.slow-reader"),
        (.countsOnlyMore, "results.totals"), (.overlooksRelatedTotals, "results.totals-related"),
        (.callsForNothing, "results.totals-null"), (.renewsSections, "results.section-left-and-entered"),
        (.trustsOffset, "results.window-edges"), (.overlooksOwnSaves, "results.saved-only"),
        (.overlooksLastingIDs, "results.lasting-ids"), (.overlooksDiscarded, "results.rollback"),
        (.reportsUntouched, "results.refresh-all"), (.overlooksOwnChanges, "results.failed-save"),
        (.forgetsTouched, "results.there-and-back"), (.updatesFirstResult, "results.several"),
        (.losesWaitingDifferences, "results.sequence-end"),
        (.refreshForgetsMembers, "refresh.both-sides"), (.childMissesRollback, "child.parent-rollback"),
        (.revivesDeleted, "rollback.deleted-elsewhere"), (.overlooksReferring, "fetch.pending-related"),
        (.dropsJoinedObjects, "results.batch"),
    ]

    package enum Outcome: Sendable {
        /// The check passes without the fault and fails with it.
        case caught(ConformanceFailure)
        /// The check passes or is skipped with the fault, or does not exist.
        case missed
        /// The check fails without the fault.
        case unsound(ConformanceFailure)
    }

    /// Tests a fault with stores of a fixture.
    package static func outcome(
        of fault: FaultyStoreType.Fault, caughtBy id: String, on fixture: StoreFixture
    ) async -> Outcome {
        guard let check = GraphCheck.named(id) else { return .missed }
        if case .failed(let failure) = await check.outcome(on: fixture) { return .unsound(failure) }
        if case .failed(let failure) = await check.outcome(on: fixture.faulty(fault)) { return .caught(failure) }
        return .missed
    }

    #if PlantedFaults
        /// Tests a fault of contexts, with sound stores.
        package static func outcome(of fault: PlantedFault, caughtBy id: String, on fixture: StoreFixture) async
            -> Outcome
        {
            guard let check = GraphCheck.named(id) else { return .missed }
            if case .failed(let failure) = await check.outcome(on: fixture) { return .unsound(failure) }
            let outcome = await PlantedFault.$active.withValue(fault) { await check.outcome(on: fixture) }
            if case .failed(let failure) = outcome { return .caught(failure) }
            return .missed
        }
    #endif
}
