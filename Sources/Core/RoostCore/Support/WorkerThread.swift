internal import Dispatch
internal import RoostSystem

/// A separate thread for blocking work, outside of Swift's cooperative thread pool.
package final class WorkerThread<Result: Sendable>: Sendable {
    private let result = Mutex<Swift.Result<Result, StoreError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts a thread that runs `body`; throws `outOfResources` if the system cannot start one.
    ///
    /// The stack has 4 MiB by default; some platforms' own default is too small for some libraries.
    package init(
        _ name: String, stackByteCount: Int = 4 << 20, _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) throws(StoreError) {
        let (result, done) = (result, done)
        let work: @Sendable () -> Void = {
            let outcome: Swift.Result<Result, StoreError>
            do throws(StoreError) { outcome = .success(try body()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            done.signal()
        }
        try StoreError.ofSystem { () throws(SystemFailure) in
            try SystemThread.start(name, stackByteCount: stackByteCount, work)
        }
    }

    /// Waits for the end of the work and returns its result; call this method once.
    package func join() -> Swift.Result<Result, StoreError> {
        done.wait()
        return result.withLock { $0 }
            ?? .failure(StoreError(.internalInconsistency, "A worker thread ended without a result."))
    }
}
