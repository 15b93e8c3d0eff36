public import RoostCore
internal import RoostSystem

extension StoreFile {
    /// Creates an empty file that only its owner can read and write.
    ///
    /// Does not follow a symbolic link.
    ///
    /// - Throws: `alreadyExists`, `missingDirectory`, `noSpace`; `permissionDenied`, also for a
    ///   directory in which every user may replace files.
    public static func createExclusive(at path: String) throws(StoreError) {
        try requireSafeDirectory(of: path)
        do throws(SystemError) {
            let file = try OpenFile(path, flags: O_WRONLY | O_CREAT | O_EXCL)
            // The process's umask may have removed permissions that the owner needs.
            guard retrying({ fchmod(file.descriptor, 0o600) }) == 0 else { throw SystemError(code: errno) }
            try file.close()
        } catch {
            throw self.error(errno: error.code, what: "cannot be created", path: path)
        }
    }

    /// Allocates disk space for the first `byteCount` bytes of a file.
    ///
    /// Creates a missing file with mode 600, and keeps existing content. Use this method for files
    /// that a library maps and writes, because writing to a mapped page without disk space would
    /// kill the process. Does not follow a symbolic link. Drops the POSIX locks that this process
    /// has on the file. After an error, a newly created file is removed.
    package static func allocate(_ byteCount: Int, at path: String) throws(StoreError) {
        var isNew = false
        do throws(SystemError) {
            let file: OpenFile
            do throws(SystemError) {
                file = try OpenFile(path, flags: O_RDWR | O_CREAT | O_EXCL)
                isNew = true
            } catch  where error.code == EEXIST {
                // Another process may have removed the file since the first attempt, so O_CREAT is
                // needed.
                file = try OpenFile(path, flags: O_RDWR | O_CREAT)
            }
            guard try file.status.isRegular else { throw SystemError(code: ENXIO) }
            let code = croost_allocate(file.descriptor, Int64(byteCount))
            guard code == 0 else { throw SystemError(code: code) }
            try file.close()
        } catch {
            if isNew { try? remove(path) }
            throw self.error(errno: error.code, what: "cannot be allocated", path: path)
        }
    }

    /// Flushes a file to the medium.
    ///
    /// Do not retry after an error; see ``WritableFile/sync()``.
    package static func syncFile(at path: String) throws(StoreError) {
        do throws(SystemError) {
            let file = try OpenFile(path, flags: O_RDONLY, followingLinks: true)
            try file.sync()
            try file.close()
        } catch {
            throw self.error(errno: error.code, what: "cannot be flushed to the disk", path: path)
        }
    }

    /// Flushes the directory of `path`, which makes its entries durable.
    package static func syncDirectory(of path: String) throws(StoreError) {
        let directory = directory(of: resolvingLink(path))
        do throws(SystemError) {
            let file = try OpenFile(directory, flags: O_RDONLY | O_DIRECTORY, followingLinks: true)
            try file.sync()
            try file.close()
        } catch {
            throw self.error(
                errno: error.code, what: "is in a directory that cannot be flushed to the disk", path: path)
        }
    }

    /// Renames a finished file to `path`, atomically and durably.
    ///
    /// At any instant, `path` refers to either the old or the new file. The temporary file must
    /// have been flushed, and must be in the directory of `path`. If it replaces a file, it gets
    /// that file's permissions; see `takePermissions(for:from:)`. The temporary file's lock file is
    /// removed.
    ///
    /// - Parameters:
    ///   - temporary: The path of the finished file.
    ///   - path: The final path.
    ///   - overwriting: Whether an existing file may be replaced.
    /// - Throws: `alreadyExists`; `notAStore` if `path` is not a file; `permissionDenied`;
    ///   `ioFailure`. If the directory cannot be flushed, the new file exists at `path` but may not
    ///   be durable. After any other error nothing has changed.
    public static func publish(_ temporary: String, as path: String, overwriting: Bool) throws(StoreError) {
        let target = resolvingLink(path)
        guard isUsable(temporary), isUsable(target) else {
            throw error(errno: EINVAL, what: "cannot be renamed", path: target)
        }
        if overwriting {
            try takePermissions(for: temporary, from: target)
            guard retrying({ rename(temporary, target) }) == 0 else {
                throw error(errno: errno, what: "cannot be created or replaced", path: target)
            }
        } else {
            try renameExclusively(temporary, target: target)
        }
        try syncDirectory(of: target)
        // The file is already published, so an error is ignored. The next sweep removes a remaining
        // lock file.
        try? remove(StoreLock.path(forStoreAt: temporary))
    }

    /// Adds a second name (hard link) to the file at `path`.
    ///
    /// `name` must not exist, and must be in the same directory. A store with two names has two
    /// locks, so other programs must use only one of the names.
    ///
    /// - Throws: `unsupported` if the file system has no hard links; `alreadyExists`,
    ///   `permissionDenied`, `notFound`.
    package static func addName(_ name: String, toFileAt path: String) throws(StoreError) {
        let target = resolvingLink(path)
        guard isUsable(name), isUsable(target) else {
            throw error(errno: EINVAL, what: "cannot be linked", path: target)
        }
        guard retrying({ link(target, name) }) != 0 else { return }
        let code = errno
        switch code {
        case EPERM where (try? requireRegularFile(at: target, forWriting: true)) != nil, ENOTSUP, ENOSYS, EMLINK:
            throw StoreError(
                .unsupported, "'\(target)' is on a file system without hard links; convert the store to a new file.",
                underlying: SystemError(code: code))
        default: throw error(errno: code, what: "cannot be given a second name", path: target)
        }
    }

    private static func renameExclusively(_ temporary: String, target: String) throws(StoreError) {
        let code = croost_rename_exclusive(AT_FDCWD, temporary, AT_FDCWD, target)
        switch code {
        case 0: return
        case ENOSYS, EINVAL, ENOTSUP:
            // The system cannot rename exclusively. But it never creates a hard link at an existing
            // `target`.
            guard retrying({ link(temporary, target) }) == 0 else {
                throw error(errno: errno, what: "cannot be created", path: target)
            }
            do throws(StoreError) { try remove(temporary) } catch {
                // A file with two names has two locks, so remove the new name.
                try? remove(target)
                throw error
            }
        default: throw error(errno: code, what: "cannot be created", path: target)
        }
    }

    /// Copies the permissions of the file `target` to the file `temporary`.
    ///
    /// Copies the owner and the group, too, if this user may set them. If the group cannot be set,
    /// the group of `temporary` gets only permissions that `target` gives both to its group and to
    /// all other users. Does nothing if `target` does not exist.
    ///
    /// - Throws: `notAStore` if `target` is not a file; `permissionDenied`, `ioFailure`.
    package static func takePermissions(for temporary: String, from target: String) throws(StoreError) {
        let old: FileStatus
        switch FileStatus.of(target, followingLinks: false) {
        case .success(let status): old = status
        case .failure(let system) where system.code == ENOENT: return
        case .failure(let system): throw error(errno: system.code, what: "cannot be examined", path: target)
        }
        guard old.isRegular else {
            throw StoreError(.notAStore, "'\(target)' is \(old.noun), not a store file; it was not replaced")
        }
        do throws(SystemError) {
            let file = try OpenFile(temporary, flags: O_RDONLY)
            let new = try file.status
            var permissions = old.permissions & 0o777
            // Only the superuser can set another owner. Any other user sets only the group.
            if new.owner != old.owner || new.group != old.group,
                try !setOwner(file.descriptor, owner: old.owner, group: old.group), new.group != old.group,
                // `.max` leaves the owner unchanged.
                try !setOwner(file.descriptor, owner: .max, group: old.group)
            {
                // The old group's permissions must not apply to another group.
                permissions &= 0o707 | (permissions & 0o007) << 3
            }
            if new.permissions != permissions, retrying({ fchmod(file.descriptor, permissions) }) != 0 {
                throw SystemError(code: errno)
            }
            try file.sync()
            try file.close()
        } catch {
            throw self.error(
                errno: error.code, what: "cannot be given the permissions of the file it replaces", path: temporary)
        }
    }

    /// Sets the owner and the group of a file; returns false if this user may not set them.
    private static func setOwner(_ descriptor: Int32, owner: uid_t, group: gid_t) throws(SystemError) -> Bool {
        guard retrying({ fchown(descriptor, owner, group) }) != 0 else { return true }
        guard errno == EPERM || errno == EINVAL else { throw SystemError(code: errno) }
        return false
    }

    /// Removes a file or a symbolic link, but not the target of the link.
    ///
    /// Does nothing if the file does not exist.
    public static func remove(_ path: String) throws(StoreError) {
        guard isUsable(path) else { throw error(errno: EINVAL, what: "cannot be removed", path: path) }
        guard retrying({ unlink(path) }) == 0 || errno == ENOENT else {
            throw error(errno: errno, what: "cannot be removed", path: path)
        }
    }

    /// Removes temporary siblings of `path` that remain from a crash.
    ///
    /// Removes only this user's files that are not locked. Also removes this user's spill files in
    /// the same directory, and backup names of the store's own file. If a file cannot be removed,
    /// the next call tries again. Nothing is removed while another caller holds a
    /// `DestinationClaim` on `path`.
    ///
    /// - Parameters:
    ///   - path: The path of the store.
    ///   - companions: The suffixes of files to remove with a temporary file, such as
    ///     `RoostCore.PersistentStoreType.companionSuffixes`.
    public static func sweepTemporarySiblings(of path: String, companions: [String] = []) {
        sweepTemporarySiblings(of: path, companions: companions, holding: nil)
    }

    /// Removes temporary siblings of `path`, for a caller that may hold the claim on `path`.
    package static func sweepTemporarySiblings(
        of path: String, companions: [String], holding claim: DestinationClaim?
    ) {
        guard claim == nil else { return removeTemporarySiblings(of: path, companions: companions) }
        // Without a lock file, no claim is held, and claiming would create a lock file.
        guard hasEntry(at: resolvingLink(path) + Region.claim.suffix) else {
            return removeTemporarySiblings(of: path, companions: companions)
        }
        guard let claim = (try? DestinationClaim.attempt(path)) ?? nil else { return }
        removeTemporarySiblings(of: path, companions: companions)
        claim.release()
    }

    private static func removeTemporarySiblings(of path: String, companions: [String]) {
        let target = resolvingLink(path)
        let directory = directory(of: target)
        guard let entries = entries(of: directory) else { return }
        let siblings = entries.compactMap { temporarySibling(named: $0, of: target, companions: companions) }
        for sibling in Set(siblings).sorted() {
            let file = "\(directory)/\(sibling)"
            if case .success(let status) = FileStatus.of(file, followingLinks: false),
                !status.isRegular || status.owner != geteuid()
            {
                continue
            }
            removeUnlocked(file, companions: companions)
        }
        // Spill files are used only through descriptors, so their names can be removed.
        for spill in entries.filter(SpillFile.isName) {
            let file = "\(directory)/\(spill)"
            guard case .success(let status) = FileStatus.of(file, followingLinks: false), status.isRegular,
                status.owner == geteuid()
            else { continue }
            try? remove(file)
        }
        // A backup name of the store's own file remains from an interrupted replacement.
        for backup in entries.filter({ isBackup($0, of: target) }).map({ "\(directory)/\($0)" })
        where sameFile(backup, target) { try? remove(backup) }
    }

    /// Removes a temporary file and its companions, unless a user of the file holds its
    /// ``StoreLock``.
    static func removeUnlocked(_ file: String, companions: [String]) {
        guard let lock = try? StoreLock.acquire(forStoreAt: file, mode: .exclusive, timeoutSeconds: 0) else { return }
        // The lock file is removed last, just before the lock is released.
        let suffixes = companions + lockSuffixes.filter { $0 != StoreLock.suffix } + [""]
        for suffix in suffixes { try? remove(file + suffix) }
        try? lock.releaseRemovingFile()
    }

    /// Returns the names of a directory's entries; nil if the directory cannot be read.
    static func entries(of directory: String) -> [String]? {
        guard isUsable(directory), let stream = opendir(directory) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        // SAFETY: the entry is valid until the next readdir on this stream, and d_name ends with a
        // NUL.
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
