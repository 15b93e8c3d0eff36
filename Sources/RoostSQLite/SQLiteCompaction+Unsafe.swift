internal import CSQLite
internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// Rebuilds an open store's file without gaps.
///
/// VACUUM writes the whole new content as one transaction into the write-ahead log: until its commit mark is there the store is what
/// it was, then it is the new one. Readers go on, writers wait. The checkpoint afterwards is the same as after any commit.
struct SQLiteCompaction {
    /// Asks whether to stop; SQLite calls back while it works.
    private final class Stop {
        let isAsked: @Sendable () -> Bool
        init(_ isAsked: @escaping @Sendable () -> Bool) { self.isAsked = isAsked }
    }

    /// SQLite's steps between two questions whether to stop, less than a millisecond's work.
    private static let stepCount: Int32 = 2_000
    /// How long readers of the old state are waited for.
    private static let patience = Duration.seconds(2)

    let store: SQLStore
    let path: String
    let settings: SQLiteSettings

    /// Compacts; false when the log could not be moved into the file because readers of older states are there.
    func run(_ isCancelled: @escaping @Sendable () -> Bool) throws(StoreError) -> Bool {
        // Little is done in fewer steps than lie between two questions of SQLite.
        guard !isCancelled() else { throw cancelled }
        try requireExact("was not compacted, because it")
        try requireSpace()
        let connection = try SQLiteDatabase.connect(path, settings, .readWrite)
        do throws(StoreError) {
            // Opening has compared the catalogue; what VACUUM runs comes from that alone.
            try connection.allow(.everything)
            try vacuum(connection, isCancelled)
            try connection.allow(.writing)
            try SQLiteSettling.requireSound(connection)
            // Before the log is moved: as long as it is not, the old pages are in the file.
            try requireExact("is damaged: after compacting it")
            let isSmall = try connection.checkpoint(patience: Self.patience)
            try connection.close()
            return isSmall
        } catch {
            // A connection without transaction has nothing to lose.
            try? connection.close()
            guard isCancelled() else { throw error }
            throw cancelled
        }
    }

    private var cancelled: StoreError {
        StoreError(.cancelled, "Compacting '\(path)' was cancelled; the store is as it was.")
    }

    private func vacuum(
        _ connection: SQLiteConnection, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) {
        let stop = Stop(isCancelled)
        // SAFETY: SQLite calls back only while the statement runs, on this thread, and `stop` lives until then.
        sqlite3_progress_handler(
            connection.handle, Self.stepCount,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Stop>.fromOpaque(context).takeUnretainedValue().isAsked() ? 1 : 0
            }, Unmanaged.passUnretained(stop).toOpaque())
        defer {
            connection.bound(maximumValueBytes: settings.maximumValueBytes, rowTimeout: settings.rowTimeout)
            withExtendedLifetime(stop) {}
        }
        try connection.vacuum()
    }

    /// Throws code `corrupted` unless everything that is there is what the last commit recorded.
    private func requireExact(_ what: String) throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let (recorded, found) = (try snapshot.recordedTally(), try snapshot.computeTally())
        guard recorded == found else {
            throw StoreError(
                .corrupted,
                "'\(path)' \(what) does not hold what its last commit recorded; 'roost check' says more.")
        }
    }

    /// The new content goes into a temporary file and then into the log.
    private func requireSpace() throws(StoreError) {
        let needed = try StoreFile.byteCount(at: path)
        let available = try StoreFile.freeBytes(inDirectoryOf: path)
        guard needed <= available else {
            throw StoreError(
                .noSpace,
                "There is not enough space to compact '\(path)': up to \(needed) bytes are needed, \(available) are there."
            )
        }
    }
}
