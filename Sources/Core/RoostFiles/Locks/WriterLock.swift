public import RoostCore

/// A lock that at most one writer in all processes holds, for the length of a transaction.
///
/// Use this lock if a store's library has no writer lock, or one without a timeout. The lock is on
/// the second byte of the ``StoreLock``'s file, but does not conflict with the ``StoreLock``. If
/// the system cannot lock bytes separately, the lock is on `<store>.writer.lock`.
public final class WriterLock: Sendable {
    private struct State {
        var file: LockFile?
    }
    private let state: Mutex<State>
    private let storePath: String

    /// Opens the lock file of the store at `path` without locking it.
    ///
    /// Throws the errors of ``StoreLock``.
    public init(forStoreAt path: String) throws(StoreError) {
        state = Mutex(State(file: try LockFile(forStoreAt: path, region: .writer, isWritable: true)))
        storePath = path
    }

    /// Acquires the lock, waiting up to `timeoutSeconds` for another writer.
    ///
    /// - Throws: `busy` after the timeout; `cancelled`; `closed` after ``close()``.
    public func lock(timeoutSeconds: Double) throws(StoreError) {
        var timeout = Timeout(seconds: timeoutSeconds)
        repeat {
            if try set(.exclusive) { return }
        } while timeout.wait()
        throw timeout.failure(
            StoreError(.busy, "Another process is writing to '\(storePath)'; try again later"))
    }

    /// Releases the lock.
    public func unlock() throws(StoreError) { _ = try set(.none) }

    /// Closes the lock file, and releases the lock if it is held.
    public func close() { state.withLock { $0.file = nil } }

    private func set(_ kind: LockFile.Kind) throws(StoreError) -> Bool {
        try state.withLock { (state) throws(StoreError) in
            guard let isSet = try state.file?.set(kind) else {
                throw StoreError(.closed, "'\(storePath)' was closed before")
            }
            return isSet
        }
    }
}
