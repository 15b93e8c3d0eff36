internal import Dispatch
internal import RoostCore
internal import RoostSystem

/// The thread on which a write transaction over several calls lives: LMDB's writer lock belongs to
/// the thread that took it.
///
/// A transaction of one call needs no such thread; waking one takes as long as a small commit. Jobs
/// run one after the other, each while its caller waits. Deallocation ends the thread after the
/// running job.
final class WriterThread: Sendable {
    private final class Job: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>
        let isDone = DispatchSemaphore(value: 0)

        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        /// Runs the closure and forgets it; on return nothing here refers to it any more.
        @inline(never)
        func run() {
            let body = body.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
    }

    private struct State {
        var jobs: [Job] = []
        var isStopped = false
    }

    /// The part that the thread retains, so that it does not retain the owner.
    private final class Queue: Sendable {
        let state = Mutex(State())
        let wakeUp = DispatchSemaphore(value: 0)

        func work() {
            while true {
                wakeUp.wait()
                let (job, isStopped) = state.withLock { state in
                    (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isStopped)
                }
                if let job {
                    job.run()
                    job.isDone.signal()
                } else if isStopped {
                    return
                }
            }
        }
    }

    private let queue = Queue()

    /// Throws code `outOfResources` when the system starts no more threads.
    init() throws(StoreError) {
        let queue = queue
        // The default of some platforms is too small for the engine and what users call from it.
        try StoreError.ofSystem { () throws(SystemFailure) in
            try SystemThread.start("roost-lmdb-writer", stackByteCount: 8 << 20) { queue.work() }
        }
    }

    deinit {
        queue.state.withLock { $0.isStopped = true }
        queue.wakeUp.signal()
    }

    /// Runs `body` on the thread and returns what it returns.
    ///
    /// Never call it from the thread itself.
    func run<Value: Sendable>(_ body: @Sendable () throws(StoreError) -> Value) throws(StoreError) -> Value {
        let outcome = Mutex<Result<Value, StoreError>?>(nil)
        // `body` does not escape: this call returns only after the job has run and released it.
        withoutActuallyEscaping(body) { body in
            let job = Job {
                let result: Result<Value, StoreError>
                do throws(StoreError) { result = .success(try body()) } catch { result = .failure(error) }
                outcome.withLock { $0 = result }
            }
            queue.state.withLock { $0.jobs.append(job) }
            queue.wakeUp.signal()
            job.isDone.wait()
        }
        guard let result = outcome.withLock({ $0 }) else {
            throw StoreError(.internalInconsistency, "The writer's thread ended without a result")
        }
        return try result.get()
    }
}
