package import RoostCore

/// A request for exclusive use of a store, to which later openers of the store yield.
///
/// A waiting ``StoreLock`` makes the same request. Use this type if you retry and hold no lock
/// between attempts. The request ends with the process.
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

    /// Makes the request again if another caller's request prevented it earlier.
    package func renew() { file.withLock { $0?.startWaiting() } }

    /// Withdraws the request.
    ///
    /// Calling it again does nothing.
    package func withdraw() { file.withLock { $0 = nil } }
}
