internal import Foundation
internal import RoostCore

/// The regular expression of a `MATCHES` comparison, with limits on time and memory.
final class WholeTextExpression: Sendable {
    /// The maximum time for one text.
    static let deadline = Duration.seconds(1)
    /// The maximum number of progress reports for one text, one for each ten thousand steps.
    ///
    /// After 3700 reports, Foundation on Linux would stop the search and find no match, without an
    /// error.
    private static let progressLimit = 3000

    private let expression: NSRegularExpression
    /// The maximum total time for texts that take longer than ``longTime`` each.
    private let totalDeadline: Duration
    private let longTime: Duration
    private let spent = Mutex<Duration>(.zero)

    /// Compiles a pattern; throws `invalidRequest` for an invalid one.
    init(
        _ pattern: String, ignoringCase: Bool, totalDeadline: Duration = .seconds(10),
        longTime: Duration = .milliseconds(10)
    ) throws(StoreError) {
        (self.totalDeadline, self.longTime) = (totalDeadline, longTime)
        let options: NSRegularExpression.Options = ignoringCase ? .caseInsensitive : []
        // Compile the pattern alone first, because the added text could make an invalid pattern valid. Foundation
        // refuses the empty pattern, which is valid here.
        if pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil {
            // The pattern may end inside a comment, which a line break ends, or inside a quotation,
            // which `\E` ends.
            for ending in [")\\z", "\n)\\z", "\\E)\\z"] {
                if let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern)\(ending)", options: options) {
                    self.expression = expression
                    return
                }
            }
        }
        throw StoreError(
            .invalidRequest,
            "The pattern of MATCHES is not a regular expression; check its brackets, parentheses and backslashes.")
    }

    /// Whether the whole text matches.
    ///
    /// - Throws: `timedOut` after ``deadline``, after ``progressLimit`` reports, or if slow texts
    ///   took ``totalDeadline`` together; `limitExceeded` if the search exceeds the memory limit of
    ///   ICU.
    func matches(_ text: String) throws(StoreError) -> Bool {
        let start = ContinuousClock.now
        var (isMatch, isLate, isTooLarge) = (false, false, false)
        var progressCount = 0
        let left = totalDeadline - spent.withLock { $0 }
        let deadline = min(Self.deadline, max(left, longTime))
        expression.enumerateMatches(
            in: text, options: [.anchored, .reportProgress, .reportCompletion],
            range: NSRange(location: 0, length: text.utf16.count)
        ) { result, flags, stop in
            if result != nil {
                isMatch = true
                stop.pointee = true
            } else if flags.contains(.progress) {
                progressCount += 1
                guard progressCount > Self.progressLimit || ContinuousClock.now - start > deadline else { return }
                isLate = true
                stop.pointee = true
            } else if flags.contains(.internalError) {
                isTooLarge = true
            }
        }
        // Most texts cause no progress report, so their time need not be measured.
        if progressCount > 0 {
            let duration = ContinuousClock.now - start
            if duration > longTime { spent.withLock { $0 += duration } }
        }
        if isMatch { return true }
        if isLate {
            throw StoreError(
                .timedOut,
                "MATCHES takes too long\(deadline < Self.deadline ? "" : " on one text"); write a pattern without nested repetitions."
            )
        }
        if isTooLarge {
            throw StoreError(
                .limitExceeded,
                "MATCHES needs too much memory for one text; write a pattern with fewer alternatives inside a repetition."
            )
        }
        return false
    }
}
