internal import Dispatch
internal import RoostSystem

/// A separate thread for blocking work, outside of Swift's cooperative thread pool.
package final class WorkerThread<Result: Sendable>: Sendable {
    private let result = Mutex<Swift.Result<Result, StoreError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts a thread that runs `body`.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers show.
    ///   - stackByteCount: The size of the stack. On some platforms, the system's own default for
    ///     secondary threads is too small for some libraries.
    ///   - body: The work.
    /// - Throws: `outOfResources` if the system cannot start a thread.
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

    /// Waits for the end of the work and returns its result.
    ///
    /// Call this method once.
    package func join() -> Swift.Result<Result, StoreError> {
        done.wait()
        return result.withLock { $0 }
            ?? .failure(StoreError(.internalInconsistency, "A worker thread ended without a result."))
    }
}
