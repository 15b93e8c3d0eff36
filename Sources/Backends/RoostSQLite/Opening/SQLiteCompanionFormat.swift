internal import RoostFiles

/// The formats that distinguish SQLite's files beside a database from files of other programs.
///
/// - `-wal`, the log: <https://www.sqlite.org/fileformat.html#the_write_ahead_log>.
/// - `-shm`, the index of the log: <https://www.sqlite.org/walformat.html>.
/// - `-journal`, the rollback journal, which ``RollbackJournal`` compares with the database.
enum SQLiteCompanionFormat {
    /// Returns whether the file can belong to SQLite; see ``FileStoreType/canBeCompanion(_:)``.
    static func canBeCompanion(_ file: CompanionFile) -> Bool {
        switch file.suffix {
        case "-wal":
            // A file that the user may not read passes, because SQLite itself reports it.
            guard let beginning = file.prefix(8) else { return true }
            guard !isLog(beginning) else { return true }
            guard beginning.allSatisfy({ $0 == 0 }) else { return false }
            return file.prefix(examinedByteCount)?.allSatisfy { $0 == 0 } ?? true
        case "-shm":
            guard isIndexLength(file.byteCount) else { return false }
            return file.prefix(unitByteCount, isLockedByLibrary: true).map(isIndex) ?? true
        default: return true
        }
    }

    /// Returns whether the file is a log's index and so contains no data of its own; see
    /// ``FileStoreType/isExpendable(_:)``.
    static func isExpendable(_ file: CompanionFile) -> Bool {
        guard file.suffix == "-shm", isIndexLength(file.byteCount) else { return false }
        return file.prefix(examinedByteCount).map(isIndex) ?? false
    }

    private static let examinedByteCount = 1 << 20
    /// The size of a unit of an index.
    private static let unitByteCount = 32 << 10
    /// The length of a new index, and the step in which an index grows.
    private static let (newIndexByteCount, indexStepByteCount) = (3, 4 << 10)
    private static let (logMagics, logFormat): ([UInt32], UInt32) = ([0x377F_0682, 0x377F_0683], 3_007_000)
    /// The first bytes of an index, in both byte orders.
    ///
    /// They are the first bytes of the format's version. SQLite truncates the index of an unused
    /// log to these three bytes.
    private static let indexBeginnings: [[UInt8]] = [[0x18, 0xE2, 0x2D], [0x00, 0x2D, 0xE2]]
    /// The length of an index header, and the offset of the hash table in the first unit.
    private static let (indexHeaderByteCount, indexHashOffset) = (136, 16 << 10)

    /// Returns whether these are the first bytes of a log, possibly with a damaged header.
    private static func isLog(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && (logMagics.contains(word(bytes, offset: 0)) || word(bytes, offset: 4) == logFormat)
    }

    private static func isIndexLength(_ byteCount: Int) -> Bool {
        byteCount <= newIndexByteCount || byteCount.isMultiple(of: indexStepByteCount)
    }

    /// Returns whether these are the first bytes of an index, possibly of an unfinished one.
    ///
    /// SQLite writes the page numbers and their hash table first, and the header last.
    private static func isIndex(_ bytes: [UInt8]) -> Bool {
        if indexBeginnings.contains(where: { bytes.starts(with: $0) }) { return true }
        guard bytes.prefix(indexHeaderByteCount).allSatisfy({ $0 == 0 }) else { return false }
        // An element of the hash table is a position among at most 4096 page numbers.
        return stride(from: indexHashOffset, to: bytes.count - 1, by: 2).allSatisfy { offset in
            let (first, second) = (Int(bytes[offset]), Int(bytes[offset + 1]))
            return min(first << 8 | second, second << 8 | first) <= 4096
        }
    }

    private static func word(_ bytes: [UInt8], offset: Int) -> UInt32 {
        guard bytes.count >= offset + 4 else { return 0 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
