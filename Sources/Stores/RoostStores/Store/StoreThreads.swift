internal import Dispatch
internal import RoostCore
internal import RoostSystem

/// The threads that run asynchronous calls of stores, so that no call blocks the cooperative pool.
///
/// On such a thread, a call remains part of its task, so stores can use `Task.isCancelled`.
final class StoreThreads: TaskExecutor {
    static let shared = StoreThreads()

    private struct State {
        var jobs: [UnownedJob] = []
        var first = 0
        var threadCount = 0
        var idleCount = 0
    }

    /// The maximum number of threads.
    private static let limit = 64
    private static let idleSeconds = 5

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let startsThread = state.withLock { state in
            state.jobs.append(job)
            if state.idleCount > state.jobs.count - state.first - 1 || state.threadCount >= Self.limit { return false }
            state.threadCount += 1
            return true
        }
        guard startsThread else {
            wake.signal()
            return
        }
        do throws(SystemFailure) {
            try SystemThread.start("roost store", stackByteCount: 4 << 20) { self.work() }
        } catch {
            // The job waits for an existing thread. If no thread exists, the calling thread runs
            // the job.
            let mustRun = state.withLock { state in
                state.threadCount -= 1
                return state.threadCount == 0
            }
            if mustRun { drain() } else { wake.signal() }
        }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard state.first < state.jobs.count else {
                state.jobs.removeAll(keepingCapacity: true)
                state.first = 0
                return nil
            }
            let job = state.jobs[state.first]
            state.first += 1
            // Otherwise, started jobs would fill the memory if the queue never became empty.
            if state.first >= 1024, state.first * 2 >= state.jobs.count {
                state.jobs.removeFirst(state.first)
                state.first = 0
            }
            return job
        }
    }

    private func drain() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func work() {
        while true {
            drain()
            state.withLock { $0.idleCount += 1 }
            let isAwake = wake.wait(timeout: .now() + .seconds(Self.idleSeconds)) == .success
            let ends = state.withLock { state in
                state.idleCount -= 1
                guard !isAwake, state.first >= state.jobs.count else { return false }
                state.threadCount -= 1
                return true
            }
            if ends { return }
        }
    }

    /// Runs blocking work on one of the threads, as part of the calling task.
    static func run<Result: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withTaskExecutorPreference(shared) { () async throws(Failure) -> Result in
            try await concurrently(body)
        }
    }

    /// Runs `body` on the preferred executor of the task, regardless of the caller's isolation.
    @concurrent
    private static func concurrently<Result: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try body()
    }
}

extension Store {
    package static func onStoreThread<Result: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await StoreThreads.run(body)
    }
}
