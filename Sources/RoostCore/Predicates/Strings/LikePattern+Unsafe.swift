/// A pattern of `LIKE`: `*` stands for any code points, `?` for one, `\` makes the next character literal.
///
/// A lone `\` at the end is a backslash. Matching keeps one place to go back to, so it needs neither a stack nor memory, and takes at most
/// the length of the text times that of the pattern.
struct LikePattern: Sendable {
    private static let anyOne: UInt16 = 0x100
    private static let anyRun: UInt16 = 0x101

    /// A byte each, or one of the two wildcards.
    private let tokens: PlainArray<UInt16>

    init(_ pattern: some Sequence<UInt8>) {
        var tokens: [UInt16] = []
        var isLiteral = false
        for byte in pattern {
            switch byte {
            case _ where isLiteral:
                tokens.append(UInt16(byte))
                isLiteral = false
            case UInt8(ascii: "\\"): isLiteral = true
            case UInt8(ascii: "?"): tokens.append(Self.anyOne)
            case UInt8(ascii: "*"): if tokens.last != Self.anyRun { tokens.append(Self.anyRun) }
            default: tokens.append(UInt16(byte))
            }
        }
        if isLiteral { tokens.append(UInt16(UInt8(ascii: "\\"))) }
        self.tokens = PlainArray(tokens)
    }

    /// Whether the whole text, which is UTF-8, fits the pattern.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var (place, token) = (0, 0)
        // Where the last `*` is, and how far it reaches now: of several the last one alone need ever take more.
        var (lastRun, runEnd) = (-1, 0)
        while place < text.count {
            let next = token < tokens.count ? tokens[token] : .max
            if next == Self.anyRun {
                (lastRun, runEnd) = (token, place)
                token += 1
            } else if next == Self.anyOne {
                place = Self.behindCodePoint(at: place, text)
                token += 1
            } else if next == UInt16(text[place]) {
                place += 1
                token += 1
            } else if lastRun >= 0 {
                runEnd = Self.behindCodePoint(at: runEnd, text)
                (place, token) = (runEnd, lastRun + 1)
            } else {
                return false
            }
        }
        while token < tokens.count, tokens[token] == Self.anyRun { token += 1 }
        return token == tokens.count
    }

    private static func behindCodePoint(at start: Int, _ text: UnsafeRawBufferPointer) -> Int {
        var end = start + 1
        while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }

    /// The parts of the pattern between its `*`; nil where it has a `?`.
    var literalParts: [[UInt8]]? {
        var parts: [[UInt8]] = [[]]
        for index in 0..<tokens.count {
            switch tokens[index] {
            case Self.anyOne: return nil
            case Self.anyRun: parts.append([])
            case let byte: parts[parts.count - 1].append(UInt8(truncatingIfNeeded: byte))
            }
        }
        return parts
    }
}
