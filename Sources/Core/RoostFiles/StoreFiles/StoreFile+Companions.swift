public import RoostCore

/// A file that has the name of a store's companion: the store's name and a suffix.
///
/// A plain file with one name, which is not empty. A store's type examines its content and says
/// whether it is the companion; see ``FileStoreType/canBeCompanion(_:)``.
public struct CompanionFile {
    /// The text after the store's name.
    public let suffix: String
    /// The length of the file.
    public let byteCount: Int
    private let storePath: String

    init(suffix: String, byteCount: Int, storePath: String) {
        (self.suffix, self.byteCount, self.storePath) = (suffix, byteCount, storePath)
    }

    /// Returns the first bytes of the file; nil if it cannot be read.
    ///
    /// - Parameters:
    ///   - byteCount: The maximum number of bytes.
    ///   - isLockedByLibrary: Whether a library has POSIX locks on the file itself while it has the
    ///     store open. Then the file is not read while ``HeldFiles`` has the store, because closing
    ///     it would drop those locks.
    /// - Returns: The bytes, as many as there are.
    public func prefix(_ byteCount: Int, isLockedByLibrary: Bool = false) -> [UInt8]? {
        let path = storePath + suffix
        return isLockedByLibrary
            ? HeldFiles.shared.read(prefix: byteCount, of: path, unlessHeld: storePath)
            : StoreFile.read(prefix: byteCount, of: path)
    }
}

/// The files that stores keep beside their own: logs, journals and locks, known by what follows the
/// store's name in theirs.
///
/// The types of the stores decide about their formats.
extension StoreFile {
    /// Checks that no file beside `path`, where no store exists, could be taken for a companion of
    /// a new store.
    ///
    /// Such a file may be anything: another store with such a name, a user's file, or the last
    /// commits of a store that was moved. Only its owner knows which. Files without
    /// content are allowed: files that are empty or all zeros, and files that a type calls
    /// expendable; see ``FileStoreType/isExpendable(_:)``.
    ///
    /// Reads the beginnings of the files, without any lock: call it only if no store exists.
    ///
    /// - Parameters:
    ///   - path: The name, at which nothing exists.
    ///   - types: The types that a store of that name could have.
    ///   - includesLock: Whether a lock file must be empty too.
    /// - Throws: `alreadyExists`, naming the file.
    package static func requireNoCompanions(
        of path: String, types: [any PersistentStoreType], includesLock: Bool = false
    ) throws(StoreError) {
        let target = resolvingLink(path)
        for suffix in companionSuffixes(of: types) + (includesLock ? [StoreLock.suffix] : [])
        where !isLeftover(target, suffix: suffix, types: types) {
            let what =
                suffix == StoreLock.suffix
                ? ""
                : " (it may hold the last commits of a store that was moved, and then belongs beside that store)"
            throw StoreError(
                .alreadyExists,
                "'\(target)\(suffix)' exists, and a new store '\(target)' would use it as its own\(what); move it away, remove it if it is not needed, or choose another path"
            )
        }
    }

    /// Checks that no file that a store keeps beside its own can be anything else.
    ///
    /// A library writes to such a file, follows a link, and waits for a pipe. So call this before a
    /// library gets the store's path, and before such a file is removed. The checks:
    ///
    /// - Every file is a plain file with one name, or does not exist.
    /// - A file that is not empty has a format that ``FileStoreType/canBeCompanion(_:)`` accepts.
    ///
    /// Whether a log or a journal belongs to this very store is for
    /// ``FileStoreType/requireOwnCompanions(besideStoreAt:isKept:)`` to check.
    ///
    /// Takes no lock. Files are opened and closed, which drops the POSIX locks of this process on
    /// them. So call this only where the process does not have the store open.
    ///
    /// - Parameters:
    ///   - path: The store's file; not a symbolic link.
    ///   - type: The type of the store.
    ///   - suffixes: The companions to check; all of the type if nil.
    /// - Throws: `notAStore`, naming the file.
    public static func requireOwnCompanions(
        ofStoreAt path: String, type: any PersistentStoreType, suffixes: [String]? = nil
    ) throws(StoreError) {
        for suffix in suffixes ?? type.companionSuffixes {
            guard let status = try plainCompanion(suffix, ofStoreAt: path), status.byteCount > 0 else { continue }
            let file = CompanionFile(suffix: suffix, byteCount: status.byteCount, storePath: path)
            guard (type as? any FileStoreType)?.canBeCompanion(file) ?? true else {
                throw foreign(path + suffix, what: "is not a file", ofStoreAt: path)
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
            throw foreign(path + suffix, what: "is \(status.noun), not a file", ofStoreAt: path)
        }
        guard status.linkCount <= 1 else {
            throw foreign(path + suffix, what: "has other names (hard links), so it is not a file", ofStoreAt: path)
        }
        return status
    }

    private static func foreign(_ file: String, what: String, ofStoreAt path: String) -> StoreError {
        StoreError(
            .notAStore,
            "'\(file)' \(what) of the store '\(path)', which keeps a file of its own under this name; move it away")
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

    /// Removes the files that stores that no longer exist have left beside `path`, where there is
    /// no store, and that hold nothing.
    ///
    /// The caller holds the ``StoreLock`` of `path` exclusively.
    ///
    /// - Parameters:
    ///   - path: The name, at which nothing exists.
    ///   - type: The type of the store that gets the name.
    /// - Throws: What ``requireNoCompanions(of:types:includesLock:)`` throws, before anything is
    ///   removed; what ``remove(_:)`` throws.
    static func removeLeftovers(of path: String, type: any PersistentStoreType) throws(StoreError) {
        try requireNoCompanions(of: path, types: [type])
        for suffix in type.companionSuffixes { try remove(resolvingLink(path) + suffix) }
    }

    /// Removes the files that belong to the store at `path`, before the store itself is removed.
    ///
    /// Durable on return, so that none of them can outlive the store: a new store of its name would
    /// take them for its own.
    ///
    /// The caller holds the ``StoreLock`` of `path` exclusively.
    ///
    /// - Throws: What ``requireOwnCompanions(ofStoreAt:type:suffixes:)`` throws, before anything is
    ///   removed; what ``remove(_:)`` throws.
    package static func removeCompanions(ofStoreAt path: String, type: any PersistentStoreType) throws(StoreError) {
        try requireOwnCompanions(ofStoreAt: path, type: type)
        var isChanged = false
        for suffix in type.companionSuffixes where hasEntry(at: path + suffix) {
            try remove(path + suffix)
            isChanged = true
        }
        if isChanged { try syncDirectory(of: path) }
    }

    /// The maximum number of bytes that are examined in search of content.
    private static let examinedByteCount = 1 << 20

    /// The suffixes of the companions of some types, each once.
    private static func companionSuffixes(of types: [any PersistentStoreType]) -> [String] {
        var known: Set<String> = []
        return types.flatMap(\.companionSuffixes).filter { known.insert($0).inserted }
    }

    /// Whether the file with this suffix does not exist, or holds nothing that anyone can miss.
    private static func isLeftover(_ path: String, suffix: String, types: [any PersistentStoreType]) -> Bool {
        let file = path + suffix
        let status: FileStatus
        switch FileStatus.of(file, followingLinks: false) {
        case .success(let found): status = found
        // If the file cannot be examined, no store can be created either, and that error says more.
        case .failure: return true
        }
        guard status.isRegular else { return false }
        if status.byteCount == 0 { return true }
        // A lock file is always empty.
        guard suffix != StoreLock.suffix, let bytes = read(prefix: examinedByteCount, of: file), bytes.count >= 4 else {
            return false
        }
        if bytes.count == status.byteCount, bytes.allSatisfy({ $0 == 0 }) { return true }
        let companion = CompanionFile(suffix: suffix, byteCount: status.byteCount, storePath: path)
        return types.contains { type in
            guard let type = type as? any FileStoreType, type.companionSuffixes.contains(suffix) else { return false }
            return type.isExpendable(companion)
        }
    }
}
