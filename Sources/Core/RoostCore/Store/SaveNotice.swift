/// A report of what commits to a store changed, as IDs.
///
/// It is of one commit, or of several in a row. It is `Sendable`, so that it can go to other
/// contexts and actors.
///
/// ```swift
/// for await notice in try store.changes {
///     if notice.isComplete { cache.remove(notice.updated + notice.deleted) } else { cache.removeAll() }
/// }
/// ```
public struct SaveNotice: Sendable {
    /// The most IDs of a notice that stands for several commits.
    ///
    /// Beyond it, the notice lists none and is not complete.
    public static let mostIDs = 10_000

    /// The store that was saved to.
    public package(set) var store: StoreLocation
    /// The generation of the store after the commits.
    public let generation: Generation
    /// The generation of the store before the commits.
    public let previousGeneration: Generation
    /// The author of the changes; nil for none, and for several.
    public let author: String?
    /// The name of the context that saved; nil for a batch request, and for several.
    public let contextName: String?
    /// The objects that were inserted.
    public let inserted: [ObjectID]
    /// The objects whose values or relationships changed.
    ///
    /// An object whose links alone changed can be named by a superentity of its own.
    public let updated: [ObjectID]
    /// The objects that were deleted.
    public let deleted: [ObjectID]
    /// Whether the lists name every object that changed.
    ///
    /// If not, any object can have changed: a program reads again what it shows.
    public let isComplete: Bool

    /// Whether the commits changed no object.
    public var isEmpty: Bool { isComplete && inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// Creates a notice.
    package init(
        store: StoreLocation, generation: Generation, previousGeneration: Generation, author: String? = nil,
        contextName: String? = nil, inserted: [ObjectID] = [], updated: [ObjectID] = [], deleted: [ObjectID] = [],
        isComplete: Bool = true
    ) {
        (self.store, self.generation, self.previousGeneration) = (store, generation, previousGeneration)
        (self.author, self.contextName) = (author, contextName)
        (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
        self.isComplete = isComplete
    }

    /// Returns one notice for this one and the next one of the same store.
    ///
    /// An object is in one list only: what is inserted and updated is inserted, and what is inserted
    /// and deleted is deleted. A reader need not have seen the state between.
    package func joined(with next: SaveNotice) -> SaveNotice {
        var lists = (inserted: [ObjectID](), updated: [ObjectID](), deleted: [ObjectID]())
        let count =
            inserted.count + updated.count + deleted.count + next.inserted.count + next.updated.count
            + next.deleted.count
        let isComplete = isComplete && next.isComplete && count <= Self.mostIDs
        if isComplete {
            let (oldInserts, oldDeletes) = (Set(inserted), Set(deleted))
            let (newInserts, newUpdates, newDeletes) = (Set(next.inserted), Set(next.updated), Set(next.deleted))
            lists.inserted = inserted.filter { !newDeletes.contains($0) }
            lists.inserted += next.inserted.filter { !oldDeletes.contains($0) && !oldInserts.contains($0) }
            // What was deleted and inserted again has other values than before.
            let again = next.inserted.filter { oldDeletes.contains($0) }
            lists.updated = updated.filter { !newDeletes.contains($0) && !newUpdates.contains($0) } + again
            lists.updated += next.updated.filter { !oldInserts.contains($0) && !newInserts.contains($0) }
            lists.deleted = deleted.filter { !newInserts.contains($0) && !newDeletes.contains($0) } + next.deleted
        }
        return SaveNotice(
            store: store, generation: next.generation, previousGeneration: previousGeneration,
            author: author == next.author ? author : nil,
            contextName: contextName == next.contextName ? contextName : nil, inserted: lists.inserted,
            updated: lists.updated, deleted: lists.deleted, isComplete: isComplete)
    }
}
