package import RoostCore

/// The knowledge that a store's file is sound, shared by all openers of the store.
///
/// The first opener in any process examines the file before any other opener uses it; later ones
/// rely on the result while an earlier one has it open. Hold a shared ``StoreLock`` around it.
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

    /// Joins the openers that know that the store at `path` is sound; the first one calls
    /// `examine`.
    ///
    /// Nothing writes to the store during `examine` if all writers join before they write. If it
    /// throws, no opener relies on the store.
    ///
    /// - Throws: What `examine` throws; `busy` when another opener examines for longer than
    ///   `timeoutSeconds`; what ``StoreLock`` throws.
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
        let file = try LockFile(forStoreAt: path, region: .sound, isWritable: true)
        var timeout = Timeout(seconds: timeoutSeconds)
        repeat {
            if try file.set(.exclusive) {
                return SoundnessLock(file, isExamining: true, storePath: path, timeoutSeconds: timeoutSeconds)
            }
            // An opener that shares the lock has examined the file, or has joined one that did.
            if try file.set(.shared) {
                return SoundnessLock(file, isExamining: false, storePath: path, timeoutSeconds: timeoutSeconds)
            }
        } while timeout.wait()
        throw timeout.failure(busy(path))
    }

    /// Confirms that the store is sound, so that other openers can join.
    ///
    /// - Throws: `busy` where the system has to release the lock for that, and another opener
    ///   examines meanwhile.
    package func confirm() throws(StoreError) {
        var timeout = Timeout(seconds: timeoutSeconds)
        repeat {
            let isShared = try file.withLock { (file) throws(StoreError) in
                guard let file else { return true }
                return try file.set(.shared)
            }
            if isShared { return }
        } while timeout.wait()
        throw timeout.failure(Self.busy(storePath))
    }

    private static func busy(_ path: String) -> StoreError {
        StoreError(.busy, "'\(path)' is being examined by another process; try again later")
    }

    /// Releases the lock.
    ///
    /// Calling it again does nothing.
    package func release() { file.withLock { $0 = nil } }
}
