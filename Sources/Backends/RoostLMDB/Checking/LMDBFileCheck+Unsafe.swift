internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue
internal import RoostSystem

/// Checks the structure of an LMDB data file without LMDB.
///
/// LMDB trusts its files, so a damaged file crashes the process. This check never maps the file,
/// and validates each length, offset and page number before use. The check accepts only the files
/// of the LMDB backend: 64-bit, little-endian, without `MDB_DUPSORT`. Every page after the meta
/// pages must occur once, in a tree or in the free list. The result is valid only if no process
/// writes to the file during the check. Each branch and leaf page is read once, which takes about
/// 0.4 ms for each MB of the file.
final class LMDBFileCheck {
    private let file: RegularFile
    private let byteCount: UInt64
    private var pageByteCount = 4096
    private var filePages: UInt64 = 0
    private var lastPage: UInt64 = 0
    private var transaction: UInt64 = 0
    /// One bit for each page: in `used`, whether a tree reaches the page; in `freed`, whether the
    /// free list has the page.
    private var used: [UInt64] = []
    private var freed: [UInt64] = []
    /// One page buffer for each level of the trees.
    private var pages: [UnsafeMutableRawBufferPointer] = []
    /// Memory that is reused for each page, see ``LMDBTreePage``.
    private var ends: [UInt16] = []
    private var counts = (branch: UInt64(0), leaf: UInt64(0), overflow: UInt64(0), entries: UInt64(0))
    /// The last key of the previous leaf in the current tree.
    private var previousKey: [UInt8] = []
    private var hasPreviousKey = false
    private var databaseNames: [String] = []

    private static let maximumDepth = 32

    /// Throws `notAStore`, `unsupportedVersion`, `corrupted` or the error of reading the file.
    static func check(_ path: String) throws(StoreError) {
        try examine(path) { (file) throws(CheckFailure) in try file.run() }
    }

    /// Checks that a file begins like an LMDB file for this kind of machine.
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

    private func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(CheckFailure) {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(buffer.count))
        guard !overflow, end <= byteCount else {
            throw .damage(LMDBDamage("the file ends before the end of the data at byte \(offset)"))
        }
        let got: Int
        // The offset is below the file's size, which is an Int.
        do throws(StoreError) { got = try file.read(into: buffer, at: Int(offset)) } catch { throw .system(error) }
        guard got == buffer.count else { throw .damage(LMDBDamage("the file became shorter while it was examined")) }
    }

    private func page(_ number: UInt64, level: Int) throws(CheckFailure) -> FileBytes {
        while pages.count <= level { pages.append(.allocate(byteCount: pageByteCount, alignment: 16)) }
        // The caller has checked that `number` is below the file's page count, so the page is
        // inside the file.
        try read(pages[level], at: number * UInt64(pageByteCount))
        return FileBytes(bytes: UnsafeRawBufferPointer(pages[level]))
    }

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
        try walk(current.main, role: .main, level: 0)
        try walk(current.free, role: .free, level: 0)
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
        ends = [UInt16](repeating: 0, count: pageByteCount / 2)
        filePages = byteCount / UInt64(pageByteCount)
        let second = try withBytes(LMDBMeta.byteCount, at: UInt64(pageByteCount)) { (bytes) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in try LMDBMeta(bytes, number: 1) }
        }
        try damage { () throws(LMDBDamage) in
            guard second.pageByteCount == pageByteCount else {
                throw LMDBDamage("another page size than on page 0", page: 1)
            }
            for (number, meta) in [first, second].enumerated() {
                // The last page may lie beyond the end of the file, because pages that are allocated and
                // freed in the same transaction may never be written.
                guard meta.lastPage >= 1, meta.lastPage < 1 << 40 else {
                    throw LMDBDamage("\(meta.lastPage) pages", page: UInt64(number))
                }
            }
            // Transaction n is written to meta page n & 1, so consecutive transactions alternate.
            let (a, b) = (first.transaction, second.transaction)
            guard a & 1 == 0, b & 1 == 1 || (a == 0 && b == 0), max(a, b) - min(a, b) <= 1 else {
                throw LMDBDamage("the transaction numbers \(a) and \(b) of the meta pages do not follow each other")
            }
            // The number of pages is limited, because one bit for each page must fit in memory.
            // Pages beyond the end of the file cannot be live.
            guard max(first.lastPage, second.lastPage) <= max(filePages * 2, filePages + 1_048_576) else {
                throw LMDBDamage("the file was truncated to \(filePages) pages")
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

    /// Checks that every page is either live or free.
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
        guard page >= 2, page <= lastPage, page < filePages else { throw LMDBDamage("page \(page) does not exist") }
        try Self.mark(page, bits: &used)
    }

    private static func mark(_ page: UInt64, bits: inout [UInt64]) throws(LMDBDamage) {
        let (word, bit) = (Int(page >> 6), UInt64(1) << (page & 63))
        guard word < bits.count, bits[word] & bit == 0 else { throw LMDBDamage("it is used twice", page: page) }
        bits[word] |= bit
    }

    private func damage<Result>(_ body: () throws(LMDBDamage) -> Result) throws(CheckFailure) -> Result {
        do throws(LMDBDamage) { return try body() } catch { throw .damage(error) }
    }

    // MARK: Trees

    private enum Role {
        case main, free, database

        /// The kind of keys; the free list's keys are transaction numbers.
        var keys: LMDBTreePage.Keys { self == .free ? .integers : .bytes }
    }

    private func walk(_ tree: LMDBTree, role: Role, level: Int) throws(CheckFailure) {
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
            try walk(page: tree.root, depth: 1, tree: tree, role: role, level: level, lowerBound: nil)
        }
        guard counts.branch == tree.branchPages, counts.leaf == tree.leafPages, counts.overflow == tree.overflowPages,
            counts.entries == tree.entries
        else { throw .damage(LMDBDamage("the pages or entries of a tree are not as many as recorded")) }
        counts = savedCounts
        (previousKey, hasPreviousKey) = saved
    }

    private func walk(
        page number: UInt64, depth: Int, tree: LMDBTree, role: Role, level: Int, lowerBound: [UInt8]?
    ) throws(CheckFailure) {
        try damage { () throws(LMDBDamage) in try mark(live: number) }
        let bytes = try page(number, level: level)
        let page = try damage { () throws(LMDBDamage) in
            try LMDBTreePage(bytes, number: number, isLeaf: depth == tree.depth, keys: role.keys, ends: &ends)
        }
        guard page.isLeaf else {
            return try walkChildren(
                of: page, depth: depth, tree: tree, role: role, level: level, lowerBound: lowerBound)
        }
        counts.leaf += 1
        counts.entries += UInt64(page.count)
        try damage { () throws(LMDBDamage) in
            try checkOrder(page.node(0).key, lowerBound: lowerBound, role: role, number: number)
        }
        // Most leaves of databases hold only values, which are verified when they are read.
        if role != .database || !page.hasOnlyValues {
            for index in 0..<page.count {
                let node = try damage { () throws(LMDBDamage) in try page.node(index) }
                try checkValue(of: node, page: page, role: role, level: level)
            }
        }
        let last = try damage { () throws(LMDBDamage) in try page.node(page.count - 1).key }
        previousKey.removeAll(keepingCapacity: true)
        previousKey.append(contentsOf: last)
        hasPreviousKey = true
    }

    private func walkChildren(
        of page: LMDBTreePage, depth: Int, tree: LMDBTree, role: Role, level: Int, lowerBound: [UInt8]?
    ) throws(CheckFailure) {
        counts.branch += 1
        for index in 0..<page.count {
            let node = try damage { () throws(LMDBDamage) in try page.node(index) }
            if index > 0 {
                try damage { () throws(LMDBDamage) in
                    // The first key of a branch page is empty, so the lower bound of the page
                    // applies to the second key.
                    try checkOrder(node.key, lowerBound: index == 1 ? lowerBound : nil, role: role, number: page.number)
                }
            }
            let bound = index == 0 ? lowerBound : Array(node.key)
            try walk(page: node.child, depth: depth + 1, tree: tree, role: role, level: level + 1, lowerBound: bound)
        }
    }

    /// Checks that a key is above the last key of the preceding leaf, and not below the lower bound
    /// of its page.
    private func checkOrder(
        _ key: UnsafeRawBufferPointer, lowerBound: [UInt8]?, role: Role, number: UInt64
    ) throws(LMDBDamage) {
        if hasPreviousKey {
            let isBehind = previousKey.withUnsafeBytes { role.keys.order($0, key) < 0 }
            guard isBehind else { throw LMDBDamage("its keys are out of order", page: number) }
        }
        if let lowerBound {
            let isInside = lowerBound.withUnsafeBytes { role.keys.order($0, key) <= 0 }
            guard isInside else { throw LMDBDamage("a key is less than the lower bound of its page", page: number) }
        }
    }

    /// Checks the value of a leaf's node and the pages to which it refers.
    private func checkValue(
        of node: LMDBTreePage.Node, page: LMDBTreePage, role: Role, level: Int
    ) throws(CheckFailure) {
        switch node.content {
        case .value:
            guard role != .main else {
                throw .damage(
                    LMDBDamage("it is an LMDB file with records of its own, not a Roost store", code: .notAStore))
            }
            guard role == .free else { return }
            let value = UnsafeRawBufferPointer(rebasing: page.bytes.bytes[node.valueOffset..<node.end])
            try damage { () throws(LMDBDamage) in try markFree(FileBytes(bytes: value), key: node.key) }
        case .overflow:
            guard role != .main else {
                throw .damage(
                    LMDBDamage("the list of databases has a record that is not a database", page: page.number))
            }
            try overflow(page, node: node, role: role)
        case .database:
            guard role == .main, node.valueByteCount == LMDBTree.byteCount else {
                throw .damage(LMDBDamage("a database where none can be", page: page.number))
            }
            let tree = try damage { () throws(LMDBDamage) in try LMDBTree(page.bytes, at: node.valueOffset) }
            guard tree.flags == 0, tree.padding == 0 else {
                throw .damage(LMDBDamage("it has databases of a kind that Roost does not make", code: .notAStore))
            }
            databaseNames.append(String(decoding: node.key, as: UTF8.self))
            try walk(tree, role: .database, level: level + 1)
        case nil:
            throw .damage(LMDBDamage("node flags \(node.flags)", page: page.number))
        }
    }

    private func overflow(_ page: LMDBTreePage, node: LMDBTreePage.Node, role: Role) throws(CheckFailure) {
        let first = try damage { () throws(LMDBDamage) in try page.bytes.u64(node.valueOffset) }
        guard first >= 2, first < filePages else {
            throw .damage(LMDBDamage("page \(first) does not exist", page: page.number))
        }
        let start = first * UInt64(pageByteCount)
        let count = try withBytes(LMDBTreePage.headerByteCount, at: start) { (header) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in
                guard try header.u64(0) == first, try header.u16(10) == 4 else {
                    throw LMDBDamage("the wrong kind of page", page: first)
                }
                return UInt64(try header.u32(12))
            }
        }
        // A shorter value may keep the pages of the longer value that it replaced.
        let needed = UInt64((node.valueByteCount + LMDBTreePage.headerByteCount - 1) / pageByteCount) + 1
        guard count >= needed, count <= filePages - first else {
            throw .damage(LMDBDamage("\(count) pages for a value that needs \(needed)", page: first))
        }
        try damage { () throws(LMDBDamage) in
            for part in first..<first + count { try mark(live: part) }
        }
        counts.overflow += count
        guard role == .free else { return }
        try withBytes(node.valueByteCount, at: start + UInt64(LMDBTreePage.headerByteCount)) {
            (list) throws(CheckFailure) in
            try damage { () throws(LMDBDamage) in try markFree(list, key: node.key) }
        }
    }

    /// Marks the pages in one record of the free list as free.
    ///
    /// The record's key is the number of the transaction that freed the pages. The value is the
    /// count of the pages, then their numbers in descending order.
    private func markFree(_ list: FileBytes, key: UnsafeRawBufferPointer) throws(LMDBDamage) {
        guard list.bytes.count >= 8, list.bytes.count % 8 == 0 else {
            throw LMDBDamage("a record of the free list is invalid")
        }
        let (freeingTransaction, count) = try (FileBytes(bytes: key).u64(0), list.u64(0))
        guard freeingTransaction >= 1, freeingTransaction <= transaction, count <= UInt64(list.bytes.count / 8 - 1)
        else {
            throw LMDBDamage("a record of the free list is invalid")
        }
        var before = UInt64.max
        for index in 0..<Int(count) {
            let page = try list.u64(8 + 8 * index)
            guard page < before, page >= 2, page <= lastPage else { throw LMDBDamage("the free list is out of order") }
            before = page
            try Self.mark(page, bits: &freed)
        }
    }
}
