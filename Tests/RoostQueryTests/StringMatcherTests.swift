import Foundation
import TestSamples
import Testing

@testable import RoostCore
@testable import RoostQuery

private typealias Options = FetchRequest.Comparison.Options

/// Texts that are difficult for folding, patterns and orders.
private let texts = [
    "", "a", "A", "abc", "ABC", "aBc", "é", "e\u{301}", "É", "E\u{301}", "İ", "ı", "i", "ß", "ẞ", "SS", "ſ", "Σ", "ς",
    "σ",
    "ﬁ", "\u{212A}", "k", "\u{301}", "日本", "\u{1F468}\u{200D}\u{1F469}", "a\0b", "*", "?", "\\", "a*b", "a\\*b", "%_",
    "10", "9",
    "09", "a10b", "a9b", "a09b", "A9b", "Émile", "emil", "nai\u{308}ve", "NAÏVE", "ŉ", "\u{5D0}\u{5B0}", "x\u{345}",
    "ZZ top",
]

private func matches(
    _ text: String, by operation: FetchRequest.Comparison.Operator, pattern: String, options: Options = []
) throws -> Bool {
    let matcher = try StringMatcher(operation, pattern: pattern, options: options)
    return try Array(text.utf8).withUnsafeBytes { bytes in try matcher.matches(bytes) }
}

/// Evaluates `LIKE` by its definition.
private func like(_ text: ArraySlice<Unicode.Scalar>, pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case "*": return (0...text.count).contains { like(text.dropFirst($0), pattern: rest) }
    case "?": return !text.isEmpty && like(text.dropFirst(), pattern: rest)
    case "\\":
        guard let literal = rest.first else { return Array(text) == ["\\"] }
        return text.first == literal && like(text.dropFirst(), pattern: rest.dropFirst())
    default: return text.first == first && like(text.dropFirst(), pattern: rest)
    }
}

/// Evaluates `LIKE` by a table, for long patterns without escapes.
private func fitsByTable(_ text: [Unicode.Scalar], pattern: [Unicode.Scalar]) -> Bool {
    // For each length of a prefix of the text, whether the pattern so far matches it.
    var fits = [true] + [Bool](repeating: false, count: text.count)
    for part in pattern {
        var next = [Bool](repeating: false, count: text.count + 1)
        for end in 0...text.count {
            if part == "*" {
                next[end] = fits[end] || (end > 0 && next[end - 1])
            } else if end > 0 {
                next[end] = fits[end - 1] && (part == "?" || part == text[end - 1])
            }
        }
        fits = next
    }
    return fits[text.count]
}

@Suite("String operators")
struct StringMatcherTests {
    private static func contains(_ ranges: [TextRange], text: String) -> Bool {
        let bytes = Array(text.utf8)
        func precedes(_ left: [UInt8], _ right: String) -> Bool { left.lexicographicallyPrecedes(right.utf8) }
        return ranges.contains { range in
            !precedes(bytes, range.lower) && range.upper.map { precedes(bytes, $0) } ?? true
        }
    }

    @Test(
        "the ranges of a folded comparison contain every text that matches",
        arguments: [.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]] as [Options])
    private func beginnings(options: Options) throws {
        let more = [
            "Kelvin", "\u{212A}elvin", "ſtop", "STOP", "sTo\u{301}p", "ﬁ", "fi", "x\u{338}y", "Ab\u{301}c", "\u{1}",
            "a\u{7F}",
        ]
        var ranged = 0
        for pattern in texts + more {
            for operation: FetchRequest.Comparison.Operator in [.equal, .beginsWith, .like] {
                let matcher = try StringMatcher(operation, pattern: pattern, options: options)
                guard let ranges = matcher.beginnings else { continue }
                ranged += 1
                #expect(ranges.count <= 15)
                for text in texts + more where try matches(text, by: operation, pattern: pattern, options: options) {
                    #expect(Self.contains(ranges, text: text), "\(text.debugDescription), \(pattern.debugDescription)")
                }
            }
        }
        #expect(ranged > 100)
    }

    @Test("folding an ASCII letter before a non-ASCII character changes at most its case")
    func marks() throws {
        for options: Options in [.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]] {
            for number in 0x80...0x2FFF as ClosedRange<UInt32> {
                guard let scalar = Unicode.Scalar(number),
                    scalar.properties.isAlphabetic || scalar.properties.isDiacritic
                else { continue }
                for letter in ["a", "I", "k", "O"] {
                    let text = letter + String(scalar)
                    let folded = TextFolding.folded("x" + text + "y", by: options).unicodeScalars.dropFirst()
                    guard let first = folded.first, first.isASCII else { continue }
                    let expected = options.contains(.caseInsensitive) ? letter.lowercased() : letter
                    #expect(String(first) == expected, "\(text.debugDescription)")
                }
            }
        }
    }

    @Test("a comparison without folding or without a fixed ASCII beginning has no ranges")
    func noBeginnings() throws {
        #expect(try StringMatcher(.equal, pattern: "abc").beginnings == nil)
        #expect(try StringMatcher(.contains, pattern: "abc", options: .caseInsensitive).beginnings == nil)
        #expect(try StringMatcher(.equal, pattern: "é", options: .caseInsensitive).beginnings == nil)
        #expect(try StringMatcher(.beginsWith, pattern: "", options: .caseInsensitive).beginnings == nil)
    }

    @Test("the ranges of a pattern allow both cases of its letters, and a non-ASCII character at each place")
    func exactBeginnings() throws {
        let ranges = try #require(try StringMatcher(.beginsWith, pattern: "a1", options: .caseInsensitive).beginnings)
        #expect(
            ranges.map { "\($0.lower)–\($0.upper ?? "")" } == ["\u{80}–", "A\u{80}–B", "a\u{80}–b", "A1–A2", "a1–a2"])
    }

    private static let allOptions: [Options] = [
        [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]

    @Test("string operators agree with Foundation's folded texts", arguments: allOptions.map(\.rawValue))
    func folding(rawOptions: Int) throws {
        let options = Options(rawValue: rawOptions)
        var foundation: String.CompareOptions = []
        if options.contains(.caseInsensitive) { foundation.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { foundation.insert(.diacriticInsensitive) }
        func folded(_ text: String) -> [UInt8] { Array(text.folding(options: foundation, locale: nil).utf8) }
        func contains(_ text: [UInt8], part: [UInt8]) -> Bool {
            part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
        }
        for text in texts {
            let a = folded(text)
            for pattern in texts {
                let b = folded(pattern)
                #expect(
                    try matches(text, by: .equal, pattern: pattern, options: options) == (a == b), "\(text) \(pattern)")
                #expect(
                    try matches(text, by: .notEqual, pattern: pattern, options: options) == (a != b),
                    "\(text) \(pattern)")
                let isLess = a.lexicographicallyPrecedes(b)
                #expect(
                    try matches(text, by: .less, pattern: pattern, options: options) == isLess, "\(text) \(pattern)")
                #expect(
                    try matches(text, by: .greaterOrEqual, pattern: pattern, options: options) == !isLess,
                    "\(text) \(pattern)")
                #expect(
                    try matches(text, by: .contains, pattern: pattern, options: options) == contains(a, part: b),
                    "\(text) \(pattern)")
                #expect(
                    try matches(text, by: .isIn, pattern: pattern, options: options) == contains(b, part: a),
                    "\(text) \(pattern)")
                #expect(
                    try matches(text, by: .beginsWith, pattern: pattern, options: options) == a.starts(with: b),
                    "\(text) \(pattern)")
                #expect(
                    try matches(text, by: .endsWith, pattern: pattern, options: options)
                        == a.reversed().starts(with: b.reversed()),
                    "\(text) \(pattern)")
            }
        }
    }

    @Test("folding of random texts agrees with Foundation's", arguments: [1, 2, 3])
    func randomFolding(rawOptions: Int) throws {
        let options = Options(rawValue: rawOptions)
        var generator = SeededGenerator(seed: UInt64(rawOptions))
        // Letters with marks, marks alone, letters of many scripts, and sometimes any character.
        func scalar() -> Unicode.Scalar {
            let range: ClosedRange<UInt32> =
                [
                    0x20...0x7E, 0xA0...0x24F, 0x250...0x2FF, 0x300...0x36F, 0x370...0x52F, 0x590...0x6FF,
                    0x1E00...0x1FFF,
                    0x0...0x10FFFF,
                ].randomElement(using: &generator) ?? 0x20...0x7E
            return Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "a"
        }
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...6, using: &generator) { text.append(scalar()) }
            let expected = TextFolding.folded(String(text), by: options)
            var bytes = Array(String(text).utf8)
            let folded = bytes.withUnsafeMutableBytes { bytes in
                TextFolding.withFolded(UnsafeRawBufferPointer(bytes), by: options) { Array($0) }
            }
            #expect(folded == Array(expected.utf8), "\(text.map { String($0.value, radix: 16) })")
        }
    }

    @Test("the Latin folding table agrees with Foundation or returns nil", arguments: [1, 2, 3])
    func latinFolding(rawOptions: Int) throws {
        let options = Options(rawValue: rawOptions)
        var generator = SeededGenerator(seed: 8)
        let isMark: (Unicode.Scalar) -> Bool = {
            [.nonspacingMark, .enclosingMark].contains($0.properties.generalCategory)
        }
        let letters = (0..<0x530).compactMap { Unicode.Scalar($0) }.filter { !isMark($0) }
        let ideographs = (0x4E00...0x9FFF).compactMap { Unicode.Scalar($0) }
        let scalars = letters + (0..<letters.count).compactMap { _ in ideographs.randomElement(using: &generator) }
        for first in scalars + ideographs {
            var text = String.UnicodeScalarView([first])
            for _ in 0..<4 { text.append(scalars.randomElement(using: &generator) ?? "a") }
            let bytes = Array(String(text).utf8)
            let folded = bytes.withUnsafeBytes { bytes in
                LatinFolding.table(options).withFolded(bytes) { Array($0) }
            }
            #expect(folded == Array(TextFolding.folded(String(text), by: options).utf8))
        }
        // Foundation folds everything else: marks, other scripts, invalid UTF-8.
        for bytes: [UInt8] in [
            [0xCC, 0x80], [0xD2, 0x83], [0xD4, 0xB0], [0xE2, 0x80, 0xA8], [0xE4, 0xB7, 0xBF], [0xEA, 0x80, 0x80],
            [0xEF, 0xA4, 0x80], [0xF0, 0xA0, 0x80, 0x80], [0xC3], [0xC3, 0x41], [0xC1, 0x81], [0x80], [0xE4],
            [0xE4, 0xB8], [0xE4, 0xB8, 0x41], [0xE4, 0x41, 0x80],
        ] {
            let folded = bytes.withUnsafeBytes { bytes in
                LatinFolding.table(options).withFolded(bytes) { Array($0) }
            }
            #expect(folded == nil)
        }
    }

    @Test("LIKE agrees with its definition on short random texts")
    func likePatterns() throws {
        var generator = SeededGenerator(seed: 3)
        let letters: [Unicode.Scalar] = ["a", "b", "é", "*", "?", "\\", "日"]
        func random(_ count: Int) -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...count, using: &generator) {
                text.append(letters.randomElement(using: &generator) ?? "a")
            }
            return String(text)
        }
        var fits = 0
        for _ in 0..<20_000 {
            let (text, pattern) = (random(7), random(6))
            let expected = like(Array(text.unicodeScalars)[...], pattern: Array(pattern.unicodeScalars)[...])
            #expect(try matches(text, by: .like, pattern: pattern) == expected, "\(text) LIKE \(pattern)")
            if expected { fits += 1 }
        }
        #expect(fits > 1000)
    }

    @Test("LIKE agrees with its definition on long random texts", arguments: 0..<8)
    func longLikePatterns(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(100 + seed))
        let letters: [Unicode.Scalar] = ["a", "b", "é", "日"]
        var fits = 0
        for _ in 0..<1500 {
            // The pattern is the text with wildcards and a few mistakes, so many patterns match.
            var (text, pattern) = (String.UnicodeScalarView(), String.UnicodeScalarView())
            for _ in 0..<Int.random(in: 0...150, using: &generator) {
                let letter = letters.randomElement(using: &generator) ?? "a"
                text.append(letter)
                switch Int.random(in: 0..<40, using: &generator) {
                case 0..<8: pattern.append("?")
                case 8: pattern.append("*")
                case 9: pattern.append(contentsOf: ["*", "?"])
                case 10: pattern.append(contentsOf: [letter, "*"])
                case 11 where Bool.random(using: &generator): pattern.append("a")
                case 12 where Bool.random(using: &generator): break
                default: pattern.append(letter)
                }
            }
            let expected = fitsByTable(Array(text), pattern: Array(pattern))
            #expect(
                try matches(String(text), by: .like, pattern: String(pattern)) == expected, "\(text) LIKE \(pattern)")
            if expected { fits += 1 }
        }
        #expect(fits > 100 && fits < 1400)
    }

    @Test("LIKE takes at most one step per byte of text for each 64 tokens of the pattern")
    func hostileLike() throws {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 20_000)
        func steps(_ pattern: String) throws -> Int {
            var tokens: [LikePattern.Token] = []
            for byte in pattern.utf8 {
                tokens.append(
                    byte == UInt8(ascii: "*") ? .anyRun : byte == UInt8(ascii: "?") ? .anyOne : .byte(byte))
            }
            let automaton = LikeAutomaton(tokens)
            var steps = 0
            let fits = text.withUnsafeBytes { automaton.matches($0, steps: &steps) }
            #expect(!fits)
            #expect(try !matches(String(decoding: text, as: UTF8.self), by: .like, pattern: pattern))
            #expect(automaton.wordCount == (tokens.filter { $0 != .anyRun }.count + 63) / 64)
            #expect(steps <= text.count * automaton.wordCount)
            return steps
        }
        // After a match of `*`, earlier positions need not be examined again.
        #expect(try steps(String(repeating: "a*?", count: 1000) + "b") <= 2 * text.count)
        #expect(try steps(String(repeating: "*?", count: 1000) + "b") <= 2 * text.count)
        // A part of nearly the maximum length. Restarting at each byte would take 80 million steps.
        #expect(try steps("*" + String(repeating: "a", count: 4000) + "?b") <= 63 * text.count)
        // Without `?`, the parts are searched one after the other.
        #expect(
            try !matches(
                String(decoding: text, as: UTF8.self), by: .like, pattern: String(repeating: "a*", count: 1000) + "b"))
    }

    @Test(
        "MATCHES requires that the pattern matches the whole text",
        arguments: [
            ("ab", "a|ab", true), ("abc", "a|ab", false), ("abc", "b", false), ("abc", "a.c", true),
            ("a\nc", "a.c", false),
            ("abc", "(?x) a b c # all of it", true), ("a.c", "\\Qa.c", true), ("axc", "\\Qa.c", false), ("", "", true),
            ("ABC", "abc", false), ("日本", "\\p{Han}+", true), ("a", "(?s).", true),
        ])
    func wholeText(text: String, pattern: String, expected: Bool) throws {
        #expect(try matches(text, by: .matches, pattern: pattern) == expected)
        #expect(try matches(text.uppercased(), by: .matches, pattern: pattern, options: .caseInsensitive) || !expected)
    }

    @Test("MATCHES folds diacritics of the text and of the pattern")
    func foldedExpression() throws {
        #expect(try matches("naïve", by: .matches, pattern: "nai[vw]e", options: .diacriticInsensitive))
        #expect(try matches("naive", by: .matches, pattern: "naïve", options: .diacriticInsensitive))
        #expect(
            try matches("NAÏVE", by: .matches, pattern: "naive", options: [.caseInsensitive, .diacriticInsensitive]))
        #expect(try !matches("naïve", by: .matches, pattern: "naive"))
    }

    @Test("a regular expression that runs away ends with timedOut or limitExceeded")
    func hostileExpressions() throws {
        let slow = #expect(throws: StoreError.self) {
            try matches(String(repeating: "a", count: 40) + "!", by: .matches, pattern: "(a+)+$")
        }
        #expect(slow?.code == .timedOut)
        let deep = #expect(throws: StoreError.self) {
            try matches(String(repeating: "ab", count: 1_000_000), by: .matches, pattern: "(a|b)*")
        }
        #expect(deep?.code == .limitExceeded)
    }

    @Test("an invalid regular expression is refused before it is used", arguments: ["(", "[a", "a)|(b", "*", "\\"])
    func badExpressions(pattern: String) {
        let failure = #expect(throws: StoreError.self) { try StringMatcher(.matches, pattern: pattern) }
        #expect(failure?.code == .invalidRequest)
    }

    @Test(
        "a pattern of LIKE or MATCHES may have 4096 bytes, and no more",
        arguments: [FetchRequest.Comparison.Operator.like, .matches])
    func longPatterns(operation: FetchRequest.Comparison.Operator) throws {
        #expect(
            try matches(
                String(repeating: "a", count: 4096), by: operation, pattern: String(repeating: "a", count: 4096)))
        let failure = #expect(throws: StoreError.self) {
            try StringMatcher(operation, pattern: String(repeating: "a", count: 4097))
        }
        #expect(failure?.code == .limitExceeded)
    }

    @Test("the localized standard order is total and sorts numbers by value")
    func standardOrder() throws {
        func order(_ left: String, _ right: String) -> Int {
            Array(left.utf8).withUnsafeBytes { left in
                Array(right.utf8).withUnsafeBytes { StandardTextOrder.order(left, $0).signum() }
            }
        }
        let sorted = ["", "9", "10", "a09b", "A9b", "a9b", "a10b", "Emil", "emil", "émile", "f"]
        for (index, text) in sorted.enumerated() {
            for (other, next) in sorted.enumerated() where other > index {
                #expect(order(text, next) < 0, "\(text) \(next)")
            }
        }
        for a in texts {
            for b in texts {
                #expect(order(a, b) == -order(b, a))
                #expect((order(a, b) == 0) == (Array(a.utf8) == Array(b.utf8)))
                #expect(try matches(a, by: .less, pattern: b, options: .localized) == (order(a, b) < 0))
                for c in texts where order(a, b) <= 0 && order(b, c) <= 0 {
                    #expect(order(a, c) <= 0, "\(a) \(b) \(c)")
                }
            }
        }
    }
}

@Suite("Regular expressions that take long")
struct LongExpressionTests {
    @Test("a regular expression times out when its slow matches together take too long")
    func total() throws {
        let expression = try WholeTextExpression(
            "(a*)*b", ignoringCase: false, totalDeadline: .milliseconds(1), longTime: .zero)
        let text = String(repeating: "a", count: 22)
        var failure: StoreError?
        for _ in 0..<1000 where failure == nil {
            do throws(StoreError) { _ = try expression.matches(text) } catch { failure = error }
        }
        #expect(failure?.code == .timedOut)
        // Quick matches are not counted.
        let quick = try WholeTextExpression(
            "a*b", ignoringCase: false, totalDeadline: .milliseconds(1), longTime: .zero)
        for _ in 0..<5000 { #expect(try quick.matches("aab")) }
    }
}
