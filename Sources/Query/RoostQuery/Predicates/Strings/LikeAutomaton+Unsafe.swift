internal import RoostCore

/// A matcher for `LIKE` patterns with wildcards for single characters.
///
/// It matches byte by byte with the Shift-And method of Baeza-Yates and Gonnet: each pattern
/// position that the text can have reached is one bit, with 64 bits in a word.
///
/// Each byte of the text needs one step for each word that can still affect the result: one for
/// patterns of up to 64 bytes, and at most a 64th of the pattern's length. Matching never
/// backtracks, so no text can be slower.
struct LikeAutomaton: Sendable {
    /// The number of words with one bit for each position.
    let wordCount: Int
    /// By byte and word, the positions that accept the byte.
    private let takers: PlainArray<UInt64>
    /// By word, the positions of `?`, which also accept the continuation bytes of a character.
    private let anyOnes: PlainArray<UInt64>
    /// By word, the positions followed by `*`.
    ///
    /// A match that reaches such a position remains there.
    private let stays: PlainArray<UInt64>
    private let beginsWithRun: Bool
    /// The bit of the last position, in the last word.
    private let lastBit: UInt64

    /// Prepares a pattern.
    ///
    /// - Parameter tokens: The tokens. At least one of them is not a run.
    init(_ tokens: [LikePattern.Token]) {
        let places = tokens.filter { $0 != .anyRun }
        let wordCount = max(1, (places.count + 63) / 64)
        var takers = [UInt64](repeating: 0, count: 256 * wordCount)
        var anyOnes = [UInt64](repeating: 0, count: wordCount)
        var stays = anyOnes
        var place = 0
        for token in tokens {
            let (word, bit) = (place / 64, UInt64(1) << UInt64(place % 64))
            switch token {
            case .byte(let byte): takers[Int(byte) * wordCount + word] |= bit
            case .anyOne:
                anyOnes[word] |= bit
                for byte in 0..<256 where !Self.isContinuation(UInt8(byte)) { takers[byte * wordCount + word] |= bit }
            case .anyRun:
                if place > 0 { stays[(place - 1) / 64] |= UInt64(1) << UInt64((place - 1) % 64) }
                continue
            }
            place += 1
        }
        self.wordCount = wordCount
        self.takers = PlainArray(takers)
        self.anyOnes = PlainArray(anyOnes)
        self.stays = PlainArray(stays)
        beginsWithRun = tokens.first == .anyRun
        lastBit = UInt64(1) << UInt64((max(1, places.count) - 1) % 64)
    }

    /// Whether a byte is a continuation byte of UTF-8.
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// Whether the whole text, which is UTF-8, matches the pattern.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - steps: Increased by the number of words that were computed.
    /// - Returns: Whether the text matches.
    func matches(_ text: UnsafeRawBufferPointer, steps: inout Int) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount) { words in
            words.initialize(repeating: 0)
            return matches(text, words: words, steps: &steps)
        }
    }

    private func matches(
        _ text: UnsafeRawBufferPointer, words: UnsafeMutableBufferPointer<UInt64>, steps: inout Int
    ) -> Bool {
        // Only these words can hold relevant bits: after a `*` is reached, the positions before it
        // are irrelevant.
        var (low, high) = (0, 0)
        var mayBegin = true
        for byte in text {
            let isContinuation = Self.isContinuation(byte)
            let row = Int(byte) * wordCount
            var carry: UInt64 = mayBegin ? 1 : 0
            var (newLow, newHigh) = (low, -1)
            for word in low...min(high + 1, wordCount - 1) {
                let old = words[word]
                var new = (old << 1 | carry) & takers[row + word] | old & stays[word]
                if isContinuation { new |= old & anyOnes[word] }
                carry = old >> 63
                words[word] = new
                steps &+= 1
                if new != 0 { newHigh = word }
                let staying = new & stays[word]
                if staying == 0 { continue }
                // If a `*` at the end is reached, the text matches.
                if word == wordCount - 1, staying & lastBit != 0 { return true }
                newLow = word
            }
            mayBegin = beginsWithRun && newLow == 0
            if newHigh < 0, !mayBegin { return false }
            (low, high) = (newLow, max(newLow, newHigh))
        }
        return words[wordCount - 1] & lastBit != 0
    }
}
