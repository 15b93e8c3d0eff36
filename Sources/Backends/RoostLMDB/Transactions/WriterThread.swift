internal import Dispatch
internal import RoostCore
internal import RoostSystem

/// The thread of a write transaction that spans several calls.
///
/// LMDB's writer lock must be released by the thread that acquired it. So all calls of a
/// transaction run as jobs on this thread, and each caller waits for its job. The thread ends after
/// this object is deallocated.
///
/// A transaction that consists of one call uses the caller's thread, because waking another thread
/// takes as long as a small commit.
final class WriterThread: Sendable {
    private final class Job: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>
        let isDone = DispatchSemaphore(value: 0)

        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        /// Runs the closure, and releases it before this method returns.
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

    /// The part of a ``WriterThread`` that the running thread retains.
    ///
    /// That thread must not retain the ``WriterThread`` itself, whose deallocation ends the thread.
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

    /// Starts the thread, or throws `outOfResources`.
    init() throws(StoreError) {
        let queue = queue
        // The default stack of some platforms is too small for the engine and the callers' code.
        try StoreError.ofSystem { () throws(SystemFailure) in
            try SystemThread.start("roost-lmdb-writer", stackByteCount: 8 << 20) { queue.work() }
        }
    }

    deinit {
        queue.state.withLock { $0.isStopped = true }
        queue.wakeUp.signal()
    }

    /// Runs `body` on the thread and returns its result.
    ///
    /// Never call this method from the thread itself.
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
