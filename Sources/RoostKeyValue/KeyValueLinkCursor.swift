internal import RoostCore

/// The links in one range of a space, in the order of their keys.
///
/// The spaces `links`, `inverseLinks` and `references` have keys of one form, ``LinkKey``; the value is the place at the other
/// end, which references do not have.
final class LinkStream {
    private let cursor: any KeyValueCursor
    private let space: KeySpace
    private let prefix: StorageKey
    /// Whether links from an object to itself are left out, because another stream gives them.
    private let skipsSelf: Bool
    private var start: StorageKey?
    /// The link at the position; nil at the end, or before the start.
    private(set) var current: Link?

    /// A stream of the entries that begin with `prefix`, behind `after` if given.
    ///
    /// Call ``advance()`` for the first.
    init(
        _ snapshot: KeyValueSnapshot, space: KeySpace, prefix: StorageKey, after: Link? = nil, skipsSelf: Bool = false
    ) throws(StoreError) {
        cursor = try snapshot.reader.cursor(in: space)
        self.space = space
        self.prefix = prefix
        self.skipsSelf = skipsSelf
        var start = prefix
        // Every stored key is positive: what lies behind a lower one begins with 1.
        if let after, after.source > 0 {
            start.append(key: after.source)
            start.append(place: after.order)
            start.append(key: max(1, after.target))
            // The least key behind that of a link is the same one with a byte more.
            if after.target > 0 { start.append(bytes: [0]) }
        }
        self.start = start
    }

    /// Moves to the next link, or the first.
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
                found && cursor.key.begins(with: prefix.bytes) ? try Self.link(cursor.key, cursor.value, space) : nil
        } while skipsSelf && current.map { $0.source == $0.target } ?? false
    }

    /// Reads an entry, as seen from the end its space is ordered by.
    static func link(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ space: KeySpace
    ) throws(StoreError) -> Link {
        let inverse = space == .references && value.isEmpty ? 0 : value.littleEndian64(at: 0)
        guard value.count == (space == .references ? 0 : 8), let inverse, let key = LinkKey(key) else {
            throw .damagedEntry(space)
        }
        return Link(key.from, key.to, order: key.place, inverseOrder: Int64(bitPattern: inverse))
    }
}

extension StoreError {
    /// An entry that the engine cannot have written.
    static func damagedEntry(_ space: KeySpace) -> StoreError {
        StoreError(.corrupted, "An entry of space '\(space)' has the wrong form.")
    }
}

/// A key of the spaces `links`, `inverseLinks` and `references`, taken apart: `[number][from][place][to]`.
struct LinkKey {
    let relationship: Int
    let from: Int64
    let place: Int64
    let to: Int64

    /// Nil if the key has another form.
    init?(_ key: UnsafeRawBufferPointer) {
        var parts = KeyParts(key)
        guard let relationship = parts.number(), let from = parts.key(), let place = parts.place(),
            let to = parts.key(),
            parts.isAtEnd
        else { return nil }
        (self.relationship, self.from, self.place, self.to) = (relationship, from, place, to)
    }

    /// The last part of a key whose first bytes are known to be number and `from`; nil if the key has another form.
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

/// The links of one stream, or of several merged by place and key.
final class KeyValueLinkCursor: LinkCursor {
    private let snapshot: KeyValueSnapshot
    private let relationship: Int
    private var streams: [LinkStream]
    private var hasStarted = false

    init(_ snapshot: KeyValueSnapshot, relationship: Int, streams: [LinkStream]) {
        self.snapshot = snapshot
        self.relationship = relationship
        self.streams = streams
    }

    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.relationship = relationship
        try snapshot.requireOpen()
        do throws(StoreError) {
            if !hasStarted {
                hasStarted = true
                for stream in streams { try stream.advance() }
            }
            while !batch.isFull, let stream = nextStream(), let link = stream.current {
                batch.links.append(link)
                try stream.advance()
            }
        } catch {
            streams = []
            batch.removeAll()
            throw error
        }
        return !batch.isEmpty
    }

    /// The stream whose link comes first; nil when all are at their end.
    private func nextStream() -> LinkStream? {
        guard streams.count != 1 else { return streams[0] }
        var best: LinkStream?
        for stream in streams {
            guard let link = stream.current else { continue }
            if let other = best?.current, (other.order, other.target) <= (link.order, link.target) { continue }
            best = stream
        }
        return best
    }
}
