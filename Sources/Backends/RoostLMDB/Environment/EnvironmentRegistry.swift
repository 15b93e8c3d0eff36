internal import RoostCore
internal import RoostFiles

/// A shared reference to an environment.
///
/// Releasing the last lease closes the environment.
final class EnvironmentLease: Sendable {
    let environment: LMDBEnvironment
    private let slot: EnvironmentRegistry.Slot

    fileprivate init(_ environment: LMDBEnvironment, slot: EnvironmentRegistry.Slot) {
        self.environment = environment
        self.slot = slot
    }

    deinit { EnvironmentRegistry.giveBack(slot) }
}

/// The environments that this process has open, by file.
///
/// A file has only one environment, because LMDB loses its locks if a process opens a file twice.
enum EnvironmentRegistry {
    fileprivate struct Key: Hashable {
        let identity: FileIdentity
        /// The path if the file has several hard links and is read without LMDB's locks; otherwise
        /// nil.
        var linkedPath: String?
    }

    /// A container for a file's environment.
    ///
    /// The lock of `environment` is held while the file is opened or closed, so that other threads
    /// wait.
    final class Slot: Sendable {
        fileprivate let key: Key
        /// The path with which the file was opened.
        let path: String
        fileprivate let environment = Mutex<LMDBEnvironment?>(nil)

        fileprivate init(_ key: Key, path: String) {
            self.key = key
            self.path = path
        }
    }

    private struct Entry {
        let slot: Slot
        /// The number of leases and of callers that wait for a lease.
        var userCount: Int
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// Returns a lease of the environment of a file.
    ///
    /// Opens the file unless this process has it open. The call waits up to the timeout while this
    /// process has one of these open:
    ///
    /// - the file, under a temporary name of the store,
    /// - another file that was at the path before,
    /// - the file, at the same path but with another ``Key/linkedPath``.
    static func lease(path: String, settings: LMDBSettings, isNew: Bool = false) throws(StoreError) -> EnvironmentLease
    {
        var timeout = Timeout(seconds: settings.timeoutSeconds)
        while true {
            let identity = try FileIdentity(at: path)
            let isReplaced = isBeingReplaced(identity, path: path)
            if !isReplaced {
                var key = Key(identity: identity)
                if identity.linkCount > 1, !settings.isWritable, settings.acceptsLinks { key.linkedPath = path }
                if let slot = slot(key, path: path) {
                    return try lease(slot, path: path, settings: settings, isNew: isNew)
                }
            }
            guard timeout.wait() else {
                throw StoreError(
                    .busy,
                    isReplaced
                        ? "'\(path)' is being replaced in this process; try again later"
                        : "Cannot open '\(path)': this process has another file open that was at this path before, or opened this file before its number of hard links changed. Close the stores and snapshots of that file first."
                )
            }
        }
    }

    /// Adds a user to a slot and returns the slot, or returns nil if another key has the same path.
    private static func slot(_ key: Key, path: String) -> Slot? {
        entries.withLock { entries in
            // LMDB derives the path of its lock file from the file's path. With one lock file for
            // two files, each environment would clear the other's readers.
            guard entries[key] != nil || !entries.values.contains(where: { $0.slot.path == path }) else { return nil }
            let slot = entries[key]?.slot ?? Slot(key, path: path)
            entries[key, default: Entry(slot: slot, userCount: 0)].userCount += 1
            return slot
        }
    }

    /// Creates a lease for a user that is already counted.
    private static func lease(
        _ slot: Slot, path: String, settings: LMDBSettings, isNew: Bool
    ) throws(StoreError) -> EnvironmentLease {
        let lease: EnvironmentLease
        var isShared = false
        do throws(StoreError) {
            let environment = try slot.environment.withLock { (environment) throws(StoreError) in
                if let environment {
                    isShared = true
                    return environment
                }
                let opened = try LMDBEnvironment(path: path, settings: settings, isNew: isNew)
                environment = opened
                return opened
            }
            lease = EnvironmentLease(environment, slot: slot)
        } catch {
            giveBack(slot)
            throw error
        }
        // The file may have gained hard links since it was opened. This check needs the store's
        // lock, which the environment holds.
        if isShared, slot.key.linkedPath == nil {
            try StoreFile.requireOneName(
                ofStoreAt: path, forWriting: settings.isWritable, companions: LMDBStoreType.companions)
        }
        if settings.isWritable { try lease.environment.makeWritable(timeoutSeconds: settings.timeoutSeconds) }
        return lease
    }

    /// Returns whether this process has the file open under a temporary name of the store.
    private static func isBeingReplaced(_ identity: FileIdentity, path: String) -> Bool {
        let names = entries.withLock { entries in
            entries.values.filter { $0.slot.key.identity == identity }.map(\.slot.path)
        }
        return names.contains { StoreFile.isTemporarySibling($0, of: path) }
    }

    fileprivate static func giveBack(_ slot: Slot) {
        slot.environment.withLock { environment in
            let isLast = entries.withLock { ($0[slot.key]?.userCount ?? 0) <= 1 }
            if isLast {
                // The slot's lock is held, so no other thread opens the file before it is closed.
                environment?.close()
                environment = nil
            }
            entries.withLock { entries in
                entries[slot.key]?.userCount -= 1
                if entries[slot.key]?.userCount == 0 { entries[slot.key] = nil }
            }
        }
    }
}
