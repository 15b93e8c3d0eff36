internal import Dispatch
internal import Foundation
internal import RoostCore

/// A thread of its own for blocking work; never one of the cooperative pool.
final class WorkerThread<Result: Sendable>: Sendable {
    private let result = Mutex<Swift.Result<Result, StoreError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts a thread that runs `body`.
    init(_ name: String, _ body: @escaping @Sendable () throws(StoreError) -> Result) {
        let (result, done) = (result, done)
        let thread = Thread {
            let outcome: Swift.Result<Result, StoreError>
            do throws(StoreError) { outcome = .success(try body()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            done.signal()
        }
        thread.name = name
        // The default of secondary threads is small on some platforms, and libraries below may want more.
        thread.stackSize = 4 << 20
        thread.start()
    }

    /// Waits for the end of the work and gives its result.
    ///
    /// Call it once.
    func join() -> Swift.Result<Result, StoreError> {
        done.wait()
        return result.withLock { $0 }
            ?? .failure(StoreError(.internalInconsistency, "A worker thread ended without a result."))
    }
}
