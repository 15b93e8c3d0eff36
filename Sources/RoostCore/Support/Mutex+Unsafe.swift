#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A lock around one state, over `pthread_mutex_t`.
///
/// Used in place of `Synchronization.Mutex`, in whose every use ThreadSanitizer reports a false race on Linux.
/// Not recursive: calling `withLock` from inside its own body deadlocks.
public final class Mutex<State>: @unchecked Sendable {
    // Proof of Sendable: `state` is touched only between pthread_mutex_lock and pthread_mutex_unlock of `mutex`, and
    // `mutex` is never moved: it lives in memory of its own from init to deinit.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    /// Makes an unlocked mutex that guards `state`.
    public init(_ state: consuming sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state.
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let code = pthread_mutex_lock(mutex)
        precondition(code == 0, "pthread_mutex_lock failed with \(code)")
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
