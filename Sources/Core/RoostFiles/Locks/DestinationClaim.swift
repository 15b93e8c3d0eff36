package import RoostCore

/// The right to create a store at a path.
///
/// At most one caller in all processes holds the claim on a path. Acquire it before you create the
/// new store's file, and hold it until the store is at its path.
///
/// A store that already exists at the path stays usable. While the claim is held, no other caller
/// removes the temporary files beside the store. This protects the new store between its closing
/// and its renaming, when nothing holds its lock.
package final class DestinationClaim: Sendable {
    private let file: Mutex<LockFile?>
    private let storePath: String

    private init(_ file: LockFile, storePath: String) {
        self.file = Mutex(file)
        self.storePath = storePath
    }

    /// Claims `path`, whether or not a store exists there.
    ///
    /// Waits up to `timeoutSeconds` until another caller releases the claim. The wait ends early if
    /// `isCancelled` returns true, or the task is cancelled.
    ///
    /// - Throws: `busy` if another caller holds the claim; `cancelled`; the errors of
    ///   ``StoreLock``.
    package static func acquire(
        forStoreAt path: String, timeoutSeconds: Double = 0, isCancelled: (() -> Bool)? = nil
    ) throws(StoreError) -> DestinationClaim {
        var timeout = Timeout(seconds: timeoutSeconds, isCancelled: isCancelled)
        repeat {
            if let claim = try attempt(path) { return claim }
        } while timeout.wait()
        throw timeout.failure(
            StoreError(
                .busy,
                "Another operation is creating or replacing a store at '\(path)'; wait for its end or choose another path"
            ))
    }

    /// Claims `path` without waiting; returns nil if another caller holds the claim.
    static func attempt(_ path: String) throws(StoreError) -> DestinationClaim? {
        while true {
            let file = try LockFile(forStoreAt: path, region: .claim, isWritable: true)
            guard try file.set(.exclusive) else { return nil }
            // Try again if the lock file was removed between opening and locking.
            if try file.isCurrent { return DestinationClaim(file, storePath: path) }
        }
    }

    /// Releases the claim, and removes the lock file if no store exists at the path.
    package func release() {
        guard let file = file.withLock({ $0.take() }) else { return }
        // The lock file stays if another caller holds the store's own lock, because that caller
        // still needs the file.
        if !StoreFile.hasEntry(at: StoreFile.resolvingLink(storePath)),
            let lock = try? StoreLock.acquire(forStoreAt: storePath, mode: .exclusive, timeoutSeconds: 0)
        {
            if StoreFile.hasEntry(at: StoreFile.resolvingLink(storePath)) {
                lock.release()
            } else {
                // A lock file that cannot be removed is harmless: the next store at this path uses
                // it.
                try? lock.releaseRemovingFile()
            }
        }
        if file.path != StoreLock.path(forStoreAt: storePath) { try? file.removeIfEmpty() }
        // Closing the file releases the claim, so the file must stay open until here.
        withExtendedLifetime(file) {}
    }
}
