/// A store that can change its model within its own file, in one transaction, without touching
/// unchanged content.
///
/// A store type conforms if that is less work than a new file; a migration in place uses it.
package protocol ModelChangingStore: PersistentStore {
    /// Begins to give the store another model.
    ///
    /// From here to the end of the change no other process or connection has the store open, or can
    /// open it, and snapshots of this store show its old content. The caller loads into
    /// ``ModelChange/store`` everything that the store shall hold, kept content included, with one
    /// loader, and then calls ``ModelChange/commit()`` or ``ModelChange/abandon()``.
    ///
    /// - Parameters:
    ///   - model: The new model.
    ///   - kept: The content that is the same under both models; the store may still move it.
    /// - Returns: The change; nil if only a new file can have the model, because this one has
    ///   damaged or foreign content.
    /// - Throws: `busy` when another process or connection has the store open, or writes, for
    ///   longer than the timeout; `readOnly`; `limitExceeded` for a model that the store cannot
    ///   have.
    func beginModelChange(to model: ManagedObjectModel, keeping kept: KeptContent) throws(StoreError) -> (
        any ModelChange
    )?
}

/// The content of a store that is the same under two models, byte for byte.
package struct KeptContent: Sendable, Hashable {
    /// The hierarchies whose records stay, by the number of the root entity, which is the same in
    /// both models.
    package var hierarchies: Set<Int>
    /// The relationships whose links stay, by the number in the new model: the number in the old
    /// one.
    package var relationships: [Int: Int]

    /// Makes a description of what stays.
    package init(hierarchies: Set<Int> = [], relationships: [Int: Int] = [:]) {
        (self.hierarchies, self.relationships) = (hierarchies, relationships)
    }
}

/// A change of a store's model in progress.
///
/// For one thread at a time. Deallocation abandons it.
package protocol ModelChange: AnyObject {
    /// The store as it will be, to be loaded and then read again, by one thread at a time; it is
    /// closed with the change.
    ///
    /// It counts as empty until it was loaded. Records and links of what is kept are appended like
    /// all others, count, and are not written; reading gives what is in the file.
    var store: any PersistentStore { get }

    /// Ends the change and closes the store: it has the new model, durably.
    ///
    /// - Throws: `noSpace` and what else a commit throws: the store is as it was. What closing
    ///   throws: it has the new model.
    func commit() throws(StoreError)

    /// Ends the change and closes the store, which is as it was.
    ///
    /// Does nothing after the end of the change.
    func abandon()
}
