/// A store that can change its model within its own file or schema, in one transaction, without
/// touching unchanged content.
///
/// Migrations in place use this protocol. A store type conforms if such a change is faster than
/// writing a new store.
package protocol ModelChangingStore: PersistentStore {
    /// Whether this store can change its model, unless its content prevents the change.
    var changesModels: Bool { get }

    /// Begins to change the model of the store.
    ///
    /// Until the change ends, no other process or connection can open the store, and snapshots of
    /// this store show its old content. The caller loads the complete new content, including kept
    /// content, into ``ModelChange/store`` with one loader. It then calls ``ModelChange/commit()``
    /// or ``ModelChange/abandon()``.
    ///
    /// - Parameters:
    ///   - model: The new model.
    ///   - kept: The content that is equal under both models.
    /// - Returns: The change; nil if a new store is required, because the store has damaged or
    ///   foreign content, or cannot change its tables in a transaction.
    /// - Throws: `busy` if another process or connection has the store open, or writes, for longer
    ///   than the timeout; `readOnly`; `limitExceeded` for a model that exceeds a limit of the
    ///   store.
    func beginModelChange(to model: ManagedObjectModel, keeping kept: KeptContent) throws(StoreError) -> (
        any ModelChange
    )?
}

/// The content of a store that is equal under two models, byte for byte.
package struct KeptContent: Sendable, Hashable {
    /// The hierarchies whose records stay, as numbers of root entities.
    ///
    /// Each of them has the same number in both models.
    package var hierarchies: Set<Int>
    /// The relationships whose links stay: the number in the old model, by the number in the new
    /// model.
    package var relationships: [Int: Int]

    /// Creates a description of the kept content.
    package init(hierarchies: Set<Int> = [], relationships: [Int: Int] = [:]) {
        (self.hierarchies, self.relationships) = (hierarchies, relationships)
    }
}

/// A change of a store's model in progress.
///
/// Use it from one thread at a time. Deallocation abandons the change.
package protocol ModelChange: AnyObject {
    /// The store with the new model, to be loaded and then read; closed when the change ends.
    ///
    /// The store appears empty until it is loaded. Append kept records and links like all others;
    /// kept content is counted but not written. Reading returns the content of the changed store.
    /// Commits to the loaded store take effect with the change.
    var store: any PersistentStore { get }

    /// Commits the change durably, and closes the store.
    ///
    /// - Throws: `noSpace` and the other errors of a commit, which leave the store unchanged. If
    ///   closing throws, the store already has the new model.
    func commit() throws(StoreError)

    /// Rolls the change back, and closes the store.
    ///
    /// Does nothing after the end of the change.
    func abandon()
}
