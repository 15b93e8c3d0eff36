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
    /// A file's place.
    ///
    /// Its lock is held while the file is opened or closed, so that others wait for that.
    final class Slot: Sendable {
        let identity: FileIdentity
        /// The name it was opened under.
        let path: String
        fileprivate let environment = Mutex<LMDBEnvironment?>(nil)

        fileprivate init(_ identity: FileIdentity, path: String) {
            self.identity = identity
            self.path = path
        }
    }

    private struct Entry {
        let slot: Slot
        /// Leases, and openers that wait for one.
        var userCount: Int
    }

    private static let entries = Mutex<[FileIdentity: Entry]>([:])

    /// A share in the environment of a file, which is opened if this process does not have it open.
    ///
    /// Who has the file open under another name reads it to replace it: then this waits, as it would for a lock of the name.
    static func lease(path: String, settings: LMDBSettings, isNew: Bool = false) throws(StoreError) -> EnvironmentLease
    {
        var patience = Patience(seconds: settings.timeoutSeconds)
        var identity = try FileIdentity(at: path)
        while let name = entries.withLock({ $0[identity]?.slot.path }), isOther(name, than: path) {
            guard patience.wait() else {
                throw StoreError(
                    .busy, "'\(path)' is being replaced, or open under another name, in this process; try again later")
            }
            identity = try FileIdentity(at: path)
        }
        let slot = try entries.withLock { (entries) throws(StoreError) in
            // LMDB's lock file goes by the name: two files of one name would clear each other's readers from it.
            guard entries[identity] != nil || !entries.values.contains(where: { $0.slot.path == path }) else {
                throw StoreError(
                    .busy,
                    "The file that stood under '\(path)' before is still open in this process; close its stores and snapshots first"
                )
            }
            let slot = entries[identity]?.slot ?? Slot(identity, path: path)
            entries[identity, default: Entry(slot: slot, userCount: 0)].userCount += 1
            return slot
        }
        let lease: EnvironmentLease
        do throws(StoreError) {
            let environment = try slot.environment.withLock { (environment) throws(StoreError) in
                if let environment { return environment }
                let opened = try LMDBEnvironment(path: path, settings: settings, isNew: isNew)
                environment = opened
                return opened
            }
            lease = EnvironmentLease(environment, slot)
        } catch {
            giveBack(slot)
            throw error
        }
        if settings.isWritable { try lease.environment.makeWritable(timeoutSeconds: settings.timeoutSeconds) }
        return lease
    }

    /// Whether a file that both lead to has two names, rather than one that is written in two ways.
    private static func isOther(_ name: String, than path: String) -> Bool {
        guard StoreFile.name(of: name) != StoreFile.name(of: path) else { return false }
        do throws(StoreError) { try StoreFile.requireOnlyName(at: path) } catch { return error.code == .notAStore }
        return false
    }

    fileprivate static func giveBack(_ slot: Slot) {
        slot.environment.withLock { environment in
            let isLast = entries.withLock { ($0[slot.identity]?.userCount ?? 0) <= 1 }
            // Closed here, while others who want to open the file wait for this lock.
            if isLast {
                environment?.close()
                environment = nil
            }
            entries.withLock { entries in
                entries[slot.identity]?.userCount -= 1
                if entries[slot.identity]?.userCount == 0 { entries[slot.identity] = nil }
            }
        }
    }
}
