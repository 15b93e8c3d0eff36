internal import RoostCore
internal import RoostSystem

/// An open lock file, and the lock on one of its regions.
///
/// Deallocation immediately releases the lock and all announcements, such as ``startWaiting()``,
/// even if a child process has a copy of the descriptor.
final class LockFile: Sendable {
    enum Kind { case none, shared, exclusive }

    let path: String
    private let file: OpenFile
    private let region: Region

    /// Opens the lock file of a store without locking it, and creates the file if it is missing.
    ///
    /// If `isWritable` is false, read-only access is enough, but allows only shared locks.
    init(forStoreAt storePath: String, region: Region, isWritable: Bool) throws(StoreError) {
        let target = StoreFile.resolvingLink(storePath)
        let path = target + region.suffix
        // Check before opening, because closing another program's file would drop this process's
        // POSIX locks on that file.
        try Self.requireOwn(target, region: region)
        var unsafeDirectory: StoreError?
        do throws(SystemError) {
            let file: OpenFile
            do throws(SystemError) {
                file = try OpenFile(path, flags: O_RDWR)
            } catch  where error.code == ENOENT {
                do throws(StoreError) { try StoreFile.requireSafeDirectory(of: path) } catch {
                    unsafeDirectory = error
                    throw SystemError(code: EACCES)
                }
                // No O_EXCL, because another process may create the file at the same time.
                file = try OpenFile(path, flags: O_RDWR | O_CREAT)
            } catch  where (error.code == EACCES || error.code == EROFS || error.code == EPERM) && !isWritable {
                file = try OpenFile(path, flags: O_RDONLY)
            }
            guard try file.status.isRegular else { throw SystemError(code: ENXIO) }
            self.file = file
        } catch {
            if let unsafeDirectory { throw unsafeDirectory }
            throw StoreFile.error(errno: error.code, what: "is a lock file that cannot be opened", path: path)
        }
        self.path = path
        self.region = region
        // Check again, because the file may have been replaced since the first check.
        try Self.requireOwn(target, region: region)
    }

    /// Checks that the lock file, if it exists, is an empty regular file with one name.
    private static func requireOwn(_ storePath: String, region: Region) throws(StoreError) {
        guard let status = try StoreFile.plainCompanion(region.suffix, ofStoreAt: storePath), status.byteCount > 0
        else { return }
        throw StoreError(
            .notAStore,
            "'\(storePath)\(region.suffix)' is not empty, so it is not the lock file of the store '\(storePath)'; move it away"
        )
    }

    deinit {
        // Closing the descriptor is not enough, because between fork and exec a child process
        // shares the open file, to which the locks belong.
        if croost_locks_have_regions() != 0 {
            // A length of zero means the whole file, so this call also ends the announcements.
            _ = croost_set_range_lock(file.descriptor, 0, 0, croost_lock_none)
        } else {
            _ = croost_set_lock(file.descriptor, region.rawValue, croost_lock_none)
        }
    }

    /// Sets the lock; returns false if another handle has a conflicting lock.
    ///
    /// The previous lock is then kept, except that `flock` may lose it.
    func set(_ kind: Kind) throws(StoreError) -> Bool { try set(kind, region: region) }

    /// Sets the times of the file to now, to notify programs that watch the file.
    func touch() {
        // SAFETY: a null pointer means the current time. If the user may only read the lock file,
        // the call fails, and other programs find changes of the store by polling.
        _ = futimens(file.descriptor, nil)
    }

    // MARK: Waiting

    /// Whether another handle waits for exclusive use of the store.
    ///
    /// Always false if the system cannot lock bytes separately.
    var isWaitedFor: Bool { isLocked(.waiting, against: croost_lock_shared) }

    private func isLocked(_ region: Region, against lock: croost_lock) -> Bool {
        var found: Int64 = 0
        return croost_find_lock(file.descriptor, Int64(region.rawValue), 1, lock, &found) == 0 && found > 0
    }

    var isFileReadAlone: Bool { isLocked(.fileReader, against: croost_lock_exclusive) }

    /// Announces that this handle reads the store's file without the companion files.
    func readFileAlone() {
        guard croost_locks_have_regions() != 0 else { return }
        // A failure is harmless, because the reader detects a change of the file.
        _ = try? set(.shared, region: .fileReader)
    }

    /// Whether another handle has found the store sound and is still open.
    ///
    /// Always true if the system cannot lock bytes separately.
    var isConfirmed: Bool {
        croost_locks_have_regions() == 0 || isLocked(.confirmed, against: croost_lock_exclusive)
    }

    /// Records, until this handle is closed, that the store is sound.
    func confirm() throws(StoreError) {
        guard croost_locks_have_regions() != 0 else { return }
        _ = try set(.shared, region: .confirmed)
    }

    /// Announces to later openers of the store that this handle waits for exclusive use.
    ///
    /// Does nothing if another handle has already made this announcement.
    func startWaiting() {
        guard croost_locks_have_regions() != 0 else { return }
        // After a failure, the caller waits without an announcement.
        _ = try? set(.exclusive, region: .waiting)
    }

    func stopWaiting() {
        guard croost_locks_have_regions() != 0 else { return }
        _ = croost_set_lock(file.descriptor, Region.waiting.rawValue, croost_lock_none)
    }

    private func set(_ kind: Kind, region: Region) throws(StoreError) -> Bool {
        let lock =
            switch kind {
            case .none: croost_lock_none
            case .shared: croost_lock_shared
            case .exclusive: croost_lock_exclusive
            }
        let code = croost_set_lock(file.descriptor, region.rawValue, lock)
        if code == EWOULDBLOCK { return false }
        guard code == 0 else { throw StoreFile.error(errno: code, what: "cannot be locked", path: path) }
        return true
    }

    /// Removes the file if it is empty; a file with content is a user's file.
    ///
    /// The caller must hold the exclusive lock, so that the open file is the file at the path.
    func removeIfEmpty() throws(StoreError) {
        do throws(SystemError) {
            guard try file.status.byteCount == 0 else { return }
        } catch {
            throw StoreFile.error(errno: error.code, what: "is a lock file that cannot be examined", path: path)
        }
        try StoreFile.remove(path)
    }

    /// Whether the open file is still the file at its path.
    ///
    /// If not, the lock does not exclude other openers.
    var isCurrent: Bool { get throws(StoreError) { try currentIdentity != nil } }

    /// The identity of the open file; nil if another file or no file is at its path.
    var currentIdentity: FileIdentity? {
        get throws(StoreError) {
            do throws(SystemError) {
                let opened = try file.status
                switch FileStatus.of(path, followingLinks: false) {
                case .success(let named):
                    return named.device == opened.device && named.inode == opened.inode ? FileIdentity(opened) : nil
                case .failure(let system) where system.code == ENOENT: return nil
                case .failure(let system): throw system
                }
            } catch {
                throw StoreFile.error(errno: error.code, what: "is a lock file that cannot be examined", path: path)
            }
        }
    }
}

extension Region {
    var suffix: String {
        // If the system cannot lock bytes separately, each region except `store` needs its own file.
        if self == .store || croost_locks_have_regions() != 0 { return StoreLock.suffix }
        switch self {
        case .store: return StoreLock.suffix
        case .writer: return ".writer.lock"
        case .sound: return ".sound.lock"
        case .claim: return ".claim.lock"
        // The last three regions are used only if the system can lock bytes separately.
        case .waiting, .fileReader, .confirmed: return StoreLock.suffix
        }
    }
}
