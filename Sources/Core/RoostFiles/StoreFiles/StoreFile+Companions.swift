public import RoostCore

/// The files that stores keep beside their own: logs, journals and locks, known by what follows the store's name in theirs.
extension StoreFile {
    /// Checks that nothing stands beside `path`, where no store is, which a new store of this name would take for its own.
    ///
    /// Such a file may be anything: another store whose name happens to end so, a user's file, or the last commits of a store
    /// that was moved away, which only their owner can judge. What holds nothing is no hindrance: files that are empty or
    /// nothing but zeros, the index of an SQLite log, LMDB's table of readers.
    ///
    /// Reads some bytes of what is there, without any lock: call it where no store is.
    ///
    /// - Parameters:
    ///   - path: The name, at which nothing stands.
    ///   - suffixes: The text after the store's name, for each file that the store would make.
    /// - Throws: `alreadyExists`, naming the file.
    public static func requireNoCompanions(of path: String, suffixes: [String]) throws(StoreError) {
        let target = resolvingLink(path)
        for suffix in suffixes where !isLeftover(target, suffix) {
            let what =
                suffix == "-wal" || suffix == "-journal"
                ? ", and may hold the last commits of a store that was moved, beside which it belongs under that one's new name"
                : ""
            throw StoreError(
                .alreadyExists,
                "'\(target)\(suffix)' is there, which a new store '\(target)' would take for a file of its own\(what); move it away, remove it if nobody needs it, or choose another path"
            )
        }
    }

    /// Checks that no file that a store keeps beside its own can be anything else.
    ///
    /// A library writes to such a file, follows a link, and waits for a pipe. So call this before a
    /// library gets the store's path, and before such a file is removed. The checks:
    ///
    /// - Every file is a plain file with one name, or does not exist.
    /// - `-wal`, `-shm` and `-lock` have the format of SQLite's log and its index, and of LMDB's
    ///   lock file.
    /// - `.lock` is empty.
    ///
    /// Whether a log or a journal belongs to this very store is for the store's type to check.
    ///
    /// Takes no lock. LMDB's lock file is opened and closed, which drops the POSIX locks of this
    /// process on it. So call this only where the process does not have that store open.
    ///
    /// - Parameters:
    ///   - suffixes: The text after the store's name, for each file.
    ///   - path: The store's file; not a symbolic link.
    /// - Throws: `notAStore`, naming the file.
    public static func requireOwnCompanions(_ suffixes: [String], ofStoreAt path: String) throws(StoreError) {
        for suffix in suffixes {
            guard let status = try plainCompanion(suffix, ofStoreAt: path) else { continue }
            guard canBeCompanion(suffix, ofStoreAt: path, status) else {
                throw foreign(path + suffix, "is not a file", ofStoreAt: path)
            }
        }
    }

    /// Checks that files beside a store are plain files with one name each, or do not exist.
    ///
    /// Opens nothing.
    ///
    /// - Parameters:
    ///   - suffixes: The text after the store's name, for each file.
    ///   - path: The store's file; not a symbolic link.
    /// - Throws: `notAStore`, naming the file.
    package static func requirePlainCompanions(_ suffixes: [String], ofStoreAt path: String) throws(StoreError) {
        for suffix in suffixes { _ = try plainCompanion(suffix, ofStoreAt: path) }
    }

    /// Returns the status of a file beside a store; nil if it does not exist or cannot be examined.
    static func plainCompanion(_ suffix: String, ofStoreAt path: String) throws(StoreError) -> FileStatus? {
        guard case .success(let status) = FileStatus.of(path + suffix, followingLinks: false) else { return nil }
        guard status.isRegular else {
            throw foreign(path + suffix, "is \(status.noun), not a file", ofStoreAt: path)
        }
        guard status.linkCount <= 1 else {
            throw foreign(path + suffix, "has other names (hard links), so it is not a file", ofStoreAt: path)
        }
        return status
    }

    private static func foreign(_ file: String, _ what: String, ofStoreAt path: String) -> StoreError {
        StoreError(
            .notAStore,
            "'\(file)' \(what) of the store '\(path)', which keeps a file of its own under this name; move it away")
    }

    private static func canBeCompanion(_ suffix: String, ofStoreAt path: String, _ status: FileStatus) -> Bool {
        if status.byteCount == 0 { return true }
        switch suffix {
        case StoreLock.suffix: return false
        case "-wal":
            // A user who cannot read it gets SQLite's error.
            guard let beginning = read(prefix: 8, of: path + suffix) else { return true }
            guard !isLog(beginning) else { return true }
            guard beginning.allSatisfy({ $0 == 0 }) else { return false }
            return read(prefix: examinedByteCount, of: path + suffix)?.allSatisfy { $0 == 0 } ?? true
        case "-shm":
            guard isIndexLength(status.byteCount) else { return false }
            // While SQLite has it open in this process it is SQLite's, and must not be opened and closed.
            let bytes = HeldFiles.shared.read(prefix: indexUnitByteCount, of: path + suffix, unlessHeld: path)
            return bytes.map(isIndex) ?? true
        case "-lock":
            guard let bytes = read(prefix: examinedByteCount, of: path + suffix) else { return true }
            return isReaderTable(bytes, byteCount: status.byteCount)
        default: return true
        }
    }

    /// Whether no file has this name, or one without bytes.
    ///
    /// - Throws: What keeps it from being examined.
    package static func isEmpty(_ path: String) throws(StoreError) -> Bool {
        do throws(StoreError) { return try byteCount(at: path) == 0 } catch {
            guard error.code == .notFound else { throw error }
            return true
        }
    }

    /// Removes what stores that are gone have left beside `path`, where no store is, and what holds nothing.
    ///
    /// The caller holds the ``StoreLock`` of `path` exclusively.
    ///
    /// - Parameters:
    ///   - path: The name, at which nothing stands.
    ///   - suffixes: What a store there would put behind its name.
    /// - Throws: What ``requireNoCompanions(of:_:)`` throws, before anything is removed; what ``remove(_:)`` throws.
    package static func removeLeftovers(of path: String, suffixes: [String]) throws(StoreError) {
        try requireNoCompanions(of: path, suffixes: suffixes)
        for suffix in suffixes { try remove(resolvingLink(path) + suffix) }
    }

    /// Removes the files that belong to the store at `path`, before the store itself is removed.
    ///
    /// Durable on return, so that none of them can outlive the store: beside its name it would be taken for the next one's.
    ///
    /// The caller holds the ``StoreLock`` of `path` exclusively.
    ///
    /// - Throws: What ``requireOwnCompanions(_:ofStoreAt:)`` throws, before anything is removed;
    ///   what ``remove(_:)`` throws.
    package static func removeCompanions(of path: String, suffixes: [String]) throws(StoreError) {
        try requireOwnCompanions(suffixes, ofStoreAt: path)
        var isChanged = false
        for suffix in suffixes where hasEntry(at: path + suffix) {
            try remove(path + suffix)
            isChanged = true
        }
        if isChanged { try syncDirectory(of: path) }
    }

    /// The most bytes that are looked at.
    private static let examinedByteCount = 1 << 20
    /// The unit in which the index of an SQLite log grows, see
    /// <https://www.sqlite.org/walformat.html>.
    private static let indexUnitByteCount = 32 << 10
    /// The length of an index that SQLite has just made for a log, and the step in which an index
    /// grows.
    private static let (newIndexByteCount, indexStepByteCount) = (3, 4 << 10)

    /// Whether the file with this suffix is not there, or holds nothing that anybody can miss.
    private static func isLeftover(_ path: String, _ suffix: String) -> Bool {
        let file = path + suffix
        let status: FileStatus
        switch FileStatus.of(file, followingLinks: false) {
        case .success(let found): status = found
        // Where nothing can be looked at nothing can be made either, and the error of that says more.
        case .failure: return true
        }
        guard status.isRegular else { return false }
        if status.byteCount == 0 { return true }
        // A lock file is empty as long as it is.
        guard suffix != StoreLock.suffix, let bytes = read(prefix: examinedByteCount, of: file), bytes.count >= 4 else {
            return false
        }
        if bytes.count == status.byteCount, bytes.allSatisfy({ $0 == 0 }) { return true }
        switch suffix {
        case "-shm": return isIndexLength(status.byteCount) && isIndex(bytes)
        case "-lock": return readerTableMagics.contains(word(bytes, 0))
        default: return false
        }
    }

    // MARK: Formats

    /// The numbers that an SQLite log begins with, and the number of its format.
    ///
    /// See <https://www.sqlite.org/fileformat.html#the_write_ahead_log>.
    private static let (logMagics, logFormat): ([UInt32], UInt32) = ([0x377F_0682, 0x377F_0683], 3_007_000)
    /// The first bytes of the index of a log, in the byte order of either kind of machine.
    ///
    /// They are the number of its format. SQLite cuts the index of a log that is not in use to
    /// three bytes.
    private static let indexBeginnings: [[UInt8]] = [[0x18, 0xE2, 0x2D], [0x00, 0x2D, 0xE2]]
    /// The length of the header of a log's index, and the offset of the hash table in its first
    /// unit.
    private static let (indexHeaderByteCount, indexHashOffset) = (136, 16 << 10)
    /// The number that LMDB's lock files begin with, in the byte order of either kind of machine.
    private static let readerTableMagics = [UInt32(0xBEEF_C0DE), UInt32(0xBEEF_C0DE).byteSwapped]
    /// LMDB's lock file is a header of two units and one for each reader.
    private static let (readerByteCount, readerMutexOffset) = (64, 24)

    /// Whether these are the first bytes of an SQLite log, perhaps with a damaged header.
    private static func isLog(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && (logMagics.contains(word(bytes, 0)) || word(bytes, 4) == logFormat)
    }

    /// Whether the index of an SQLite log can have this length.
    private static func isIndexLength(_ byteCount: Int) -> Bool {
        byteCount <= newIndexByteCount || byteCount.isMultiple(of: indexStepByteCount)
    }

    /// Whether these are the first bytes of the index of an SQLite log, finished or not.
    ///
    /// SQLite fills in page numbers and their hash table first, and the header last.
    private static func isIndex(_ bytes: [UInt8]) -> Bool {
        if indexBeginnings.contains(where: { bytes.starts(with: $0) }) { return true }
        guard bytes.prefix(indexHeaderByteCount).allSatisfy({ $0 == 0 }) else { return false }
        // A slot of the hash table has a position among at most 4096 page numbers.
        return stride(from: indexHashOffset, to: bytes.count - 1, by: 2).allSatisfy { offset in
            let (first, second) = (Int(bytes[offset]), Int(bytes[offset + 1]))
            return min(first << 8 | second, second << 8 | first) <= 4096
        }
    }

    /// Whether these are the first bytes of LMDB's lock file, finished or not.
    ///
    /// LMDB makes its two mutexes first, and then says in the header what the file is.
    private static func isReaderTable(_ bytes: [UInt8], byteCount: Int) -> Bool {
        guard byteCount.isMultiple(of: readerByteCount), bytes.count >= 2 * readerByteCount else {
            return bytes.allSatisfy { $0 == 0 }
        }
        return readerTableMagics.contains(word(bytes, 0))
            || (bytes.prefix(readerMutexOffset) + bytes.dropFirst(2 * readerByteCount)).allSatisfy { $0 == 0 }
    }

    /// Four bytes as a big-endian number; 0 where there are fewer.
    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        guard bytes.count >= offset + 4 else { return 0 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
