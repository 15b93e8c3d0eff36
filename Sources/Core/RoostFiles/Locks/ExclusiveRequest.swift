package import RoostCore

/// A request to have a store alone, to which later openers of the store yield.
///
/// ``StoreLock`` makes one while it waits. This one is for a caller that retries and holds no lock
/// in between. The request ends with the process.
package final class ExclusiveRequest: Sendable {
    private let file: Mutex<LockFile?>

    /// Opens the lock file of the store at `path` and makes the request.
    ///
    /// Throws what ``StoreLock`` throws.
    package init(forStoreAt path: String) throws(StoreError) {
        file = Mutex(try LockFile(forStoreAt: path, region: .store, isWritable: true))
        renew()
    }

    deinit { withdraw() }

    /// Repeats the request if another one was in its way before.
    package func renew() { file.withLock { $0?.startWaiting() } }

    /// Withdraws the request.
    ///
    /// Calling it again does nothing.
    package func withdraw() { file.withLock { $0 = nil } }
}
