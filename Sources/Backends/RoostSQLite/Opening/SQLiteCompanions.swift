internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// The checks of the files beside a store, which SQLite would apply and remove without asking.
enum SQLiteCompanions {
    /// Throws `notAStore` if a file lacks SQLite's format, or a journal belongs to another
    /// database.
    ///
    /// The check needs no lock.
    static func requireOwn(besideStoreAt path: String) throws(StoreError) {
        try StoreFile.requireOwnCompanions(ofStoreAt: path, type: SQLiteStoreType())
        try RollbackJournal.requireOwn(besideStoreAt: path)
    }

    /// Checks that the log beside the store at `path` belongs to it and is not damaged; see
    /// ``LeftoverLog``.
    ///
    /// The caller excludes all writers, by holding the store's lock exclusively or by checking
    /// under a ``SoundnessLock``. No file is created or changed. Returns nil if the log is missing
    /// or empty.
    static func requireOwnLog(
        besideStoreAt path: String, settings: SQLiteSettings
    ) throws(StoreError) -> LeftoverLog? { try ownLog(besideStoreAt: path, settings: settings, isRead: true) }

    private static func ownLog(
        besideStoreAt path: String, settings: SQLiteSettings, isRead: Bool
    ) throws(StoreError) -> LeftoverLog? {
        guard let leftover = try LeftoverLog(ofStoreAt: path, settings: settings) else { return nil }
        guard try StoreFile.isEmpty(path + "-journal") else {
            throw StoreError(
                .corrupted,
                "'\(path)-wal' and '\(path)-journal' both exist, but SQLite never leaves both, so one of them belongs to another database. Find out which one, and move it away."
            )
        }
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .unlocked)
        defer { try? connection.close() }
        let (uuid, isUnflushed) = try identity(connection)
        if isRead { try leftover.requireSound(isUnflushed: isUnflushed) }
        try leftover.requireBelonging(to: connection, uuid: uuid)
        return leftover
    }

    /// Checks that the log beside a store belongs to that store, so that both can be removed.
    ///
    /// Accepts a damaged log. If the store is damaged even without its log, accepts any log,
    /// because its owner cannot be determined.
    static func requireOwnLogToRemove(besideStoreAt path: String, settings: SQLiteSettings) throws(StoreError) {
        do throws(StoreError) { _ = try ownLog(besideStoreAt: path, settings: settings, isRead: false) } catch {
            guard let alone = try? SQLiteDatabase.connect(path, settings: settings, access: .immutable(nil)) else {
                return
            }
            defer { try? alone.close() }
            guard (try? identity(alone)) != nil else { return }
            throw error
        }
    }

    /// Returns the store's UUID, and whether the log may contain commits that were not flushed.
    ///
    /// First checks that reading runs no foreign code in the schema.
    private static func identity(_ connection: SQLiteConnection) throws(StoreError) -> (StoreUUID, Bool) {
        let version = Int(clamping: try connection.integer("PRAGMA user_version") ?? 0)
        try SQLSchema.requireFormat(version, of: connection.path)
        let check = try SQLiteSchemaCheck(connection)
        try check.requireSystemTables(formatVersion: version)
        let uuid = try SQLMetadata.read(connection, storeName: connection.path, formatVersion: version).uuid
        return (uuid, check.isUnflushed)
    }
}

/// A rollback journal that a program other than Roost left beside a store.
///
/// SQLite writes the pages of a rollback journal back into the database and removes the journal. A
/// journal belongs to the store if its page size, database length and change counter fit the store.
/// See <https://www.sqlite.org/fileformat.html#the_rollback_journal>.
struct RollbackJournal {
    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    private static let headerByteCount = 28
    /// The size of a record without its page: a page number and a checksum of four bytes each.
    private static let recordByteCount = 8

    /// Throws `notAStore` if a rollback journal beside the store was begun for another database.
    ///
    /// SQLite ignores a journal that is empty or begins with zeros.
    static func requireOwn(besideStoreAt path: String) throws(StoreError) {
        let journal = path + "-journal"
        // A journal that cannot be read passes, because SQLite itself reports it.
        guard (try? belongs(journal, toStoreAt: path)) == false else { return }
        throw StoreError(
            .notAStore,
            "'\(journal)' is not a rollback journal of the store '\(path)', and SQLite would apply and remove it; move it away"
        )
    }

    private static func belongs(_ path: String, toStoreAt storePath: String) throws(StoreError) -> Bool {
        let journal = try RegularFile(at: path)
        let header = try journal.bytes(at: 0, count: headerByteCount)
        guard !header.prefix(magic.count).allSatisfy({ $0 == 0 }) else { return true }
        let store = try RegularFile(at: storePath).bytes(at: 0, count: SQLiteHeader.byteCount)
        guard header.count == headerByteCount, header.starts(with: magic), SQLiteHeader(store) != nil else {
            return false
        }
        let pageSize = pageSize(store)
        let (pageCount, sectorSize) = (word(header, offset: 16), word(header, offset: 20))
        guard word(header, offset: 24) == pageSize, sectorSize >= headerByteCount else { return false }
        // The first page as it was before the transaction. The journal contains it only if the
        // transaction changed it.
        var before = store
        var offset = sectorSize
        while offset <= journal.byteCount - recordByteCount - pageSize {
            let record = try journal.bytes(at: offset, count: 4 + SQLiteHeader.byteCount)
            guard record.count == 4 + SQLiteHeader.byteCount, word(record, offset: 0) != 0 else { break }
            if word(record, offset: 0) == 1 {
                before = Array(record.dropFirst(4))
                break
            }
            offset += recordByteCount + pageSize
        }
        let (counter, current) = (word(before, offset: 24), word(store, offset: 24))
        // Old versions of SQLite change the counter, but neither the length nor the copy of the
        // counter at offset 92.
        let isLengthKnown = counter == word(before, offset: 92)
        return SQLiteHeader(before)?.isStore == true && self.pageSize(before) == pageSize
            && (counter == current || counter + 1 == current)
            && (!isLengthKnown || word(before, offset: 28) == pageCount)
    }

    private static func pageSize(_ header: [UInt8]) -> Int {
        let size = word(header, offset: 14) & 0xFFFF
        return size == 1 ? 65536 : size
    }

    private static func word(_ bytes: [UInt8], offset: Int) -> Int {
        guard bytes.count >= offset + 4 else { return 0 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
