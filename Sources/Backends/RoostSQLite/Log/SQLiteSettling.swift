internal import CSQLite
internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// Makes a database file complete without any file beside it: no log remains, and nothing is left
/// to recover.
enum SQLiteSettling {
    /// The files SQLite keeps beside an open database.
    static let companions = ["-wal", "-shm", "-journal"]

    /// Whether there is a write-ahead log with something in it, or a journal: the last user did not
    /// close the store.
    static func needsRecovery(_ path: String) -> Bool {
        ["-wal", "-journal"].contains { (try? StoreFile.byteCount(at: path + $0)).map { $0 > 0 } ?? false }
    }

    static func hasCompanions(_ path: String) -> Bool {
        companions.contains { (try? StoreFile.byteCount(at: path + $0)) != nil }
    }

    /// Throws code `corrupted` with SQLite's first complaint when the file's structure is damaged.
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

    /// Moves the log into the database and removes it, if the store has no other user; the caller
    /// must have no connection open.
    ///
    /// If there are other users, a writer moves the log if their views allow that, since the last
    /// of them may be a reader. A reader never writes the file: it removes a log that is empty or
    /// wholly in the file already, and leaves any other.
    ///
    /// The closing user's lock becomes exclusive or is released.
    ///
    /// - Throws: Code `storeReplaced` if the name refers to another file, or to none: the log does
    ///   not belong to that file, and stays.
    static func afterLastUse(
        _ path: String, settings: SQLiteSettings, lock: StoreLock?, check: FileHandleCheck
    ) throws(StoreError) {
        guard hasCompanions(path), let lock else { return }
        var own: StoreLock?
        do throws(StoreError) {
            try lock.change(to: .exclusive, timeoutSeconds: 0)
        } catch {
            // The store's lock is still shared, so no process can put another file under the name.
            if !settings.isReadOnly, hasLog(path), !lock.isFileReadAlone {
                try requireOwn(check, path: path)
                try moveBesideOthers(path, settings: settings)
            }
            // Two users that close at the same time block each other: after releasing its lock, the
            // last one gets the exclusive lock.
            lock.release()
            own = try? StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
            guard own != nil else { return }
        }
        defer { own?.release() }
        // An empty log is removed without a connection, which would need disk space.
        if !needsRecovery(path), let fileLock = (try? SQLiteFileLock.keepingOthersOut(of: path)) ?? nil {
            return removeEmptyLog(path, under: fileLock)
        }
        if settings.isReadOnly, needsRecovery(path) { return removeMovedLog(path, check: check) }
        do throws(StoreError) {
            // SQLite would write the log into whatever file has the name now.
            try requireOwn(check, path: path)
            try settle(path, settings: settings)
        } catch  where settings.isReadOnly {
            // A reader that may not write leaves an empty log, which is harmless.
        }
    }

    private static func hasLog(_ path: String) -> Bool {
        (try? StoreFile.byteCount(at: path + "-wal")).map { $0 > 0 } ?? false
    }

    /// Moves the log into the database if all other users of the store read its newest state; the
    /// caller shares the store's lock.
    ///
    /// Does nothing while another connection writes: its process is going to move the log.
    private static func moveBesideOthers(_ path: String, settings: SQLiteSettings) throws(StoreError) {
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .readWrite)
        defer { try? connection.close() }
        _ = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1")
        guard try !connection.checkpoint(timeout: .zero) else { return }
        _ = try connection.checkpoint(timeout: .zero, empties: false)
    }

    /// Removes an empty log and its index without SQLite.
    ///
    /// A file that cannot be removed does no harm: an empty log says nothing.
    static func removeEmptyLog(_ path: String, under fileLock: SQLiteFileLock) {
        guard fileLock.keepsOthersOut, !needsRecovery(path) else { return }
        removeCompanions(path, suffixes: ["-wal", "-shm"])
        withExtendedLifetime(fileLock) {}
    }

    /// Removes the index of a log if it is not in use; the next user makes it anew.
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

    /// Removes a log whose content the database already has; the caller holds the store's lock
    /// exclusively.
    private static func removeMovedLog(_ path: String, check: FileHandleCheck) {
        // If a reader cannot do this, the next writer moves the log.
        guard let fileLock = (try? SQLiteFileLock.keepingOthersOut(of: path)) ?? nil, !hasJournal(path),
            (try? check.verify()) != nil, let log = try? WriteAheadLog.open(ofStoreAt: path),
            let content = try? log.content(), (try? log.isInDatabase(content)) == true,
            // The moved pages may not be on the disk yet.
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
                "\(error.message); its last commits are in '\(path)-wal', which belongs beside that file under its new name"
            )
        }
    }

    /// Moves the log into the database and removes it.
    ///
    /// The caller holds the store's lock exclusively.
    ///
    /// A connection of another program can prevent it; the log then stays for the next opener.
    static func settle(_ path: String, settings: SQLiteSettings) throws(StoreError) {
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .readWrite)
        var closed = false
        defer { if !closed { try? connection.close() } }
        _ = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1")
        let isComplete = try connection.checkpoint(timeout: .zero)
        // Closing the last connection removes the files; with the log moved and empty there is
        // nothing it could lose.
        if isComplete { try connection.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn: false) }
        try connection.close()
        closed = true
    }
}
