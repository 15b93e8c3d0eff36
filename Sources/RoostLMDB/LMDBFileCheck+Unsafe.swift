internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Examines the structure of an LMDB data file without LMDB, which trusts its files and dies of damaged ones.
///
/// It never maps the file, and believes no length, offset or page number before it has looked whether that can be, so that a
/// damaged or hostile file can only make it throw. It accepts what the LMDB backend writes, nothing else: 64-bit, little-endian,
/// no sorted duplicates. Every page must be live once or free once. Nobody may write meanwhile.
/// Reads each live page once: about 0.7 ms per MB.
final class LMDBFileCheck {
    private let file: RegularFile
    private let byteCount: UInt64
    private var pageByteCount = 4096
    private var filePages: UInt64 = 0
    private var lastPage: UInt64 = 0
    private var transaction: UInt64 = 0
    /// A bit for each page: those that a tree reaches, and those on the free list.
    private var used: [UInt64] = []
    private var freed: [UInt64] = []
    /// One page for each level of the trees, the levels of a database below those of the main tree.
    private var pages: [UnsafeMutableRawBufferPointer] = []
    private var counts = (branch: UInt64(0), leaf: UInt64(0), overflow: UInt64(0), entries: UInt64(0))
    /// The key before the current one in the tree that is walked.
    private var previousKey: [UInt8] = []
    private var hasPreviousKey = false
    private var databaseNames: [String] = []

    private static let headerByteCount = 16
    private static let maximumKeyByteCount = 511
    private static let maximumDepth = 32

    /// Checks a file.
    ///
    /// Throws `notAStore`, `unsupportedVersion` or `corrupted`, or what reading it reports.
    static func check(_ path: String) throws(StoreError) {
        try examine(path) { (file) throws(CheckFailure) in try file.run() }
    }

    /// Checks that a file begins as LMDB files of this kind of machine do.
    ///
    /// Throws `notAStore` or `unsupportedVersion`, or what reading it reports.
    static func requireMagic(_ path: String) throws(StoreError) {
        try examine(path) { (file) throws(CheckFailure) in
            try file.withBytes(Int(min(file.byteCount, UInt64(LMDBMeta.byteCount))), at: 0) {
                (bytes) throws(CheckFailure) in
                do throws(LMDBDamage) { try LMDBMeta.requireMagic(bytes) } catch { throw .damage(error) }
            }
        }
    }

    private static func examine(
        _ path: String, _ body: (LMDBFileCheck) throws(CheckFailure) -> Void
    ) throws(StoreError) {
        do throws(CheckFailure) {
            try body(LMDBFileCheck(path))
        } catch {
            switch error {
            case .damage(let damage): throw damage.storeError(path: path)
            case .system(let error): throw error
            }
        }
    }

    private enum CheckFailure: Error {
        case damage(LMDBDamage)
        case system(StoreError)
    }

    private init(_ path: String) throws(CheckFailure) {
        do throws(StoreError) { file = try RegularFile(at: path) } catch { throw .system(error) }
        byteCount = UInt64(file.byteCount)
    }

    deinit {
        for page in pages { page.deallocate() }
    }

    // MARK: Reading

    /// Fills `buffer` from the file.
    private func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(CheckFailure) {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(buffer.count))
        guard !overflow, end <= byteCount else {
            throw .damage(LMDBDamage("the file ends before byte \(offset) and what belongs there"))
        }
        let got: Int
        // The offset is below the file's size, which is an Int.
        do throws(StoreError) { got = try file.read(into: buffer, at: Int(offset)) } catch { throw .system(error) }
        guard got == buffer.count else { throw .damage(LMDBDamage("the file became shorter while it was examined")) }
    }

    /// A page, in the buffer of a level.
    private func page(_ number: UInt64, level: Int) throws(CheckFailure) -> FileBytes {
        while pages.count <= level { pages.append(.allocate(byteCount: pageByteCount, alignment: 16)) }
        // `number` was compared with the file's pages before, so the product is inside the file.
        try read(pages[level], at: number * UInt64(pageByteCount))
        return FileBytes(bytes: UnsafeRawBufferPointer(pages[level]))
    }

    /// `count` bytes at `offset`, for `body`.
    private func withBytes<Result>(
        _ count: Int, at offset: UInt64, _ body: (FileBytes) throws(CheckFailure) -> Result
    ) throws(CheckFailure) -> Result {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        try read(buffer, at: offset)
        return try body(FileBytes(bytes: UnsafeRawBufferPointer(buffer)))
    }

    // MARK: The file

    private func run() throws(CheckFailure) {
        let (first, second) = try metas()
        let current = first.transaction > second.transaction ? first : second
        lastPage = current.lastPage
        transaction = current.transaction
        let words = Int(lastPage / 64) + 1
        used = [UInt64](repeating: 0, count: words)
        freed = used
        try damage { () throws(LMDBDamage) in
            guard current.mapByteCount / UInt64(pageByteCount) > lastPage else {
                throw LMDBDamage("a map of \(current.mapByteCount) bytes for \(lastPage) pages")
            }
        }
        try walk(current.main, .main, level: 0)
        try walk(current.free, .free, level: 0)
        try checkDatabases()
        try checkPages()
    }

    private func metas() throws(CheckFailure) -> (LMDBMeta, LMDBMeta) {
        let first = try withBytes(Int(min(byteCount, UInt64(LMDBMeta.byteCount))), at: 0) {
            (bytes) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in
                try LMDBMeta.requireMagic(bytes)
                return try LMDBMeta(bytes, number: 0)
            }
        }
        pageByteCount = first.pageByteCount
        filePages = byteCount / UInt64(pageByteCount)
        let second = try withBytes(LMDBMeta.byteCount, at: UInt64(pageByteCount)) { (bytes) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in try LMDBMeta(bytes, number: 1) }
        }
        try damage { () throws(LMDBDamage) in
            guard second.pageByteCount == pageByteCount else {
                throw LMDBDamage("another page size than on page 0", page: 1)
            }
            for (number, meta) in [first, second].enumerated() {
                // Pages at the end that were taken and given back in one transaction were never written.
                guard meta.lastPage >= 1, meta.lastPage < 1 << 40 else {
                    throw LMDBDamage("\(meta.lastPage) pages", page: UInt64(number))
                }
            }
            // Transaction n is written to meta page n & 1, so neighbours alternate.
            let (a, b) = (first.transaction, second.transaction)
            guard a & 1 == 0, b & 1 == 1 || (a == 0 && b == 0), max(a, b) - min(a, b) <= 1 else {
                throw LMDBDamage("the transaction numbers \(a) and \(b) of the meta pages do not follow each other")
            }
            // A bit for every page has to fit in memory; what a file does not have cannot be live.
            guard max(first.lastPage, second.lastPage) <= max(filePages * 2, filePages + 1_048_576) else {
                throw LMDBDamage("the file was cut: \(filePages) pages are there")
            }
        }
        return (first, second)
    }

    private func checkDatabases() throws(CheckFailure) {
        let expected = Set(KeySpace.allCases.map(\.rawValue))
        guard Set(databaseNames) == expected else {
            throw .damage(LMDBDamage("it is an LMDB file, but not a Roost store", code: .notAStore))
        }
    }

    /// Every page is live or free, none is both.
    private func checkPages() throws(CheckFailure) {
        var known: UInt64 = 0
        for (live, free) in zip(used, freed) {
            guard live & free == 0 else { throw .damage(LMDBDamage("a live page is on the free list")) }
            known += UInt64((live | free).nonzeroBitCount)
        }
        guard known == lastPage - 1 else {
            throw .damage(LMDBDamage("\(lastPage - 1) pages were taken, \(known) are live or free"))
        }
    }

    private func mark(live page: UInt64) throws(LMDBDamage) {
        guard page >= 2, page <= lastPage, page < filePages else { throw LMDBDamage("there is no page \(page)") }
        try Self.mark(page, &used)
    }

    private static func mark(_ page: UInt64, _ bits: inout [UInt64]) throws(LMDBDamage) {
        let (word, bit) = (Int(page >> 6), UInt64(1) << (page & 63))
        guard word < bits.count, bits[word] & bit == 0 else { throw LMDBDamage("it is used twice", page: page) }
        bits[word] |= bit
    }

    private func damage<Result>(_ body: () throws(LMDBDamage) -> Result) throws(CheckFailure) -> Result {
        do throws(LMDBDamage) { return try body() } catch { throw .damage(error) }
    }

    // MARK: Trees

    private enum Role { case main, free, database }

    private func walk(_ tree: LMDBTree, _ role: Role, level: Int) throws(CheckFailure) {
        let savedCounts = counts
        let saved = (previousKey, hasPreviousKey)
        counts = (0, 0, 0, 0)
        hasPreviousKey = false
        if tree.root == LMDBTree.noPage {
            guard tree.entries == 0, tree.depth == 0 else {
                throw .damage(LMDBDamage("an empty tree with \(tree.entries) entries"))
            }
        } else {
            guard (1...Self.maximumDepth).contains(tree.depth) else {
                throw .damage(LMDBDamage("a tree of depth \(tree.depth)"))
            }
            try walk(page: tree.root, depth: 1, tree, role, level: level, lowerBound: nil)
        }
        guard counts.branch == tree.branchPages, counts.leaf == tree.leafPages, counts.overflow == tree.overflowPages,
            counts.entries == tree.entries
        else { throw .damage(LMDBDamage("the pages or entries of a tree are not as many as recorded")) }
        counts = savedCounts
        (previousKey, hasPreviousKey) = saved
    }

    private func walk(
        page number: UInt64, depth: Int, _ tree: LMDBTree, _ role: Role, level: Int, lowerBound: [UInt8]?
    ) throws(CheckFailure) {
        try damage { () throws(LMDBDamage) in try mark(live: number) }
        let page = try page(number, level: level)
        let isLeaf = depth == tree.depth
        let (count, upper) = try damage { () throws(LMDBDamage) in try header(page, number, isLeaf: isLeaf) }
        if isLeaf {
            counts.leaf += 1
            counts.entries += UInt64(count)
        } else {
            counts.branch += 1
        }
        // Where each node begins and ends, packed so that sorting sorts by the beginning.
        var extents: [UInt32] = []
        extents.reserveCapacity(count)
        for index in 0..<count {
            let node = try damage { () throws(LMDBDamage) in
                try self.node(page, number, index, upper: upper, isLeaf: isLeaf, isFree: role == .free)
            }
            let isUnbounded = index == 0 && !isLeaf
            if !isUnbounded {
                try damage { () throws(LMDBDamage) in
                    try checkOrder(
                        node.key, isLeaf: isLeaf, lowerBound: index == 0 ? lowerBound : nil, integers: role == .free,
                        number)
                }
            }
            var end = node.valueOffset
            if isLeaf {
                end = try leafValue(page, number, node, role, level: level)
            } else {
                let bound = isUnbounded ? lowerBound : Array(node.key)
                try walk(page: node.child, depth: depth + 1, tree, role, level: level + 1, lowerBound: bound)
            }
            extents.append(UInt32(node.offset) << 16 | UInt32(min((end + 1) & ~1, pageByteCount)))
        }
        extents.sort()
        var position = upper
        for extent in extents {
            guard Int(extent >> 16) == position else {
                throw .damage(LMDBDamage("its nodes overlap or leave a gap", page: number))
            }
            position = Int(extent & 0xFFFF)
        }
        guard position == pageByteCount else { throw .damage(LMDBDamage("its nodes end at \(position)", page: number)) }
    }

    /// Checks a page's header.
    ///
    /// Returns the number of its nodes and where they begin.
    private func header(_ page: FileBytes, _ number: UInt64, isLeaf: Bool) throws(LMDBDamage) -> (
        count: Int, upper: Int
    ) {
        guard try page.u64(0) == number else { throw LMDBDamage("another page's number in its header", page: number) }
        guard try page.u16(10) == (isLeaf ? 2 : 1), try page.u16(8) == 0 else {
            throw LMDBDamage("the wrong kind of page", page: number)
        }
        let (lower, upper) = try (page.u16(12), page.u16(14))
        guard lower >= Self.headerByteCount, lower % 2 == 0, lower <= upper, upper <= pageByteCount else {
            throw LMDBDamage("bounds \(lower) and \(upper)", page: number)
        }
        let count = (lower - Self.headerByteCount) / 2
        guard count >= (isLeaf ? 1 : 2) else { throw LMDBDamage("only \(count) keys", page: number) }
        return (count, upper)
    }

    private struct Node {
        let offset: Int
        let flags: Int
        /// The size of a leaf's value.
        let valueByteCount: Int
        let child: UInt64
        // SAFETY: points into the page's buffer, which is not refilled while the node is in use: deeper pages have other buffers.
        let key: UnsafeRawBufferPointer
        let valueOffset: Int
    }

    private func node(
        _ page: FileBytes, _ number: UInt64, _ index: Int, upper: Int, isLeaf: Bool, isFree: Bool
    ) throws(LMDBDamage) -> Node {
        let offset = try page.u16(Self.headerByteCount + 2 * index)
        guard offset >= upper, offset % 2 == 0, offset + 8 <= pageByteCount else {
            throw LMDBDamage("a node at \(offset)", page: number)
        }
        let keyByteCount = try page.u16(offset + 6)
        let keyEnd = offset + 8 + keyByteCount
        guard keyByteCount <= Self.maximumKeyByteCount, keyEnd <= pageByteCount else {
            throw LMDBDamage("a key of \(keyByteCount) bytes", page: number)
        }
        guard (index == 0 && !isLeaf) || (keyByteCount > 0 && (!isFree || keyByteCount == 8)) else {
            throw LMDBDamage("a key of \(keyByteCount) bytes", page: number)
        }
        let low = try page.u16(offset) | page.u16(offset + 2) << 16
        let flags = try page.u16(offset + 4)
        return Node(
            offset: offset, flags: flags, valueByteCount: low, child: UInt64(low) | UInt64(flags) << 32,
            key: UnsafeRawBufferPointer(rebasing: page.bytes[offset + 8..<keyEnd]), valueOffset: keyEnd)
    }

    private func checkOrder(
        _ key: UnsafeRawBufferPointer, isLeaf: Bool, lowerBound: [UInt8]?, integers: Bool, _ number: UInt64
    ) throws(LMDBDamage) {
        if hasPreviousKey {
            let isBehind = previousKey.withUnsafeBytes { Self.order($0, key, integers) < 0 }
            guard isBehind else { throw LMDBDamage("its keys are out of order", page: number) }
        }
        if let lowerBound {
            let isInside = lowerBound.withUnsafeBytes { Self.order($0, key, integers) <= 0 }
            guard isInside else { throw LMDBDamage("a key is before the one above it", page: number) }
        }
        if isLeaf {
            previousKey.removeAll(keepingCapacity: true)
            previousKey.append(contentsOf: key)
            hasPreviousKey = true
        }
    }

    /// Compares keys: as bytes, or as native integers of one size.
    private static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ integers: Bool) -> Int
    {
        if integers, left.count == 8, right.count == 8 {
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

    /// Checks the value of a leaf's node.
    ///
    /// Returns where the node ends.
    private func leafValue(
        _ page: FileBytes, _ number: UInt64, _ node: Node, _ role: Role, level: Int
    ) throws(CheckFailure) -> Int {
        switch node.flags {
        case 0:
            let end = node.valueOffset + node.valueByteCount
            guard end <= pageByteCount else {
                throw .damage(LMDBDamage("a value of \(node.valueByteCount) bytes", page: number))
            }
            guard role != .main else {
                throw .damage(
                    LMDBDamage("it is an LMDB file with records of its own, not a Roost store", code: .notAStore))
            }
            if role == .free {
                let list = FileBytes(bytes: UnsafeRawBufferPointer(rebasing: page.bytes[node.valueOffset..<end]))
                try damage { () throws(LMDBDamage) in try markFree(list, key: node.key) }
            }
            return end
        case 1:
            guard role != .main else { throw .damage(LMDBDamage("a record in the list of databases", page: number)) }
            try overflow(page, number, node, role)
            return node.valueOffset + 8
        case 2:
            guard role == .main, node.valueByteCount == LMDBTree.byteCount else {
                throw .damage(LMDBDamage("a database where none can be", page: number))
            }
            let tree = try damage { () throws(LMDBDamage) in try LMDBTree(page, at: node.valueOffset) }
            guard tree.flags == 0, tree.padding == 0 else {
                throw .damage(LMDBDamage("it has databases of a kind that Roost does not make", code: .notAStore))
            }
            databaseNames.append(String(decoding: node.key, as: UTF8.self))
            try walk(tree, .database, level: level + 1)
            return node.valueOffset + LMDBTree.byteCount
        default:
            throw .damage(LMDBDamage("node flags \(node.flags)", page: number))
        }
    }

    private func overflow(_ page: FileBytes, _ number: UInt64, _ node: Node, _ role: Role) throws(CheckFailure) {
        let first = try damage { () throws(LMDBDamage) in try page.u64(node.valueOffset) }
        guard first >= 2, first < filePages else {
            throw .damage(LMDBDamage("there is no page \(first)", page: number))
        }
        let start = first * UInt64(pageByteCount)
        let count = try withBytes(Self.headerByteCount, at: start) { (header) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in
                guard try header.u64(0) == first, try header.u16(10) == 4 else {
                    throw LMDBDamage("the wrong kind of page", page: first)
                }
                return UInt64(try header.u32(12))
            }
        }
        // A shorter value may keep the pages of the longer one that it replaced.
        let needed = UInt64((node.valueByteCount + Self.headerByteCount - 1) / pageByteCount) + 1
        guard count >= needed, count <= filePages - first else {
            throw .damage(LMDBDamage("\(count) pages for a value that needs \(needed)", page: first))
        }
        try damage { () throws(LMDBDamage) in
            for page in first..<first + count { try mark(live: page) }
        }
        counts.overflow += count
        guard role == .free else { return }
        try withBytes(node.valueByteCount, at: start + UInt64(Self.headerByteCount)) { (list) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in try markFree(list, key: node.key) }
        }
    }

    /// Marks the pages of one record of the free list: a transaction number and the pages it freed, descending.
    private func markFree(_ list: FileBytes, key: UnsafeRawBufferPointer) throws(LMDBDamage) {
        guard list.bytes.count >= 8, list.bytes.count % 8 == 0 else { throw LMDBDamage("a record of the free list") }
        let (freeingTransaction, count) = try (FileBytes(bytes: key).u64(0), list.u64(0))
        guard freeingTransaction >= 1, freeingTransaction <= transaction, count <= UInt64(list.bytes.count / 8 - 1)
        else {
            throw LMDBDamage("a record of the free list")
        }
        var before = UInt64.max
        for index in 0..<Int(count) {
            let page = try list.u64(8 + 8 * index)
            guard page < before, page >= 2, page <= lastPage else { throw LMDBDamage("the free list is out of order") }
            before = page
            try Self.mark(page, &freed)
        }
    }
}
