internal import RoostCore

/// The members of an ordered to-many relationship: an array without duplicates.
///
/// Changes immediately update the inverse. A save writes only the positions that must change.
///
/// ```swift
/// playlist.tracks.append(track)
/// playlist.tracks.move(from: 0, to: 3)
/// ```
public struct OrderedToMany<Element: ManagedObject>: RandomAccessCollection, MutableCollection,
    RangeReplaceableCollection
{
    private enum Storage {
        case relationship(ManagedObject, Int)
        case list([Element])
    }

    private var storage: Storage

    init(_ owner: ManagedObject, relationship: Int) { storage = .relationship(owner, relationship) }

    /// Creates an empty list, which can be assigned to a relationship.
    public init() { storage = .list([]) }

    /// The members in their order.
    var elements: [Element] {
        switch storage {
        case .list(let objects): return objects
        case .relationship(let owner, let relationship):
            owner.noteAccess(.members(relationship))
            let core = owner.core
            let objects =
                core.latching { () throws(StoreError) in try core.members(of: owner, relationship: relationship) } ?? []
            return objects.compactMap { $0 as? Element }
        }
    }

    /// Returns whether the list is bound to the given relationship of an object.
    func isRelationship(_ relationship: Int, of owner: ManagedObject) -> Bool {
        if case .relationship(let own, relationship) = storage { own === owner } else { false }
    }

    private mutating func set(_ objects: [Element]) {
        var seen: Set<Element> = []
        let unique = objects.filter { seen.insert($0).inserted }
        switch storage {
        case .list: storage = .list(unique)
        case .relationship(let owner, let relationship):
            owner.setting(.members(relationship)) {
                owner.core.setMembers(of: owner, relationship: relationship, to: unique)
            }
        }
    }

    // MARK: Collection

    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The position after the last member.
    public var endIndex: Int {
        switch storage {
        case .list(let objects): return objects.count
        case .relationship(let owner, let relationship):
            owner.noteAccess(.members(relationship))
            let core = owner.core
            return core.latching { () throws(StoreError) in
                try core.memberKeys(of: owner, relationship: relationship).count
            } ?? 0
        }
    }

    /// The member at a position.
    public subscript(position: Int) -> Element {
        get { elements[position] }
        set {
            var objects = elements
            objects[position] = newValue
            set(objects)
        }
    }

    /// Returns an iterator over the current members.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    // MARK: Changes

    /// Replaces the members in a range.
    ///
    /// An object that is already a member moves to its first position among `objects`.
    public mutating func replaceSubrange(_ range: Range<Int>, with objects: some Collection<Element>) {
        let former = elements
        let new = Array(objects)
        let moved = Set(new)
        set(
            former[..<range.lowerBound].filter { !moved.contains($0) } + new
                + former[range.upperBound...].filter { !moved.contains($0) })
    }

    /// Adds an object at the end if it is not yet a member.
    ///
    /// Does not read the members.
    public mutating func append(_ object: Element) {
        switch storage {
        case .list(let objects): if !objects.contains(object) { storage = .list(objects + [object]) }
        case .relationship(let owner, let relationship): owner.add(object, relationship: relationship)
        }
    }

    /// Removes an object, if it is a member.
    public mutating func remove(_ object: Element) {
        switch storage {
        case .list(let objects): storage = .list(objects.filter { $0 !== object })
        case .relationship(let owner, let relationship): owner.remove(object, relationship: relationship)
        }
    }

    /// Swaps two members.
    public mutating func swapAt(_ left: Int, _ right: Int) {
        var objects = elements
        objects.swapAt(left, right)
        set(objects)
    }

    /// Runs `body` with an array of the members, then replaces the members with the array.
    public mutating func withContiguousMutableStorageIfAvailable<Result>(
        _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> Result
    ) rethrows -> Result? {
        var objects = elements
        defer { set(objects) }
        return try objects.withContiguousMutableStorageIfAvailable(body)
    }

    /// Moves a member to another position.
    ///
    /// - Parameters:
    ///   - position: The member's position.
    ///   - target: The member's new position.
    public mutating func move(from position: Int, to target: Int) {
        var objects = elements
        let object = objects.remove(at: position)
        objects.insert(object, at: target)
        set(objects)
    }
}

extension OrderedToMany: ExpressibleByArrayLiteral {
    /// Creates a list of objects, which can be assigned to a relationship.
    public init(arrayLiteral elements: Element...) {
        self.init()
        set(elements)
    }
}
