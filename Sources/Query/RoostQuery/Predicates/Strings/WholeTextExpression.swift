internal import Foundation
internal import RoostCore

/// A regular expression of `MATCHES`, which must fit the whole text, and may take thirty million
/// steps and a second for it.
///
/// All texts that take long, those of one fetch, may take ten seconds together.
final class WholeTextExpression: Sendable {
    /// The maximum time for one text.
    static let deadline = Duration.seconds(1)
    /// The maximum number of progress reports for one text, each after ten thousand steps: a second
    /// on a slow machine.
    ///
    /// After 3700 of them Foundation gives up silently on Linux, as if the text did not fit.
    private static let progressLimit = 3000

    private let expression: NSRegularExpression
    /// The maximum total time for texts that take longer than ``longTime`` each.
    private let totalDeadline: Duration
    private let longTime: Duration
    private let spent = Mutex<Duration>(.zero)

    /// Compiles a pattern; throws code `invalidRequest` for an invalid one.
    init(
        _ pattern: String, ignoringCase: Bool, totalDeadline: Duration = .seconds(10),
        longTime: Duration = .milliseconds(10)
    ) throws(StoreError) {
        (self.totalDeadline, self.longTime) = (totalDeadline, longTime)
        let options: NSRegularExpression.Options = ignoringCase ? .caseInsensitive : []
        // Alone first: an invalid expression must not become valid by what is put around it.
        // Foundation refuses the empty expression, which fits the empty text.
        if pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil {
            // A comment ends with its line, and a quotation may be open at the end.
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

    /// Whether the whole text fits.
    ///
    /// - Throws: `timedOut` after ``deadline``, ``progressLimit``, or when all texts took
    ///   ``totalDeadline``; `limitExceeded` when the search needs more memory than ICU gives it.
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
        // Most texts take no time worth counting.
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
