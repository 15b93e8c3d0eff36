package import RoostCore

/// A request for exclusive use of a store, to which later openers of the store yield.
///
/// A call that waits for an exclusive ``StoreLock`` makes such a request. Use this type to keep the
/// request between repeated calls that do not wait. The end of the process ends the request too.
package final class ExclusiveRequest: Sendable {
    private let file: Mutex<LockFile?>

    /// Makes the request; throws the errors of ``StoreLock``.
    package init(forStoreAt path: String) throws(StoreError) {
        file = Mutex(try LockFile(forStoreAt: path, region: .store, isWritable: true))
        renew()
    }

    deinit { withdraw() }

    /// Makes the request now if another caller's request prevented it before.
    package func renew() { file.withLock { $0?.startWaiting() } }

    package func withdraw() { file.withLock { $0 = nil } }
}
