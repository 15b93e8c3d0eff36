/// The IDs of the objects that one commit, or several consecutive commits, changed in a store.
///
/// ```swift
/// for await notice in try store.changes {
///     guard notice.isComplete else { cache.removeAll(); continue }
///     cache.remove(notice.updated + notice.deleted)
/// }
/// ```
public struct SaveNotice: Sendable {
    /// The maximum number of IDs in a notice for several commits.
    ///
    /// A merged notice with more IDs is not complete, unless the last of its notices already has
    /// all of them.
    public static let mostIDs = 10_000

    /// The store that was changed.
    public package(set) var store: StoreLocation
    /// The generation after the commits.
    public package(set) var generation: Generation
    /// The generation before the commits.
    public package(set) var previousGeneration: Generation
    /// The author of the changes; nil if none was set, or if the authors of several commits differ.
    public let author: String?
    /// The name of the context that saved; nil if none was set, or if the names of several commits
    /// differ.
    public let contextName: String?
    /// The objects that were inserted.
    public let inserted: [ObjectID]
    /// The objects whose values or relationships changed.
    ///
    /// If only an object's links changed, its ID can name a superentity.
    public let updated: [ObjectID]
    /// The objects that were deleted.
    public let deleted: [ObjectID]
    /// Whether the lists contain every object that changed.
    ///
    /// If false, any object may have changed, so reload all objects that you use.
    public let isComplete: Bool
    /// Whether the generations are sums; see ``Generation/highestSum``.
    package var addsGenerations = false

    /// Whether it is known that the commits changed no object.
    public var isEmpty: Bool { isComplete && inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    package struct Lists: Sendable {
        package var inserted: [ObjectID] = []
        package var updated: [ObjectID] = []
        package var deleted: [ObjectID] = []

        package init(inserted: [ObjectID] = [], updated: [ObjectID] = [], deleted: [ObjectID] = []) {
            (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
        }
    }

    /// Creates a notice, which is not complete if `lists` is nil.
    package init(
        store: StoreLocation, generations: (before: Generation, after: Generation),
        author: (name: String?, context: String?) = (nil, nil), lists: Lists?
    ) {
        (self.store, generation, previousGeneration) = (store, generations.after, generations.before)
        (self.author, contextName) = author
        (inserted, updated, deleted) = (lists?.inserted ?? [], lists?.updated ?? [], lists?.deleted ?? [])
        isComplete = lists != nil
    }
}

/// A merged notice for several consecutive commits to a store.
///
/// Each object is in only one list. An object that is inserted and then updated counts as inserted.
/// An object that is inserted and then deleted counts as deleted, because a reader may have read it
/// before.
package struct NoticeUnion: Sendable {
    private enum Kind {
        case inserted, updated, deleted
    }

    package let store: StoreLocation
    private let previousGeneration: Generation
    package private(set) var generation: Generation
    private var author: String?
    private var contextName: String?
    package private(set) var isComplete = true
    /// The objects in the order of their first appearance.
    private var ids: [ObjectID] = []
    private var kinds: [ObjectID: Kind] = [:]

    package init(_ first: SaveNotice) {
        (store, previousGeneration, generation) = (first.store, first.previousGeneration, first.previousGeneration)
        (author, contextName) = (first.author, first.contextName)
        append(first)
    }

    /// Adds the notice of the next commits.
    package mutating func append(_ next: SaveNotice) {
        generation =
            next.addsGenerations
            ? generation.adding(from: next.previousGeneration, to: next.generation) : next.generation
        if author != next.author { author = nil }
        if contextName != next.contextName { contextName = nil }
        guard isComplete else { return }
        isComplete = next.isComplete
        if isComplete {
            // An object that is deleted and then inserted again counts as updated: its values may differ.
            for id in next.inserted { note(id, kind: kinds[id] == .deleted ? .updated : .inserted) }
            for id in next.updated where kinds[id] != .inserted { note(id, kind: .updated) }
            for id in next.deleted { note(id, kind: .deleted) }
            isComplete = ids.count <= SaveNotice.mostIDs || ids.count == next.idCount
        }
        if !isComplete { (ids, kinds) = ([], [:]) }
    }

    private mutating func note(_ id: ObjectID, kind: Kind) {
        if kinds.updateValue(kind, forKey: id) == nil { ids.append(id) }
    }

    package var notice: SaveNotice {
        func list(_ kind: Kind) -> [ObjectID] { ids.filter { kinds[$0] == kind } }
        return SaveNotice(
            store: store, generations: (previousGeneration, generation), author: (author, contextName),
            lists: isComplete
                ? SaveNotice.Lists(inserted: list(.inserted), updated: list(.updated), deleted: list(.deleted)) : nil)
    }
}

extension SaveNotice {
    fileprivate var idCount: Int { inserted.count + updated.count + deleted.count }
}

/// The notices that a reader has not received yet.
///
/// Consecutive notices of a store are merged. A merged notice needs memory for at most
/// ``SaveNotice/mostIDs`` IDs, or for the IDs of one larger notice.
package struct WaitingNotices: Sendable {
    private enum Item: Sendable {
        case one(SaveNotice)
        case several(NoticeUnion)

        var store: StoreLocation {
            switch self {
            case .one(let notice): notice.store
            case .several(let union): union.store
            }
        }

        var generation: Generation {
            switch self {
            case .one(let notice): notice.generation
            case .several(let union): union.generation
            }
        }

        var notice: SaveNotice {
            switch self {
            case .one(let notice): notice
            case .several(let union): union.notice
            }
        }
    }

    private var items: [Item] = []

    package init() {}

    package var isEmpty: Bool { items.isEmpty }

    /// Adds a notice, or merges it with the last waiting notice of its store.
    ///
    /// The two are merged if no other commit is in between, or if the generations are sums.
    package mutating func append(_ notice: SaveNotice) {
        guard let index = items.lastIndex(where: { $0.store == notice.store }),
            items[index].generation == notice.previousGeneration || notice.addsGenerations
        else { return items.append(.one(notice)) }
        var union: NoticeUnion
        switch items[index] {
        case .one(let first): union = NoticeUnion(first)
        case .several(let joined): union = joined
        }
        // This leaves `union` as the only owner of the lists, so appending does not copy them.
        items[index] = .one(notice)
        union.append(notice)
        items[index] = .several(union)
    }

    package mutating func takeFirst() -> SaveNotice? { items.isEmpty ? nil : items.removeFirst().notice }

    package mutating func takeAll() -> [SaveNotice] {
        defer { items = [] }
        return items.map(\.notice)
    }
}
