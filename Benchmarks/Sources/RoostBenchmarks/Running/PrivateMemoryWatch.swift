internal import Foundation
internal import Roost
internal import RoostCore

/// Samples the process's private memory on its own thread until ``stop()``.
///
/// Private memory is `RssAnon`: the memory that the process allocated, without mapped files. A
/// sample every 2 ms costs about 1 % of a processor, so timed rounds are not sampled.
final class PrivateMemoryWatch: Sendable {
    private struct State {
        var peak = 0
        var isStopped = false
    }

    // A class, so that the thread retains this state and not the watch.
    private final class Shared: Sendable { let state = Mutex(State()) }

    private let shared = Shared()
    private let start: Int?

    init() {
        start = Self.currentBytes
        let shared = shared
        Thread.detachNewThread {
            while !shared.state.withLock({ $0.isStopped }) {
                if let bytes = Self.currentBytes { shared.state.withLock { $0.peak = max($0.peak, bytes) } }
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }

    /// Stops sampling and returns the peak above the initial value, or nil if the system does not
    /// report it.
    func stop() -> Int? {
        let peak = shared.state.withLock { state in
            state.isStopped = true
            return state.peak
        }
        guard let start, let end = Self.currentBytes else { return nil }
        return max(0, max(peak, end) - start)
    }

    private static var currentBytes: Int? {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else { return nil }
        for line in String(decoding: status, as: UTF8.self).split(separator: "\n") where line.hasPrefix("RssAnon:") {
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count >= 2 ? Int(words[1]).map { $0 * 1024 } : nil
        }
        return nil
    }
}
