internal import CLMDB
internal import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A leaf page in LMDB's map, whose entries are read without a call of the library for each.
///
/// FORMAT.md draws it. Pages that a read transaction can reach never change, so this is for read transactions only: what a writer has
/// changed lies outside of the map. No offset or length is believed; what is not as it should be is left to the library.
struct LMDBLeafPage {
    // SAFETY: `start` is the beginning of a page of `byteCount` bytes of the map, which stays as long as the transaction.
    private let start: UnsafeRawPointer
    private let byteCount: Int
    /// How many entries there are.
    let count: Int

    private static let headerByteCount = 16
    private static let nodeHeaderByteCount = 8
    private static let leafFlag: UInt16 = 2

    /// The page that a key which LMDB has handed out lies in; nil for a page that is no plain leaf.
    ///
    /// - Parameters:
    ///   - key: A key in the map: keys of leaves always lie in their page.
    ///   - byteCount: The size of a page; see ``alignedByteCount(of:)``.
    @inline(__always)
    init?(holding key: UnsafeRawPointer, byteCount: Int) {
        let offset = Int(bitPattern: key) & (byteCount - 1)
        start = key - offset
        self.byteCount = byteCount
        let (padding, flags) = (Self.number(start, at: 8), Self.number(start, at: 10))
        let lower = Int(Self.number(start, at: 12))
        guard flags == Self.leafFlag, padding == 0, lower >= Self.headerByteCount, lower <= byteCount else {
            return nil
        }
        count = (lower - Self.headerByteCount) / 2
    }

    /// The position of the entry whose key starts at an address; nil where none of the page's does.
    func position(of key: UnsafeRawPointer) -> Int? {
        let wanted = key - start - Self.nodeHeaderByteCount
        for index in 0..<count where Int(Self.number(start, at: Self.headerByteCount + 2 * index)) == wanted {
            return index
        }
        return nil
    }

    /// The entry at a position below ``count``; nil where its value lies on pages of its own, or it does not lie in the page.
    @inline(__always)
    func entry(at position: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        // SAFETY: `count` places end at `lower`, which is not behind the page; the entry is compared with the page's end.
        let offset = Int(Self.number(start, at: Self.headerByteCount + 2 * position))
        guard offset <= byteCount - Self.nodeHeaderByteCount else { return nil }
        let node = start + offset
        // Two words: the value's length, low half first; flags and the key's length.
        let valueCount = Int(node.loadUnaligned(as: UInt32.self))
        let flags = Self.number(node, at: 4)
        let keyCount = Int(Self.number(node, at: 6))
        guard flags == 0, keyCount > 0, keyCount + valueCount <= byteCount - Self.nodeHeaderByteCount - offset else {
            return nil
        }
        let key = node + Self.nodeHeaderByteCount
        return (
            UnsafeRawBufferPointer(start: key, count: keyCount),
            UnsafeRawBufferPointer(start: key + keyCount, count: valueCount)
        )
    }

    @inline(__always)
    private static func number(_ base: UnsafeRawPointer, at offset: Int) -> UInt16 {
        base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
    }

    /// The size of an environment's pages; nil where a page need not start at a multiple of it.
    ///
    /// The map starts at a page of the system, and a file of another machine can have larger ones.
    static func alignedByteCount(of environment: OpaquePointer, path: String) throws(StoreError) -> Int? {
        var statistics = MDB_stat()
        let code = mdb_env_stat(environment, &statistics)
        guard code == MDB_SUCCESS else { throw StoreError.lmdb(code, "cannot be opened", path: path) }
        let byteCount = Int(statistics.ms_psize)
        let isAligned = byteCount.nonzeroBitCount == 1 && byteCount >= 256 && byteCount <= sysconf(Int32(_SC_PAGESIZE))
        return isAligned ? byteCount : nil
    }
}
