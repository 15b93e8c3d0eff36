/// A lock around one state, over `pthread_mutex_t`.
///
/// Used instead of `Synchronization.Mutex`, for whose every use ThreadSanitizer reports a false
/// race on Linux. Not recursive: calling `withLock` from inside its own body deadlocks.
public final class Mutex<State>: @unchecked Sendable {
    // Proof of Sendable: `state` has memory of its own from init to deinit, accessed only while
    // `lock` is held. A pointer, because every access to a stored property of a class is checked
    // for exclusivity, which the lock already grants.
    @usableFromInline let state: UnsafeMutablePointer<State>
    @usableFromInline let lock: PlainLock

    /// Makes an unlocked mutex that guards `state`.
    public init(_ state: consuming sending State) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        lock = PlainLock()
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
        lock.destroy()
    }

    /// Runs `body` with exclusive access to the state.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.enter()
        defer { lock.leave() }
        return try body(&state.pointee)
    }
}

/// The system's lock alone, in memory of its own because it must never be moved.
@usableFromInline
struct PlainLock {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    func destroy() {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    @usableFromInline
    func enter() {
        let code = pthread_mutex_lock(mutex)
        precondition(code == 0, "pthread_mutex_lock failed with \(code)")
    }

    @usableFromInline
    func leave() { pthread_mutex_unlock(mutex) }
}
