internal import CSQLite
internal import RoostCore
internal import RoostSystem

/// The wait of a checkpoint for readers of older states and for a writer; it interrupts the
/// checkpoint at its deadline.
struct CheckpointTimeout {
    let handle: OpaquePointer
    let deadline: ContinuousClock.Instant
    let isCancelled: () -> Bool

    /// Waits a moment; false when the time is over, and then the checkpoint moves nothing more.
    func wait() -> Bool {
        guard ContinuousClock.now < deadline, !isCancelled() else {
            // SQLite would continue as PASSIVE beside the holder of the writer's lock. After an
            // interruption it moves nothing.
            sqlite3_interrupt(handle)
            return false
        }
        usleep(500)
        return true
    }
}

extension SQLiteConnection {
    /// The largest log whose file keeps its length when it is emptied.
    private static let keptLogByteCount: sqlite3_int64 = 8 << 20

    /// Moves all of the write-ahead log into the database and empties it (TRUNCATE); returns false
    /// if a lock prevented it.
    ///
    /// SQLite before 3.51.3 can lose data when a checkpoint runs beside a commit. TRUNCATE takes
    /// the writer's lock itself, so that no other connection commits meanwhile. Without the lock,
    /// SQLite would continue as PASSIVE; here, the checkpoint is interrupted before it moves the
    /// first page.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for a writer, and for readers of older states; the time is
    ///     spent at most once.
    ///   - isCancelled: Called while waiting; true ends the wait.
    ///   - empties: Whether the log is emptied too. If not, readers of the newest state do not
    ///     prevent it (FULL), and the log stays.
    ///   - keepsFile: Whether the file of a log of up to 8 MiB keeps its length; its frames no
    ///     longer belong to the log.
    /// - Returns: Whether it did that. If not, nothing was lost: all of the log was moved and only
    ///   emptying it was prevented, or none of it was moved. After moving only a part, the file
    ///   without its log would not be a state of the store.
    /// - Throws: Errors of the file system.
    func checkpoint(
        timeout: Duration, isCancelled: @escaping () -> Bool = { false }, empties: Bool = true, keepsFile: Bool = false
    ) throws(StoreError) -> Bool {
        var context = CheckpointTimeout(
            handle: handle, deadline: ContinuousClock.now + timeout, isCancelled: isCancelled)
        let (code, reset) = withUnsafeMutablePointer(to: &context) { context in
            // SAFETY: the handler is replaced before `context` goes.
            let set = sqlite3_busy_handler(
                handle,
                { context, _ in
                    context?.assumingMemoryBound(to: CheckpointTimeout.self).pointee.wait() == true ? 1 : 0
                }, context)
            // Without the handler, SQLite would wait for a writer and then continue without its
            // lock.
            let mode = empties ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_FULL
            let code = set != SQLITE_OK ? set : keepsFile ? keepingLogFile { moveLog(mode) } : moveLog(mode)
            // This replaces the handler.
            return (code, sqlite3_busy_timeout(handle, busyMilliseconds))
        }
        try check(reset, what: "Setting up")
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: return false
        default:
            try check(code, what: "Checkpointing")
            return true
        }
    }

    private func moveLog(_ mode: Int32) -> Int32 { sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil) }

    /// Runs a checkpoint that does everything TRUNCATE does, but leaves the file of a log that is
    /// not large as long as it is.
    ///
    /// Flushing a file that grows costs the file system's journal as well, and after each
    /// truncation the log would grow again. To every connection the log is empty all the same,
    /// because TRUNCATE says so in the shared index, new salts included. The next commit begins the
    /// file anew as SQLite does it after RESTART: it flushes a header with those salts before it
    /// writes over the first old frame. Until that header is on the disk, a crash leaves frames
    /// that are all in the flushed database already.
    private func keepingLogFile(_ checkpoint: () -> Int32) -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
            let own = file.pointee.pMethods
        else { return checkpoint() }
        // SQLite calls the first set of methods, which calls the second.
        return withUnsafeTemporaryAllocation(of: sqlite3_io_methods.self, capacity: 2) { methods in
            methods.initialize(repeating: own.pointee)
            methods[0].xTruncate = { file, byteCount in
                // SAFETY: SQLite calls it only on the log whose methods are replaced here, on this
                // thread.
                guard let file, let own = file.pointee.pMethods.map({ $0 + 1 }), let truncate = own.pointee.xTruncate
                else { return SQLITE_IOERR }
                var found: sqlite3_int64 = 0
                if byteCount == 0, let size = own.pointee.xFileSize, size(file, &found) == SQLITE_OK,
                    found <= SQLiteConnection.keptLogByteCount
                {
                    return SQLITE_OK
                }
                return truncate(file, byteCount)
            }
            // SAFETY: only this thread uses the connection, and a checkpoint does not close the
            // log. The file's own methods are restored before these are deallocated.
            file.pointee.pMethods = UnsafePointer(methods.baseAddress)
            defer { file.pointee.pMethods = own }
            return checkpoint()
        }
    }
}
