internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// An opening of a store, which makes each check before the first write that relies on it.
struct SQLiteOpening {
    private let path: String
    private let options: StoreOptions
    private let settings: SQLiteSettings

    init(_ path: String, options: StoreOptions) throws(StoreError) {
        self.path = path
        self.options = options
        settings = try SQLiteSettings(options)
    }

    /// Opens the store.
    ///
    /// If the caller passes a lock of the store, the store takes it over and makes it shared.
    func open(
        type: any PersistentStoreType, location: StoreLocation, lock held: StoreLock? = nil
    ) throws(StoreError) -> SQLStore {
        do throws(StoreError) {
            try StoreFile.requireRegularFile(at: location.path, forWriting: !settings.isReadOnly)
            if !settings.isReadOnly { try StoreFile.refuseNetworkFileSystem(at: path) }
            // This check precedes the lock, so that no lock file is created beside a file that is
            // not a store.
            try SQLiteHeader.requireStore(at: path)
            try SQLiteCompanions.requireOwn(besideStoreAt: path)
        } catch {
            held?.release()
            throw error
        }
        let lock: StoreLock?
        if let held { lock = held } else { lock = try acquireLock() }
        do throws(StoreError) {
            let check = try FileHandleCheck(at: path)
            try SQLiteHeader.require(at: path)
            let isLinked = try StoreFile.requireOneName(
                ofStoreAt: path, forWriting: !settings.isReadOnly, acceptsLinks: options.acceptsLinks,
                companions: SQLiteSettling.companions)
            try SQLiteCompanions.requireOwn(besideStoreAt: path)
            do throws(StoreError) {
                return try openOnAnyDisk(type: type, location: location, lock: lock, check: check, isLinked: isLinked)
            } catch {
                // An empty log that this attempt created is removed. A log with content remains.
                if SQLiteSettling.needsRecovery(path) {
                    SQLiteSettling.removeIndex(path)
                } else {
                    try? SQLiteSettling.afterLastUse(path, settings: settings, lock: lock, check: check)
                }
                throw error
            }
        } catch {
            lock?.release()
            throw error
        }
    }

    private func acquireLock() throws(StoreError) -> StoreLock? {
        settings.isReadOnly
            ? try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: settings.timeoutSeconds)
            : try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: settings.timeoutSeconds)
    }

    /// Opens the store.
    ///
    /// If the disk has no room for a log's index, a reader opens the file without a log, under a
    /// lock on the file itself.
    private func openOnAnyDisk(
        type: any PersistentStoreType, location: StoreLocation, lock: StoreLock?, check: FileHandleCheck, isLinked: Bool
    ) throws(StoreError) -> SQLStore {
        guard settings.isReadOnly else {
            return try open(type: type, location: location, lock: lock, check: check, isLinked: isLinked)
        }
        // While another reader holds a lock on the file, no process can create a log, so this
        // reader also locks the file. If the directory is writable and yet no lock file could be
        // created, the disk is full.
        let isFull = lock == nil && StoreFile.canMakeFiles(beside: path)
        if isFull || SQLiteFileLock.isHeld(at: path), let fileLock = try lockFile() {
            return try open(
                type: type, location: location, lock: lock, check: check, isLinked: isLinked, fileLock: fileLock)
        }
        do throws(StoreError) {
            return try open(type: type, location: location, lock: lock, check: check, isLinked: isLinked)
        } catch {
            guard error.code == .noSpace else { throw error }
            guard !SQLiteSettling.needsRecovery(path) else {
                throw error.withMessage(
                    "'\(path)' was not closed by its last writer, and the disk has no room for reading its log; make room, or copy '\(path)' and '\(path)-wal' to another disk together."
                )
            }
            guard let fileLock = try lockFile() else { throw error }
            // This removes the log that the failed attempt created.
            SQLiteSettling.removeEmptyLog(path, under: fileLock)
            return try open(
                type: type, location: location, lock: lock, check: check, isLinked: isLinked, fileLock: fileLock)
        }
    }

    /// Returns a lock for reading the file; nil if a log or journal has content or locking fails.
    private func lockFile() throws(StoreError) -> SQLiteFileLock? {
        guard let fileLock = try SQLiteFileLock.forReading(path), !SQLiteSettling.needsRecovery(path) else {
            return nil
        }
        return fileLock
    }

    private func open(
        type: any PersistentStoreType, location: StoreLocation, lock: StoreLock?, check: FileHandleCheck,
        isLinked: Bool,
        fileLock: SQLiteFileLock? = nil
    ) throws(StoreError) -> SQLStore {
        // The first process to open the store checks and recovers it. Other processes wait for the
        // result, and rely on it while any process has the store open.
        let soundness = try joinSound(lock)
        let isRecovering = soundness?.isExamining == true && SQLiteSettling.needsRecovery(path)
        if let soundness, soundness.isExamining, !isRecovering { try soundness.confirm() }
        let isImmutable = isImmutable(isLocked: lock != nil, isLinked: isLinked, isFileLocked: fileLock != nil)
        if isImmutable { lock?.readFileAlone() }
        let unchanged = isLinked ? check : nil
        let leftover = isRecovering ? try SQLiteCompanions.requireOwnLog(besideStoreAt: path, settings: settings) : nil
        // Recovery accepts a commit even if its process was killed before flushing the log. The log
        // is flushed now, because later commits build on this commit.
        if leftover != nil { try StoreFile.syncFile(at: path + "-wal") }
        let connection: SQLiteConnection
        let (uuid, isUnflushed): (StoreUUID, Bool)
        var schema: SQLSchema
        do throws(StoreError) {
            connection = try SQLiteDatabase.connect(
                path, settings: settings,
                access: isImmutable ? .immutable(check) : (settings.isReadOnly ? .readOnly : .readWrite),
                unchanged: unchanged)
            do throws(StoreError) {
                (uuid, schema, isUnflushed) = try inspect(connection)
                if isRecovering { try SQLiteSettling.requireSound(connection) }
                if soundness == nil, !isImmutable {
                    try requireSoundLog(connection, uuid: uuid, isUnflushed: isUnflushed)
                }
                try requireLog(connection)
                if !isImmutable { try connection.verifyLog() }
                if !settings.isReadOnly {
                    try mark(connection, isUnflushed: isUnflushed, lock: lock, hasLog: leftover != nil)
                }
                schema = try applyHistoryOptions(schema, connection: connection, lock: lock)
            } catch {
                try? connection.close()
                throw error
            }
        } catch  where settings.isReadOnly {
            throw unrecovered(error, isLocked: lock != nil)
        }
        let pageSize = Int(try connection.integer("PRAGMA page_size") ?? 4096)
        try check.verify()
        if isRecovering { try soundness?.confirm() }
        if let lock { try lock.change(to: .shared, timeoutSeconds: settings.timeoutSeconds) }
        if settings.isReadOnly { try connection.close() }
        let database = SQLiteDatabase(
            path: path, settings: settings, isImmutable: isImmutable, pageSizeBytes: pageSize, lock: lock,
            soundness: soundness, check: check, unchanged: unchanged, writer: settings.isReadOnly ? nil : connection,
            fileLock: fileLock,
            notices: leftover?.notices(staysBesideFile: settings.isReadOnly) ?? [])
        return SQLStore(
            database, schema: schema, storeUUID: uuid, type: type,
            description: PersistentStoreDescription(location, options: options))
    }

    /// Returns whether SQLite opens the file as immutable.
    ///
    /// SQLite then creates no files beside the store, and does not notice changes of the file.
    private func isImmutable(isLocked: Bool, isLinked: Bool, isFileLocked: Bool) -> Bool {
        if isFileLocked { return true }
        // Locks would not help, because the locks of one hard link do not exclude a writer that uses
        // another link. Instead, each reading checks that the file is unchanged.
        if isLinked { return !SQLiteSettling.needsRecovery(path) }
        // If no file can be created in the directory, SQLite must not try. An existing lock file
        // does not show whether files can be created.
        return settings.isReadOnly && !SQLiteSettling.hasCompanions(path)
            && (!isLocked || !StoreFile.canMakeFiles(beside: path))
    }

    /// Switches the database to a write-ahead log if the store is opened for writing.
    private func requireLog(_ connection: SQLiteConnection) throws(StoreError) {
        if !settings.isReadOnly, try connection.text("PRAGMA journal_mode = WAL") != "wal" {
            throw StoreError(
                .busy, "'\(path)' has no write-ahead log, and another process reads it; try again later.")
        }
    }

    /// Returns the error of a reader, with an explanation if the reader could not recover the
    /// store.
    private func unrecovered(_ error: StoreError, isLocked: Bool) -> StoreError {
        if !isLocked, error.code == .permissionDenied {
            return error.withMessage(
                "'\(path)' was not closed by its last writer, and this user cannot recover it without write permission for its directory. Open the store for writing as another user, or copy '\(path)' and its '-wal' or '-journal' file to a writable directory."
            )
        }
        if error.code == .readOnly, SQLiteSettling.needsRecovery(path) {
            return error.withMessage(
                "'\(path)' was not closed by its last writer, and a reader cannot roll back the transaction in '\(path)-journal'; open it for writing once."
            )
        }
        return error
    }

    /// Waits for another opener's check of the store, or becomes the opener that checks it.
    ///
    /// Returns nil if this reader cannot set locks.
    private func joinSound(_ lock: StoreLock?) throws(StoreError) -> SoundnessLock? {
        guard lock != nil else { return nil }
        do throws(StoreError) {
            return try SoundnessLock.join(forStoreAt: path, timeoutSeconds: settings.timeoutSeconds)
        } catch
            where settings.isReadOnly
            && (error.code == .permissionDenied || error.code == .readOnly || error.code == .noSpace)
        {
            return nil
        }
    }

    /// Throws `corrupted` if the log is damaged or belongs to another store.
    ///
    /// Used for a reader that cannot set locks. A log that seems damaged is read again, because a
    /// writer may have changed it during the reading.
    private func requireSoundLog(
        _ connection: SQLiteConnection, uuid: StoreUUID, isUnflushed: Bool
    ) throws(StoreError) {
        var timeout = Timeout(seconds: 0.5)
        while true {
            do throws(StoreError) {
                guard let log = try LeftoverLog(ofStoreAt: path, settings: settings) else { return }
                try log.requireSound(isUnflushed: isUnflushed)
                return try log.requireBelonging(to: connection, uuid: uuid)
            } catch {
                guard error.code == .corrupted, timeout.wait() else { throw error }
            }
        }
    }

    /// Turns the history on or off, or limits it, according to the options.
    ///
    /// Turning it on or off requires that the store is not open elsewhere, because other users
    /// would not notice the change.
    private func applyHistoryOptions(
        _ schema: SQLSchema, connection: SQLiteConnection, lock: StoreLock?
    ) throws(StoreError) -> SQLSchema {
        guard options.tracksHistory != nil || options.historyRetention != nil else { return schema }
        let current = try SQLHistorySwitch.settings(schema, storeName: path, on: connection)
        guard try options.changesHistory(current, of: StoreLocation(type: "sqlite", path: path)) else { return schema }
        let isSwitched = options.tracksHistory.map { $0 != schema.hasHistory } ?? false
        if isSwitched {
            try lock?.change(to: .exclusive, timeoutSeconds: settings.timeoutSeconds)
            if schema.hasHistory { try connection.allow(.dropping) }
        }
        try connection.run("BEGIN IMMEDIATE")
        var new = schema
        do throws(StoreError) {
            if schema.hasHistory, isSwitched {
                new = try SQLHistorySwitch.turnOff(schema, on: connection)
            } else {
                new = try SQLHistorySwitch.turnOn(
                    schema, retention: options.historyRetention, storeName: path, on: connection)
            }
            if isSwitched { try connection.execute("PRAGMA user_version = \(new.formatVersion)") }
            try connection.run("COMMIT")
        } catch {
            try? connection.rollBack()
            throw error
        }
        if isSwitched {
            try connection.allow(.writing)
            // The checkpoint moves the new version into the file's header, which every program
            // reads first.
            _ = try connection.checkpoint(timeout: .seconds(1), keepsFile: true)
        }
        return new
    }

    /// Creates the ``UnflushedMark`` for a writer that does not flush each commit; otherwise drops
    /// an old mark if possible.
    private func mark(
        _ connection: SQLiteConnection, isUnflushed: Bool, lock: StoreLock?, hasLog: Bool
    ) throws(StoreError) {
        guard !settings.isUnpublished else { return }
        if settings.synchronous == .normal {
            if !isUnflushed { try UnflushedMark.set(connection, settings: settings) }
        } else if isUnflushed, !hasLog, (try? lock?.change(to: .exclusive, timeoutSeconds: 0)) != nil {
            try UnflushedMark.remove(connection)
        }
    }

    /// Reads the identity and the model, and compares the model with the schema and the options.
    ///
    /// First checks that reading runs no foreign code in the schema. The last element of the result
    /// is ``SQLiteSchemaCheck/isUnflushed``.
    private func inspect(_ connection: SQLiteConnection) throws(StoreError) -> (StoreUUID, SQLSchema, Bool) {
        let check = try SQLiteSchemaCheck(connection)
        let version = Int(clamping: try connection.integer("PRAGMA user_version") ?? 0)
        try SQLSchema.requireFormat(version, of: path)
        try check.requireSystemTables(formatVersion: version)
        let (uuid, model) = try SQLMetadata.read(connection, storeName: path, formatVersion: version)
        let schema = try SQLSchema(model, dialect: SQLiteDialect(), formatVersion: version)
        try check.require(schema)
        try SQLMetadata.requireEntities(of: schema, on: connection, storeName: path)
        if let expected = options.model {
            let metadata = StoreMetadata(
                type: "sqlite", formatVersion: version, storeUUID: uuid, model: model)
            guard expected.isCompatible(with: metadata) else {
                throw .modelMismatch(path, has: model, expected: expected)
            }
        }
        return (uuid, schema, check.isUnflushed)
    }
}
