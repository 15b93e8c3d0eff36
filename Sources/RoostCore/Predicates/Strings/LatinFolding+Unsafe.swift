internal import Foundation

/// Foundation's foldings of the code points before U+0300, which European texts mostly consist of.
///
/// Among themselves they fold one by one: what a code point becomes depends on others only where combining marks, which begin at U+0300,
/// are among them.
final class LatinFolding: Sendable {
    private static let limit = 0x300
    private static let longestByteCount = 16 * 1024
    private static let caseInsensitive = LatinFolding(.caseInsensitive)
    private static let diacriticInsensitive = LatinFolding(.diacriticInsensitive)
    private static let both = LatinFolding([.caseInsensitive, .diacriticInsensitive])

    /// By code point, what it becomes: its UTF-8 from the lowest byte on, and in the highest one how many bytes these are.
    private let folded: PlainArray<UInt64>

    private init(_ options: String.CompareOptions) {
        folded = PlainArray(
            (0..<Self.limit).map { number in
                guard let scalar = Unicode.Scalar(number) else { return 0 }
                let bytes = Array(String(scalar).folding(options: options, locale: nil).utf8)
                // None has more than three; what had more would be left to Foundation.
                guard bytes.count < 8 else { return 0 }
                return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } | UInt64(bytes.count) << 56
            })
    }

    /// The table of some options, which must have case or diacritics among them.
    static func table(_ options: FetchRequest.Comparison.Options) -> LatinFolding {
        guard options.contains(.caseInsensitive) else { return diacriticInsensitive }
        return options.contains(.diacriticInsensitive) ? both : caseInsensitive
    }

    /// Runs `body` with the folded text; nil where it has other code points, or is no UTF-8.
    func withFolded<Result>(_ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        // A long text is worth the way through Foundation, rather than seven times its memory.
        guard text.count <= Self.longestByteCount else { return nil }
        // A code point has at least one byte and becomes at most seven, which are written as eight.
        return withUnsafeTemporaryAllocation(byteCount: text.count * 7 + 8, alignment: 8) { (room) -> Result? in
            var (place, end) = (0, 0)
            while place < text.count {
                var number = Int(text[place])
                place += 1
                if number >= 0x80 {
                    // The first byte of a code point from U+0080 to U+02FF, and the one byte that must follow.
                    guard number >= 0xC2, number < 0xCC, place < text.count, text[place] & 0xC0 == 0x80 else {
                        return nil
                    }
                    number = (number & 0x1F) << 6 | Int(text[place] & 0x3F)
                    place += 1
                }
                let bytes = folded[number]
                guard bytes != 0 else { return nil }
                // SAFETY: `end` is at most seven times the code points before, and there is room for seven more bytes and one.
                room.storeBytes(of: bytes.littleEndian, toByteOffset: end, as: UInt64.self)
                end += Int(bytes >> 56)
            }
            return body(UnsafeRawBufferPointer(rebasing: room[..<end]))
        }
    }
}
