package import RoostCore

/// The right to create a store under a name.
///
/// One caller in all processes holds it, from the first byte of the new store until the store has
/// the name.
///
/// A store that already has the name can still be used. While the claim is held, no other caller
/// sweeps temporary siblings of the store. So a sibling is safe between its last close and its
/// renaming, when its own lock is free for a moment.
package final class DestinationClaim: Sendable {
    private let file: Mutex<LockFile?>
    private let storePath: String

    private init(_ file: LockFile, storePath: String) {
        self.file = Mutex(file)
        self.storePath = storePath
    }

    /// Claims the name `path`, whether or not a store has it.
    ///
    /// - Parameters:
    ///   - path: The name.
    ///   - timeoutSeconds: How long to wait for another holder of the claim; 0 tries once.
    ///   - isCancelled: Called while waiting; true ends the wait. So does the cancellation of the
    ///     task.
    /// - Returns: The claim, held.
    /// - Throws: `busy` when another caller has the claim; `cancelled`; what ``StoreLock`` throws.
    package static func acquire(
        forStoreAt path: String, timeoutSeconds: Double = 0, isCancelled: (() -> Bool)? = nil
    ) throws(StoreError) -> DestinationClaim {
        var timeout = Timeout(seconds: timeoutSeconds, isCancelled: isCancelled)
        repeat {
            if let claim = try attempt(path) { return claim }
        } while timeout.wait()
        throw timeout.failure(
            StoreError(
                .busy, "Another conversion into '\(path)' is under way; wait for its end or choose another path"))
    }

    /// Claims the name without waiting; returns nil if another caller has the claim.
    static func attempt(_ path: String) throws(StoreError) -> DestinationClaim? {
        while true {
            let file = try LockFile(forStoreAt: path, region: .claim, isWritable: true)
            guard try file.set(.exclusive) else { return nil }
            // Between opening and locking it the lock file may have been removed; then start over.
            if try file.isCurrent { return DestinationClaim(file, storePath: path) }
        }
    }

    /// Releases the claim, and removes the lock file if no store has the name.
    ///
    /// Calling it again does nothing.
    package func release() {
        guard let file = file.withLock({ $0.take() }) else { return }
        // Another holder of the store's own lock is about to create or remove a store; then the
        // lock file belongs to that store.
        if !StoreFile.hasEntry(at: StoreFile.resolvingLink(storePath)),
            let lock = try? StoreLock.acquire(forStoreAt: storePath, mode: .exclusive, timeoutSeconds: 0)
        {
            if StoreFile.hasEntry(at: StoreFile.resolvingLink(storePath)) {
                lock.release()
            } else {
                // If the lock file cannot be removed, the next store of this name uses it; it is
                // empty.
                try? lock.releaseRemovingFile()
            }
        }
        if file.path != StoreLock.path(forStoreAt: storePath) { try? file.removeIfEmpty() }
        // Closing the file, not before, drops the claim.
        withExtendedLifetime(file) {}
    }
}
