/// A deliberate bug that a test plants in contexts, to show that the graph suite detects it.
///
/// Only builds with the package's trait `PlantedFaults` contain these faults. `make test` uses the
/// trait; release builds do not.
package enum PlantedFault: String, CaseIterable, Sendable {
    // MARK: Identity and faults

    case makesSecondObject
    case fetchesOverChanges
    case readsOneByOne
    case tracksAwaking
    case awakesTwice
    case dropsLatched
    case keepsTemporaryReferences

    // MARK: Relationships and deletes

    case leavesInverse
    case leavesFormerInverse
    case leavesFormerPartner
    case addsOneSide
    case removesOneSide
    case readsToAppend
    case connectsContexts
    case forgetsOrder
    case cascadesNot
    case nullifiesNot
    case keepsOneWayReferences
    case deniesNot

    // MARK: Validation and saving

    case checksInsertsOnly
    case stopsAtFirstFailure
    case checksDeleted
    case skipsTransientRules
    case callsWillSaveOnce
    case writesEqualRows
    case keepsVersions
    case keepsDerived
    /// A background save also marks changes made during the save as saved.
    case forgetsMeanwhile
    case postsNoNotice
    /// A save does not require that the destinations of new references exist.
    case trustsDestinations

    // MARK: Undo and children

    case undoesOneSide
    case undoForgetsOrder
    case undoForgetsSavedDeletes
    /// Undo also reverts changes that another context saved to other properties of the object.
    case undoesOthers
    case recordsDisabled
    case recordsReading
    case keepsUndoSteps
    case losesChildChanges
    case keepsChildDeletes
    case childReadsStore
    case childSkipsValidation
    case childSavesThrough

    // MARK: Conflicts, rollback and merging

    /// `detectConflicts(for:)` has no effect.
    case detectsNothing
    /// The policy `rollback` writes the context's object instead of accepting the store's object.
    case overwritesOnRollback
    /// A merge chooses the wrong side if both sides changed a property.
    case swapsSides
    /// A merge drops changes to properties that only the other context changed.
    case dropsTheirSide
    /// If a stored object replaces a new one with the same unique value, the new values are lost.
    case losesDuplicateValues
    /// A rollback does not revert deletes.
    case keepsDeletes
    case resetsNothing
    case reusesStaleRows
    case refreshesOverChanges
    case keepsDeletedThere
    case mergesNothing
    case ignoresForeignCommits

    /// A refresh that discards changes drops members that other objects' changes added.
    case refreshForgetsMembers
    case childMissesRollback
    /// A rollback restores an object that another context deleted.
    case revivesDeleted

    // MARK: Fetching

    case ignoresPins
    case countsSaved
    /// A predicate over a relationship does not see the changes of related objects.
    case overlooksRelated
    /// A predicate over a relationship overlooks objects that refer to changed objects.
    case overlooksReferring
    /// A fetch applies its limit before it applies pending changes.
    case cutsWindowFirst
    /// A fetch also returns the stored version of a changed object.
    case showsChangedTwice

    // MARK: Fetched results

    case showsDeleted
    case overlooksRelatedResults
    /// A result with a limit is not filled up when objects leave it.
    case keepsWindow
    case overlooksMerged
    case overlooksUndo
    case overlooksReset
    case dropsSlowReaders
    /// Totals still include objects that left the result.
    case countsOnlyMore
    case overlooksRelatedTotals
    /// Totals call `onChange` even after events that do not change the totals.
    case callsForNothing
    /// A section that is emptied and filled again in one event becomes a new section.
    case renewsSections
    /// A result with an offset is updated without regard to the objects before the offset.
    case trustsOffset
    /// A save does not update a result that excludes pending changes.
    case overlooksOwnSaves
    /// Results miss the final IDs that a save gives to new objects.
    case overlooksLastingIDs
    case overlooksDiscarded
    /// Objects that may have changed are always reported as changed.
    case reportsUntouched
    case overlooksOwnChanges
    /// An object whose changes cancel out does not count as changed.
    case forgetsTouched
    case updatesFirstResult
    /// When a controller is deallocated, its undelivered differences are lost.
    case losesWaitingDifferences
    /// A notice that arrives while another notice is waiting loses its object lists.
    case dropsJoinedObjects

    #if PlantedFaults
        /// The fault planted in all contexts that the current task uses.
        @TaskLocal package static var active: PlantedFault?
    #endif
}

/// Returns whether a fault is planted; always false without the trait.
@inline(__always)
func isPlanted(_ fault: PlantedFault) -> Bool {
    #if PlantedFaults
        PlantedFault.active == fault
    #else
        false
    #endif
}
