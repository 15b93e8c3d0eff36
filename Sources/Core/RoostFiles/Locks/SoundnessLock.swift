package import RoostCore

/// The knowledge that a store's file is sound, shared by all who have it open.
///
/// The first opener, over all processes, examines the file while nobody else has it open; later ones rely on that as long as
/// an earlier one is there. Hold a shared ``StoreLock`` around it.
package final class SoundnessLock: Sendable {
    /// Whether this opener is the first, so that it examines the store.
    ///
    /// Until it calls ``confirm()`` no other opener can join.
    package let isExamining: Bool
    private let file: Mutex<LockFile?>
    private let storePath: String
    private let timeoutSeconds: Double

    private init(_ file: LockFile, isExamining: Bool, storePath: String, timeoutSeconds: Double) {
        self.file = Mutex(file)
        (self.isExamining, self.storePath, self.timeoutSeconds) = (isExamining, storePath, timeoutSeconds)
    }

    /// Joins those who know that the store at `path` is sound; if there are none, calls `examine` first.
    ///
    /// Nobody writes to the store during `examine`, as long as all writers join before they write. When it throws, nobody
    /// relies on it.
    /// - Throws: what `examine` throws; `busy` when another opener examines for longer than `timeoutSeconds`; what ``StoreLock`` throws.
    package static func enter(
        forStoreAt path: String, timeoutSeconds: Double, examine: () throws(StoreError) -> Void
    ) throws(StoreError) -> SoundnessLock {
        let lock = try join(forStoreAt: path, timeoutSeconds: timeoutSeconds)
        if lock.isExamining {
            try examine()
            try lock.confirm()
        }
        return lock
    }

    /// Joins the openers that know that the store at `path` is sound, or becomes the first.
    ///
    /// The first opener (``isExamining``) examines the store and calls ``confirm()`` if it is
    /// sound. Otherwise it releases the lock, and the next opener examines the store.
    ///
    /// - Parameters:
    ///   - path: The store's path.
    ///   - timeoutSeconds: How long to wait for another opener that examines.
    /// - Returns: The lock, held.
    /// - Throws: `busy` when another opener examines for longer; what ``StoreLock`` throws.
    package static func join(forStoreAt path: String, timeoutSeconds: Double) throws(StoreError) -> SoundnessLock {
        let file = try LockFile(forStoreAt: path, .sound, isWritable: true)
        var patience = Patience(seconds: timeoutSeconds)
        repeat {
            if try file.set(.exclusive) {
                return SoundnessLock(file, isExamining: true, storePath: path, timeoutSeconds: timeoutSeconds)
            }
            // Whoever shares it has examined the file, or joined somebody who did.
            if try file.set(.shared) {
                return SoundnessLock(file, isExamining: false, storePath: path, timeoutSeconds: timeoutSeconds)
            }
        } while patience.wait()
        throw patience.failure(busy(path))
    }

    /// Confirms that the store is sound, so that other openers can join.
    ///
    /// - Throws: `busy` where the system has to release the lock for that, and another opener
    ///   examines meanwhile.
    package func confirm() throws(StoreError) {
        var patience = Patience(seconds: timeoutSeconds)
        repeat {
            let isShared = try file.withLock { (file) throws(StoreError) in
                guard let file else { return true }
                return try file.set(.shared)
            }
            if isShared { return }
        } while patience.wait()
        throw patience.failure(Self.busy(storePath))
    }

    private static func busy(_ path: String) -> StoreError {
        StoreError(.busy, "'\(path)' is being examined by another process; try again later")
    }

    /// Lets go.
    ///
    /// Calling it again does nothing.
    package func release() { file.withLock { $0 = nil } }
}
