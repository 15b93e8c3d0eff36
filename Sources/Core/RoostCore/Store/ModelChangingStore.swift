/// A store that can change its model within its own file or schema, in one transaction, without
/// touching unchanged content.
///
/// A store type conforms if such a change is faster than writing a new store.
package protocol ModelChangingStore: PersistentStore {
    /// Whether this store can change its model; its content can still prevent a change.
    var changesModels: Bool { get }

    /// Begins to change the model of the store.
    ///
    /// Until the change ends, no other process or connection can open the store, and snapshots of
    /// this store show its old content. The caller loads the complete new content, including kept
    /// content, into ``ModelChange/store`` with one loader. Then the caller calls
    /// ``ModelChange/commit()`` or ``ModelChange/abandon()``.
    ///
    /// - Returns: The change; nil if the caller must write a new store instead, because this store
    ///   has damaged or foreign content, or cannot change its tables in a transaction.
    /// - Throws: `busy` if another process or connection still has the store open, or still writes,
    ///   after the timeout; `readOnly`; `limitExceeded` for a model that exceeds a limit of the
    ///   store.
    func beginModelChange(to model: ManagedObjectModel, keeping kept: KeptContent) throws(StoreError) -> (
        any ModelChange
    )?
}

/// The part of a store's content that is equal under two models, byte for byte.
package struct KeptContent: Sendable, Hashable {
    /// The root entities of the hierarchies whose records stay.
    ///
    /// Their numbers are equal in both models.
    package var hierarchies: Set<Int>
    /// The relationships whose links stay: numbers in the old model, keyed by the number in the new
    /// model.
    package var relationships: [Int: Int]

    package init(hierarchies: Set<Int> = [], relationships: [Int: Int] = [:]) {
        (self.hierarchies, self.relationships) = (hierarchies, relationships)
    }
}

/// An unfinished change of a store's model.
///
/// Use a change from one thread at a time. Deallocation abandons the change.
package protocol ModelChange: AnyObject {
    /// The store with the new model, to be loaded and then read; closed when the change ends.
    ///
    /// The store appears empty until it is loaded. Append kept records and links like all others;
    /// the loader counts kept content but does not write it. Commits to the loaded store take
    /// effect when the change is committed.
    var store: any PersistentStore { get }

    /// Commits the change durably, and closes the store.
    ///
    /// - Throws: `noSpace` and the other errors of a commit, which leave the store unchanged. An
    ///   error of closing is not thrown, because the store already has the new model.
    func commit() throws(StoreError)

    /// Rolls the change back, and closes the store.
    ///
    /// Does nothing after the end of the change.
    func abandon()
}
