package import RoostCore
package import RoostFiles

/// Puts a new version of a store in its place, under its own name and in one step, while nobody has it open.
///
/// The caller holds the store's ``DestinationClaim`` and its lock, exclusively, from before the first record is read until this returns:
/// a commit of somebody else can neither come between what is read and the new name nor be lost with the old file. The lock keeps
/// every opener out, the caller too. So the old file is read under a second name, which has a lock of its own: a closed store is one
/// file. A backup is a name of the old file too, given to it durably before the new one takes its place: at any instant the store's name
/// leads to the old file or to the new one, and the old one has a name until it may go. Where the new one never came, the backup is the
/// store itself, and the next who sweeps sees that.
package struct StoreReplacement: Sendable {
    /// The type of the store.
    let type: any PersistentStoreType
    /// The store's file; no link.
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
    /// One that closes the store at the same time as `settle` can leave its files behind: each sees that the other has it open, and who
    /// asks for the lock next is this one. Then it is settled again.
    ///
    /// - Parameters:
    ///   - path: The store's file; no link.
    ///   - type: Its type.
    ///   - patience: How long to wait for others to close it.
    ///   - settle: Opens the store and closes it again.
    /// - Returns: The lock, held; what keeps the store from being one file is then a program that is not Roost's.
    /// - Throws: `busy`, `cancelled`, and what `settle` throws.
    package static func lock(
        _ path: String, type: any PersistentStoreType, patience: Patience, settle: () throws(StoreError) -> Void
    ) throws(StoreError) -> StoreLock {
        var attempts = 5
        while true {
            try settle()
            let lock = try StoreLock.acquire(
                forStoreAt: path, mode: .exclusive, timeoutSeconds: patience.secondsLeft,
                isCancelled: { patience.isCancelled })
            attempts -= 1
            if attempts == 0 || otherFile(besideStoreAt: path, type) == nil { return lock }
            lock.release()
        }
    }

    /// Replaces the store.
    ///
    /// - Parameter make: Makes the new store out of the old one, both under names beside the store that nobody knows; leaves both closed,
    ///   the new one flushed. Gives false, without a new one, when the old one shall stay.
    /// - Returns: The path of the backup; nil without one.
    /// - Throws: `busy` when a program that knows nothing of Roost's locks has the store open; `permissionDenied` for the file of
    ///   another user, who would lose it; `unsupported` without hard links; what `make` throws. The store is as it was; only with
    ///   `ioFailure` the new one may be there already without being durable.
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
                // Nor has one come and gone meanwhile: what it wrote would go with the old file.
                guard try FileIdentity(at: path).isUnchanged(since: identity) else {
                    throw StoreError(
                        .busy,
                        "'\(path)' was changed meanwhile by a program that is not Roost's; see to it that none uses the store, and begin again."
                    )
                }
                try requireTwoNames()
                if keepsBackup { backup = try addBackup() }
                try StoreFile.publish(new.path, as: path, overwriting: true)
            }
        } catch {
            // As long as the store is the old file its backup is nothing but a second name.
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
            // Durable before the store's name leads elsewhere.
            try StoreFile.syncDirectory(of: path)
        } catch {
            try? StoreFile.remove(backup)
            throw error
        }
        return backup
    }

    /// Throws code `busy` when a program that knows nothing of Roost's locks has the store open: then it is more than one file.
    private func requireOneFile() throws(StoreError) {
        guard let other = Self.otherFile(besideStoreAt: path, type) else { return }
        throw StoreError(
            .busy, "'\(path)' is open in a program that is not Roost's: '\(other)' is there; close it there.")
    }

    /// A file that belongs to a store which is not closed; nil where there is none.
    static func otherFile(besideStoreAt path: String, _ type: any PersistentStoreType) -> String? {
        type.companionSuffixes.map { path + $0 }.first { StoreFile.hasEntry(at: $0) }
    }

    /// Checks that the old file has only its own name and the temporary one.
    private func requireTwoNames() throws(StoreError) {
        let found = try FileIdentity(at: path)
        guard found.linkCount <= 2 else { throw StoreFile.hasOtherNames(path, found) }
    }

    /// Removes a name of ours with what belongs to it; what cannot be removed is swept by the next one who writes here.
    private func remove(_ location: StoreLocation) {
        try? type.destroy(location)
        for path in [location.path, StoreLock.path(forStoreAt: location.path)] { try? StoreFile.remove(path) }
    }
}

extension StoreError {
    /// The same error with a name that its reader knows in the place of those of temporary siblings of the store.
    func naming(_ path: String) -> StoreError { withMessage(StoreFile.namingStore(path, in: message)) }

    /// The same error, and of code `busy` who has the store open, as far as the system tells.
    package func namingUsers(ofStoreAt path: String) -> StoreError {
        guard code == .busy else { return self }
        let users = FileUsers.names(ofStoreAt: StoreFile.resolvingLink(path))
        guard !users.isEmpty else { return self }
        let message = message.hasSuffix(".") ? message : message + "."
        return withMessage("\(message) It is open in \(users.joined(separator: ", ")).")
    }
}
