#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The wall-clock time, and the processor time of this process, since the clock was created.
struct RoundClock {
    private let wall = Self.now(CLOCK_MONOTONIC)
    private let cpu = Self.now(CLOCK_PROCESS_CPUTIME_ID)

    /// Returns both times in seconds.
    func elapsed() -> (wall: Double, cpu: Double) {
        (Self.now(CLOCK_MONOTONIC) - wall, Self.now(CLOCK_PROCESS_CPUTIME_ID) - cpu)
    }

    private static func now(_ clock: clockid_t) -> Double {
        var time = timespec()
        // The two clocks exist everywhere, so the call cannot fail.
        _ = clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
