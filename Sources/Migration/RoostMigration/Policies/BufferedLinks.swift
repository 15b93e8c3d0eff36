internal import RoostCore

/// The links of a destination that were added or removed since the last write.
struct BufferedLinks {
    private var addedByOwner: [Int: LinkBatch] = [:]
    private var removedByOwner: [Int: LinkBatch] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= LinkBatch.capacityCount }
    /// The added links, in one batch for each owning relationship.
    var added: [LinkBatch] { addedByOwner.sorted { $0.key < $1.key }.map(\.value) }
    var removed: [LinkBatch] { removedByOwner.sorted { $0.key < $1.key }.map(\.value) }

    mutating func add(_ link: Link, to owner: Int) {
        addedByOwner[owner, default: LinkBatch(relationship: owner)].links.append(link)
        count += 1
    }

    /// Records the removal of a stored link.
    mutating func remove(_ link: Link, from owner: Int) {
        removedByOwner[owner, default: LinkBatch(relationship: owner)].links.append(link)
        count += 1
    }

    mutating func removeAll() { self = BufferedLinks() }
}

/// A record of the relationships that were set in objects, with their next free positions.
struct FreePlaces {
    /// A relationship as seen from one object.
    struct End: Hashable {
        var relationship: Int
        var key: Int64
    }

    /// The maximum number of ends whose next position is remembered after a write.
    private static let limit = 1 << 16

    /// The ends that were set since the last write, with the next free position of each.
    private var touched: [End: Int64] = [:]
    /// The remembered next free positions of ends, including ends that are already written.
    private var next: [End: Int64] = [:]

    func isTouched(_ end: End) -> Bool { touched[end] != nil }

    subscript(end: End) -> Int64? { touched[end] ?? next[end] }

    /// Records that an unordered end was set.
    mutating func touch(_ end: End) { touched[end] = 0 }

    mutating func note(_ place: Int64, at end: End) {
        touched[end] = place
        if next.count >= Self.limit { forget() }
        next[end] = place
    }

    /// Forgets the positions of written ends, because other code may have used these positions.
    mutating func forget() {
        if !next.isEmpty { next.removeAll(keepingCapacity: true) }
    }

    mutating func noteWritten() { touched.removeAll(keepingCapacity: true) }
}
