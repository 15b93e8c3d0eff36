internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// A rebuild of an open store's file that removes unused space.
///
/// VACUUM writes the whole new content as one transaction into the write-ahead log. Readers
/// continue, and writers wait.
struct SQLiteCompaction {
    let store: SQLStore
    let path: String
    let settings: SQLiteSettings

    /// Returns false if the log could not be emptied before the timeout or a cancellation.
    func run(_ isCancelled: @escaping @Sendable () -> Bool) throws(StoreError) -> Bool {
        // A small store may be compacted before SQLite first calls the progress handler.
        guard !isCancelled() else { throw cancelled }
        // The check saves the identity of the file at the path. Reading the store afterwards
        // verifies that the store has this file open.
        let check = try FileHandleCheck(at: path)
        try requireExact("was not compacted, because its content")
        try requireSpace()
        try check.verifyForWriting()
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .readWrite)
        do throws(StoreError) {
            // Opening the store has verified the catalog, and VACUUM runs only statements from the
            // catalog.
            try connection.allow(.everything)
            let cancelled = cancelled
            try connection.withoutTimeLimit { () throws(StoreError) in
                let goOn = { () throws(StoreError) in
                    if isCancelled() { throw cancelled }
                    // VACUUM can take minutes, in which the file may get another hard link.
                    try check.verifyForWriting()
                }
                try connection.ending(when: goOn) { () throws(StoreError) in try connection.vacuum() }
            }
            try connection.allow(.writing)
            // The output of VACUUM is verified before it is moved into the file.
            try SQLiteSettling.requireSound(connection)
            try requireExact("is damaged: after compaction, its content")
            try check.verifyForWriting()
            let timeout = Duration.seconds(min(settings.timeoutSeconds, 31_536_000))
            let isSmall = try connection.checkpoint(timeout: timeout, isCancelled: isCancelled)
            try connection.close()
            return isSmall
        } catch {
            // A connection without a transaction has no changes to lose.
            try? connection.close()
            throw error
        }
    }

    private var cancelled: StoreError {
        StoreError(.cancelled, "Compacting '\(path)' was cancelled; the store is as it was.")
    }

    /// Throws `corrupted` unless the content matches the tally of the last commit.
    private func requireExact(_ what: String) throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let (recorded, found) = (try snapshot.recordedTally(), try snapshot.computeTally())
        guard recorded == found else {
            throw StoreError(
                .corrupted,
                "'\(path)' \(what) differs from what the last commit recorded. Run 'roost check' for details.")
        }
    }

    /// Checks the free space, since the new content goes into a temporary file and then into the
    /// log.
    private func requireSpace() throws(StoreError) {
        let needed = try StoreFile.byteCount(at: path)
        let available = try StoreFile.freeBytes(inDirectoryOf: path)
        guard needed <= available else {
            throw StoreError(
                .noSpace,
                "There is not enough space to compact '\(path)': up to \(needed) bytes are needed, and \(available) are free."
            )
        }
    }
}
