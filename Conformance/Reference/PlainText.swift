internal import Foundation
internal import RoostCore

/// The text operations of predicates, based on Foundation and lists of code points.
///
/// It caches folded texts and compiled patterns.
final class PlainText {
    private struct Folding: Hashable {
        let text: [UInt8]
        let options: Int
    }

    private var foldings: [Folding: String] = [:]
    private var patterns: [Folding: NSRegularExpression] = [:]

    /// Returns the text without the differences that `[c]` and `[d]` ignore.
    func folded(_ text: String, options: FetchRequest.Comparison.Options) -> String {
        let options = options.intersection([.caseInsensitive, .diacriticInsensitive])
        guard !options.isEmpty else { return text }
        let key = Folding(text: Array(text.utf8), options: options.rawValue)
        if let known = foldings[key] { return known }
        var compared: String.CompareOptions = []
        if options.contains(.caseInsensitive) { compared.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { compared.insert(.diacriticInsensitive) }
        let result = text.folding(options: compared, locale: nil)
        foldings[key] = result
        return result
    }

    /// Returns whether `part` occurs in `text`, by code points.
    static func contains(_ text: String, part: String) -> Bool {
        let (text, part) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
        guard part.count <= text.count else { return false }
        return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
    }

    /// Returns whether the whole text matches a pattern with `*`, `?` and `\`.
    ///
    /// For each part of the pattern in turn, it computes which prefixes of the text match so far.
    static func like(_ text: String, pattern: String) -> Bool {
        enum Part {
            case run, one, scalar(Unicode.Scalar)
        }
        var parts: [Part] = []
        var scalars = Array(pattern.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "*": parts.append(.run)
            case "?": parts.append(.one)
            case "\\": parts.append(.scalar(scalars.popFirst() ?? "\\"))
            default: parts.append(.scalar(scalar))
            }
        }
        let characters = Array(text.unicodeScalars)
        var fits = [true] + Array(repeating: false, count: characters.count)
        for part in parts {
            var next = Array(repeating: false, count: characters.count + 1)
            for count in 0...characters.count {
                switch part {
                case .run: next[count] = fits[count] || (count > 0 && next[count - 1])
                case .one: next[count] = count > 0 && fits[count - 1]
                case .scalar(let scalar): next[count] = count > 0 && fits[count - 1] && characters[count - 1] == scalar
                }
            }
            fits = next
        }
        return fits[characters.count]
    }

    /// Returns whether the whole text matches a regular expression; false for an invalid one.
    func matches(_ text: String, pattern: String, options: FetchRequest.Comparison.Options) -> Bool {
        let folding = options.intersection(.diacriticInsensitive)
        let (text, pattern) = (folded(text, options: folding), folded(pattern, options: folding))
        let key = Folding(text: Array(pattern.utf8), options: options.rawValue)
        if patterns[key] == nil {
            let options: NSRegularExpression.Options = options.contains(.caseInsensitive) ? [.caseInsensitive] : []
            // The pattern is first compiled alone, because the added parentheses could make an
            // invalid pattern valid.
            guard (try? NSRegularExpression(pattern: pattern, options: options)) != nil else { return false }
            patterns[key] = try? NSRegularExpression(pattern: "(?:\(pattern))\\z", options: options)
        }
        let range = NSRange(location: 0, length: text.utf16.count)
        return patterns[key]?.firstMatch(in: text, options: [.anchored], range: range)?.range == range
    }

    /// Returns the order of two texts: −1, 0 or 1.
    ///
    /// Compares the texts without case and diacritics, with each run of digits as a number. If they
    /// are equal, compares the texts without case, and then by code point.
    func localizedStandardOrder(_ a: String, _ b: String) -> Int {
        let both: FetchRequest.Comparison.Options = [.caseInsensitive, .diacriticInsensitive]
        let order = Self.order(Self.parts(folded(a, options: both)), Self.parts(folded(b, options: both)))
        if order != 0 { return order }
        let cased = PlainValue.order(
            Array(folded(a, options: .caseInsensitive).utf8), Array(folded(b, options: .caseInsensitive).utf8))
        return cased != 0 ? cased : PlainValue.order(Array(a.utf8), Array(b.utf8))
    }

    /// The digits of a number without leading zeros, or one other code point.
    private enum Part {
        case digits([UInt8])
        case scalar(UInt32)
    }

    private static func parts(_ text: String) -> [Part] {
        var parts: [Part] = []
        var digits: [UInt8]?
        for scalar in text.unicodeScalars {
            if ("0"..."9").contains(scalar) {
                digits = (digits ?? []) + [UInt8(scalar.value)]
                continue
            }
            if let run = digits { parts.append(.digits(Array(run.drop { $0 == UInt8(ascii: "0") }))) }
            digits = nil
            parts.append(.scalar(scalar.value))
        }
        if let run = digits { parts.append(.digits(Array(run.drop { $0 == UInt8(ascii: "0") }))) }
        return parts
    }

    private static func order(_ left: [Part], _ right: [Part]) -> Int {
        for (a, b) in zip(left, right) {
            let order =
                switch (a, b) {
                case (.digits(let a), .digits(let b)):
                    a.count == b.count ? PlainValue.order(a, b) : (a.count < b.count ? -1 : 1)
                case (.scalar(let a), .scalar(let b)): a == b ? 0 : (a < b ? -1 : 1)
                // No other character is between the ten digits, so the digits of the number do not matter.
                case (.digits, .scalar(let b)): b > 0x39 ? -1 : 1
                case (.scalar(let a), .digits): a < 0x30 ? -1 : 1
                }
            if order != 0 { return order }
        }
        return left.count == right.count ? 0 : (left.count < right.count ? -1 : 1)
    }
}
