internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue

/// A range of bytes of a file, with bounds-checked access.
struct FileBytes {
    // SAFETY: the creator of this value keeps `bytes` valid while the value is used. Every access
    // is checked.
    let bytes: UnsafeRawBufferPointer

    func u16(_ offset: Int) throws(LMDBDamage) -> Int { Int(UInt16(littleEndian: try load(offset))) }
    func u32(_ offset: Int) throws(LMDBDamage) -> Int { Int(UInt32(littleEndian: try load(offset))) }
    func u64(_ offset: Int) throws(LMDBDamage) -> UInt64 { UInt64(littleEndian: try load(offset)) }

    @inline(__always)
    private func load<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) throws(LMDBDamage) -> Number {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<Number>.size else {
            throw LMDBDamage("an offset lies outside its page")
        }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }
}

/// A defect that the check found in a file.
struct LMDBDamage: Error {
    let reason: String
    let page: UInt64?
    /// The error code, or nil for `corrupted`.
    let code: StoreError.Code?

    init(_ reason: String, page: UInt64? = nil, code: StoreError.Code? = nil) {
        self.reason = reason
        self.page = page
        self.code = code
    }

    var description: String { page.map { "page \($0): \(reason)" } ?? reason }

    func storeError(path: String) -> StoreError {
        if let code { return StoreError(code, "'\(path)': \(reason)") }
        return StoreError(.corrupted, "'\(path)' is damaged (\(description)); restore it from a backup")
    }
}

/// The record that describes a tree: `MDB_db`, 48 bytes.
struct LMDBTree {
    static let byteCount = 48
    static let noPage = UInt64.max
    static let integerKeys = 0x08

    /// The page size if this is the first tree of a meta page, otherwise 0.
    let padding: Int
    let flags: Int
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    let entries: UInt64
    let root: UInt64

    init(_ bytes: FileBytes, at offset: Int) throws(LMDBDamage) {
        padding = try bytes.u32(offset)
        flags = try bytes.u16(offset + 4)
        depth = try bytes.u16(offset + 6)
        branchPages = try bytes.u64(offset + 8)
        leafPages = try bytes.u64(offset + 16)
        overflowPages = try bytes.u64(offset + 24)
        entries = try bytes.u64(offset + 32)
        root = try bytes.u64(offset + 40)
    }
}

/// A meta page: the first 152 bytes of page 0 or 1.
///
/// The meta page with the greater transaction number is current.
struct LMDBMeta {
    static let byteCount = 152
    static let magic = 0xBEEF_C0DE
    static let pageSizes = [4096, 8192, 16384, 32768]

    let pageByteCount: Int
    let mapByteCount: UInt64
    let free: LMDBTree
    let main: LMDBTree
    let lastPage: UInt64
    let transaction: UInt64

    /// Reads a meta page and makes all checks that need no other page.
    init(_ bytes: FileBytes, number: UInt64) throws(LMDBDamage) {
        guard try bytes.u64(0) == number, try bytes.u16(10) == 0x08 else {
            throw LMDBDamage("no meta page", page: number)
        }
        guard try bytes.u32(16) == Self.magic, try bytes.u32(20) == 1 else {
            throw LMDBDamage("no LMDB meta page", page: number)
        }
        guard try bytes.u64(24) == 0 else { throw LMDBDamage("it has a fixed map address", page: number) }
        free = try LMDBTree(bytes, at: 40)
        main = try LMDBTree(bytes, at: 88)
        pageByteCount = free.padding
        mapByteCount = try bytes.u64(32)
        lastPage = try bytes.u64(136)
        transaction = try bytes.u64(144)
        guard Self.pageSizes.contains(pageByteCount) else {
            throw LMDBDamage("a page size of \(pageByteCount)", page: number)
        }
        // LMDB stores flags of the environment in the flags of the free tree. Roost's files have only
        // one such flag, MDB_NOSUBDIR.
        guard free.flags & ~0x4000 == LMDBTree.integerKeys, main.flags == 0 else {
            throw LMDBDamage("its trees have invalid flags", page: number)
        }
        guard mapByteCount <= 1 << 47, mapByteCount % 4096 == 0 else {
            throw LMDBDamage("a map of \(mapByteCount) bytes", page: number)
        }
    }

    /// Throws if a file with this prefix is not an LMDB file for this kind of machine.
    static func requireMagic(_ prefix: FileBytes) throws(LMDBDamage) {
        guard prefix.bytes.count >= byteCount else {
            throw LMDBDamage(
                "it is too short for a store (\(prefix.bytes.count) bytes); check the path", code: .notAStore)
        }
        let swapped = Int(UInt32(truncatingIfNeeded: magic).byteSwapped)
        switch try (prefix.u32(16), prefix.u32(12)) {
        case (magic, _):
            let version = try prefix.u32(20)
            guard version == 1 else {
                throw LMDBDamage(
                    "it has version \(version) of LMDB's format, this program knows version 1",
                    code: .unsupportedVersion)
            }
        case (swapped, _), (_, swapped):
            throw LMDBDamage(
                "it was written on a machine with another byte order; convert it to another store type on such a machine",
                code: .unsupportedVersion)
        case (_, magic):
            throw LMDBDamage(
                "it was written by a 32-bit program; convert it to another store type with such a program",
                code: .unsupportedVersion)
        default: throw LMDBDamage("it is not an LMDB file; check the path", code: .notAStore)
        }
    }
}

extension LMDBMeta {
    /// Returns whether a file with this prefix is an LMDB file for this kind of machine.
    static func isRecognized(_ prefix: [UInt8]) -> Bool {
        prefix.withUnsafeBytes { bytes in
            do throws(LMDBDamage) {
                try requireMagic(FileBytes(bytes: bytes))
                return true
            } catch {
                return false
            }
        }
    }
}
