internal import Foundation
internal import RoostCore

/// Values for random objects and constants: a few of each kind, so that requests match them.
struct QueryValues: Sendable {
    /// Difficult texts: case beyond ASCII, combining marks, other normal forms, wildcards, quotes
    /// and digits.
    static let texts: [String] = [
        "", " ", "a", "A", "b", "B", "ab", "Ab", "aB", "abc", "abcabc", "Rob", "rob", "Röb", "Ro\u{308}b", "ROB",
        "Robert", "Albert", "é", "e\u{301}", "É", "E\u{301}", "e", "I", "i", "İ", "ı", "i\u{307}", "ß", "ẞ", "ss", "SS",
        "ſ", "s", "S", "ﬁ", "fi", "Σ", "σ", "ς", "Å", "Å", "ǆ", "ǅ", "µ", "μ", "👍", "👍🏽", "👨‍👩‍👧", "🇩🇪",
        "\u{202E}abc", "שלום", "\u{200F}a", "a\u{0}", "a\u{0}b", "%", "_", "a%b", "a_b", "*", "?", "a*b", "a?b", "\\",
        "a\\b", "\\*", "'", "\"", "a'b", "\"a\" OR 1=1 --", "'; DROP TABLE x; --", "[a]", "(a", "a.b", "a+b", "file2",
        "file10", "file010", "File10", "file 1", "2", "10", "010", "x9y10", "x9y9", "x09y9", "1.5", "-3", "\t", "a\nb",
        "\r\n", "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "\u{7F}", "\u{80}", "ﬀ", "Ω", "Ω", "ο\u{313}\u{345}", "a\u{30A}",
        String(repeating: "ab", count: 150), String(repeating: "é", count: 90) + "x",
    ]

    static let integers: [Int64] = [0, 1, -1, 2, 3, 5, 7, 10, 100, -5, -100, 255, 32767, -32768]
    static let bigIntegers: [Int64] = [
        0, 1, -1, 2, 3, 10, -7, 1000, .max, .min, .max - 1, 9_007_199_254_740_992, 9_007_199_254_740_993,
        -9_007_199_254_740_993, 4_611_686_018_427_387_904, 3_037_000_500,
    ]
    static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.5, 1.5, 0.1, 0.3, 0.1 + 0.2, 2, 3, 100, -7.25, 1e300, -1e300, 1e-300, .infinity, -.infinity,
        .nan, 9_007_199_254_740_992, 0x1p63, -0x1p63, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    static let floats: [Float] = [0, -0.0, 1, -1, 0.5, 0.1, 1.5, 100, 16_777_216, .infinity, -.infinity, .nan, 3.4e38]
    static let decimals: [Decimal] = [
        "0", "1", "-1", "0.1", "0.3", "1.5", "2", "10", "100", "-7.25", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
        "0.00000000000000000000000000000000000001", "12345678901234567890.123456789", "1e100", "1e-100", "NaN",
    ].compactMap { $0 == "NaN" ? .nan : DecimalNumber(utf8: $0.utf8)?.decimal }
    static let seconds: [Double] = [
        0, -0.0, 1, 0.5, 0.1, -1, 86400, 700_000_000, 7e8 + 0.25, -63_114_076_800, 1e12, .nan, .infinity,
    ]
    static let uris: [String] = ["", "a:b", "A:b", "http://x", "http://x/é", "http://x/a%20b", "http://x/?q='"]
    static let blobs: [[UInt8]] = [[], [0], [0, 0], [1], [97], [255], [255, 0], [1, 2, 3]]
    static let uuids: [UUID] = (0..<6).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }

    private let order: [String]

    /// Creates a source of values with only some of the texts, so that requests often match.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        order = Array(Self.texts.shuffled(using: &random).prefix(14 + random.below(20)))
    }

    mutating func stored(_ attribute: AttributeDescription, random: inout SeededGenerator) -> Value {
        switch attribute.type {
        case .string: .string(random.pick(order))
        case .integer16: .int(random.pick(Self.integers))
        case .integer32:
            .int(random.oneIn(4) ? random.pick([Int64(Int32.max), Int64(Int32.min)]) : random.pick(Self.integers))
        case .integer64: .int(random.pick(random.oneIn(2) ? Self.bigIntegers : Self.integers))
        case .double: .double(random.pick(Self.doubles))
        case .float: .double(Double(random.pick(Self.floats)))
        case .decimal: .decimal(random.pick(Self.decimals))
        case .boolean: .bool(random.oneIn(2))
        case .date: .date(Date(timeIntervalSinceReferenceDate: random.pick(Self.seconds)))
        case .uuid: .uuid(random.pick(Self.uuids))
        case .binaryData, .transformable: .data(Data(random.pick(Self.blobs)))
        case .uri: .uri(random.pick(Self.uris))
        case .objectID: .objectID(ObjectID(random.pick(["Person", "Manager", "Tag"]), key: Int64(1 + random.below(8))))
        case .composite:
            .composite(
                Dictionary(
                    uniqueKeysWithValues: attribute.elements.compactMap { element in
                        random.oneIn(4) ? nil : (element.name, stored(element, random: &random))
                    }))
        case .undefined: .null
        }
    }

    /// Returns a value that no object with another key has.
    func unique(_ type: AttributeType, key: Int) -> Value {
        type == .uuid
            ? .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: key))))
            : .int(Int64(key) - 2)
    }
}
