internal import CSQLite
internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// An open database file, with a writing connection, a pool of reading connections, and locks.
///
/// The instances coordinate through SQLite's locks and the store's lock file, within a process and
/// between processes. FORMAT.md describes opening, committing and closing.
final class SQLiteDatabase: SQLRebuilding, CommitSignaling {
    struct State {
        var writer: SQLiteConnection?
        /// The size of the write-ahead log in bytes at which the next checkpoint is due.
        var checkpointByteCount = SQLiteDatabase.checkpointByteCount
        var idleReaders: [SQLiteConnection] = []
        /// The number of current read transactions and writers.
        var userCount = 0
        /// Whether a load without a journal excludes all other users.
        var isLoading = false
        var isClosed = false
        /// Whether the final steps after closing have been started.
        var isFinished = false
        /// The error of a checkpoint after a commit, which closing reports.
        var checkpointError: StoreError?
    }

    private static let maximumIdleReaders = 4
    private static let checkpointByteCount = 4 << 20
    /// The size of the log in bytes at which a checkpoint may wait longer.
    private static let largeLogByteCount = 32 << 20

    let path: String
    let settings: SQLiteSettings
    let isImmutable: Bool
    let pageSizeBytes: Int
    /// The lock of the store, or nil for a reader if no lock file can be created.
    let lock: StoreLock?
    /// The lock that shows other users that the store was checked, or nil if it cannot be set.
    private let soundness: SoundnessLock?
    private let check: FileHandleCheck
    /// The check after each read of a file with several hard links; nil for other files.
    private let unchanged: FileHandleCheck?
    /// The lock on the file while it is read without a log, if any.
    private let fileLock: Mutex<SQLiteFileLock?>
    let notices: [String]
    private let gate = WriterGate()
    let state = Mutex(State())

    var dialect: any SQLDialect { SQLiteDialect() }
    var name: String { path }
    var commitSignal: (any CommitSignal)? { lock }

    init(
        path: String, settings: SQLiteSettings, isImmutable: Bool, pageSizeBytes: Int, lock: StoreLock?,
        soundness: SoundnessLock?, check: FileHandleCheck, unchanged: FileHandleCheck? = nil, writer: SQLiteConnection?,
        fileLock: SQLiteFileLock?, notices: [String]
    ) {
        self.path = path
        self.settings = settings
        self.isImmutable = isImmutable
        self.pageSizeBytes = pageSizeBytes
        self.lock = lock
        self.soundness = soundness
        self.check = check
        self.unchanged = unchanged
        self.fileLock = Mutex(fileLock)
        self.notices = notices
        state.withLock { $0.writer = writer }
    }

    deinit { try? close() }

    // MARK: Reading

    func beginReading() throws(StoreError) -> any SQLConnection {
        let pooled = try enter { $0.idleReaders.popLast() }
        do throws(StoreError) {
            try check.verify()
            if isImmutable { try requireNoWriter() }
            let connection: SQLiteConnection
            if let pooled {
                connection = pooled
            } else {
                connection = try Self.connect(
                    path, settings: settings, access: isImmutable ? .immutable(check) : .readOnly, unchanged: unchanged)
            }
            do throws(StoreError) {
                try connection.run("BEGIN")
                // The first read, not BEGIN, determines the state that the transaction sees.
                _ = try connection.integer("SELECT count FROM _roost_tallies LIMIT 1")
                if !isImmutable { try connection.verifyLog() }
            } catch {
                discard(connection)
                throw error
            }
            return connection
        } catch {
            leave()
            throw error
        }
    }

    /// Throws `storeReplaced` if a log or journal has content, which an immutable connection
    /// ignores.
    private func requireNoWriter() throws(StoreError) {
        guard SQLiteSettling.needsRecovery(path) else { return }
        throw StoreError(
            .storeReplaced,
            "'\(path)' is read without locks, and another program writes to it; open it again"
        )
    }

    func endReading(_ connection: any SQLConnection) {
        if let connection = connection as? SQLiteConnection {
            do throws(StoreError) {
                try connection.rollBack()
                let isKept = state.withLock { state in
                    guard !state.isClosed, !state.isLoading, state.idleReaders.count < Self.maximumIdleReaders else {
                        return false
                    }
                    state.idleReaders.append(connection)
                    return true
                }
                if !isKept { discard(connection) }
            } catch {
                discard(connection)
            }
        }
        leave()
    }

    // MARK: Writing

    func beginWriting() throws(StoreError) -> any SQLConnection {
        let writer = try takeWriter()
        do throws(StoreError) {
            try writer.run("BEGIN IMMEDIATE")
        } catch {
            giveBack(writer, isSound: error.code == .busy)
            throw error
        }
        do throws(StoreError) {
            try writer.verifyLog()
            return writer
        } catch {
            // Only this connection knows its old log. The connection is kept to refuse the next
            // transaction too.
            giveBack(writer, isSound: rollBackQuietly(writer))
            throw error
        }
    }

    func commitWriting(_ connection: any SQLConnection) throws(StoreError) {
        guard let writer = connection as? SQLiteConnection else { return }
        do throws(StoreError) { try check.verifyForWriting() } catch {
            rollBackWriting(writer)
            throw error
        }
        do throws(StoreError) {
            try writer.run("COMMIT")
        } catch {
            // After a failed flush the state of the disk is unknown, so a new connection reads it
            // again.
            rollBackQuietly(writer)
            giveBack(writer, isSound: false)
            throw error
        }
        checkpointIfDue(writer)
        giveBack(writer, isSound: true)
    }

    func rollBackWriting(_ connection: any SQLConnection) {
        guard let writer = connection as? SQLiteConnection else { return }
        giveBack(writer, isSound: rollBackQuietly(writer))
    }

    /// Returns the writing connection for exclusive use, and opens it if necessary.
    func takeWriter() throws(StoreError) -> SQLiteConnection {
        guard gate.enter(timeoutSeconds: settings.timeoutSeconds) else {
            throw StoreError(.busy, "Another thread is writing to '\(path)'; try again later.")
        }
        do throws(StoreError) {
            let known = try enter { $0.writer }
            do throws(StoreError) {
                try check.verifyForWriting()
                if let known { return known }
                let writer = try Self.connect(path, settings: settings, access: .readWrite)
                state.withLock { $0.writer = writer }
                return writer
            } catch {
                leave()
                throw error
            }
        } catch {
            gate.leave()
            throw error
        }
    }

    func giveBack(_ writer: SQLiteConnection, isSound: Bool) {
        writer.clock.pointee.limit = settings.rowTimeout
        if !isSound {
            state.withLock { $0.writer = nil }
            discard(writer)
        }
        gate.leave()
        leave()
    }

    /// Releases the writer gate after a load that closed its connection.
    func leaveWriterPlace() { gate.leave() }

    @discardableResult
    private func rollBackQuietly(_ writer: SQLiteConnection) -> Bool {
        // The caller reports the error that made the rollback necessary. A connection that cannot
        // roll back is discarded.
        (try? writer.rollBack()) != nil
    }

    // MARK: Checkpoints

    /// Moves the write-ahead log into the database if the log has become large.
    ///
    /// Readers of older states block a checkpoint, and a checkpoint blocks writers. So a checkpoint
    /// gives up soon, and is repeated after the log has grown by another 4 MiB. Only a repeated
    /// checkpoint of a large log waits longer, because right after a large commit, the committing
    /// thread often still reads the previous state.
    private func checkpointIfDue(_ writer: SQLiteConnection) {
        let byteCount = writer.logFrameCount * pageSizeBytes
        let due = state.withLock { $0.checkpointByteCount }
        guard byteCount >= due else { return }
        let isWorthWaiting = byteCount >= Self.largeLogByteCount && due > Self.checkpointByteCount
        do throws(StoreError) {
            let isDone = try writer.checkpoint(
                timeout: isWorthWaiting ? .seconds(1) : .milliseconds(20), keepsFile: true)
            let next = isDone ? Self.checkpointByteCount : byteCount + Self.checkpointByteCount
            state.withLock { state in
                state.checkpointByteCount = next
                if isDone { state.checkpointError = nil }
            }
        } catch {
            // The commit has already succeeded, so only closing reports the error.
            state.withLock { $0.checkpointError = error }
        }
    }

    // MARK: Users

    /// Counts a new user.
    ///
    /// Throws `closed` after closing, and `busy` during a load without a journal.
    func enter<Result>(_ body: (inout State) -> Result) throws(StoreError) -> Result {
        try state.withLock { (state) throws(StoreError) in
            guard !state.isClosed else { throw StoreError(.closed, "The store '\(path)' was closed before.") }
            guard !state.isLoading else {
                throw StoreError(.busy, "'\(path)' cannot be used until its load ends.")
            }
            state.userCount += 1
            return body(&state)
        }
    }

    /// Removes a user; the last user after closing performs the final steps.
    func leave() {
        let mustFinish = state.withLock { state in
            state.userCount -= 1
            guard state.isClosed, state.userCount == 0, !state.isFinished else { return false }
            state.isFinished = true
            return true
        }
        // `close()` has already returned without an error. An error here leaves a log that the next
        // open recovers.
        if mustFinish { try? finishClosing() }
    }

    func discard(_ connection: SQLiteConnection) {
        // A connection without a transaction has no changes to lose.
        try? connection.close()
    }

    // MARK: The end

    func close() throws(StoreError) {
        let mustFinish = state.withLock { state in
            state.isClosed = true
            guard state.userCount == 0, !state.isFinished else { return false }
            state.isFinished = true
            return true
        }
        if mustFinish { try finishClosing() }
    }

    private func finishClosing() throws(StoreError) {
        var failure: StoreError?
        var writer: SQLiteConnection?
        let others = state.withLock { state in
            let readers = state.idleReaders
            (writer, failure) = (state.writer, state.checkpointError)
            (state.idleReaders, state.writer) = ([], nil)
            return readers
        }
        for connection in others { discard(connection) }
        if let writer { discard(writer) }
        // The last user also removes the empty log that another reader left when it failed on a
        // full disk.
        let hadFileLock = fileLock.withLock { $0.take() } != nil
        if !isImmutable || hadFileLock {
            do throws(StoreError) {
                try SQLiteSettling.afterLastUse(path, settings: settings, lock: lock, check: check)
                // Without companion files, the file contains everything, so an earlier error of a
                // checkpoint is obsolete.
                if !SQLiteSettling.hasCompanions(path) { failure = nil }
            } catch {
                failure = failure ?? error
            }
        }
        // The locks are released last, because the log must not change while the next user of the
        // store examines it.
        soundness?.release()
        lock?.release()
        if let failure { throw settings.isUnpublished ? failure : keptInLog(failure) }
    }

    /// Returns the error of moving the log.
    ///
    /// On a full disk, its message says that all commits are safe in the log.
    private func keptInLog(_ failure: StoreError) -> StoreError {
        guard failure.code == .noSpace, SQLiteSettling.needsRecovery(path) else { return failure }
        return failure.withMessage(
            "The log '\(path)-wal' cannot be moved into '\(path)': the disk is full, or a quota or a limit of file size is reached. Every commit in it is safe as long as both files stay together. Make room; the next program that closes the store then moves the log."
        )
    }

    func byteCount() throws(StoreError) -> Int {
        let log = try? StoreFile.byteCount(at: path + "-wal")
        return try StoreFile.byteCount(at: path) + (log ?? 0)
    }

    static func connect(
        _ path: String, settings: SQLiteSettings, access: SQLiteConnection.Access,
        unchanged: FileHandleCheck? = nil
    ) throws(StoreError) -> SQLiteConnection {
        // Prevents SQLite from writing to the target of a symbolic link, or waiting for a pipe.
        try StoreFile.requirePlainCompanions(SQLiteSettling.companions, ofStoreAt: path)
        let connection = try SQLiteConnection(path, access: access, settings: settings, unchanged: unchanged)
        switch access {
        case .readWrite:
            let synchronous = settings.isUnpublished ? "OFF" : settings.synchronous.rawValue.uppercased()
            try connection.execute("PRAGMA synchronous = \(synchronous)")
            try connection.execute("PRAGMA journal_size_limit = \(checkpointByteCount * 4)")
            try connection.execute("PRAGMA cache_size = -8192")
        case .unlocked:
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            try connection.execute("PRAGMA query_only = ON")
        case .readOnly, .immutable:
            try connection.execute("PRAGMA query_only = ON")
            try connection.execute("PRAGMA cache_size = -8192")
        }
        return connection
    }
}
