package import RoostCore
package import RoostFiles

/// Replaces a store by a new version, under its own name and in one step, while no other program
/// has it open.
///
/// The caller holds the store's ``DestinationClaim`` and its exclusive lock from before the first
/// record is read until this returns. So another program's commit can neither come between the
/// reading and the new name nor be lost with the old file. The lock keeps out every opener,
/// including the caller. The old file is therefore read under a second name, which has a lock of
/// its own: a closed store is one file. A backup is also a name of the old file, made durable
/// before the new file takes its place. At any instant the store's name refers to the old file or
/// to the new one, and the old file has a name until it may be removed. If the new file was never
/// published, the backup is the store itself, and the next sweep recognizes that.
package struct StoreReplacement: Sendable {
    /// The type of the store.
    let type: any PersistentStoreType
    /// The store's file; not a link.
    let path: String
    /// Whether the old file is kept, under ``StoreFile/backupSibling(of:)``.
    let keepsBackup: Bool

    /// Creates a replacement.
    package init(type: any PersistentStoreType, path: String, keepsBackup: Bool) {
        self.type = type
        self.path = path
        self.keepsBackup = keepsBackup
    }

    /// Brings the store into one file and locks it exclusively.
    ///
    /// A process that closes the store at the same time as `settle` can leave its files there: each
    /// sees that the other has it open, and this call gets the lock next. Then the store is settled
    /// again.
    ///
    /// - Parameters:
    ///   - path: The store's file; not a link.
    ///   - type: Its type.
    ///   - timeout: The time to wait for others to close it.
    ///   - settle: Opens the store and closes it again.
    /// - Returns: The lock, held; if the store is still not one file, a program that does not use
    ///   Roost's locks has it open.
    /// - Throws: `busy`, `cancelled`, and what `settle` throws.
    package static func lock(
        _ path: String, type: any PersistentStoreType, timeout: Timeout, settle: () throws(StoreError) -> Void
    ) throws(StoreError) -> StoreLock {
        var attempts = 5
        while true {
            try settle()
            let lock = try StoreLock.acquire(
                forStoreAt: path, mode: .exclusive, timeoutSeconds: timeout.secondsLeft,
                isCancelled: { timeout.isCancelled })
            attempts -= 1
            if attempts == 0 || otherFile(besideStoreAt: path, type: type) == nil { return lock }
            lock.release()
        }
    }

    /// Replaces the store.
    ///
    /// - Parameter make: Makes the new store from the old store; both have temporary names beside
    ///   the store. Leaves both closed, and the new store flushed. Returns false, without a new
    ///   store, if the old store must stay.
    /// - Returns: The path of the backup; nil without one.
    /// - Throws: `busy` when a program that knows nothing of Roost's locks has the store open;
    ///   `permissionDenied` for the file of another user, who would lose it; `unsupported` without
    ///   hard links; what `make` throws. The store is unchanged then. Only with `ioFailure` the new
    ///   store may already have replaced it without being durable.
    package func run(
        _ make: (_ old: StoreLocation, _ new: StoreLocation) throws(StoreError) -> Bool
    ) throws(StoreError) -> String? {
        try requireOneFile()
        try StoreFile.requireOneName(ofStoreAt: path, forWriting: true, companions: type.companionSuffixes)
        try StoreFile.requireKeepingOwner(at: path)
        let identity = try FileIdentity(at: path)
        let old = StoreLocation(type: type.name, path: StoreFile.temporarySibling(of: path))
        let new = StoreLocation(type: type.name, path: StoreFile.temporarySibling(of: path))
        try StoreFile.addName(old.path, toFileAt: path)
        var backup: String?
        do throws(StoreError) {
            if try make(old, new) {
                try requireOneFile()
                // A program that opened and closed it meanwhile counts too: its changes would be lost with the old file.
                guard try FileIdentity(at: path).isUnchanged(since: identity) else {
                    throw StoreError(
                        .busy,
                        "'\(path)' was changed meanwhile by a program other than Roost; make sure that no program uses the store, and start again."
                    )
                }
                try requireTwoNames()
                if keepsBackup { backup = try addBackup() }
                try StoreFile.publish(new.path, as: path, overwriting: true)
            }
        } catch {
            // While the store is the old file, its backup is only a second name.
            if let backup, StoreFile.sameFile(backup, path) { try? StoreFile.remove(backup) }
            for location in [old, new] { remove(location) }
            throw error.naming(path)
        }
        remove(old)
        return backup
    }

    private func addBackup() throws(StoreError) -> String {
        let backup = StoreFile.backupSibling(of: path)
        try StoreFile.addName(backup, toFileAt: path)
        do throws(StoreError) {
            // Durable before the store's name refers to another file.
            try StoreFile.syncDirectory(of: path)
        } catch {
            try? StoreFile.remove(backup)
            throw error
        }
        return backup
    }

    /// Throws code `busy` when a program that knows nothing of Roost's locks has the store open:
    /// then it is more than one file.
    private func requireOneFile() throws(StoreError) {
        guard let other = Self.otherFile(besideStoreAt: path, type: type) else { return }
        throw StoreError(
            .busy,
            "'\(path)' is open in a program other than Roost: '\(other)' is there; close the store in that program.")
    }

    /// Returns a file that only a store in use has beside it, or nil.
    static func otherFile(besideStoreAt path: String, type: any PersistentStoreType) -> String? {
        type.companionSuffixes.map { path + $0 }.first { StoreFile.hasEntry(at: $0) }
    }

    /// Checks that the old file has only its own name and the temporary one.
    private func requireTwoNames() throws(StoreError) {
        let found = try FileIdentity(at: path)
        guard found.linkCount <= 2 else { throw StoreFile.hasOtherNames(path, found) }
    }

    /// Removes a temporary name and the files that belong to it; the next sweep removes what
    /// remains.
    private func remove(_ location: StoreLocation) {
        try? type.destroy(location)
        for path in [location.path, StoreLock.path(forStoreAt: location.path)] { try? StoreFile.remove(path) }
    }
}

extension StoreError {
    /// Returns the same error with `path` instead of the names of the store's temporary siblings.
    func naming(_ path: String) -> StoreError { withMessage(StoreFile.namingStore(path, in: message)) }

    /// Returns the same error; a `busy` one also names the processes that have the store open, if
    /// known.
    package func namingUsers(ofStoreAt path: String) -> StoreError {
        guard code == .busy else { return self }
        let users = FileUsers.names(ofStoreAt: StoreFile.resolvingLink(path))
        guard !users.isEmpty else { return self }
        let message = message.hasSuffix(".") ? message : message + "."
        return withMessage("\(message) It is open in \(users.joined(separator: ", ")).")
    }
}
