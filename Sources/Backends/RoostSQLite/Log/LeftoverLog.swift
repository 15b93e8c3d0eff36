internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// A write-ahead log that a crash left beside its file, and the state of the file without it.
///
/// SQLite applies any log beside a file. If one of the two was exchanged meanwhile, their pages
/// mix: a backup was copied over the file, or a log stayed when the file was replaced. SQLite does
/// not detect that; the generation and the store's mark show it. SQLite also does not distinguish a
/// damaged log from a log that a power cut has torn; ``WriteAheadLog`` does.
struct LeftoverLog {
    private let path: String
    private let content: WriteAheadLog.Content
    /// Whether the file is the same without the log.
    private let isInFile: Bool
    /// The generation and the mark in the file alone; nil where they cannot be read, as in the
    /// midst of a checkpoint.
    private let inFile: (generation: Int64, mark: Int64)?

    /// Reads the log of the store at `path`; nil if the log is missing or empty.
    ///
    /// Call it only while no other connection can write to the store: no lock is taken.
    ///
    /// - Throws: What reading the log reports.
    init?(ofStoreAt path: String, settings: SQLiteSettings) throws(StoreError) {
        self.path = path
        guard let log = try WriteAheadLog.open(ofStoreAt: path) else { return nil }
        content = try log.content()
        isInFile = try log.isInDatabase(content)
        inFile = Self.generationAndMark(path, settings: settings)
    }

    /// Throws code `corrupted` when the log is damaged, unless the store was written without a
    /// flush at each commit.
    ///
    /// - Parameter isUnflushed: Whether a writer may have left commits in the log that it did not
    ///   flush one by one; see ``UnflushedMark``.
    /// - Throws: `corrupted`.
    func requireSound(isUnflushed: Bool) throws(StoreError) {
        guard case .damaged(let offset) = content.ending else { return }
        guard offset > 0 else {
            throw StoreError(
                .corrupted,
                "'\(path)-wal' is damaged: its header does not match its checksum, so the commits after it cannot be read. Restore both files from one backup, or move '\(path)-wal' away to open the file without what is in the log."
            )
        }
        guard !isUnflushed else { return }
        throw StoreError(
            .corrupted,
            "'\(path)-wal' is damaged: the frame at byte \(offset) was changed after it was written. Restore both files from one backup, or cut '\(path)-wal' to \(content.committedByteCount) bytes to keep only the commits before the damage."
        )
    }

    /// Throws code `corrupted` if the log cannot turn the file's state into the state of both
    /// together.
    ///
    /// A log is begun anew only when all of it is in the file, and each commit raises the
    /// generation by one at most. So the file alone is never ahead, and lags by at most the number
    /// of commits in the log.
    func requireBelonging(to both: SQLiteConnection, uuid: StoreUUID) throws(StoreError) {
        guard let (generation, mark) = try SQLTallies.generationAndMark(both) else { return }
        var isLeading = true
        if let inFile {
            let (distance, overflow) = generation.subtractingReportingOverflow(inFile.generation)
            isLeading =
                !overflow && distance >= 0 && distance <= Int64(content.commitCount) && inFile.mark == mark
        }
        guard isLeading, mark == SQLTallies.mark(of: uuid) else {
            throw StoreError(
                .corrupted,
                "'\(path)' and the write-ahead log beside it do not belong together: one of them was exchanged. Bring both back from one backup, or move '\(path)-wal' away to open the file without what is in the log."
            )
        }
    }

    /// Messages for people about the log, one sentence each.
    ///
    /// - Parameter staysBesideFile: Whether the store is only read, so that the log is not moved
    ///   into the file.
    /// - Returns: The sentences.
    func notices(staysBesideFile: Bool) -> [String] {
        var notices: [String] = []
        if staysBesideFile, !isInFile, content.commitCount > 0 {
            notices.append(
                "'\(path)' is not complete without '\(path)-wal', which holds its last commits: keep both files together, or open the store for writing to move them into it."
            )
        }
        switch content.ending {
        case .clean: break
        case .unfinished:
            notices.append(
                "'\(path)-wal' ends with a transaction that is not complete and is left out: a commit that never finished, or damage to the last one."
            )
        case .damaged:
            notices.append(
                "'\(path)-wal' has a frame that does not match its checksum; the commits from there on are left out. A power cut can leave that where 'synchronous' is 'normal', and so can damage."
            )
        }
        return notices
    }

    private static func generationAndMark(
        _ path: String, settings: SQLiteSettings
    ) -> (generation: Int64, mark: Int64)? {
        guard let connection = try? SQLiteDatabase.connect(path, settings: settings, access: .immutable(nil)) else {
            return nil
        }
        defer { try? connection.close() }
        return try? SQLTallies.generationAndMark(connection)
    }
}
