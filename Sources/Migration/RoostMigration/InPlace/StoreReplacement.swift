package import RoostCore
package import RoostFiles

/// A replacement of a store with a new version, in one step, while no other program has the store
/// open.
///
/// The caller holds the store's ``DestinationClaim`` and its exclusive lock from before the first
/// read until ``run(_:)`` returns, so no other process can commit through Roost. Not even the
/// caller can open the locked store. So the caller reads the old file at a second path, which has
/// its own lock. A backup is another hard link to the old file, made durable before the
/// replacement. At any time, the store's path refers to the old file or to the new one. After a
/// crash before the replacement, the next cleanup removes the backup.
package struct StoreReplacement: Sendable {
    let type: any PersistentStoreType
    /// The path of the store's file, which is not a symbolic link.
    let path: String
    /// Whether to keep the old file, at ``StoreFile/backupSibling(of:)``.
    let keepsBackup: Bool

    package init(type: any PersistentStoreType, path: String, keepsBackup: Bool) {
        self.type = type
        self.path = path
        self.keepsBackup = keepsBackup
    }

    /// Merges the store into one file and locks it exclusively.
    ///
    /// If `settle` and another process close the store at the same time, each sees the store open
    /// elsewhere, so a log or journal can remain. This function then releases the lock and runs
    /// `settle` again, at most four times. If a log or journal still exists afterward, a program
    /// that does not use Roost's locks probably has the store open.
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
    /// - Parameter make: Creates the new store from the old store, both at temporary paths beside
    ///   the store. Leaves both stores closed, and the new store flushed. Returns false, without a
    ///   new store, if the old store must stay.
    /// - Returns: The path of the backup, or nil.
    /// - Throws: `busy` if a program that does not use Roost's locks has the store open or changed
    ///   it; `permissionDenied` if the new file would not belong to the old owner; `unsupported` on
    ///   a file system without hard links; `hasOtherNames`; errors of `make`. After an error other
    ///   than `ioFailure`, the store is unchanged. After `ioFailure`, the new store may have
    ///   replaced it, but may not be durable.
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
                // A program that ignores the lock may have changed the old file. The replacement would lose
                // its changes.
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
            // If the store's path still refers to the old file, the backup is only another hard link to it.
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
            // The backup is durable before the store's path refers to another file.
            try StoreFile.syncDirectory(of: path)
        } catch {
            try? StoreFile.remove(backup)
            throw error
        }
        return backup
    }

    /// Throws `busy` if a log or journal shows that a program without Roost's locks has the store
    /// open.
    private func requireOneFile() throws(StoreError) {
        guard let other = Self.otherFile(besideStoreAt: path, type: type) else { return }
        throw StoreError(
            .busy,
            "'\(path)' is open in a program other than Roost: the file '\(other)' exists. Close the store in that program."
        )
    }

    static func otherFile(besideStoreAt path: String, type: any PersistentStoreType) -> String? {
        type.companionSuffixes.map { path + $0 }.first { StoreFile.hasEntry(at: $0) }
    }

    /// Checks that the old file has no hard links other than its own path and the temporary one.
    private func requireTwoNames() throws(StoreError) {
        let found = try FileIdentity(at: path)
        guard found.linkCount <= 2 else { throw StoreFile.hasOtherNames(path, found) }
    }

    /// Removes a temporary store; the next cleanup removes what remains after an error.
    private func remove(_ location: StoreLocation) {
        try? type.destroy(location)
        for path in [location.path, StoreLock.path(forStoreAt: location.path)] { try? StoreFile.remove(path) }
    }
}

extension StoreError {
    /// Returns the same error with `path` instead of the paths of temporary files beside the store.
    func naming(_ path: String) -> StoreError { withMessage(StoreFile.namingStore(path, in: message)) }

    /// Returns the error; a `busy` error also names the processes that have the store open, if
    /// known.
    package func namingUsers(ofStoreAt path: String) -> StoreError {
        guard code == .busy else { return self }
        let users = FileUsers.names(ofStoreAt: StoreFile.resolvingLink(path))
        guard !users.isEmpty else { return self }
        let message = message.hasSuffix(".") ? message : message + "."
        return withMessage("\(message) It is open in \(users.joined(separator: ", ")).")
    }
}
