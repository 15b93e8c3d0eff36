internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// A write-ahead log that a crash left beside its database file, and the state of the file without
/// the log.
///
/// SQLite applies any log beside a file, even if one of the two was replaced, for example by a
/// backup. Their pages are then mixed. The store's generation and mark (``SQLTallies``) reveal the
/// replacement.
struct LeftoverLog {
    private let path: String
    private let content: WriteAheadLog.Content
    /// Whether the file already contains everything in the log.
    private let isInFile: Bool
    /// The file's generation and mark without the log; nil if they cannot be read.
    private let inFile: (generation: Int64, mark: Int64)?

    /// Reads the log of the store at `path`, or returns nil if the log is missing or empty.
    ///
    /// The caller must prevent other connections from writing to the store.
    init?(ofStoreAt path: String, settings: SQLiteSettings) throws(StoreError) {
        self.path = path
        guard let log = try WriteAheadLog.open(ofStoreAt: path) else { return nil }
        content = try log.content()
        isInFile = try log.isInDatabase(content)
        inFile = Self.generationAndMark(path, settings: settings)
    }

    /// Throws `corrupted` if the header is damaged, or if a frame is damaged and `isUnflushed` is
    /// false.
    ///
    /// ``UnflushedMark`` determines `isUnflushed`.
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

    /// Throws `corrupted` unless the log belongs to the file.
    ///
    /// SQLite overwrites a log only when the file contains all of it, and each commit increases the
    /// generation by at most one. So applying the log never decreases the generation, and increases
    /// it by at most the number of commits in the log.
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

    /// Returns messages for people about the log.
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
                "'\(path)-wal' has a frame that does not match its checksum; the commits from there on are left out. The cause is damage, or a power cut while 'synchronous' was 'normal'."
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
