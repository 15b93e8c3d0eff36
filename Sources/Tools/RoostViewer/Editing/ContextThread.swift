#if Interactive
    internal import Dispatch
    internal import RoostCore
    internal import RoostGraph
    internal import RoostSystem

    /// A thread that owns a context.
    ///
    /// ``run(_:)`` blocks its caller, so a task must not call ``run(_:)``. ``end()`` ends the
    /// thread after all pending work.
    final class ContextThread: Sendable {
        private struct State {
            var work: [@Sendable (ManagedObjectContext) -> Void] = []
            var isEnded = false
        }

        private static let stackByteCount = 8 << 20

        private let state = Mutex(State())
        private let news = DispatchSemaphore(value: 0)

        /// Starts the thread, which creates the context.
        ///
        /// - Throws: `outOfResources` if the system cannot start another thread.
        init(_ makeContext: @escaping @Sendable () -> ManagedObjectContext) throws(StoreError) {
            let (state, news) = (state, news)
            do throws(SystemFailure) {
                try SystemThread.start("roost-edits", stackByteCount: Self.stackByteCount) {
                    let context = makeContext()
                    while true {
                        news.wait()
                        let (work, isEnded) = state.withLock { state in
                            (state.work.isEmpty ? nil : state.work.removeFirst(), state.isEnded)
                        }
                        if let work { work(context) } else if isEnded { return }
                    }
                }
            } catch { throw StoreError(error) }
        }

        /// Runs `body` on the thread, and returns its result.
        func run<Success: Sendable>(_ body: @escaping @Sendable (ManagedObjectContext) throws -> Success) throws
            -> Success
        {
            let result = Mutex<Result<Success, any Error>?>(nil)
            let end = DispatchSemaphore(value: 0)
            state.withLock { state in
                state.work.append { context in
                    let success = Result { try body(context) }
                    context.processPendingChanges()
                    result.withLock { $0 = success }
                    end.signal()
                }
            }
            news.signal()
            end.wait()
            guard let result = result.withLock({ $0 }) else {
                throw StoreError(.internalInconsistency, "A change ended without a result.")
            }
            return try result.get()
        }

        func end() {
            state.withLock { $0.isEnded = true }
            news.signal()
        }
    }
#endif
