package import RoostCore

/// A lock that makes the first opener of a store examine the store's file.
///
/// No other opener, in any process, uses the file before this examination ends. Later openers rely
/// on the examination while at least one earlier opener still has the file open. Hold a shared
/// ``StoreLock`` while you hold this lock.
package final class SoundnessLock: Sendable {
    /// Whether this opener is the first and must examine the store.
    package let isExamining: Bool
    private let file: Mutex<LockFile?>
    private let storePath: String
    private let timeoutSeconds: Double

    private init(_ file: LockFile, isExamining: Bool, storePath: String, timeoutSeconds: Double) {
        self.file = Mutex(file)
        (self.isExamining, self.storePath, self.timeoutSeconds) = (isExamining, storePath, timeoutSeconds)
    }

    /// Joins the openers of the store at `path` after the first opener has found the store sound.
    ///
    /// Calls `examine` if this opener is the first. If `examine` throws, the next opener examines
    /// the store again. Every writer must join before it writes, so that the store does not change
    /// during `examine`.
    ///
    /// - Throws: The errors of `examine` and ``join(forStoreAt:timeoutSeconds:)``.
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

    /// Joins the openers of the store at `path` after the first opener has found the store sound,
    /// or becomes the first opener.
    ///
    /// If ``isExamining`` is true, examine the store. Call ``confirm()`` if the store is sound. If
    /// not, release the lock; the next opener then examines the store.
    ///
    /// - Throws: `busy` if another opener's examination takes longer than `timeoutSeconds`; the
    ///   errors of ``StoreLock``.
    package static func join(forStoreAt path: String, timeoutSeconds: Double) throws(StoreError) -> SoundnessLock {
        let file = try LockFile(forStoreAt: path, region: .sound, isWritable: true)
        var timeout = Timeout(seconds: timeoutSeconds)
        repeat {
            if try file.set(.exclusive) {
                return SoundnessLock(file, isExamining: true, storePath: path, timeoutSeconds: timeoutSeconds)
            }
            if try file.set(.shared) {
                // The exclusive holder may have released the lock since the first attempt, after an
                // examination that failed. So only a confirmation proves that the store is sound.
                if file.isConfirmed {
                    try file.confirm()
                    return SoundnessLock(file, isExamining: false, storePath: path, timeoutSeconds: timeoutSeconds)
                }
                _ = try file.set(.none)
            }
        } while timeout.wait()
        throw timeout.failure(busy(path))
    }

    /// Confirms that the store is sound, so that other openers can join.
    ///
    /// - Throws: `busy` if another opener took the lock while this method changed it from exclusive
    ///   to shared. This is possible only if the system cannot lock bytes separately.
    package func confirm() throws(StoreError) {
        var timeout = Timeout(seconds: timeoutSeconds)
        repeat {
            let isShared = try file.withLock { (file) throws(StoreError) in
                guard let file else { return true }
                try file.confirm()
                return try file.set(.shared)
            }
            if isShared { return }
        } while timeout.wait()
        throw timeout.failure(Self.busy(storePath))
    }

    private static func busy(_ path: String) -> StoreError {
        StoreError(.busy, "'\(path)' is being examined elsewhere, in this process or another; try again later")
    }

    package func release() { file.withLock { $0 = nil } }
}
