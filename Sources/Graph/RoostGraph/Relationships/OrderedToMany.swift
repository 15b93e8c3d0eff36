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

    private init(unique objects: [Element]) { storage = .list(objects) }

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
    ///
    /// If the member cannot be read, the result is an object without values that is in no context.
    public subscript(position: Int) -> Element {
        get {
            switch storage {
            case .list(let objects): return objects[position]
            case .relationship(let owner, let relationship):
                owner.noteAccess(.members(relationship))
                return owner.core.latchingMember(of: owner, relationship: relationship, at: position)
            }
        }
        set {
            guard var objects = readElements else { return }
            objects[position] = newValue
            set(objects)
        }
    }

    /// The members in a range.
    ///
    /// Changes to a copy of the slice do not change the relationship.
    public subscript(bounds: Range<Int>) -> Slice<OrderedToMany<Element>> {
        get {
            let objects = elements
            // If the keys could not be read, the slice reads its members later.
            guard bounds.upperBound <= objects.count else { return Slice(base: self, bounds: bounds) }
            return Slice(base: OrderedToMany(unique: objects), bounds: bounds)
        }
        set { replaceSubrange(bounds, with: newValue) }
    }

    /// Returns an iterator over the current members.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    // MARK: Changes

    /// Returns a list of the members and further objects, without changing a relationship.
    public static func + (left: OrderedToMany<Element>, right: some Sequence<Element>) -> OrderedToMany<Element> {
        var list = OrderedToMany()
        list.set(left.elements + right)
        return list
    }

    /// Replaces the members in a range.
    ///
    /// An object of `objects` that is a member outside of the range moves into it. If `objects`
    /// contains an object twice, only the first position counts.
    public mutating func replaceSubrange(_ range: Range<Int>, with objects: some Collection<Element>) {
        guard let former = readElements else { return }
        let new = Array(objects)
        let moved = Set(new)
        set(
            former[..<range.lowerBound].filter { !moved.contains($0) } + new
                + former[range.upperBound...].filter { !moved.contains($0) })
    }

    /// Adds an object at the end if it is not yet a member, without reading the members.
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

    /// Removes all members.
    public mutating func removeAll(keepingCapacity keepCapacity: Bool = false) { set([]) }

    /// Removes the members for which a closure returns true.
    public mutating func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
        guard let objects = readElements else { return }
        set(try objects.filter { try !shouldBeRemoved($0) })
    }

    /// Swaps two members.
    public mutating func swapAt(_ left: Int, _ right: Int) {
        guard var objects = readElements else { return }
        objects.swapAt(left, right)
        set(objects)
    }

    /// Runs `body` with an array of the members, then replaces the members with the array.
    public mutating func withContiguousMutableStorageIfAvailable<Result>(
        _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> Result
    ) rethrows -> Result? {
        guard var objects = readElements else {
            // The closure needs a buffer with as many elements as the list, but must not change the relationship.
            var available = elements
            return try available.withContiguousMutableStorageIfAvailable(body)
        }
        defer { set(objects) }
        return try objects.withContiguousMutableStorageIfAvailable(body)
    }

    /// Moves a member to another position.
    ///
    /// `target` is the position after the move.
    public mutating func move(from position: Int, to target: Int) {
        guard var objects = readElements else { return }
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
