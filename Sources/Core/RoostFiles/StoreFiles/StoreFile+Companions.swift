public import RoostCore

/// A file that may be a companion of a store: its path is the store's path plus a suffix.
///
/// The file is regular and not empty. The store's type examines the content; see
/// ``FileStoreType/canBeCompanion(_:)``.
public struct CompanionFile {
    /// The suffix of the file, after the store's path.
    public let suffix: String
    /// The size of the file in bytes.
    public let byteCount: Int
    private let storePath: String

    init(suffix: String, byteCount: Int, storePath: String) {
        (self.suffix, self.byteCount, self.storePath) = (suffix, byteCount, storePath)
    }

    /// Returns the first bytes of the file; nil if it cannot be read.
    ///
    /// - Parameters:
    ///   - byteCount: The maximum number of bytes.
    ///   - isLockedByLibrary: Whether a library holds POSIX locks on this file while it has the
    ///     store open. Closing the file would drop those locks, so the file is not read while
    ///     ``HeldFiles`` contains the store.
    /// - Returns: Up to `byteCount` bytes.
    public func prefix(_ byteCount: Int, isLockedByLibrary: Bool = false) -> [UInt8]? {
        let path = storePath + suffix
        return isLockedByLibrary
            ? HeldFiles.shared.read(prefix: byteCount, of: path, unlessHeld: storePath)
            : StoreFile.read(prefix: byteCount, of: path)
    }
}

extension StoreFile {
    /// Checks that no existing file could be mistaken for a companion of a new store at `path`.
    ///
    /// Such a file may be another store, a user's file, or a log with the last commits of a store
    /// that was moved. Only its owner may discard it. The check accepts empty files, files of 4
    /// bytes to 1 MiB that contain only zeros, and files that ``FileStoreType/isExpendable(_:)``
    /// accepts.
    ///
    /// Call this method only if no store exists, because it reads the files without a lock. With
    /// `includesLock`, the lock file must be empty or missing.
    ///
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
                "'\(target)\(suffix)' exists, and a new store '\(target)' would use that file\(what); move the file away, remove it if it is not needed, or choose another path"
            )
        }
    }

    /// Checks that the companion files of a store are not files of another kind.
    ///
    /// A library writes to companions, follows symbolic links, and waits for pipes. So call this
    /// method before passing the store's path to a library, and before removing companions. Every
    /// companion must be missing or a regular file with one name. If the file is not empty,
    /// ``FileStoreType/canBeCompanion(_:)`` must accept it.
    ///
    /// ``FileStoreType/requireOwnCompanions(besideStoreAt:isKept:)`` checks whether a log or a
    /// journal belongs to this store.
    ///
    /// Call this method only if this process does not have the store open, because reading a
    /// companion drops the POSIX locks of this process on that file.
    ///
    /// - Parameters:
    ///   - path: The path of the store's file. Not a symbolic link.
    ///   - type: The type of the store.
    ///   - suffixes: The suffixes of the companions to check; nil for all companions of the type.
    /// - Throws: `notAStore`, naming the file.
    public static func requireOwnCompanions(
        ofStoreAt path: String, type: any PersistentStoreType, suffixes: [String]? = nil
    ) throws(StoreError) {
        for suffix in suffixes ?? type.companionSuffixes {
            guard let status = try plainCompanion(suffix, ofStoreAt: path), status.byteCount > 0 else { continue }
            let file = CompanionFile(suffix: suffix, byteCount: status.byteCount, storePath: path)
            guard (type as? any FileStoreType)?.canBeCompanion(file) ?? true else {
                throw foreign(path + suffix, what: "has another format", ofStoreAt: path)
            }
        }
    }

    /// Checks that each companion is a regular file with one name, or does not exist.
    ///
    /// Opens no files. `path` must not be a symbolic link.
    ///
    /// - Throws: `notAStore`, naming the file.
    package static func requirePlainCompanions(_ suffixes: [String], ofStoreAt path: String) throws(StoreError) {
        for suffix in suffixes { _ = try plainCompanion(suffix, ofStoreAt: path) }
    }

    /// Returns the status of a companion; nil if it does not exist or cannot be examined.
    static func plainCompanion(_ suffix: String, ofStoreAt path: String) throws(StoreError) -> FileStatus? {
        guard case .success(let status) = FileStatus.of(path + suffix, followingLinks: false) else { return nil }
        guard status.isRegular else {
            throw foreign(path + suffix, what: "is \(status.noun)", ofStoreAt: path)
        }
        guard status.linkCount <= 1 else {
            throw foreign(path + suffix, what: "has other names (hard links)", ofStoreAt: path)
        }
        return status
    }

    private static func foreign(_ file: String, what: String, ofStoreAt path: String) -> StoreError {
        StoreError(
            .notAStore,
            "'\(file)' \(what), so it is not a companion file of the store '\(path)', although it has the name of one; move it away"
        )
    }

    /// Whether the file at `path` is empty or does not exist.
    package static func isEmpty(_ path: String) throws(StoreError) -> Bool {
        do throws(StoreError) { return try byteCount(at: path) == 0 } catch {
            guard error.code == .notFound else { throw error }
            return true
        }
    }

    /// Removes the companions that ``requireNoCompanions(of:types:includesLock:)`` allows at
    /// `path`, where no store exists.
    ///
    /// The caller must hold the ``StoreLock`` of `path` exclusively.
    ///
    /// - Throws: The errors of ``requireNoCompanions(of:types:includesLock:)``, before any file is
    ///   removed; the errors of ``remove(_:)``.
    static func removeLeftovers(of path: String, type: any PersistentStoreType) throws(StoreError) {
        try requireNoCompanions(of: path, types: [type])
        for suffix in type.companionSuffixes { try remove(resolvingLink(path) + suffix) }
    }

    /// Removes the companions of the store at `path`, durably.
    ///
    /// The caller must hold the ``StoreLock`` of `path` exclusively.
    ///
    /// - Throws: The errors of ``requireOwnCompanions(ofStoreAt:type:suffixes:)``, before any file
    ///   is removed; the errors of ``remove(_:)``.
    package static func removeCompanions(ofStoreAt path: String, type: any PersistentStoreType) throws(StoreError) {
        try requireOwnCompanions(ofStoreAt: path, type: type)
        var isChanged = false
        for suffix in type.companionSuffixes where hasEntry(at: path + suffix) {
            try remove(path + suffix)
            isChanged = true
        }
        if isChanged { try syncDirectory(of: path) }
    }

    private static let examinedByteCount = 1 << 20

    private static func companionSuffixes(of types: [any PersistentStoreType]) -> [String] {
        var known: Set<String> = []
        return types.flatMap(\.companionSuffixes).filter { known.insert($0).inserted }
    }

    /// Whether the companion does not exist or contains no data that a user could need.
    private static func isLeftover(_ path: String, suffix: String, types: [any PersistentStoreType]) -> Bool {
        let file = path + suffix
        let status: FileStatus
        switch FileStatus.of(file, followingLinks: false) {
        case .success(let found): status = found
        // If the file cannot be examined, creating the store fails too, with a clearer error.
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
