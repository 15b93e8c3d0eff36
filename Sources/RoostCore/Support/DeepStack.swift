internal import Foundation

/// Runs what may nest deep: on a thread of its own whose stack is large enough, whatever the caller's is.
///
/// Secondary threads have half a megabyte on some platforms, which two hundred levels of recursion can need more than. The caller waits;
/// it costs the start of a thread, so shallow work is done without it.
enum DeepStack {
    /// How deep recursion over predicates may go on the caller's own stack.
    static let shallowDepth = 12

    /// Two hundred levels take less than 8 MiB in a build without optimisation; memory that is not touched costs nothing.
    private static let byteCount = 32 << 20

    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let outcome = Outcome<Result>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            do throws(StoreError) {
                outcome.set(.success(try body()))
            } catch {
                outcome.set(.failure(error))
            }
            done.signal()
        }
        thread.stackSize = byteCount
        thread.start()
        done.wait()
        return try outcome.get()
    }

    /// What the thread leaves for the caller.
    private final class Outcome<Result: Sendable>: Sendable {
        private let result = Mutex<Swift.Result<Result, StoreError>?>(nil)

        func set(_ value: Swift.Result<Result, StoreError>) { result.withLock { $0 = value } }

        func get() throws(StoreError) -> Result {
            guard let result = result.withLock({ $0 }) else {
                throw StoreError(.internalInconsistency, "A thread ended without a result.")
            }
            return try result.get()
        }
    }
}
