/// A lock that protects a state, based on `pthread_mutex_t`.
///
/// It replaces `Synchronization.Mutex`, for which ThreadSanitizer reports false races on Linux. The
/// lock is not recursive: calling `withLock` again inside `body` deadlocks.
public final class Mutex<State>: @unchecked Sendable {
    // Proof of Sendable: the mutex owns the memory at `state` from init to deinit, and accesses it
    // only while `lock` is held. The state is not a stored property, because Swift would check every
    // access for exclusivity, which the lock already ensures. The initial state is `sending`, so no
    // other code uses its objects. After that, the callers of `withLock` must ensure this.
    @usableFromInline let state: UnsafeMutablePointer<State>
    @usableFromInline let lock: PlainLock

    /// Creates an unlocked mutex that protects `state`.
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
    ///
    /// The compiler does not check which objects `body` returns, or moves into the state. If such
    /// an object is not `Sendable`, the caller must ensure that only one thread at a time uses it.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.enter()
        defer { lock.leave() }
        return try body(&state.pointee)
    }
}

/// The system's lock, in separate memory because it must never be moved.
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
