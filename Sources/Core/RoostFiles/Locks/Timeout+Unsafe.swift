package import RoostCore
internal import RoostSystem

/// A timeout for polling, with growing pauses between attempts.
///
/// Cancelling the current task ends the wait.
package struct Timeout {
    private let deadline: ContinuousClock.Instant
    private var stepMicroseconds: Int = 500
    private let isStopped: (() -> Bool)?

    /// Starts a timeout of `seconds`.
    ///
    /// - Parameters:
    ///   - seconds: The maximum time to wait.
    ///   - isCancelled: Called before each sleep. If it returns true, the wait ends.
    package init(seconds: Double, isCancelled: (() -> Bool)? = nil) {
        // NaN and times over one year become one year.
        let bounded = seconds.isNaN ? 31_536_000 : min(max(seconds, 0), 31_536_000)
        deadline = .now + .seconds(bounded)
        isStopped = isCancelled
    }

    /// The remaining time in seconds; 0 after the timeout.
    package var secondsLeft: Double {
        let left = ContinuousClock.now.duration(to: deadline).components
        return max(0, Double(left.seconds) + Double(left.attoseconds) / 1e18)
    }

    /// Whether the wait was cancelled.
    package var isCancelled: Bool { Task.isCancelled || isStopped?() ?? false }

    /// Sleeps until the next attempt.
    ///
    /// Returns true after sleeping. Returns false at once after the timeout, or if the wait was
    /// cancelled.
    package mutating func wait() -> Bool {
        let left = secondsLeft
        guard left > 0, !isCancelled else { return false }
        let leftMicroseconds = Int(min(left, 1) * 1_000_000)
        let sleep = min(stepMicroseconds, leftMicroseconds + 1)
        var time = timespec(tv_sec: 0, tv_nsec: min(sleep, 999_999) * 1_000)
        // A signal may end the sleep early. This is harmless, because each call reads the clock.
        _ = nanosleep(&time, nil)
        stepMicroseconds = min(stepMicroseconds * 2, 50_000)
        return true
    }

    /// Returns the error for a wait that has ended: an error of code `cancelled` if the wait was
    /// cancelled, otherwise the given error.
    package func failure(_ busy: StoreError) -> StoreError {
        guard isCancelled else { return busy }
        return StoreError(
            .cancelled, "The operation was cancelled while waiting for a store that is in use; nothing was changed.")
    }
}
