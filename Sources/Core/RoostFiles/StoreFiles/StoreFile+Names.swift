public import RoostCore

/// Functions for the names (hard links) of a store's file.
///
/// Locks, logs and journals belong to a name, not to a file. If two programs write one file under
/// two names, neither sees the other's locks, and each overwrites the other's commits.
extension StoreFile {
    /// Checks, before a store is opened, that its file has no other name.
    ///
    /// First removes unused names that remain from an interrupted replacement. The caller must hold
    /// the ``StoreLock`` of `path`, so that no replacement is in progress. A reader that cannot
    /// lock the store may call this without the lock.
    ///
    /// - Parameters:
    ///   - path: The path of the store.
    ///   - forWriting: Whether the store will be written or replaced.
    ///   - acceptsLinks: Whether a reader accepts other names; see `StoreOptions.acceptsLinks`.
    ///   - companions: The suffixes of companion files to remove with an unused name, such as
    ///     `RoostCore.PersistentStoreType.companionSuffixes`.
    /// - Returns: Whether the file has other names, apart from the remains of an interrupted
    ///   replacement. True only for a reader with `acceptsLinks`; another program may then change
    ///   the file at any time.
    /// - Throws: `hasOtherNames`; `notFound`, `missingDirectory`, `permissionDenied`.
    @discardableResult
    public static func requireOneName(
        ofStoreAt path: String, forWriting: Bool, acceptsLinks: Bool = false, companions: [String] = []
    ) throws(StoreError) -> Bool {
        guard try status(of: path).linkCount > 1 else { return false }
        let kept = removeReplacementNames(ofStoreAt: path, companions: companions)
        let found = FileIdentity(try status(of: path))
        // An unused name that could not be removed does not harm a reader, but a writer would fail
        // at its first commit.
        guard found.linkCount - 1 > (forWriting ? 0 : kept) else { return false }
        guard !forWriting, acceptsLinks else { throw hasOtherNames(path, found) }
        return true
    }

    /// Checks that the file at `path` has no other name that prevents replacing the file.
    ///
    /// - Throws: `hasOtherNames` unless all other names remain from an interrupted replacement;
    ///   `notFound`, `missingDirectory`, `permissionDenied`.
    package static func requireReplaceableName(at path: String) throws(StoreError) {
        let found = FileIdentity(try status(of: path))
        guard found.linkCount > 1 else { return }
        let target = resolvingLink(path)
        let own = otherNames(of: target, identity: found).filter { isReplacementName($0, of: target) }
        guard found.linkCount - 1 > own.count else { return }
        throw hasOtherNames(path, found)
    }

    /// Whether the path `name` has the form of a ``temporarySibling(of:)`` of `path`.
    package static func isTemporarySibling(_ name: String, of path: String) -> Bool {
        let (entry, target) = (self.name(of: name), resolvingLink(path))
        return directory(of: name) == directory(of: target) && temporarySibling(named: entry, of: target) == entry
    }

    /// Returns a `hasOtherNames` error that lists up to three other names in the same directory.
    package static func hasOtherNames(_ path: String, _ found: FileIdentity) -> StoreError {
        let count = found.linkCount - 1
        let names = otherNames(of: resolvingLink(path), identity: found).prefix(3).map { "'\($0)'" }
        let list = names.isEmpty ? "in another directory" : names.joined(separator: ", ")
        return StoreError(
            .hasOtherNames,
            "'\(path)' has \(count == 1 ? "another name" : "\(count) other names") (hard links): \(list). Each name has its own lock and log, so commits would be lost. Remove the other names, or replace '\(path)' with a copy of the file; to only read the file, use --accept-links (acceptsLinks)."
        )
    }

    /// Returns the other names of the file `target` in its directory.
    ///
    /// `target` must not be a symbolic link.
    private static func otherNames(of target: String, identity: FileIdentity) -> [String] {
        let (directory, name) = (directory(of: target), name(of: target))
        return (entries(of: directory) ?? []).filter { entry in
            guard entry != name,
                case .success(let status) = FileStatus.of("\(directory)/\(entry)", followingLinks: false)
            else { return false }
            return FileIdentity(status) == identity
        }.sorted()
    }

    /// Whether `entry` has the form of a name that a replacement of the store `target` creates.
    private static func isReplacementName(_ entry: String, of target: String) -> Bool {
        if temporarySibling(named: entry, of: target) == entry || isBackup(entry, of: target) { return true }
        // If the target is a backup, its file may still have a temporary name of the original
        // store.
        guard let original = original(ofBackup: target) else { return false }
        return temporarySibling(named: entry, of: original) == entry
    }

    /// Removes names that remain from an interrupted replacement.
    ///
    /// Returns the number of such names that could not be removed.
    private static func removeReplacementNames(ofStoreAt path: String, companions: [String]) -> Int {
        let target = resolvingLink(path)
        let directory = directory(of: target)
        guard case .success(let status) = FileStatus.of(target, followingLinks: false) else { return 0 }
        func names() -> [String] {
            otherNames(of: target, identity: FileIdentity(status)).filter { isReplacementName($0, of: target) }
        }
        for name in names() {
            let file = "\(directory)/\(name)"
            // A temporary name may be in use, so it is removed only if its lock is free. A backup
            // name has no lock of its own.
            if isBackup(name, of: target) {
                try? remove(file)
            } else {
                removeUnlocked(file, companions: companions)
            }
        }
        return names().count
    }
}
