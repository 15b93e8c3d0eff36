internal import RoostCore
internal import RoostSystem

/// A `LIKE` pattern: `*` matches any number of code points, `?` matches one code point, and `\`
/// makes the next character literal.
///
/// A `\` at the end is literal. A pattern with `?` uses ``LikeAutomaton``. Any other pattern takes
/// time linear in the text.
struct LikePattern: Sendable {
    enum Token: Equatable {
        case byte(UInt8)
        case anyOne
        case anyRun
    }

    /// The literal parts that `*` separates; nil if the pattern contains `?`.
    let literalParts: [[UInt8]]?
    private let bytes: PlainBytes
    private let ends: PlainArray<Int>
    private let automaton: LikeAutomaton?

    init(_ pattern: some Sequence<UInt8>) {
        var tokens: [Token] = []
        var isLiteral = false
        for byte in pattern {
            switch byte {
            case _ where isLiteral:
                tokens.append(.byte(byte))
                isLiteral = false
            case UInt8(ascii: "\\"): isLiteral = true
            case UInt8(ascii: "?"): tokens.append(.anyOne)
            case UInt8(ascii: "*"): if tokens.last != .anyRun { tokens.append(.anyRun) }
            default: tokens.append(.byte(byte))
            }
        }
        if isLiteral { tokens.append(.byte(UInt8(ascii: "\\"))) }
        literalParts = Self.literalParts(tokens)
        automaton = literalParts == nil ? LikeAutomaton(tokens) : nil
        bytes = PlainBytes((literalParts ?? []).flatMap { $0 })
        var (ends, end) = ([Int](), 0)
        for part in literalParts ?? [] {
            end += part.count
            ends.append(end)
        }
        self.ends = PlainArray(ends)
    }

    private static func literalParts(_ tokens: [Token]) -> [[UInt8]]? {
        var parts: [[UInt8]] = [[]]
        for token in tokens {
            switch token {
            case .anyOne: return nil
            case .anyRun: parts.append([])
            case .byte(let byte): parts[parts.count - 1].append(byte)
            }
        }
        return parts
    }

    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let automaton else { return hasParts(text) }
        var steps = 0
        return automaton.matches(text, steps: &steps)
    }

    /// Whether a text begins with the first part, ends with the last part, and contains the other
    /// parts between them, in order.
    private func hasParts(_ text: UnsafeRawBufferPointer) -> Bool {
        let (first, last) = (part(0), part(ends.count - 1))
        guard ends.count > 1 else { return text.count == first.count && Self.isEqual(text, first) }
        guard text.count - first.count >= last.count,
            Self.isEqual(.init(rebasing: text.prefix(first.count)), first),
            Self.isEqual(.init(rebasing: text.suffix(last.count)), last)
        else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        // The first match of each part leaves the most text for the later parts.
        for index in 1..<(ends.count - 1) {
            let wanted = part(index)
            guard let place = Self.firstPlace(of: wanted, in: .init(rebasing: rest)) else { return false }
            rest = rest.dropFirst(place + wanted.count)
        }
        return true
    }

    private func part(_ index: Int) -> UnsafeRawBufferPointer {
        .init(rebasing: bytes.bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]])
    }

    private static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        PredicateOperand.order(left, right) == 0
    }

    /// Returns the first position of `part` in `text`, in O(*n*) even for adversarial texts.
    static func firstPlace(of part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Int? {
        guard let wanted = part.baseAddress, !part.isEmpty else { return 0 }
        guard let start = text.baseAddress else { return nil }
        // SAFETY: both pointers have as many bytes as their counts. croost_find searches in linear
        // time.
        return croost_find(start, text.count, wanted, part.count).map { start.distance(to: $0) }
    }
}

/// Immutable bytes at a fixed address.
final class PlainBytes: @unchecked Sendable {
    // Proof of Sendable: the bytes are written in `init`, before other code can access the object,
    // and are freed in `deinit`.
    private let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: [UInt8]) {
        memory = .allocate(byteCount: bytes.count, alignment: 1)
        memory.copyBytes(from: bytes)
    }

    deinit { memory.deallocate() }

    /// The bytes, which are valid as long as the object exists.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }
}
