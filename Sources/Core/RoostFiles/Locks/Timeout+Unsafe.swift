package import RoostCore
internal import RoostSystem

/// Waits in growing steps for a condition that can only be polled.
///
/// The cancellation of the task in which it waits ends the wait.
package struct Timeout {
    private let deadline: ContinuousClock.Instant
    private var stepMicroseconds: Int = 500
    private let isStopped: (() -> Bool)?

    /// Begins to wait; no longer than `seconds` in all.
    ///
    /// - Parameters:
    ///   - seconds: The limit.
    ///   - isCancelled: Asked before each step; true ends the wait.
    package init(seconds: Double, isCancelled: (() -> Bool)? = nil) {
        // A wait of more than a year, or of NaN seconds, is a wait of a year.
        let bounded = seconds.isNaN ? 31_536_000 : min(max(seconds, 0), 31_536_000)
        deadline = .now + .seconds(bounded)
        isStopped = isCancelled
    }

    /// The seconds that are left; 0 when the time is over.
    package var secondsLeft: Double {
        let left = ContinuousClock.now.duration(to: deadline).components
        return max(0, Double(left.seconds) + Double(left.attoseconds) / 1e18)
    }

    /// Whether the wait was ended from outside.
    package var isCancelled: Bool { Task.isCancelled || isStopped?() ?? false }

    /// Sleeps a little.
    ///
    /// Returns false, at once, when the time is over or the wait is cancelled.
    package mutating func wait() -> Bool {
        let left = secondsLeft
        guard left > 0, !isCancelled else { return false }
        let leftMicroseconds = Int(min(left, 1) * 1_000_000)
        let sleep = min(stepMicroseconds, leftMicroseconds + 1)
        var time = timespec(tv_sec: 0, tv_nsec: min(sleep, 999_999) * 1_000)
        // A signal may end the sleep early; the next turn looks at the clock again.
        _ = nanosleep(&time, nil)
        stepMicroseconds = min(stepMicroseconds * 2, 50_000)
        return true
    }

    /// The error for a wait that has ended: `busy`, or code `cancelled` where it was ended from
    /// outside.
    package func failure(_ busy: StoreError) -> StoreError {
        guard isCancelled else { return busy }
        return StoreError(
            .cancelled, "It was cancelled while it waited for a store that is in use; nothing was changed.")
    }
}
