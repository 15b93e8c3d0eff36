/// A store that can get another model within its own file, in one transaction, without touching what stays as it is.
///
/// A type of store conforms where that is less work than a new file; a migration in place asks for it.
package protocol ModelChangingStore: PersistentStore {
    /// Begins to give the store another model.
    ///
    /// From here to the end of the change nobody else has the store open, or can open it, and snapshots of this store show what it held
    /// before. The caller loads into ``ModelChange/store`` everything that the store shall hold, what is kept included, with one
    /// loader, and then calls ``ModelChange/commit()`` or ``ModelChange/abandon()``.
    ///
    /// - Parameters:
    ///   - model: The new model.
    ///   - kept: What is the same under both models; the store may move it nevertheless.
    /// - Returns: The change; nil where only a new file can have the model, because of something in this one that is not Roost's, or
    ///   that is damaged.
    /// - Throws: `busy` when somebody else has the store open, or writes, for longer than the timeout; `readOnly`; `limitExceeded` for
    ///   a model that the store cannot have.
    func beginModelChange(to model: ManagedObjectModel, keeping kept: KeptContent) throws(StoreError) -> (
        any ModelChange
    )?
}

/// What a store holds that is the same under two models, byte for byte.
package struct KeptContent: Sendable, Hashable {
    /// The hierarchies whose records stay, by the number of the root entity, which is the same in both models.
    package var hierarchies: Set<Int>
    /// The relationships whose links stay, by the number in the new model: the number in the old one.
    package var relationships: [Int: Int]

    /// Makes a description of what stays.
    package init(hierarchies: Set<Int> = [], relationships: [Int: Int] = [:]) {
        (self.hierarchies, self.relationships) = (hierarchies, relationships)
    }
}

/// A change of a store's model that is under way.
///
/// For one thread at a time. Letting go of it abandons it.
package protocol ModelChange: AnyObject {
    /// The store as it will be, to be loaded and then read again, by one thread at a time; it is closed with the change.
    ///
    /// It counts as empty until it was loaded. Records and links of what is kept are appended like all others, count, and are not
    /// written; reading gives what is in the file.
    var store: any PersistentStore { get }

    /// Ends the change and closes the store: it has the new model, durably.
    ///
    /// - Throws: `noSpace` and what else a commit throws: the store is as it was. What closing throws: it has the new model.
    func commit() throws(StoreError)

    /// Ends the change and closes the store, which is as it was.
    ///
    /// Does nothing after the end of the change.
    func abandon()
}
