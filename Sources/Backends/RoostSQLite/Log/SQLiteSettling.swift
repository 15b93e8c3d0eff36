internal import CSQLite
internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// The operations that make a database file complete without companion files.
enum SQLiteSettling {
    /// The suffixes of the files that SQLite creates beside an open database.
    static let companions = ["-wal", "-shm", "-journal"]

    /// Returns whether a log or journal has content.
    static func needsRecovery(_ path: String) -> Bool {
        ["-wal", "-journal"].contains { (try? StoreFile.byteCount(at: path + $0)).map { $0 > 0 } ?? false }
    }

    static func hasCompanions(_ path: String) -> Bool {
        companions.contains { (try? StoreFile.byteCount(at: path + $0)) != nil }
    }

    /// Throws `corrupted` with SQLite's first message if the file's structure is damaged.
    static func requireSound(_ connection: SQLiteConnection) throws(StoreError) {
        let result = try connection.withoutTimeLimit { () throws(StoreError) in
            try connection.text("PRAGMA quick_check(1)")
        }
        guard result == "ok" else {
            // The first line may be a heading.
            let complaint = result.split(whereSeparator: \.isNewline).first { !$0.hasPrefix("***") }
            throw StoreError(
                .corrupted,
                "'\(connection.path)' is damaged: \(complaint ?? "its structure cannot be checked"). Restore it from a backup."
            )
        }
    }

    /// Moves the log into the database and removes the log, if the store has no other user.
    ///
    /// The caller must have no open connection. While the store has other users, a writer still
    /// moves the log if their snapshots allow this, since the last user may be a reader. Readers
    /// never write to the file, and remove only a log that the file already contains.
    ///
    /// Without a lock or companion files, does nothing. Otherwise, `lock` becomes exclusive or is
    /// released.
    ///
    /// - Throws: `storeReplaced` if the file was replaced or removed, so that the log must remain.
    static func afterLastUse(
        _ path: String, settings: SQLiteSettings, lock: StoreLock?, check: FileHandleCheck
    ) throws(StoreError) {
        guard hasCompanions(path), let lock else { return }
        var own: StoreLock?
        do throws(StoreError) {
            try lock.change(to: .exclusive, timeoutSeconds: 0)
        } catch {
            // The store's lock is still shared, so no process can replace the file.
            if !settings.isReadOnly, hasLog(path), !lock.isFileReadAlone {
                try requireOwn(check, path: path)
                try moveBesideOthers(path, settings: settings)
            }
            // If two users close at the same time, neither can make its lock exclusive. Each then
            // releases its lock and tries again, so the last one gets the exclusive lock.
            lock.release()
            own = try? StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
            guard own != nil else { return }
        }
        defer { own?.release() }
        // An empty log is removed without a connection, because a connection would need disk space.
        if !needsRecovery(path), let fileLock = (try? SQLiteFileLock.keepingOthersOut(of: path)) ?? nil {
            return removeEmptyLog(path, under: fileLock)
        }
        if settings.isReadOnly, needsRecovery(path) { return removeMovedLog(path, check: check) }
        do throws(StoreError) {
            // SQLite would move the log into any file that is now at the path.
            try requireOwn(check, path: path)
            try settle(path, settings: settings)
        } catch  where settings.isReadOnly {
            // A reader without permission to write leaves an empty log, which is harmless.
        }
    }

    private static func hasLog(_ path: String) -> Bool {
        (try? StoreFile.byteCount(at: path + "-wal")).map { $0 > 0 } ?? false
    }

    /// Moves the log into the database if all other users read the store's newest state.
    ///
    /// The caller holds the store's lock. Does nothing while another connection writes, because its
    /// process will move the log.
    private static func moveBesideOthers(_ path: String, settings: SQLiteSettings) throws(StoreError) {
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .readWrite)
        defer { try? connection.close() }
        _ = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1")
        guard try !connection.checkpoint(timeout: .zero) else { return }
        _ = try connection.checkpoint(timeout: .zero, empties: false)
    }

    /// Removes an empty log and its index without SQLite.
    ///
    /// An empty log has no effect, so a failure does no harm.
    static func removeEmptyLog(_ path: String, under fileLock: SQLiteFileLock) {
        guard fileLock.keepsOthersOut, !needsRecovery(path) else { return }
        removeCompanions(path, suffixes: ["-wal", "-shm"])
        withExtendedLifetime(fileLock) {}
    }

    /// Removes the index of a log that is not in use; SQLite can create it again.
    static func removeIndex(_ path: String) {
        guard let fileLock = (try? SQLiteFileLock.keepingOthersOut(of: path)) ?? nil, !hasJournal(path) else { return }
        removeCompanions(path, suffixes: ["-shm"])
        withExtendedLifetime(fileLock) {}
    }

    private static func removeCompanions(_ path: String, suffixes: [String]) {
        let type = SQLiteStoreType()
        guard (try? StoreFile.requireOwnCompanions(ofStoreAt: path, type: type, suffixes: suffixes)) != nil else {
            return
        }
        for suffix in suffixes { try? StoreFile.remove(path + suffix) }
    }

    /// Removes a log whose content the database already contains.
    ///
    /// The caller holds the store's lock exclusively.
    private static func removeMovedLog(_ path: String, check: FileHandleCheck) {
        // If a reader cannot remove the log, the next writer moves it.
        guard let fileLock = (try? SQLiteFileLock.keepingOthersOut(of: path)) ?? nil, !hasJournal(path),
            (try? check.verify()) != nil, let log = try? WriteAheadLog.open(ofStoreAt: path),
            let content = try? log.content(), (try? log.isInDatabase(content)) == true,
            // The moved pages must be on the disk before the log is removed.
            (try? StoreFile.syncFile(at: path)) != nil
        else { return }
        removeCompanions(path, suffixes: ["-wal", "-shm"])
        withExtendedLifetime(fileLock) {}
    }

    private static func hasJournal(_ path: String) -> Bool {
        (try? StoreFile.byteCount(at: path + "-journal")).map { $0 > 0 } ?? false
    }

    private static func requireOwn(_ check: FileHandleCheck, path: String) throws(StoreError) {
        do throws(StoreError) {
            try check.verify()
        } catch  where needsRecovery(path) {
            throw error.withMessage(
                "\(error.message); the last commits of the file that was open are in '\(path)-wal', so move this log beside that file and name it like that file, with '-wal' at the end"
            )
        }
    }

    /// Moves the log into the database and removes the log.
    ///
    /// The caller holds the store's lock exclusively.
    ///
    /// A connection of another program can prevent this. The log then remains for the next open.
    static func settle(_ path: String, settings: SQLiteSettings) throws(StoreError) {
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .readWrite)
        var closed = false
        defer { if !closed { try? connection.close() } }
        _ = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1")
        let isComplete = try connection.checkpoint(timeout: .zero)
        // With this setting off, closing the last connection removes the emptied log and its index.
        if isComplete { try connection.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn: false) }
        try connection.close()
        closed = true
    }
}
