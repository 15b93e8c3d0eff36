internal import RoostCore

/// A sorter that returns the links of a load in the order of the rows in their tables.
///
/// A table of links is sorted by source and target. Links in the order of their targets would each
/// change a different page. A table larger than the page cache would then be written repeatedly. So
/// links that sort after all returned links are returned at once. Other links wait until the end.
///
/// Waiting links need up to about 16 MiB of memory. Further links need 33 or 49 bytes of disk each,
/// in unnamed files. Use the sorter from one thread.
final class SQLLinkSorter {
    private typealias Ends = (source: Int64, target: Int64)

    /// The highest returned link, by relationship number; initially (0, 0), which precedes all
    /// links.
    private var last: [Ends]
    private let sorter: ExternalSorter

    /// Creates a sorter with directories for temporary files, in order of preference.
    init(relationshipCount: Int, directories: [String], memoryByteCount: Int = 16 << 20) {
        last = Array(repeating: (0, 0), count: relationshipCount)
        sorter = ExternalSorter(memoryByteCount: memoryByteCount, directories: directories)
    }

    /// Sorts a batch of normalized links, and removes the links that must wait until ``drain(_:)``.
    ///
    /// - Throws: `noSpace` and `ioFailure` of a temporary file.
    func sort(_ batch: inout LinkBatch) throws(StoreError) {
        let known = last[batch.relationship]
        if isSorted(batch.links, after: known) {
            if let link = batch.links.last { last[batch.relationship] = (link.source, link.target) }
            return
        }
        batch.links.sort { ($0.source, $0.target) < ($1.source, $1.target) }
        let waiting = batch.links.prefix { ($0.source, $0.target) <= known }
        for link in waiting { try wait(link, relationship: batch.relationship) }
        batch.links.removeFirst(waiting.count)
        if let link = batch.links.last { last[batch.relationship] = (link.source, link.target) }
    }

    private func isSorted(_ links: [Link], after first: Ends) -> Bool {
        var last = first
        for link in links {
            guard last < (link.source, link.target) else { return false }
            last = (link.source, link.target)
        }
        return true
    }

    /// Calls `body` with batches of all waiting links, sorted by relationship, source and target.
    func drain(_ body: (LinkBatch) throws(StoreError) -> Void) throws(StoreError) {
        var batch = LinkBatch(relationship: 0)
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                let (relationship, link) = try decode(entry)
                if batch.isFull || batch.relationship != relationship {
                    if !batch.isEmpty { try body(batch) }
                    batch.removeAll()
                    batch.relationship = relationship
                }
                batch.links.append(link)
            }
        }
        if !batch.isEmpty { try body(batch) }
    }

    // MARK: Entries

    /// Adds a waiting link.
    ///
    /// The key is `[relationship, 8][source, 8][target, 8]`, big-endian, so that bytes sort like
    /// the numbers. The value is order and inverse order, eight bytes each; empty if both are 0.
    private func wait(_ link: Link, relationship: Int) throws(StoreError) {
        let key = (
            Int64(relationship).bigEndian, UInt64(bitPattern: link.source).bigEndian,
            UInt64(bitPattern: link.target).bigEndian
        )
        let places = (link.order.littleEndian, link.inverseOrder.littleEndian)
        let placeByteCount = link.order == 0 && link.inverseOrder == 0 ? 0 : 16
        try withUnsafeBytes(of: key) { (key) throws(StoreError) in
            try withUnsafeBytes(of: places) { (value) throws(StoreError) in
                try sorter.append(key, UnsafeRawBufferPointer(rebasing: value[..<placeByteCount]), in: 0)
            }
        }
    }

    private func decode(_ entry: UnsafeRawBufferPointer) throws(StoreError) -> (relationship: Int, link: Link) {
        let (key, value) = (EntryArena.key(of: entry), EntryArena.value(of: entry))
        // The first byte belongs to the sorter.
        guard key.count == 25, value.isEmpty || value.count == 16 else { throw Self.changed }
        let relationship = Int(Int64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: Int64.self)))
        guard last.indices.contains(relationship) else { throw Self.changed }
        var link = Link(
            Int64(bigEndian: key.loadUnaligned(fromByteOffset: 9, as: Int64.self)),
            Int64(bigEndian: key.loadUnaligned(fromByteOffset: 17, as: Int64.self)))
        if !value.isEmpty {
            link.order = Int64(littleEndian: value.loadUnaligned(fromByteOffset: 0, as: Int64.self))
            link.inverseOrder = Int64(littleEndian: value.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        }
        return (relationship, link)
    }

    private static var changed: StoreError {
        StoreError(.ioFailure, "A temporary file does not hold what was written to it; check the disk and load again.")
    }
}
