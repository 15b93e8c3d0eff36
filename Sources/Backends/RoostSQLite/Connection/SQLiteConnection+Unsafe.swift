internal import CSQLite
package import RoostCore
internal import RoostFiles
package import RoostSQL
internal import RoostSystem

/// An SQLite connection with settings that restrict the effects of a hostile file.
///
/// Use it from one thread at a time.
package final class SQLiteConnection: SQLBatchInserting {
    enum Access {
        case readWrite
        case readOnly
        /// Read-only and without locks; reads the log too.
        ///
        /// No file is created or changed. No other connection may write to the store meanwhile.
        case unlocked
        /// Read-only and without locks; after each reading, the check, if any, detects changes.
        case immutable(FileHandleCheck?)

        var isWritable: Bool { if case .readWrite = self { true } else { false } }
    }

    static let maximumParameterCount: Int32 = 2100
    private static let maximumIdleStatements = 256

    /// The check after each reading that the file is unchanged, or nil for no check.
    private let unlockedCheck: FileHandleCheck?
    package let path: String
    private let logPath: String
    let handle: OpaquePointer
    private var slots: [SQLiteStatement.Text: SQLiteStatement.Slot] = [:]
    private var idleCount = 0
    /// The storage of ``logFrameCount``, which SQLite's commit hook sets.
    private let logFrames: UnsafeMutablePointer<Int32>
    let clock: UnsafeMutablePointer<RowClock>
    /// The error with which one of Roost's SQL functions ended the current statement.
    let functionError: UnsafeMutablePointer<StoreError?>
    /// The maximum time that a statement waits for a lock of another connection.
    let busyMilliseconds: Int32
    private(set) var isClosed = false
    /// The identity of the open write-ahead log, or nil before it is known.
    private var logIdentity: FileIdentity?
    /// The file that is registered in ``HeldFiles`` until the connection is closed.
    private let identity: FileIdentity?

    init(
        _ path: String, access: Access, settings: SQLiteSettings, unchanged: FileHandleCheck? = nil
    ) throws(StoreError) {
        guard !path.utf8.contains(0) else { throw StoreError(.notFound, "A path must not contain U+0000.") }
        // Neither ":memory:" nor "file:…" may have a special meaning as a path.
        var name = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        switch access {
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .unlocked:
            // Without locks, SQLite has no shared memory either. So `SQLiteDatabase.connect` sets a
            // locking mode that keeps the log's index in private memory.
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:" + Hexadecimal.percentEncoded(name) + "?vfs=unix-none"
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:" + Hexadecimal.percentEncoded(name) + "?immutable=1"
        }
        var opened: OpaquePointer?
        // A missing file has no identity. Opening then fails, because connections never create files.
        let identity = try? FileIdentity(at: path)
        if let identity { HeldFiles.shared.enter(identity) }
        let code = sqlite3_open_v2(name, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(
                code: opened.map { sqlite3_extended_errcode($0) } ?? code,
                systemCode: opened.map { sqlite3_system_errno($0) } ?? 0)
            // SQLite requires closing even a failed connection. Closing a new connection cannot
            // fail.
            sqlite3_close_v2(opened)
            if let identity { HeldFiles.shared.leave(identity) }
            throw StoreError.sqlite(error, what: "Opening", path: path)
        }
        self.path = path
        logPath = path + "-wal"
        self.identity = identity
        if case .immutable(let check) = access { unlockedCheck = check } else { unlockedCheck = unchanged }
        handle = opened
        logFrames = .allocate(capacity: 1)
        logFrames.initialize(to: 0)
        clock = .allocate(capacity: 1)
        clock.initialize(to: RowClock())
        functionError = .allocate(capacity: 1)
        functionError.initialize(to: nil)
        busyMilliseconds = Int32(clamping: Int((min(max(settings.timeoutSeconds, 0), 1e6) * 1000).rounded()))
        try configure(access, settings: settings)
    }

    deinit {
        if !isClosed { try? close() }
        logFrames.deallocate()
        clock.deinitialize(count: 1)
        clock.deallocate()
        functionError.deinitialize(count: 1)
        functionError.deallocate()
    }

    /// Closes the connection and all its statements.
    package func close() throws(StoreError) {
        guard !isClosed else { return }
        for slot in slots.values {
            for statement in slot.idle { statement.finalize() }
            slot.idle = []
        }
        slots = [:]
        idleCount = 0
        // This finalizes statements that callers still hold. `isClosed` prevents later use.
        while let open = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(open) }
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else { throw failure(code, what: "Closing") }
        isClosed = true
        if let identity { HeldFiles.shared.leave(identity) }
    }

    // MARK: Settings

    private func configure(_ access: Access, settings: SQLiteSettings) throws(StoreError) {
        try check(sqlite3_extended_result_codes(handle, 1), what: "Opening")
        try check(sqlite3_busy_timeout(handle, busyMilliseconds), what: "Opening")
        for (option, isOn) in [
            (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, false), (SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        ] { try set(option, isOn: isOn) }
        bound(maximumValueBytes: settings.maximumValueBytes, rowTimeout: settings.rowTimeout)
        try allow(access.isWritable ? .writing : .reading)
        try SQLiteFunctions.register(on: self)
        try check(sqlite3_wal_autocheckpoint(handle, 0), what: "Opening")
        // SAFETY: `logFrames` lives as long as the connection, which calls the hook only inside its
        // own COMMIT.
        _ = sqlite3_wal_hook(
            handle,
            { context, _, _, frames in
                context?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, logFrames)
        // A writer spreads damage that it does not notice, so writers check whole pages. FORMAT.md
        // explains why readers do not.
        try execute("PRAGMA cell_size_check = \(access.isWritable ? "ON" : "OFF")")
        try execute("PRAGMA mmap_size = 0")
        try execute("PRAGMA recursive_triggers = OFF")
    }

    func set(_ option: Int32, isOn: Bool) throws(StoreError) {
        var result: Int32 = -1
        try check(roost_sqlite3_db_config(handle, option, isOn ? 1 : 0, &result), what: "Setting up")
        guard result == (isOn ? 1 : 0) else {
            throw StoreError(.internalInconsistency, "SQLite does not accept option \(option) for '\(path)'.")
        }
    }

    /// Makes closing this connection move the log into the file, if no other connection is open.
    func movesLogWhenClosed() throws(StoreError) { try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn: false) }

    func isOn(_ option: Int32) throws(StoreError) -> Bool {
        var result: Int32 = -1
        try check(roost_sqlite3_db_config(handle, option, -1, &result), what: "Asking")
        return result == 1
    }

    func limit(_ limit: Int32) -> Int32 { sqlite3_limit(handle, limit, -1) }

    // MARK: Statements

    package func statement(_ sql: String) throws(StoreError) -> any SQLStatement { try prepare(sql) }

    /// Returns an idle statement of the cache, or a new one.
    package func prepare(_ sql: String) throws(StoreError) -> SQLiteStatement {
        guard !isClosed else { throw StoreError(.closed, "The connection to '\(path)' was closed before.") }
        let slot = slots[SQLiteStatement.Text(sql)] ?? SQLiteStatement.Slot()
        if let statement = slot.idle.popLast() {
            idleCount -= 1
            statement.connection = self
            return statement
        }
        var sql = sql
        var prepared: OpaquePointer?
        let code = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                sqlite3_prepare_v3(
                    handle, text.baseAddress, Int32(clamping: text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared,
                    nil)
            }
        }
        guard code == SQLITE_OK else { throw failure(code, what: "Reading the schema of") }
        guard let prepared else { throw StoreError(.internalInconsistency, "An empty statement was prepared.") }
        return SQLiteStatement(prepared, sql: sql, slot: slot, connection: self)
    }

    /// Resets a statement, clears its values and caches it if the cache has room.
    package func recycle(_ statement: any SQLStatement) {
        guard let statement = statement as? SQLiteStatement, statement.connection === self, !isClosed else { return }
        statement.reset()
        statement.clearBindings()
        let slot = statement.slot
        guard idleCount < Self.maximumIdleStatements else {
            statement.finalize()
            if slot.isFiled, slot.idle.isEmpty { (slots[.init(statement.sql)], slot.isFiled) = (nil, false) }
            return
        }
        statement.connection = nil
        if !slot.isFiled {
            // Another statement with this text may have been recycled first.
            let text = SQLiteStatement.Text(statement.sql)
            guard slots[text] == nil else { return statement.finalize() }
            (slots[text], slot.isFiled) = (slot, true)
        }
        slot.idle.append(statement)
        idleCount += 1
    }

    package func execute(_ sql: String) throws(StoreError) {
        let statement = try prepare(sql)
        defer { statement.finalize() }
        while try statement.step() {}
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package var changedRowCount: Int { Int(sqlite3_changes(handle)) }

    /// Throws `storeReplaced` if the open write-ahead log was removed or replaced.
    ///
    /// Changes written to a removed log are lost. Call this method after a read, because only a
    /// read or a write opens the log.
    func verifyLog() throws(StoreError) {
        let now = try? FileIdentity(at: logPath)
        if let logIdentity, now != logIdentity {
            throw StoreError(
                .storeReplaced,
                "The write-ahead log of '\(path)' was removed or exchanged while it was open; close the store and open it again."
            )
        }
        logIdentity = now
    }

    /// Throws `storeReplaced` if a file that is read without protection by locks has changed.
    ///
    /// Call this method after reading.
    func verifyUnchanged() throws(StoreError) { if let unlockedCheck { try unlockedCheck.verifyUnchanged() } }

    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The number of frames in the write-ahead log after the last commit on this connection.
    var logFrameCount: Int { Int(logFrames.pointee) }

    /// Resets all statements, and rolls back any open transaction.
    func rollBack() throws(StoreError) {
        var open = sqlite3_next_stmt(handle, nil)
        while let current = open {
            // The returned code repeats the error of the last step, which was already reported.
            _ = sqlite3_reset(current)
            open = sqlite3_next_stmt(handle, current)
        }
        if isInTransaction { try run("ROLLBACK") }
    }

    // MARK: Errors

    func check(_ code: Int32, what: String) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure(code, what: what) }
    }

    @inline(never)
    func failure(_ code: Int32, what: String) -> StoreError {
        // The connection's code is more precise than the call's if both are about the same error.
        let extended = sqlite3_extended_errcode(handle)
        let precise = extended & 0xFF == code & 0xFF ? extended : code
        if precise == SQLITE_ABORT, let error = functionError.pointee {
            functionError.pointee = nil
            return error
        }
        if code & 0xFF == SQLITE_INTERRUPT, clock.pointee.wasCancelled, let error = clock.pointee.checkError {
            return error
        }
        if code & 0xFF == SQLITE_INTERRUPT, clock.pointee.isOver {
            return StoreError(
                .timedOut,
                "\(what) '\(path)' found no row in \(clock.pointee.limit.map { "\($0)" } ?? "time"); narrow the request, index the properties that the request compares, or raise the option rowTimeoutSeconds.",
                underlying: SQLiteError(code: precise))
        }
        let system = sqlite3_system_errno(handle)
        let systemCode = system == 0 && precise & 0xFF == SQLITE_IOERR ? lastErrorOfLog() : system
        return .sqlite(SQLiteError(code: precise, systemCode: systemCode), what: what, path: path)
    }

    /// Returns the system's last error for the log, or 0 if it is not known.
    ///
    /// At the end of a commit, SQLite reports an error without the system's error. An exceeded
    /// quota would then look like a broken disk.
    private func lastErrorOfLog() -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
            let control = file.pointee.pMethods?.pointee.xFileControl
        else { return 0 }
        var number: Int32 = 0
        return control(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK ? number : 0
    }
}
