package import RoostCore
internal import RoostSystem

/// A timeout for polling, with growing pauses between attempts.
///
/// Cancellation of the current task ends the wait.
package struct Timeout {
    private let deadline: ContinuousClock.Instant
    private var stepMicroseconds: Int = 500
    private let isStopped: (() -> Bool)?

    /// Starts a timeout; the wait ends early if `isCancelled` returns true.
    package init(seconds: Double, isCancelled: (() -> Bool)? = nil) {
        // At most one year.
        let bounded = seconds.isNaN ? 31_536_000 : min(max(seconds, 0), 31_536_000)
        deadline = .now + .seconds(bounded)
        isStopped = isCancelled
    }

    package var secondsLeft: Double {
        let left = ContinuousClock.now.duration(to: deadline).components
        return max(0, Double(left.seconds) + Double(left.attoseconds) / 1e18)
    }

    package var isCancelled: Bool { Task.isCancelled || isStopped?() ?? false }

    /// Sleeps until the next attempt; returns false at once after the timeout or a cancellation.
    package mutating func wait() -> Bool {
        let left = secondsLeft
        guard left > 0, !isCancelled else { return false }
        let leftMicroseconds = Int(min(left, 1) * 1_000_000)
        let sleep = min(stepMicroseconds, leftMicroseconds + 1)
        var time = timespec(tv_sec: 0, tv_nsec: min(sleep, 999_999) * 1_000)
        // A signal may end the sleep early, which is harmless.
        _ = nanosleep(&time, nil)
        stepMicroseconds = min(stepMicroseconds * 2, 50_000)
        return true
    }

    /// Returns the error `cancelled` if the wait was cancelled, otherwise the given error.
    package func failure(_ busy: StoreError) -> StoreError {
        guard isCancelled else { return busy }
        return StoreError(
            .cancelled, "The operation was cancelled while waiting for a store that is in use; nothing was changed.")
    }
}
