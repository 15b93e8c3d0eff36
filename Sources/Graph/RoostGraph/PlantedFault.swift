/// A deliberate bug that a test plants in contexts, to show that the graph suite detects it.
///
/// Only builds with the package's trait `PlantedFaults` contain these faults. `make test` uses the
/// trait; release builds do not use it.
package enum PlantedFault: String, CaseIterable, Sendable {
    // MARK: Identity and faults

    /// A fetch creates a second object for an ID that is already in the context.
    case makesSecondObject
    /// A fetch overwrites changed objects with the values of the store.
    case fetchesOverChanges
    /// A fault is always read alone.
    case readsOneByOne
    /// A value that `awakeFromFetch` sets counts as a change.
    case tracksAwaking
    /// `awakeFromInsert` is called twice.
    case awakesTwice
    /// The pending error is discarded instead of thrown.
    case dropsLatched
    /// References to a new object keep its temporary key.
    case keepsTemporaryReferences

    // MARK: Relationships and deletes

    /// Setting a reference does not update the other side.
    case leavesInverse
    /// The former destination of a reference is not updated.
    case leavesFormerInverse
    /// The former partner in a one-to-one relationship keeps its reference.
    case leavesFormerPartner
    /// A link is added at one end only.
    case addsOneSide
    /// A link is removed at one end only.
    case removesOneSide
    /// Adding a member reads all members.
    case readsToAppend
    /// Objects of two contexts can be connected.
    case connectsContexts
    /// The order that a program gives to members is lost.
    case forgetsOrder
    /// A cascade deletes no other object.
    case cascadesNot
    /// After a delete, an inverse still refers to the deleted object.
    case nullifiesNot
    /// After a delete, a reference without an inverse still refers to the deleted object.
    case keepsOneWayReferences
    /// A deny rule allows a deletion.
    case deniesNot

    // MARK: Validation and saving

    /// The rules of the model are not checked for updates.
    case checksInsertsOnly
    /// Validation ends at the first object with a failure.
    case stopsAtFirstFailure
    /// The rules of the model are checked for deleted objects too.
    case checksDeleted
    /// The rules of transient attributes are not checked.
    case skipsTransientRules
    /// `willSave` is not called again for objects that a call of `willSave` changes.
    case callsWillSaveOnce
    /// A save writes rows whose values are unchanged.
    case writesEqualRows
    /// A saved object keeps its old version.
    case keepsVersions
    /// A saved object keeps its old derived attributes.
    case keepsDerived
    /// A background save also marks changes as saved that are made during the save.
    case forgetsMeanwhile
    /// A save posts no notice.
    case postsNoNotice
    /// A save does not require that the destinations of new references exist.
    case trustsDestinations

    // MARK: Undo and children

    /// Undo does not update the other side of a relationship.
    case undoesOneSide
    /// Undo restores the members of a list, but not their order.
    case undoForgetsOrder
    /// Undo of a saved deletion leaves the object deleted.
    case undoForgetsSavedDeletes
    /// Undo also reverts changes that another context saved to other properties of the object.
    case undoesOthers
    /// A change while undo is disabled becomes an undo step.
    case recordsDisabled
    /// Reading a fault becomes an undo step.
    case recordsReading
    /// A rollback does not clear the undo steps.
    case keepsUndoSteps
    /// A save of a child does not apply changed values to the parent.
    case losesChildChanges
    /// A save of a child does not apply deletions to the parent.
    case keepsChildDeletes
    /// A child reads from the store instead of from its parent.
    case childReadsStore
    /// A child is saved without validation.
    case childSkipsValidation
    /// A save of a child also saves the parent.
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
    /// A reset leaves all objects in the context.
    case resetsNothing
    /// A merge keeps the outdated row of an object.
    case reusesStaleRows
    /// A refresh overwrites pending changes.
    case refreshesOverChanges
    /// Objects that another context deleted do not count as deleted.
    case keepsDeletedThere
    /// A context that merges automatically merges nothing.
    case mergesNothing
    /// Commits of other containers are not merged.
    case ignoresForeignCommits

    /// A refresh that discards changes drops members that other objects' changes added.
    case refreshForgetsMembers
    /// A child that follows its parent is not notified of the parent's rollback.
    case childMissesRollback
    /// A rollback restores an object that another context deleted.
    case revivesDeleted

    // MARK: Fetching

    /// A pinned context reads the newest state.
    case ignoresPins
    /// A count excludes pending changes.
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

    /// A deleted object stays in results.
    case showsDeleted
    /// Results do not see the changes of related objects.
    case overlooksRelatedResults
    /// A result with a limit is not filled up when objects leave it.
    case keepsWindow
    /// Results do not see the saves of other contexts.
    case overlooksMerged
    /// Results do not see changes by undo and redo.
    case overlooksUndo
    /// Results are not updated after a reset.
    case overlooksReset
    /// A slow reader of a result's changes loses differences.
    case dropsSlowReaders
    /// Totals still include objects that left the result.
    case countsOnlyMore
    /// Totals do not see the changes of related objects.
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
    /// Results miss that changes were discarded.
    case overlooksDiscarded
    /// Objects that may have changed are always reported as changed.
    case reportsUntouched
    /// Results do not see the changes of their own context.
    case overlooksOwnChanges
    /// An object whose changes cancel out does not count as changed.
    case forgetsTouched
    /// Only the first result of a context is updated.
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
