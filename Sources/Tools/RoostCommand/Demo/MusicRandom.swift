internal import Foundation

/// Random numbers, words and bytes from a seed (SplitMix64).
struct MusicRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a number in 0 ..< `limit`.
    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// Returns true once in `n` times on average.
    mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }

    /// Returns a number in 0 ..< 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns a date from 1970 to 2023, in whole milliseconds.
    mutating func date() -> Date {
        Date(timeIntervalSinceReferenceDate: Double(below(1_700_000_000_000)) / 1000 - 978_307_200)
    }

    mutating func uuid() -> UUID {
        let (a, b) = (next(), next())
        func byte(_ word: UInt64, index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (index * 8)) }
        return UUID(
            uuid: (
                byte(a, index: 0), byte(a, index: 1), byte(a, index: 2), byte(a, index: 3), byte(a, index: 4),
                byte(a, index: 5), byte(a, index: 6) & 0x0F | 0x40,
                byte(a, index: 7),
                byte(b, index: 0) & 0x3F | 0x80, byte(b, index: 1), byte(b, index: 2), byte(b, index: 3),
                byte(b, index: 4), byte(b, index: 5), byte(b, index: 6),
                byte(b, index: 7)
            ))
    }

    /// Returns bytes that do not compress.
    mutating func data(count: Int) -> Data {
        var bytes = [UInt8](repeating: 0, count: count)
        var index = 0
        while index < count {
            var word = next()
            for _ in 0..<min(8, count - index) {
                bytes[index] = UInt8(truncatingIfNeeded: word)
                word >>= 8
                index += 1
            }
        }
        return Data(bytes)
    }

    mutating func title(words: ClosedRange<Int>) -> String {
        var text = ""
        for index in 0..<(words.lowerBound + below(words.count)) {
            if index > 0 { text += " " }
            text += Self.words[below(Self.words.count)]
        }
        return text
    }

    private static let words = [
        "Blue", "River", "Night", "Électrique", "Sun", "Über", "Machine", "Glass", "North", "Señal", "Paper", "Stone",
        "夜",
        "Silver", "Run", "Dance", "Ночь", "Ghost", "Summer", "Wire", "Golden", "Fever", "Rain", "Small", "Ölfarbe",
        "Mirror",
        "Letter", "Train", "Winter", "Echo", "Zero", "Field", "Heart", "Naïve", "Salt", "Moon", "Signal", "Harbour",
    ]
}
