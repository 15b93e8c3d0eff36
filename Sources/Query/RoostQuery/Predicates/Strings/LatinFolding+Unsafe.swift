internal import Foundation
internal import RoostCore

/// A table of Foundation's foldings for common Latin, Greek and Cyrillic code points.
///
/// Chinese ideographs, which folding does not change, are supported without the table. Combining
/// marks are not supported, because their folding depends on neighbors.
final class LatinFolding: Sendable {
    private static let limit = 0x530
    /// The block of unified ideographs, without case and marks; each has three bytes in UTF-8.
    private static let ideographs = 0x4E00...0x9FFF
    private static let longestByteCount = 16 * 1024
    private static let caseInsensitive = LatinFolding(.caseInsensitive)
    private static let diacriticInsensitive = LatinFolding(.diacriticInsensitive)
    private static let both = LatinFolding([.caseInsensitive, .diacriticInsensitive])

    /// The folded forms by code point; 0 marks an unsupported code point.
    ///
    /// The lower seven bytes of an element contain UTF-8. The highest byte is the number of UTF-8
    /// bytes.
    private let folded: PlainArray<UInt64>

    private init(_ options: String.CompareOptions) {
        folded = PlainArray(
            (0..<Self.limit).map { number in
                guard let scalar = Unicode.Scalar(number), !Self.isMark(scalar) else { return 0 }
                let bytes = Array(String(scalar).folding(options: options, locale: nil).utf8)
                // No folded form has more than six bytes; this format has room for seven.
                guard bytes.count < 8 else { return 0 }
                return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } | UInt64(bytes.count) << 56
            })
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    static func table(_ options: FetchRequest.Comparison.Options) -> LatinFolding {
        guard options.contains(.caseInsensitive) else { return diacriticInsensitive }
        return options.contains(.diacriticInsensitive) ? both : caseInsensitive
    }

    /// Runs `body` with the folded text; returns nil for unsupported, invalid or too long text.
    func withFolded<Result>(_ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        // Longer texts use Foundation, because this method needs seven times the memory of the text.
        guard text.count <= Self.longestByteCount else { return nil }
        // Each code point has at least one byte, and its folded form at most seven. Each write
        // covers eight bytes.
        return withUnsafeTemporaryAllocation(byteCount: text.count * 7 + 8, alignment: 8) { (room) -> Result? in
            var (place, end) = (0, 0)
            while place < text.count {
                guard let bytes = next(text, place: &place) else { return nil }
                // SAFETY: `end` is at most seven times the number of previous code points, so at
                // least 15 bytes are free.
                room.storeBytes(of: bytes.littleEndian, toByteOffset: end, as: UInt64.self)
                end += Int(bytes >> 56)
            }
            return body(UnsafeRawBufferPointer(rebasing: room[..<end]))
        }
    }

    /// Returns a folded code point, in the format of ``folded``, and moves `place` past the code
    /// point; nil for unsupported code points and invalid UTF-8.
    @inline(__always)
    private func next(_ text: UnsafeRawBufferPointer, place: inout Int) -> UInt64? {
        let first = Int(text[place])
        guard first >= 0x80 else {
            place += 1
            return folded[first]
        }
        // Continuation bytes have the form 10xxxxxx.
        guard place + 1 < text.count, text[place + 1] & 0xC0 == 0x80 else { return nil }
        let second = Int(text[place + 1] & 0x3F)
        if first >= 0xC2, first < 0xE0 {
            let number = (first & 0x1F) << 6 | second
            place += 2
            guard number < Self.limit, folded[number] != 0 else { return nil }
            return folded[number]
        }
        guard first & 0xF0 == 0xE0, place + 2 < text.count, text[place + 2] & 0xC0 == 0x80,
            Self.ideographs.contains((first & 0x0F) << 12 | second << 6 | Int(text[place + 2] & 0x3F))
        else { return nil }
        let bytes = UInt64(first) | UInt64(text[place + 1]) << 8 | UInt64(text[place + 2]) << 16
        place += 3
        return bytes | 3 << 56
    }
}
