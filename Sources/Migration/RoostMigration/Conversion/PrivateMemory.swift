internal import Foundation
internal import RoostCore

/// The peak of the process's private memory, measured by samples.
///
/// Private memory consists of the anonymous pages; mapped files do not count.
final class PrivateMemory: Sendable {
    private let peak = Mutex<Int?>(nil)

    init() { sample() }

    func sample() {
        guard let bytes = Self.current else { return }
        peak.withLock { $0 = max($0 ?? 0, bytes) }
    }

    /// The highest sample so far, in bytes, or nil if the system does not report memory.
    var peakBytes: Int? { peak.withLock { $0 } }

    private static var current: Int? {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else { return nil }
        for line in String(decoding: status, as: UTF8.self).split(separator: "\n") where line.hasPrefix("RssAnon:") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 2, let kibibytes = Int(words[1]) else { return nil }
            return kibibytes.multipliedReportingOverflow(by: 1024).partialValue
        }
        return nil
    }
}
