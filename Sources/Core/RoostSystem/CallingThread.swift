/// A task executor that runs jobs on the thread that calls ``run()``.
///
/// Use it to run a task on a thread with a larger stack than Swift's own threads have.
///
/// ```swift
/// let thread = CallingThread()
/// let task = Task(executorPreference: thread) { work() }
/// thread.run()
/// ```
package final class CallingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs all waiting jobs; a task that never suspends consists of one job.
    package func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
