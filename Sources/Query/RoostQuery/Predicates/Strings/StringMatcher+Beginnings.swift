internal import RoostCore

/// A range of texts in the order of their code points.
package struct TextRange: Hashable, Sendable {
    package var lower: String
    /// The first text after the range; nil if the range has no end.
    package var upper: String?

    /// Creates the range of all texts that continue an ASCII prefix with a character beyond ASCII.
    fileprivate init(beyondASCIIAfter prefix: [UInt8]) {
        lower = Self.text(prefix) + "\u{80}"
        upper = Self.end(of: prefix)
    }

    fileprivate init(prefix: [UInt8]) {
        lower = Self.text(prefix)
        upper = Self.end(of: prefix)
    }

    private static func text(_ ascii: [UInt8]) -> String { String(decoding: ascii, as: UTF8.self) }

    /// Returns the first text after all texts with an ASCII prefix; nil for an empty prefix.
    private static func end(of prefix: [UInt8]) -> String? {
        guard let last = prefix.last else { return nil }
        return text(prefix.dropLast()) + String(Unicode.Scalar(last + 1))
    }

    private static func text(_ ascii: ArraySlice<UInt8>) -> String { String(decoding: ascii, as: UTF8.self) }
}

extension StringMatcher {
    private static let maximumRangeCount = 15

    /// The ranges of an index that together contain every text that matches a folded comparison.
    ///
    /// The ranges do not overlap, and may also contain texts that do not match. The value is nil in
    /// these cases:
    /// - The comparison has no folding.
    /// - The operator compares neither a whole text nor the beginning of a text.
    /// - The pattern is empty, or its first or second character is beyond ASCII.
    ///
    /// Folding changes at most the case of an ASCII character. So up to its first character beyond
    /// ASCII, a matching text equals the pattern, except for case. The ranges assume nothing about
    /// the rest of the text.
    package var beginnings: [TextRange]? {
        guard !folding.isEmpty, let (pattern, place) = literal, place == .whole || place == .start else { return nil }
        var known = Array(pattern.utf8.prefix { $0 < 0x80 })
        // A mark in the pattern may combine with the character before it.
        if known.count < pattern.utf8.count, !known.isEmpty { known.removeLast() }
        var prefixes: [[UInt8]] = [[]]
        var ranges: [TextRange] = []
        for byte in known {
            let isLetter = folding.contains(.caseInsensitive) && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            let forms = isLetter ? [byte & ~0x20, byte] : [byte]
            guard ranges.count + prefixes.count * (1 + forms.count) <= Self.maximumRangeCount else { break }
            ranges += prefixes.map { TextRange(beyondASCIIAfter: $0) }
            prefixes = prefixes.flatMap { prefix in forms.map { prefix + [$0] } }
        }
        guard !ranges.isEmpty else { return nil }
        return ranges + prefixes.map { TextRange(prefix: $0) }
    }
}
