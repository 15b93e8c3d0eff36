internal import RoostCore

/// A matcher for `LIKE` patterns with `?`.
///
/// The automaton uses the Shift-And algorithm of Baeza-Yates and Gonnet, byte by byte. One bit for
/// each pattern position shows whether the bytes so far match the pattern up to that position.
///
/// A byte of the text takes one step for each 64-bit word that can still affect the result.
/// Matching never backtracks.
struct LikeAutomaton: Sendable {
    let wordCount: Int
    /// For each byte value, the words with the positions that accept the byte.
    private let acceptors: PlainArray<UInt64>
    /// The positions of `?`, by word.
    ///
    /// Once reached, such a position also accepts the continuation bytes of the character.
    private let anyOnes: PlainArray<UInt64>
    /// The positions followed by `*`, by word; once reached, they stay reached.
    private let stays: PlainArray<UInt64>
    private let beginsWithRun: Bool
    /// The bit of the last position, in the last word.
    private let lastBit: UInt64

    /// Prepares a pattern; at least one token is not `anyRun`.
    init(_ tokens: [LikePattern.Token]) {
        let places = tokens.filter { $0 != .anyRun }
        let wordCount = max(1, (places.count + 63) / 64)
        var acceptors = [UInt64](repeating: 0, count: 256 * wordCount)
        var anyOnes = [UInt64](repeating: 0, count: wordCount)
        var stays = anyOnes
        var place = 0
        for token in tokens {
            let (word, bit) = (place / 64, UInt64(1) << UInt64(place % 64))
            switch token {
            case .byte(let byte): acceptors[Int(byte) * wordCount + word] |= bit
            case .anyOne:
                anyOnes[word] |= bit
                for byte in 0..<256 where !Self.isContinuation(UInt8(byte)) {
                    acceptors[byte * wordCount + word] |= bit
                }
            case .anyRun:
                if place > 0 { stays[(place - 1) / 64] |= UInt64(1) << UInt64((place - 1) % 64) }
                continue
            }
            place += 1
        }
        self.wordCount = wordCount
        self.acceptors = PlainArray(acceptors)
        self.anyOnes = PlainArray(anyOnes)
        self.stays = PlainArray(stays)
        beginsWithRun = tokens.first == .anyRun
        lastBit = UInt64(1) << UInt64((max(1, places.count) - 1) % 64)
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// Whether a whole text in UTF-8 matches; increases `steps` by the number of computed words.
    func matches(_ text: UnsafeRawBufferPointer, steps: inout Int) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount) { words in
            words.initialize(repeating: 0)
            return matches(text, words: words, steps: &steps)
        }
    }

    private func matches(
        _ text: UnsafeRawBufferPointer, words: UnsafeMutableBufferPointer<UInt64>, steps: inout Int
    ) -> Bool {
        // Only the words from `low` to `high` can contain relevant bits. Once a `*` is reached, the
        // positions before it are irrelevant.
        var (low, high) = (0, 0)
        var mayBegin = true
        for byte in text {
            let isContinuation = Self.isContinuation(byte)
            let row = Int(byte) * wordCount
            var carry: UInt64 = mayBegin ? 1 : 0
            var (newLow, newHigh) = (low, -1)
            for word in low...min(high + 1, wordCount - 1) {
                let old = words[word]
                var new = (old << 1 | carry) & acceptors[row + word] | old & stays[word]
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
