internal import CSQLite
internal import RoostCore
internal import RoostSystem

/// The limits of a checkpoint's wait for a writer or for readers of older states.
struct CheckpointTimeout {
    let handle: OpaquePointer
    let deadline: ContinuousClock.Instant
    let isCancelled: () -> Bool

    /// Waits half a millisecond.
    ///
    /// After the deadline or a cancellation, interrupts the checkpoint and returns false.
    func wait() -> Bool {
        guard ContinuousClock.now < deadline, !isCancelled() else {
            // Without the interrupt, SQLite would continue with a PASSIVE checkpoint. An
            // interrupted checkpoint moves no more pages.
            sqlite3_interrupt(handle)
            return false
        }
        usleep(500)
        return true
    }
}

extension SQLiteConnection {
    /// The maximum size of a log file that keeps its length when the log is emptied.
    private static let keptLogByteCount: sqlite3_int64 = 8 << 20

    /// Moves all of the write-ahead log into the database and empties the log (TRUNCATE).
    ///
    /// SQLite before 3.51.3 can lose data if a checkpoint runs concurrently with a commit. A
    /// TRUNCATE checkpoint first acquires the writer lock, which prevents commits. If the lock is
    /// not free in time, this method interrupts the checkpoint before any page is moved.
    ///
    /// - Parameters:
    ///   - timeout: The maximum total time to wait for a writer and for readers of older states.
    ///   - isCancelled: A closure that ends the wait by returning true.
    ///   - empties: Whether the log is also emptied. If not (FULL), readers of the newest state do
    ///     not prevent the checkpoint.
    ///   - keepsFile: Whether an emptied log file of up to 8 MiB keeps its length.
    /// - Returns: Whether the checkpoint was complete. If not, either the whole log was moved but
    ///   not emptied, or nothing was moved. A part of the log is never moved, because the file
    ///   alone would then not be a state of the store.
    /// - Throws: Errors of the file system.
    func checkpoint(
        timeout: Duration, isCancelled: @escaping () -> Bool = { false }, empties: Bool = true, keepsFile: Bool = false
    ) throws(StoreError) -> Bool {
        var context = CheckpointTimeout(
            handle: handle, deadline: ContinuousClock.now + timeout, isCancelled: isCancelled)
        let (code, reset) = withUnsafeMutablePointer(to: &context) { context in
            // SAFETY: the handler is replaced before `context` becomes invalid.
            let set = sqlite3_busy_handler(
                handle,
                { context, _ in
                    context?.assumingMemoryBound(to: CheckpointTimeout.self).pointee.wait() == true ? 1 : 0
                }, context)
            // Without the handler, SQLite would continue without the writer lock.
            let mode = empties ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_FULL
            let code = set != SQLITE_OK ? set : keepsFile ? keepingLogFile { moveLog(mode) } : moveLog(mode)
            // This call replaces the handler.
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

    /// Runs a TRUNCATE checkpoint that does not shorten the file of a small log.
    ///
    /// A truncated log grows again, and each flush of a growing file also flushes the file system's
    /// journal. FORMAT.md explains why it is safe to keep the length.
    private func keepingLogFile(_ checkpoint: () -> Int32) -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
            let own = file.pointee.pMethods
        else { return checkpoint() }
        // SQLite uses the first element of `methods`. Its `xTruncate` uses the second element, a
        // copy of the file's own methods.
        return withUnsafeTemporaryAllocation(of: sqlite3_io_methods.self, capacity: 2) { methods in
            methods.initialize(repeating: own.pointee)
            methods[0].xTruncate = { file, byteCount in
                // SAFETY: SQLite calls this method only for the log whose methods are replaced
                // here, on this thread.
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
            // log. The file's own methods are restored before the replacements are deallocated.
            file.pointee.pMethods = UnsafePointer(methods.baseAddress)
            defer { file.pointee.pMethods = own }
            return checkpoint()
        }
    }
}
