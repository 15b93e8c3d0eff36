package import RoostCore

/// The right to bring a new store under a name: one holder over all processes, from the first byte of the new store to its name.
///
/// It does not keep anybody from using the store that has the name meanwhile. While it is held nobody else sweeps temporary
/// siblings of the store away, so that one whose own lock is free for a moment is safe: between its last close and its renaming.
package final class DestinationClaim: Sendable {
    private let file: Mutex<LockFile?>
    private let storePath: String

    private init(_ file: LockFile, storePath: String) {
        self.file = Mutex(file)
        self.storePath = storePath
    }

    /// Claims the name `path`, whether a store has it or not.
    ///
    /// - Parameters:
    ///   - path: The name.
    ///   - timeoutSeconds: How long to wait for somebody else who has the claim; 0 tries once.
    ///   - isCancelled: Asked while waiting; true ends the wait. So does the cancellation of the
    ///     task.
    /// - Returns: The claim, held.
    /// - Throws: `busy` when another caller has the claim; `cancelled`; what ``StoreLock`` throws.
    package static func acquire(
        forStoreAt path: String, timeoutSeconds: Double = 0, isCancelled: (() -> Bool)? = nil
    ) throws(StoreError) -> DestinationClaim {
        var patience = Patience(seconds: timeoutSeconds, isCancelled: isCancelled)
        repeat {
            if let claim = try attempt(path) { return claim }
        } while patience.wait()
        throw patience.failure(
            StoreError(
                .busy, "Another conversion into '\(path)' is under way; wait for its end or choose another path"))
    }

    /// The claim, or nil when somebody else has it.
    static func attempt(_ path: String) throws(StoreError) -> DestinationClaim? {
        while true {
            let file = try LockFile(forStoreAt: path, .claim, isWritable: true)
            guard try file.set(.exclusive) else { return nil }
            // Between opening and locking it the lock file may have been removed; then start over.
            if try file.isCurrent { return DestinationClaim(file, storePath: path) }
        }
    }

    /// Gives the name back, and removes the lock file when no store has come to stand beside it.
    ///
    /// Calling it again does nothing.
    package func release() {
        guard let file = file.withLock({ $0.take() }) else { return }
        // Whoever has the store's own lock is about to create or remove one; then the lock file is theirs.
        if !StoreFile.hasEntry(at: StoreFile.resolvingLink(storePath)),
            let lock = try? StoreLock.acquire(forStoreAt: storePath, mode: .exclusive, timeoutSeconds: 0)
        {
            if StoreFile.hasEntry(at: StoreFile.resolvingLink(storePath)) {
                lock.release()
            } else {
                // What cannot be removed is an empty file, which the next store of this name uses.
                try? lock.releaseRemovingFile()
            }
        }
        if file.path != StoreLock.path(forStoreAt: storePath) { try? file.removeIfEmpty() }
        // Closing the file, not before, drops the claim.
        withExtendedLifetime(file) {}
    }
}
