internal import Foundation

/// Foundation's foldings of the code points before U+0300, which European texts mostly consist of.
///
/// Among themselves they fold one by one: what a code point becomes depends on others only where combining marks, which begin at U+0300,
/// are among them.
struct LatinFolding: Sendable {
    private static let limit = 0x300
    private static let caseInsensitive = LatinFolding(.caseInsensitive)
    private static let diacriticInsensitive = LatinFolding(.diacriticInsensitive)
    private static let both = LatinFolding([.caseInsensitive, .diacriticInsensitive])

    /// The folded code points, one behind the other, in UTF-8.
    private let bytes: PlainArray<UInt8>
    /// By code point, where it starts there; and the end of the last.
    private let starts: PlainArray<Int>
    /// The most bytes that one byte of a text becomes.
    private let growth: Int

    private init(_ options: String.CompareOptions) {
        var (bytes, starts, growth): ([UInt8], [Int], Int) = ([], [0], 1)
        for number in 0..<Self.limit {
            guard let scalar = Unicode.Scalar(number) else { continue }
            let folded = Array(String(scalar).folding(options: options, locale: nil).utf8)
            bytes += folded
            starts.append(bytes.count)
            growth = max(growth, folded.count)
        }
        (self.bytes, self.starts, self.growth) = (PlainArray(bytes), PlainArray(starts), growth)
    }

    /// The table of some options, which must have case or diacritics among them.
    static func table(_ options: FetchRequest.Comparison.Options) -> LatinFolding {
        guard options.contains(.caseInsensitive) else { return diacriticInsensitive }
        return options.contains(.diacriticInsensitive) ? both : caseInsensitive
    }

    /// Runs `body` with the folded text; nil where it has other code points, or is no UTF-8.
    func withFolded<Result>(_ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        withUnsafeTemporaryAllocation(byteCount: text.count * growth, alignment: 1) { folded in
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
                // SAFETY: each byte of the text becomes `growth` bytes at most, and there is room for as many.
                for index in starts[number]..<starts[number + 1] {
                    folded[end] = bytes[index]
                    end += 1
                }
            }
            return body(UnsafeRawBufferPointer(rebasing: folded[..<end]))
        }
    }
}
