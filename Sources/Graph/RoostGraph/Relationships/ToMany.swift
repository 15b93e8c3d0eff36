public import RoostCore

/// The members of a to-many relationship: a set, in the order of the objects' keys.
///
/// Changes immediately update the inverse. Inserting or removing a given object does not read the
/// members.
///
/// ```swift
/// artist.albums.insert(album)
/// for album in artist.albums { print(album.title) }
/// ```
public struct ToMany<Element: ManagedObject>: Collection {
    private enum Storage {
        case relationship(ManagedObject, Int)
        /// Objects without duplicates.
        case list([Element])
    }

    private var storage: Storage

    init(_ owner: ManagedObject, relationship: Int) { storage = .relationship(owner, relationship) }

    /// Creates a set of objects, which can be assigned to a relationship.
    public init(_ objects: some Sequence<Element>) {
        var seen: Set<Element> = []
        storage = .list(objects.filter { seen.insert($0).inserted })
    }

    /// Creates an empty set, which can be assigned to a relationship.
    public init() { storage = .list([]) }

    private var keys: [Int64] {
        guard case .relationship(let owner, let relationship) = storage else { return [] }
        owner.noteAccess(.members(relationship))
        let core = owner.core
        return core.latching { () throws(StoreError) in try core.memberKeys(of: owner, relationship: relationship) }
            ?? []
    }

    /// The members; unreadable members have no values and no context.
    var elements: [Element] {
        switch storage {
        case .list(let objects): return objects
        case .relationship(let owner, let relationship):
            return owner.readMembers(of: relationship).objects
        }
    }

    /// The members, or nil after a read error.
    ///
    /// A change that needs the members must then do nothing.
    var readElements: [Element]? {
        switch storage {
        case .list(let objects): return objects
        case .relationship(let owner, let relationship):
            let members: (objects: [Element], isComplete: Bool) = owner.readMembers(of: relationship)
            return members.isComplete ? members.objects : nil
        }
    }

    func isRelationship(_ relationship: Int, of owner: ManagedObject) -> Bool {
        if case .relationship(let own, relationship) = storage { own === owner } else { false }
    }

    // MARK: Collection

    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The position after the last member.
    public var endIndex: Int { count }
    /// The number of members.
    ///
    /// Reads only the members' keys.
    public var count: Int {
        if case .list(let objects) = storage { objects.count } else { keys.count }
    }
    /// Returns the next position.
    public func index(after index: Int) -> Int { index + 1 }
    /// The member at a position.
    ///
    /// If the member cannot be read, the result is an object without values that is in no context.
    public subscript(position: Int) -> Element {
        switch storage {
        case .list(let objects): return objects[position]
        case .relationship(let owner, let relationship):
            owner.noteAccess(.members(relationship))
            return owner.core.latchingMember(of: owner, relationship: relationship, at: position)
        }
    }
    /// Returns an iterator over the current members.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    /// Returns whether an object is a member.
    ///
    /// If the inverse is to-one, reads only `object`.
    public func contains(_ object: Element) -> Bool {
        switch storage {
        case .list(let objects): return objects.contains(object)
        case .relationship(let owner, let relationship):
            owner.noteAccess(.members(relationship))
            let core = owner.core
            return core.latching { () throws(StoreError) in
                try core.isMember(object, of: owner, relationship: relationship)
            } ?? false
        }
    }

    /// Returns the members that match a predicate, with unsaved changes applied.
    ///
    /// Reads only the matching members, and the keys of all members if the relationship has no
    /// inverse.
    ///
    /// - Throws: `invalidRequest` for a set that is not bound to a relationship; `closed` if the
    ///   owning object has left its context; the same errors as
    ///   ``ManagedObjectContext/fetch(_:)-(FetchRequest)``.
    public func fetch(
        where predicate: FetchRequest.Predicate? = nil, sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [],
        limit: Int? = nil
    ) throws(StoreError) -> [Element] {
        guard case .relationship(let owner, let relationship) = storage else {
            throw StoreError(.invalidRequest, "The set is not bound to a relationship, so it cannot be searched.")
        }
        guard let context = owner.context else {
            throw StoreError(.closed, "\(owner.objectID) has left its context, so its members cannot be fetched.")
        }
        owner.noteAccess(.members(relationship))
        let isMember = try owner.core.membership(in: owner, relationship: relationship)
        let model = owner.core.model
        let request = FetchRequest(
            model.entities[model.relationships[relationship].destination].name,
            where: predicate.map { .and([isMember, $0]) } ?? isMember, sortedBy: sortDescriptors, limit: limit)
        return try context.fetch(request).compactMap { $0 as? Element }
    }

    // MARK: Changes

    /// Adds an object, without reading the members.
    public mutating func insert(_ object: Element) {
        switch storage {
        case .list(let objects): if !objects.contains(object) { storage = .list(objects + [object]) }
        case .relationship(let owner, let relationship): owner.add(object, relationship: relationship)
        }
    }

    /// Removes an object, without reading the members.
    public mutating func remove(_ object: Element) {
        switch storage {
        case .list(let objects): storage = .list(objects.filter { $0 !== object })
        case .relationship(let owner, let relationship): owner.remove(object, relationship: relationship)
        }
    }

    /// Adds objects.
    public mutating func formUnion(_ objects: some Sequence<Element>) {
        for object in Array(objects) { insert(object) }
    }

    /// Removes objects.
    public mutating func subtract(_ objects: some Sequence<Element>) {
        for object in Array(objects) { remove(object) }
    }

    /// Removes all members that are not in the given sequence.
    public mutating func formIntersection(_ objects: some Sequence<Element>) {
        guard let members = readElements else { return }
        let kept = Set(objects)
        for object in members where !kept.contains(object) { remove(object) }
    }

    /// Removes all members.
    public mutating func removeAll() {
        guard let members = readElements else { return }
        for object in members { remove(object) }
    }
}

extension ToMany: ExpressibleByArrayLiteral {
    /// Creates a set of objects, which can be assigned to a relationship.
    public init(arrayLiteral elements: Element...) { self.init(elements) }
}
