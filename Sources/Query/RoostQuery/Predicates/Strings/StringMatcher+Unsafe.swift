internal import Foundation
public import RoostCore

/// A string operator with its right side, prepared for matching many texts.
///
/// Its results define the meaning of string comparisons for every store.
public final class StringMatcher: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`. `pattern` is freed in `deinit`.

    /// The maximum number of UTF-8 bytes of a `LIKE` or `MATCHES` pattern.
    package static let maximumPatternByteCount = 4096

    private enum Method {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case contains, beginsWith, endsWith, isPart
        case like(LikePattern)
        case expression(WholeTextExpression)
    }

    private let method: Method
    /// The folding of texts before matching.
    let folding: FetchRequest.Comparison.Options
    private let isLocalized: Bool
    /// The folded right side; for `LIKE`, only the text to search for, or nothing if ``method``
    /// contains the pattern.
    private let pattern: UnsafeMutableRawBufferPointer

    /// Prepares an operator.
    ///
    /// - Parameters:
    ///   - comparison: Any operator except `between`. For `isIn`, a text matches if it is part of
    ///     the right side.
    ///   - text: The right side of the operator.
    ///   - options: The comparison's options.
    /// - Throws: `invalidRequest` for an invalid regular expression and for `between`;
    ///   `limitExceeded` for a pattern of more than ``maximumPatternByteCount`` bytes.
    public init(
        _ comparison: FetchRequest.Comparison.Operator, pattern text: String,
        options: FetchRequest.Comparison.Options = []
    ) throws(StoreError) {
        if comparison == .like || comparison == .matches, text.utf8.count > Self.maximumPatternByteCount {
            throw StoreError(
                .limitExceeded,
                "A pattern of \(comparison == .like ? "LIKE" : "MATCHES") can have \(Self.maximumPatternByteCount) bytes, not \(text.utf8.count)."
            )
        }
        var folding = options.intersection([.caseInsensitive, .diacriticInsensitive])
        if comparison == .matches { folding.remove(.caseInsensitive) }
        var pattern = Array(TextFolding.folded(text, by: folding).utf8)
        switch comparison {
        case .equal: method = .equal
        case .notEqual: method = .notEqual
        case .less: method = .less
        case .lessOrEqual: method = .lessOrEqual
        case .greater: method = .greater
        case .greaterOrEqual: method = .greaterOrEqual
        case .contains: method = .contains
        case .beginsWith: method = .beginsWith
        case .endsWith: method = .endsWith
        case .isIn: method = .isPart
        case .like: (method, pattern) = Self.simplified(LikePattern(pattern))
        case .matches:
            method = .expression(
                try WholeTextExpression(
                    String(decoding: pattern, as: UTF8.self), ignoringCase: options.contains(.caseInsensitive)))
        case .between: throw StoreError(.invalidRequest, "BETWEEN compares with two values, not with one.")
        }
        self.folding = folding
        isLocalized = options.contains(.localized)
        self.pattern = .allocate(byteCount: pattern.count, alignment: 1)
        self.pattern.copyBytes(from: pattern)
    }

    deinit { pattern.deallocate() }

    /// Returns the fastest method for a `LIKE` pattern, and the bytes to search for.
    private static func simplified(_ pattern: LikePattern) -> (Method, [UInt8]) {
        guard let parts = pattern.literalParts else { return (.like(pattern), []) }
        switch parts.count {
        case 1: return (.equal, parts[0])
        case 2 where parts[1].isEmpty: return (.beginsWith, parts[0])
        case 2 where parts[0].isEmpty: return (.endsWith, parts[1])
        case 3 where parts[0].isEmpty && parts[2].isEmpty: return (.contains, parts[1])
        default: return (.like(pattern), [])
        }
    }

    /// Whether the operator is a regular expression, so that matching is slow and can throw.
    var isExpression: Bool { if case .expression = method { true } else { false } }

    /// The bytes that a text must begin with, if this is the only condition.
    ///
    /// The bytes are valid as long as the matcher exists.
    var plainPrefix: UnsafeRawBufferPointer? {
        guard case .beginsWith = method, folding.isEmpty else { return nil }
        return UnsafeRawBufferPointer(pattern)
    }

    package enum Place {
        case whole, start, end, anywhere
    }

    /// The folded pattern, and its place in matching folded texts; nil for operators without one.
    package var literal: (pattern: String, place: Place)? {
        let place: Place
        switch method {
        case .equal: place = .whole
        case .beginsWith: place = .start
        case .endsWith: place = .end
        case .contains: place = .anywhere
        default: return nil
        }
        return (String(decoding: pattern, as: UTF8.self), place)
    }

    /// Whether a UTF-8 text matches.
    ///
    /// - Throws: `timedOut` if a regular expression takes more than one second for this text, or
    ///   ten seconds for all slow texts together; `limitExceeded` if it needs too much memory.
    ///   Operators other than MATCHES do not throw.
    /// - Complexity: O(*n*) in the length of the text, except for a regular expression. For a
    ///   `LIKE` pattern with `?`, the time is also proportional to the length of the pattern.
    public func matches(_ text: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        guard case .expression(let expression) = method else { return matchesPlainly(text) }
        return try expression.matches(TextFolding.folded(String(decoding: text, as: UTF8.self), by: folding))
    }

    /// Whether a text matches, as in ``matches(_:)``; false for regular expressions.
    func matchesPlainly(_ text: UnsafeRawBufferPointer) -> Bool {
        folding.isEmpty ? decide(text) : TextFolding.withFolded(text, by: folding) { decide($0) }
    }

    private func decide(_ text: UnsafeRawBufferPointer) -> Bool {
        let pattern = UnsafeRawBufferPointer(pattern)
        switch method {
        case .equal: return text.count == pattern.count && PredicateOperand.order(text, pattern) == 0
        case .notEqual: return text.count != pattern.count || PredicateOperand.order(text, pattern) != 0
        case .less: return order(text, pattern) < 0
        case .lessOrEqual: return order(text, pattern) <= 0
        case .greater: return order(text, pattern) > 0
        case .greaterOrEqual: return order(text, pattern) >= 0
        case .contains: return Self.contains(text, part: pattern)
        case .isPart: return Self.contains(pattern, part: text)
        case .beginsWith:
            return text.count >= pattern.count
                && PredicateOperand.order(.init(rebasing: text.prefix(pattern.count)), pattern) == 0
        case .endsWith:
            return text.count >= pattern.count
                && PredicateOperand.order(.init(rebasing: text.suffix(pattern.count)), pattern) == 0
        case .like(let like): return like.matches(text)
        case .expression: return false
        }
    }

    private func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        isLocalized ? StandardTextOrder.order(left, right) : PredicateOperand.order(left, right)
    }

    private static func contains(_ text: UnsafeRawBufferPointer, part: UnsafeRawBufferPointer) -> Bool {
        LikePattern.firstPlace(of: part, in: text) != nil
    }
}
