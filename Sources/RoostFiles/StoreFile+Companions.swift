public import RoostCore

/// The files that stores keep beside their own: logs, journals and locks, known by what follows the store's name in theirs.
extension StoreFile {
    /// What SQLite, LMDB and Roost put behind a store's name for files that they write to, overwrite, or remove as the store's own.
    private static let ownedSuffixes = ["-wal", "-shm", "-journal", "-lock", StoreLock.suffix]

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
    ///   - suffixes: What the store would put behind its name; unless given, what a store of any type would.
    /// - Throws: `alreadyExists`, naming the file.
    public static func requireNoCompanions(of path: String, _ suffixes: [String]? = nil) throws(StoreError) {
        let target = resolvingLink(path)
        for suffix in suffixes ?? ownedSuffixes where !isLeftover(target, suffix) {
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

    /// Checks that nothing foreign stands where a library keeps a file beside an open store that it overwrites and removes.
    ///
    /// The index of an SQLite log is known by its length alone: a process that opens and closes one loses SQLite's locks on it. LMDB's
    /// lock file is looked at; call it where this process does not have the store open. A file that this user cannot read passes, since
    /// the library cannot write it either.
    ///
    /// - Parameters:
    ///   - suffix: What stands behind the store's name: `-shm` or `-lock`.
    ///   - path: The store's file; no link.
    /// - Throws: `notAStore`, naming the file.
    public static func requireNothingForeign(_ suffix: String, besideStoreAt path: String) throws(StoreError) {
        let file = path + suffix
        guard case .success(let status) = FileStatus.of(file, followingLinks: false), status.isRegular else { return }
        let isOwn =
            suffix == "-shm"
            ? status.byteCount <= newIndexByteCount || status.byteCount.isMultiple(of: indexStepByteCount)
            : isLeftover(path, suffix) || read(prefix: 1, of: file) == nil
        guard !isOwn else { return }
        throw StoreError(
            .notAStore,
            "'\(file)' is no file of the store '\(path)', which would overwrite and remove it; move it away")
    }

    /// Removes what stores that are gone have left beside `path`, where no store is, and what holds nothing.
    ///
    /// The caller holds the ``StoreLock`` of `path` exclusively.
    ///
    /// - Parameters:
    ///   - path: The name, at which nothing stands.
    ///   - suffixes: What a store there would put behind its name.
    /// - Throws: What ``requireNoCompanions(of:_:)`` throws, before anything is removed; what ``remove(_:)`` throws.
    public static func removeLeftovers(of path: String, _ suffixes: [String]) throws(StoreError) {
        try requireNoCompanions(of: path, suffixes)
        for suffix in suffixes { try remove(resolvingLink(path) + suffix) }
    }

    /// Removes the files that belong to the store at `path`, before the store itself is removed.
    ///
    /// Durable on return, so that none of them can outlive the store: beside its name it would be taken for the next one's.
    /// Something else in the place of LMDB's lock file or of the index of SQLite's log stays.
    ///
    /// The caller holds the ``StoreLock`` of `path` exclusively.
    public static func removeCompanions(of path: String, _ suffixes: [String]) throws(StoreError) {
        var isChanged = false
        for suffix in suffixes where exists(path + suffix) {
            // What is in a log or a journal is the store's. Those that hold nothing are known by their bytes.
            guard !["-shm", "-lock"].contains(suffix) || isLeftover(path, suffix) else { continue }
            try remove(path + suffix)
            isChanged = true
        }
        if isChanged { try syncDirectory(of: path) }
    }

    /// The most bytes that are looked at.
    private static let examinedByteCount = 1 << 20
    /// The format in the header of the index of an SQLite log, <https://www.sqlite.org/walformat.html>.
    private static let indexFormat: UInt32 = 3_007_000
    /// How long SQLite makes the index of a log before it knows more, and the steps in which it grows.
    private static let (newIndexByteCount, indexStepByteCount) = (3, 4 << 10)
    /// What LMDB's lock files begin with, as its data files do somewhat later.
    private static let readerTableMagic: UInt32 = 0xBEEF_C0DE

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
        // As the machine that wrote it writes numbers, which may have been another one.
        let word = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        switch suffix {
        case "-shm":
            // On a full disk an index stops growing between two of its units.
            return status.byteCount.isMultiple(of: indexStepByteCount)
                && [word, word.byteSwapped].contains(indexFormat)
        case "-lock": return [word, word.byteSwapped].contains(readerTableMagic)
        default: return false
        }
    }
}
