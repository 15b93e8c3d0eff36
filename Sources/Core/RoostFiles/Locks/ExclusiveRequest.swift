package import RoostCore

/// A request for exclusive use of a store, to which later openers of the store yield.
///
/// A call that waits for an exclusive ``StoreLock`` makes the same request. Use this type for
/// repeated calls that do not wait, to keep the request between them. The request ends with the
/// process at the latest.
package final class ExclusiveRequest: Sendable {
    private let file: Mutex<LockFile?>

    /// Opens the lock file of the store at `path` and makes the request.
    ///
    /// Throws the errors of ``StoreLock``.
    package init(forStoreAt path: String) throws(StoreError) {
        file = Mutex(try LockFile(forStoreAt: path, region: .store, isWritable: true))
        renew()
    }

    deinit { withdraw() }

    /// Makes the request now if another caller's request prevented it before.
    package func renew() { file.withLock { $0?.startWaiting() } }

    /// Withdraws the request.
    ///
    /// Further calls do nothing.
    package func withdraw() { file.withLock { $0 = nil } }
}
