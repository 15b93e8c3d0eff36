internal import RoostKeyValue
internal import RoostSystem

/// A checked branch or leaf page: its nodes are contiguous and lie inside the page.
///
/// References to other pages are not checked.
struct LMDBTreePage {
    /// The kind of a tree's keys: bytes, or 8-byte integers in the machine's byte order.
    enum Keys { case bytes, integers }

    enum Content: Int {
        case value
        /// The number of the first page of the value.
        case overflow
        /// The record of a database.
        case database
    }

    struct Node {
        /// The value's size in bytes, which is valid only in a leaf.
        let valueByteCount: Int
        /// The kind of content, or nil in a branch and for flags that Roost never writes.
        let content: Content?
        let flags: Int
        let child: UInt64
        // SAFETY: `key` points into the page's bytes and is used only while these bytes are valid.
        let key: UnsafeRawBufferPointer
        fileprivate let offset: Int
        let valueOffset: Int
        let end: Int
    }

    static let headerByteCount = 16
    private static let maximumKeyByteCount = 511
    /// The size of the fields before a node's key: value size or child, flags, key size.
    private static let nodeByteCount = 8

    let bytes: FileBytes
    let number: UInt64
    let isLeaf: Bool
    let keys: Keys
    /// The number of nodes: at least 1 in a leaf and 2 in a branch.
    let count: Int
    /// Whether the page is a leaf whose nodes all contain their values.
    private(set) var hasOnlyValues: Bool

    /// Checks a page in time proportional to its number of nodes.
    ///
    /// `ends` is reused memory with one element for every two bytes of the page. It contains zeros
    /// before and after a successful call.
    init(
        _ bytes: FileBytes, number: UInt64, isLeaf: Bool, keys: Keys, ends: inout [UInt16]
    ) throws(LMDBDamage) {
        (self.bytes, self.number, self.isLeaf, self.keys) = (bytes, number, isLeaf, keys)
        hasOnlyValues = isLeaf
        let pageByteCount = bytes.bytes.count
        guard try bytes.u64(0) == number else { throw LMDBDamage("another page's number in its header", page: number) }
        guard try bytes.u16(10) == (isLeaf ? 2 : 1), try bytes.u16(8) == 0 else {
            throw LMDBDamage("the wrong kind of page", page: number)
        }
        let (lower, upper) = try (bytes.u16(12), bytes.u16(14))
        guard lower >= Self.headerByteCount, lower % 2 == 0, lower <= upper, upper <= pageByteCount else {
            throw LMDBDamage("bounds \(lower) and \(upper)", page: number)
        }
        count = (lower - Self.headerByteCount) / 2
        guard count >= (isLeaf ? 1 : 2) else { throw LMDBDamage("only \(count) keys", page: number) }
        try checkNodes(upper: upper, ends: &ends)
    }

    private mutating func checkNodes(upper: Int, ends: inout [UInt16]) throws(LMDBDamage) {
        var before: UnsafeRawBufferPointer?
        for index in 0..<count {
            let node = try read(index)
            if node.content != .value { hasOnlyValues = false }
            guard node.offset >= upper else { throw LMDBDamage("a node at \(node.offset)", page: number) }
            if index > 0 || isLeaf {
                if let before, keys.order(before, node.key) >= 0 {
                    throw LMDBDamage("its keys are out of order", page: number)
                }
                before = node.key
            }
            // Nodes begin at even offsets, so half of an offset fits into 16 bits on pages of up to
            // 64 KiB.
            ends[node.offset / 2] = UInt16((node.end + 1) / 2)
        }
        // Nodes must be contiguous in memory, in any order.
        var (position, found) = (upper / 2, 0)
        while position < ends.count, ends[position] > position {
            let end = Int(ends[position])
            ends[position] = 0
            (position, found) = (end, found + 1)
        }
        guard found == count, upper % 2 == 0, position == ends.count else {
            throw LMDBDamage("its nodes overlap or leave a gap", page: number)
        }
    }

    /// Returns the node at a position below `count`.
    func node(_ index: Int) throws(LMDBDamage) -> Node { try read(index) }

    @inline(__always)
    private func read(_ index: Int) throws(LMDBDamage) -> Node {
        let pageByteCount = bytes.bytes.count
        let offset = try bytes.u16(Self.headerByteCount + 2 * index)
        guard offset % 2 == 0, offset + Self.nodeByteCount <= pageByteCount else {
            throw LMDBDamage("a node at \(offset)", page: number)
        }
        let low = try bytes.u16(offset) | bytes.u16(offset + 2) << 16
        let flags = try bytes.u16(offset + 4)
        let keyByteCount = try bytes.u16(offset + 6)
        let keyEnd = offset + Self.nodeByteCount + keyByteCount
        guard keyByteCount <= Self.maximumKeyByteCount, keyEnd <= pageByteCount else {
            throw LMDBDamage("a key of \(keyByteCount) bytes", page: number)
        }
        // The first key of a branch is empty and represents all keys before the second.
        guard (index == 0 && !isLeaf) || (keyByteCount > 0 && (keys == .bytes || keyByteCount == 8)) else {
            throw LMDBDamage("a key of \(keyByteCount) bytes", page: number)
        }
        let content = isLeaf ? Content(rawValue: flags) : nil
        let end =
            switch content {
            case .value, .database: keyEnd + low
            case .overflow: keyEnd + MemoryLayout<UInt64>.size
            case nil: keyEnd
            }
        guard end <= pageByteCount else { throw LMDBDamage("a value of \(low) bytes", page: number) }
        return Node(
            valueByteCount: low, content: content, flags: flags, child: UInt64(low) | UInt64(flags) << 32,
            key: UnsafeRawBufferPointer(rebasing: bytes.bytes[offset + Self.nodeByteCount..<keyEnd]), offset: offset,
            valueOffset: keyEnd, end: end)
    }
}

extension LMDBTreePage.Keys {
    /// Returns a negative number, zero or a positive number, like `memcmp`.
    func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        if self == .integers, left.count == 8, right.count == 8 {
            let (a, b) = (left.loadUnaligned(as: UInt64.self), right.loadUnaligned(as: UInt64.self))
            return a < b ? -1 : a == b ? 0 : 1
        }
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let order = memcmp(a, b, common)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
