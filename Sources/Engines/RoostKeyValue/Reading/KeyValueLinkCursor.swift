internal import RoostCore

/// The links in one range of a space, in the order of their keys.
///
/// An entry's key contains two objects and the link's place in the list of the first object. The
/// value is the link's place in the list of the second object. References have no value.
final class LinkStream {
    private let cursor: any KeyValueCursor
    private let space: KeySpace
    private var prefix: StorageKey
    /// Whether links from an object to itself are skipped, because another stream returns them.
    private let skipsSelf: Bool
    private var start: StorageKey?
    /// The current link; nil at the end and before the start.
    private(set) var current: Link?

    /// Creates a stream of the entries whose keys begin with `prefix`, after the link `after`, if
    /// any.
    ///
    /// Call ``advance()`` for the first link.
    init(
        _ snapshot: KeyValueSnapshot, space: KeySpace, prefix: StorageKey, after: Link? = nil, skipsSelf: Bool = false
    ) throws(StoreError) {
        cursor = try snapshot.reader.cursor(in: space)
        self.space = space
        self.prefix = prefix
        self.skipsSelf = skipsSelf
        var start = prefix
        // Stored keys are 1 or more, so a lower key in `after` precedes all of them.
        if let after, after.source > 0 {
            start.append(key: after.source)
            start.append(place: after.order)
            start.append(key: max(1, after.target))
            // The next possible key after a link's key is that key followed by a zero byte.
            if after.target > 0 { start.append(bytes: [0]) }
        }
        self.start = start
    }

    /// Moves before the first entry whose key begins with the given prefix.
    func restart(prefix: StorageKey) {
        self.prefix = prefix
        start = prefix
        current = nil
    }

    func advance() throws(StoreError) {
        repeat {
            let found: Bool
            if let first = start {
                start = nil
                found = try cursor.seek(to: first)
            } else {
                found = current == nil ? false : try cursor.next()
            }
            current =
                found && cursor.key.begins(with: prefix.bytes)
                ? try Self.link(cursor.key, value: cursor.value, space: space) : nil
        } while skipsSelf && current.map { $0.source == $0.target } ?? false
    }

    /// Returns an entry's link.
    ///
    /// The link's source is the first object in the key. So in the space `inverseLinks`, the result
    /// is the stored link, flipped.
    static func link(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, space: KeySpace
    ) throws(StoreError) -> Link {
        let inverse = space == .references && value.isEmpty ? 0 : value.littleEndian64(at: 0)
        guard value.count == (space == .references ? 0 : 8), let inverse, let key = LinkKey(key) else {
            throw .damagedEntry(space)
        }
        return Link(key.from, key.to, order: key.place, inverseOrder: Int64(bitPattern: inverse))
    }
}

extension StoreError {
    static func damagedEntry(_ space: KeySpace) -> StoreError {
        StoreError(.corrupted, "An entry of space '\(space)' has the wrong form.")
    }
}

/// The parts of a key of the spaces `links`, `inverseLinks` and `references`:
/// `[number][from][place][to]`.
struct LinkKey {
    let relationship: Int
    let from: Int64
    let place: Int64
    let to: Int64

    init?(_ key: UnsafeRawBufferPointer) {
        var parts = KeyParts(key)
        guard let relationship = parts.number(), let from = parts.key(), let place = parts.place(),
            let to = parts.key(),
            parts.isAtEnd
        else { return nil }
        (self.relationship, self.from, self.place, self.to) = (relationship, from, place, to)
    }

    /// Returns the last part of a key, `to`, or nil.
    ///
    /// The first `byteCount` bytes are the number and `from`, which the caller knows.
    @inline(__always)
    static func end(of key: UnsafeRawBufferPointer, behind byteCount: Int) -> Int64? {
        key.lastShortKey(behind: byteCount) ?? longEnd(of: key, behind: byteCount)
    }

    @inline(never)
    private static func longEnd(of key: UnsafeRawBufferPointer, behind byteCount: Int) -> Int64? {
        var parts = KeyParts(key, at: byteCount)
        guard parts.place() != nil, let to = parts.key(), parts.isAtEnd else { return nil }
        return to
    }
}

/// The links of one stream, or of several streams merged by place and target key.
final class KeyValueLinkCursor: FillingLinkCursor {
    private let snapshot: KeyValueSnapshot
    private let streams: [LinkStream]
    private var hasStarted = false

    init(_ snapshot: KeyValueSnapshot, relationship: Int, streams: [LinkStream]) {
        self.snapshot = snapshot
        self.streams = streams
        super.init(relationship: relationship)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        if !hasStarted {
            hasStarted = true
            for stream in streams { try stream.advance() }
        }
        while let stream = nextStream(), let link = stream.current {
            guard !batch.isFull else { return true }
            batch.links.append(link)
            try stream.advance()
        }
        return false
    }

    private func nextStream() -> LinkStream? { streams.count == 1 ? streams[0] : streams.leading }
}

extension [LinkStream] {
    /// The stream whose link comes first by place and target key; nil if all are at their end.
    fileprivate var leading: LinkStream? {
        var best: LinkStream?
        for stream in self {
            guard let link = stream.current else { continue }
            if let other = best?.current, (other.order, other.target) <= (link.order, link.target) { continue }
            best = stream
        }
        return best
    }
}

/// The links of many objects, object after object, with one cursor for each space.
final class GroupedLinkCursor: FillingLinkCursor {
    private let snapshot: KeyValueSnapshot
    private let description: ManagedObjectModel.Relationship
    private let spaces: [(space: KeySpace, number: Int)]
    private let ids: [ObjectID]
    /// The index of the next object to start.
    private var index = 0
    /// The cursor of a single space; nil before the first object, and if two spaces are merged.
    private var cursor: (any KeyValueCursor)?
    /// The key prefix of the object at which the last batch became full; nil before the first batch
    /// and after the last.
    private var prefix: StorageKey?
    /// The streams to merge; empty if there is only one space.
    private var streams: [LinkStream] = []

    init(
        _ snapshot: KeyValueSnapshot, relationship: ManagedObjectModel.Relationship,
        spaces: [(space: KeySpace, number: Int)], ids: [ObjectID]
    ) {
        (self.snapshot, description, self.spaces, self.ids) = (snapshot, relationship, spaces, ids)
        super.init(relationship: relationship.number)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        spaces.count == 1 ? try fillFromOne(&batch) : try fillMerging(&batch)
    }

    private func fillFromOne(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        let (space, number) = spaces[0]
        let cursor: any KeyValueCursor
        if let known = self.cursor { cursor = known } else { cursor = try snapshot.reader.cursor(in: space) }
        self.cursor = cursor
        var links = batch.links
        batch.links = []
        defer { batch.links = links }
        var key = prefix ?? StorageKey()
        // After a full batch, the cursor is at the last returned link.
        var isFound = prefix == nil ? false : try cursor.next()
        while true {
            if isFound {
                let bytes = key.bytes
                _ = try cursor.visit { (entry, value) throws(StoreError) in
                    guard entry.begins(with: bytes) else { return false }
                    links.append(try LinkStream.link(entry, value: value, space: space))
                    return links.count < LinkBatch.capacityCount
                }
                if links.count >= LinkBatch.capacityCount {
                    prefix = key
                    return true
                }
            }
            prefix = nil
            guard index < ids.count else { return false }
            let id = ids[index]
            index += 1
            key.start(record: id.key, root: number)
            // An object without entries has no links, so existence is checked only for objects with entries.
            isFound = try cursor.seek(to: key) && cursor.key.begins(with: key.bytes)
            if isFound { isFound = try snapshot.exists(id, relationship: description) }
        }
    }

    /// Adds links of two spaces, merged for each object by place and target key.
    private func fillMerging(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        while true {
            if let stream = streams.leading, let link = stream.current {
                guard !batch.isFull else { return true }
                batch.links.append(link)
                try stream.advance()
                continue
            }
            guard index < ids.count else { return false }
            let id = ids[index]
            index += 1
            guard try snapshot.exists(id, relationship: description) else { continue }
            for (position, (space, number)) in spaces.enumerated() {
                let key = StorageKey(record: id.key, root: number)
                if position < streams.count {
                    streams[position].restart(prefix: key)
                } else {
                    streams.append(try LinkStream(snapshot, space: space, prefix: key, skipsSelf: position > 0))
                }
                try streams[position].advance()
            }
        }
    }
}
