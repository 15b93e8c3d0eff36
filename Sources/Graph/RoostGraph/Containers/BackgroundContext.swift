internal import Dispatch
internal import RoostCore
internal import RoostSystem

/// An actor that owns one context and a separate thread.
///
/// Blocking calls of the context occupy this thread instead of a thread of the cooperative pool.
///
/// ```swift
/// let background = container.makeBackgroundContext("import")
/// try await background.perform { context in
///     for name in names { try context.insert("Artist")["name"] = .string(name) }
///     try context.save()
/// }
/// ```
public actor BackgroundContext {
    private let executor: ContextExecutor
    private let context: ManagedObjectContext

    /// The executor of the actor, which has a separate thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ container: PersistentContainer, name: String?, executor: ContextExecutor? = nil) {
        self.executor = executor ?? ContextExecutor(name ?? "context")
        context = container.makeContext(name)
    }

    /// Runs `body` with the context.
    ///
    /// First merges other contexts' saves if the context merges automatically. After `body`, ends
    /// the context's event.
    public func perform<Result, Failure: Error>(
        _ body: sending (ManagedObjectContext) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        context.requireIsolation(.currentThread("the thread of its BackgroundContext"))
        context.beginEvent()
        defer { context.processPendingChanges() }
        return try body(context)
    }
}

/// The idle executors of a container, reused for short tasks.
final class ExecutorPool: Sendable {
    private static let idleCount = 4
    private let idle = Mutex<[ContextExecutor]>([])

    func take() -> ContextExecutor { idle.withLock { $0.popLast() } ?? ContextExecutor("container") }

    /// Puts an executor into the pool, or releases the executor if the pool is full.
    func put(_ executor: ContextExecutor) {
        idle.withLock { idle in
            if idle.count < Self.idleCount { idle.append(executor) }
        }
    }
}

/// A serial executor with a separate thread, for an actor that owns a context.
///
/// The thread ends when the executor is deallocated.
public final class ContextExecutor: SerialExecutor {
    private struct State {
        /// The jobs, each with its executor, so that the executor stays alive until the job has
        /// run.
        var jobs: [(job: UnownedJob, executor: ContextExecutor)] = []
        /// Whether a thread runs the jobs or is being started.
        var hasThread = false
        var isEnded = false
    }

    /// The state of the executor; the thread keeps this state alive, but not the executor.
    private final class Queue: Sendable {
        let state = Mutex(State())
        let wake = DispatchSemaphore(value: 0)

        func run() {
            while true {
                wake.wait()
                let (next, isEnded) = state.withLock { state in
                    (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isEnded)
                }
                if let next {
                    next.job.runSynchronously(on: next.executor.asUnownedSerialExecutor())
                } else if isEnded {
                    return
                }
            }
        }

        /// Runs the waiting jobs on the calling thread, one after the other.
        func runWaitingJobs() {
            while let next = takeJob() { next.job.runSynchronously(on: next.executor.asUnownedSerialExecutor()) }
        }

        /// Returns the next job.
        ///
        /// If no job waits, returns nil, and the next job that is added starts a thread.
        private func takeJob() -> (job: UnownedJob, executor: ContextExecutor)? {
            state.withLock { state in
                state.hasThread = !state.jobs.isEmpty
                return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
            }
        }
    }

    private let queue = Queue()
    private let name: String
    private let stackByteCount: Int

    /// Creates an executor.
    ///
    /// The first job that is added starts the thread.
    public init(_ name: String = "context") { (self.name, stackByteCount) = (name, 4 << 20) }

    package init(_ name: String, stackByteCount: Int) { (self.name, self.stackByteCount) = (name, stackByteCount) }

    deinit {
        queue.state.withLock { $0.isEnded = true }
        queue.wake.signal()
    }

    /// Adds a job.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The Swift runtime does not keep the executor alive. If the last job ends during this call, the executor may
        // be deallocated. A local constant would not keep the queue alive in an optimized build.
        let owned = Unmanaged.passRetained(queue)
        defer { owned.release() }
        let starts = queue.state.withLock { state in
            defer { state.hasThread = true }
            state.jobs.append((job, self))
            return !state.hasThread
        }
        if starts {
            do throws(SystemFailure) {
                let queue = queue
                try SystemThread.start("roost \(name)", stackByteCount: stackByteCount) { queue.run() }
            } catch {
                // If no thread can be created, the calling thread runs all waiting jobs.
                return queue.runWaitingJobs()
            }
        }
        queue.wake.signal()
    }

    /// Returns a reference to the executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// A custom actor that owns a context and a separate thread.
///
/// ```swift
/// actor Importer: ContextActor {
///     let executor = ContextExecutor("import")
///     let context: ManagedObjectContext
///     init(_ container: PersistentContainer) { context = container.makeContext("import") }
/// }
/// ```
public protocol ContextActor: Actor {
    /// The executor of the actor.
    nonisolated var executor: ContextExecutor { get }
    /// The context of the actor.
    var context: ManagedObjectContext { get }
}

extension ContextActor {
    /// The executor of the actor, which has a separate thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes the actor merge other contexts' saves into its context, and end the context's events.
    func becomeHome() {
        let context = context
        context.mergesChangesAutomatically = true
        context.setHome(.currentThread("the thread of its actor")) { [weak self] in
            Task { await self?.endEvent() }
        }
        context.inbox.setWakeUp { [weak self] in
            Task { await self?.mergeWaiting() }
        }
        context.processPendingChanges()
    }

    private func endEvent() { context.endEventOfHome() }

    private func mergeWaiting() { context.processPendingChanges() }
}
