internal import RoostCore
internal import RoostFiles

/// A share in an environment.
///
/// The last one to go closes it.
final class EnvironmentLease: Sendable {
    let environment: LMDBEnvironment
    private let slot: EnvironmentRegistry.Slot

    fileprivate init(_ environment: LMDBEnvironment, _ slot: EnvironmentRegistry.Slot) {
        self.environment = environment
        self.slot = slot
    }

    deinit { EnvironmentRegistry.giveBack(slot) }
}

/// The environments this process has open, by file: LMDB loses its locks when a process opens a file twice.
enum EnvironmentRegistry {
    /// The key of an environment.
    fileprivate struct Key: Hashable {
        let identity: FileIdentity
        /// The path, for a file with other names that is read without LMDB's locks; otherwise nil.
        var linkedPath: String?
    }

    /// A file's place.
    ///
    /// Its lock is held while the file is opened or closed, so that others wait for that.
    final class Slot: Sendable {
        fileprivate let key: Key
        /// The name it was opened under.
        let path: String
        fileprivate let environment = Mutex<LMDBEnvironment?>(nil)

        fileprivate init(_ key: Key, path: String) {
            self.key = key
            self.path = path
        }
    }

    private struct Entry {
        let slot: Slot
        /// Leases, and openers that wait for one.
        var userCount: Int
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// A share in the environment of a file, which is opened if this process does not have it open.
    ///
    /// Waits while this process reads the file under a temporary name to replace it, as for a lock.
    static func lease(path: String, settings: LMDBSettings, isNew: Bool = false) throws(StoreError) -> EnvironmentLease
    {
        var patience = Patience(seconds: settings.timeoutSeconds)
        var identity = try FileIdentity(at: path)
        while isBeingReplaced(identity, path) {
            guard patience.wait() else {
                throw StoreError(.busy, "'\(path)' is being replaced in this process; try again later")
            }
            identity = try FileIdentity(at: path)
        }
        var key = Key(identity: identity)
        if identity.linkCount > 1, !settings.isWritable, settings.acceptsLinks { key.linkedPath = path }
        return try lease(key, path, settings, isNew: isNew)
    }

    private static func lease(
        _ key: Key, _ path: String, _ settings: LMDBSettings, isNew: Bool
    ) throws(StoreError) -> EnvironmentLease {
        let slot = try entries.withLock { (entries) throws(StoreError) in
            // LMDB's lock file goes by the name: two files of one name would clear each other's readers from it.
            guard entries[key] != nil || !entries.values.contains(where: { $0.slot.path == path }) else {
                throw StoreError(
                    .busy,
                    "The file that '\(path)' was before, or had other names, is still open in this process; close its stores and snapshots first"
                )
            }
            let slot = entries[key]?.slot ?? Slot(key, path: path)
            entries[key, default: Entry(slot: slot, userCount: 0)].userCount += 1
            return slot
        }
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
            lease = EnvironmentLease(environment, slot)
        } catch {
            giveBack(slot)
            throw error
        }
        // The file may have got other names since it was opened. The environment holds the store's lock.
        if isShared, key.linkedPath == nil {
            try StoreFile.requireOneName(ofStoreAt: path, forWriting: settings.isWritable)
        }
        if settings.isWritable { try lease.environment.makeWritable(timeoutSeconds: settings.timeoutSeconds) }
        return lease
    }

    /// Whether this process reads the file under a temporary name of the store, to replace it.
    private static func isBeingReplaced(_ identity: FileIdentity, _ path: String) -> Bool {
        let names = entries.withLock { entries in
            entries.values.filter { $0.slot.key.identity == identity }.map(\.slot.path)
        }
        return names.contains { StoreFile.isTemporarySibling($0, of: path) }
    }

    fileprivate static func giveBack(_ slot: Slot) {
        slot.environment.withLock { environment in
            let isLast = entries.withLock { ($0[slot.key]?.userCount ?? 0) <= 1 }
            // Closed here, while others who want to open the file wait for this lock.
            if isLast {
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
