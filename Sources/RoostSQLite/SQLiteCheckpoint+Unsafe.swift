internal import CSQLite
internal import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// How long a checkpoint waits for readers of older states and for a writer, and what it does when that is over.
struct CheckpointPatience {
    let handle: OpaquePointer
    let deadline: ContinuousClock.Instant

    /// Waits a moment; false when the time is over, and then the checkpoint moves nothing more.
    func wait() -> Bool {
        guard ContinuousClock.now < deadline else {
            // SQLite would go on as PASSIVE, beside whoever holds the writer's lock. Interrupted, that moves nothing.
            sqlite3_interrupt(handle)
            return false
        }
        usleep(500)
        return true
    }
}

extension SQLiteConnection {
    /// Moves the write-ahead log into the database and empties it (TRUNCATE); false when a lock prevented it.
    ///
    /// SQLite before 3.51.3 can lose data when a checkpoint runs beside a commit. TRUNCATE takes the writer's lock itself, so that
    /// nobody commits meanwhile, but where it does not get the lock SQLite goes on as PASSIVE, without. Here it does not: the
    /// checkpoint is interrupted before it moves the first page.
    ///
    /// - Parameter patience: How long to wait for a writer, and for readers of older states; the time is spent at most once.
    /// - Returns: Whether the log is empty now. If not, nothing was lost and the log is as good as before.
    /// - Throws: What the file system does.
    func checkpoint(patience: Duration) throws(StoreError) -> Bool {
        var context = CheckpointPatience(handle: handle, deadline: ContinuousClock.now + patience)
        let (code, reset) = withUnsafeMutablePointer(to: &context) { context in
            // SAFETY: the handler is replaced before `context` goes.
            let set = sqlite3_busy_handler(
                handle,
                { context, _ in
                    context?.assumingMemoryBound(to: CheckpointPatience.self).pointee.wait() == true ? 1 : 0
                }, context)
            // Without the handler a writer would be waited for, and the checkpoint would go on without its lock.
            let code =
                set == SQLITE_OK
                ? sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) : set
            // Takes the handler's place.
            return (code, sqlite3_busy_timeout(handle, busyMilliseconds))
        }
        try check(reset, "Setting up")
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: return false
        default:
            try check(code, "Checkpointing")
            return true
        }
    }
}
