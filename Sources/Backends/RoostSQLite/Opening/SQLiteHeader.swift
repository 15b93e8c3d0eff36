internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// The first hundred bytes of a database file, see
/// <https://www.sqlite.org/fileformat.html#the_database_header>.
struct SQLiteHeader {
    /// The text 'Rost', at offset 68 of every store.
    static let applicationID: Int32 = 0x526F_7374
    static let byteCount = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]

    /// Creates a header, or returns nil if the bytes do not begin an SQLite database.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
        self.bytes = bytes
    }

    var isStore: Bool { Int32(bitPattern: UInt32(word(68))) == Self.applicationID }
    var formatVersion: Int { word(60) }
    /// The text encoding: 1 for UTF-8, 2 or 3 for UTF-16, or 0 if nothing was ever written.
    var textEncoding: Int { word(56) }

    /// The size of a page in bytes, or nil if it is invalid.
    var pageByteCount: Int? {
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        if size == 1 { return 65536 }
        return size >= 512 && size & (size - 1) == 0 ? size : nil
    }

    /// The size of the file according to the header, or nil if an old version of SQLite did not
    /// update this field.
    private var fileByteCount: Int? {
        let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
        guard word(28) > 0, word(24) == word(92) else { return nil }
        return word(28) * (pageSize == 1 ? 65536 : pageSize)
    }

    /// Throws `corrupted` if the end of the file is missing.
    ///
    /// SQLite would notice this only when it reads the missing part. A file with a log passes,
    /// because it may be shorter than the store.
    private static func requireWhole(_ path: String) throws(StoreError) {
        for attempt in 1...2 {
            guard let bytes = StoreFile.read(prefix: byteCount, of: path),
                let expected = SQLiteHeader(bytes)?.fileByteCount,
                try StoreFile.byteCount(at: path) < expected, !SQLiteSettling.needsRecovery(path)
            else { return }
            // A checkpoint between reading the header and the length can also cause this, but not
            // twice in a row.
            guard attempt == 2 else { continue }
            throw StoreError(
                .corrupted, "'\(path)' is shorter than its header says: its end is missing. Restore it from a backup.")
        }
    }

    private func word(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

    /// Checks that the file at `path` is a complete store with a readable version.
    static func require(at path: String) throws(StoreError) {
        try requireStore(at: path)
        try requireWhole(path)
    }

    /// Checks that the file at `path` begins like a store with a readable version.
    ///
    /// The check needs no lock, since these bytes are written before a store is published.
    static func requireStore(at path: String) throws(StoreError) {
        // A read error, such as a lack of file handles, is thrown unchanged, because the file may
        // still be a store.
        guard let header = SQLiteHeader(try RegularFile(at: path).bytes(at: 0, count: byteCount)) else {
            throw StoreError(.notAStore, "'\(path)' is not an SQLite database; check the path.")
        }
        guard header.isStore else {
            throw StoreError(
                .notAStore,
                "'\(path)' is an SQLite database of some other program, not a Roost store; check the path, or make a store of it with 'roost import'."
            )
        }
        try SQLSchema.requireFormat(header.formatVersion, of: path)
        guard header.textEncoding <= 1 else {
            throw StoreError(.corrupted, "'\(path)' does not have the text encoding UTF-8 of a Roost store.")
        }
    }

    /// Returns the format version of the file at `path`, or nil if it is not a store.
    static func version(ofFileAt path: String) -> Int? {
        guard let bytes = StoreFile.read(prefix: byteCount, of: path), let header = SQLiteHeader(bytes), header.isStore
        else { return nil }
        return header.formatVersion
    }

    /// Returns whether the file at `path` is a store of this type, and never blocks.
    static func recognizes(_ path: String) -> Bool {
        guard let bytes = StoreFile.read(prefix: byteCount, of: path) else { return false }
        return SQLiteHeader(bytes)?.isStore ?? false
    }
}
