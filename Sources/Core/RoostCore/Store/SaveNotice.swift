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
}

/// One notice for several commits to a store in a row.
///
/// An object is in one list only: what is inserted and updated is inserted, and what is inserted and
/// deleted is deleted. A reader need not have seen the state between.
package struct NoticeUnion: Sendable {
    private enum Kind {
        case inserted, updated, deleted
    }

    private let store: StoreLocation
    private let previousGeneration: Generation
    private var generation: Generation
    private var author: String?
    private var contextName: String?
    private var isComplete = true
    /// The objects in the order in which they were named first.
    private var ids: [ObjectID] = []
    private var kinds: [ObjectID: Kind] = [:]

    /// Begins with one notice.
    package init(_ first: SaveNotice) {
        (store, previousGeneration, generation) = (first.store, first.previousGeneration, first.generation)
        (author, contextName) = (first.author, first.contextName)
        append(first)
    }

    /// Adds the notice of the next commits.
    ///
    /// - Complexity: O(*n*) in the IDs of the new notice.
    package mutating func append(_ next: SaveNotice) {
        generation = next.generation
        if author != next.author { author = nil }
        if contextName != next.contextName { contextName = nil }
        guard isComplete else { return }
        isComplete = next.isComplete
        if isComplete {
            // What was deleted and inserted again has other values than before.
            for id in next.inserted { note(id, kinds[id] == .deleted ? .updated : .inserted) }
            for id in next.updated where kinds[id] != .inserted { note(id, .updated) }
            for id in next.deleted { note(id, .deleted) }
            isComplete = ids.count <= SaveNotice.mostIDs || ids.count == next.idCount
        }
        if !isComplete { (ids, kinds) = ([], [:]) }
    }

    private mutating func note(_ id: ObjectID, _ kind: Kind) {
        if kinds.updateValue(kind, forKey: id) == nil { ids.append(id) }
    }

    /// The notice for all of them.
    package var notice: SaveNotice {
        func list(_ kind: Kind) -> [ObjectID] { ids.filter { kinds[$0] == kind } }
        return SaveNotice(
            store: store, generation: generation, previousGeneration: previousGeneration, author: author,
            contextName: contextName, inserted: list(.inserted), updated: list(.updated), deleted: list(.deleted),
            isComplete: isComplete)
    }
}

extension SaveNotice {
    /// The number of IDs in the lists.
    fileprivate var idCount: Int { inserted.count + updated.count + deleted.count }
}
