internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// A write-ahead log that a crash left beside its file, and what the file says without it.
///
/// SQLite applies whatever log lies beside a file. If one of the two was exchanged meanwhile (a backup copied over the file, a
/// log that stayed when the file was replaced), their pages mix. SQLite cannot see that; the generation and the store's mark can.
struct LeftoverLog {
    private let path: String
    /// How many commits the log has; those that SQLite leaves out for their checksums are counted too.
    private let commitCount: Int
    /// The generation and the mark in the file alone; nil where they cannot be read, as in the midst of a checkpoint.
    private let inFile: (generation: Int64, mark: Int64)?

    /// Looks at the log of the store at `path`; nil when there is none, or none that SQLite would read.
    ///
    /// Call it only while nobody else can have the store open: no lock is taken.
    init?(ofStoreAt path: String, _ settings: SQLiteSettings) {
        self.path = path
        guard let count = try? Self.commitCount(inLogAt: path + "-wal") else { return nil }
        commitCount = count
        inFile = Self.generationAndMark(path, settings)
    }

    /// Throws code `corrupted` when the log cannot lead from the file's state to the one that both together show.
    ///
    /// A log is begun anew only when all of it is in the file, and each commit raises the generation by one at most. So the file
    /// alone lags behind by no more than the log has commits, and is never ahead.
    func requireBelonging(to both: SQLiteConnection, _ uuid: StoreUUID) throws(StoreError) {
        guard let (generation, mark) = try SQLTallies.generationAndMark(both) else { return }
        var isLeading = true
        if let inFile {
            let (distance, overflow) = generation.subtractingReportingOverflow(inFile.generation)
            isLeading = !overflow && distance >= 0 && distance <= Int64(commitCount) && inFile.mark == mark
        }
        guard isLeading, mark == SQLTallies.mark(of: uuid) else {
            throw StoreError(
                .corrupted,
                "'\(path)' and the write-ahead log beside it do not belong together: one of them was exchanged. Bring both back from one backup, or move '\(path)-wal' away to open the file without what is in the log."
            )
        }
    }

    private static func generationAndMark(
        _ path: String, _ settings: SQLiteSettings
    ) -> (generation: Int64, mark: Int64)? {
        guard let connection = try? SQLiteDatabase.connect(path, settings, .immutable(nil)) else { return nil }
        defer { try? connection.close() }
        return try? SQLTallies.generationAndMark(connection)
    }

    // MARK: The log's format, see https://www.sqlite.org/fileformat.html#the_write_ahead_log

    private static let headerByteCount = 32
    private static let frameHeaderByteCount = 24

    /// How many frames with a commit mark the log has; nil when it has no header that SQLite would accept.
    private static func commitCount(inLogAt path: String) throws(StoreError) -> Int? {
        let file = try RegularFile(at: path)
        let header = try file.bytes(at: 0, count: headerByteCount)
        guard header.count == headerByteCount else { return nil }
        let pageSize = word(header, at: 8)
        guard (512...65536).contains(pageSize) else { return nil }
        var count = 0
        var offset = headerByteCount
        while offset + frameHeaderByteCount + pageSize <= file.byteCount {
            let frame = try file.bytes(at: offset, count: frameHeaderByteCount)
            // Frames with other salts are left over from before the log was begun anew.
            guard frame.count == frameHeaderByteCount, frame[8..<16] == header[16..<24] else { break }
            // The size of the database after the commit; 0 in frames that do not end one.
            if word(frame, at: 4) != 0 { count += 1 }
            offset += frameHeaderByteCount + pageSize
        }
        return count
    }

    private static func word(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
