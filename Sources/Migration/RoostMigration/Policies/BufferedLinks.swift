internal import RoostCore

/// The links of a destination that were added or removed since the last writing.
struct BufferedLinks {
    private var addedByOwner: [Int: LinkBatch] = [:]
    private var removedByOwner: [Int: LinkBatch] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= LinkBatch.capacityCount }
    /// The added links, in the order of the relationships that own them.
    var added: [LinkBatch] { addedByOwner.sorted { $0.key < $1.key }.map(\.value) }
    /// The removed links, in the order of the relationships that own them.
    var removed: [LinkBatch] { removedByOwner.sorted { $0.key < $1.key }.map(\.value) }

    /// Adds a link of the relationship that owns it.
    mutating func add(_ link: Link, to owner: Int) {
        addedByOwner[owner, default: LinkBatch(relationship: owner)].links.append(link)
        count += 1
    }

    /// Removes a link that is in the store.
    mutating func remove(_ link: Link, from owner: Int) {
        removedByOwner[owner, default: LinkBatch(relationship: owner)].links.append(link)
        count += 1
    }

    mutating func removeAll() { self = BufferedLinks() }
}

/// The places that are free at the ends of relationships that were set.
struct FreePlaces {
    /// A relationship as seen from one object.
    struct End: Hashable {
        var relationship: Int
        var key: Int64
    }

    /// The number of ends of ordered relationships whose next place is kept beyond a writing.
    private static let limit = 1 << 16

    /// The ends that were set since the last writing, with the next free place of each.
    private var touched: [End: Int64] = [:]
    /// The next free places of some ends, which may be written already.
    private var next: [End: Int64] = [:]

    /// Whether an end was set since the last writing.
    func isTouched(_ end: End) -> Bool { touched[end] != nil }

    /// The next free place of an end; nil if it is not known.
    subscript(end: End) -> Int64? { touched[end] ?? next[end] }

    /// Notes that an end without order was set.
    mutating func touch(_ end: End) { touched[end] = 0 }

    /// Notes the next free place of an end that is set.
    mutating func note(_ place: Int64, at end: End) {
        touched[end] = place
        if next.count >= Self.limit { forget() }
        next[end] = place
    }

    /// Forgets the places of ends that were written, which other code may have taken.
    mutating func forget() {
        if !next.isEmpty { next.removeAll(keepingCapacity: true) }
    }

    /// Notes that everything was written.
    mutating func noteWritten() { touched.removeAll(keepingCapacity: true) }
}
