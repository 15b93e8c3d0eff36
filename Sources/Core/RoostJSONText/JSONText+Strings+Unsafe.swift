/// Functions that append values as JSON to a text, without Foundation.
@usableFromInline
package enum JSONText {
    /// Appends a string in quotes, with as few escapes as JSON allows.
    package static func append(_ string: String, to text: inout TextBuffer) {
        var string = string
        string.withUTF8 { append(string: UnsafeRawBufferPointer($0), to: &text) }
    }

    /// Appends a string in quotes; the bytes must be valid UTF-8, which is not checked.
    package static func append(string bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        var start = 0
        var place = text.room(for: bytes.count + 2)
        place[0] = UInt8(ascii: "\"")
        text.count += 1
        while true {
            let end = plainEnd(of: bytes, from: start)
            text.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            guard end < bytes.count else { break }
            start = end + 1
            appendEscape(bytes[end], to: &text)
        }
        place = text.room(for: 1)
        place[0] = UInt8(ascii: "\"")
        text.count += 1
    }

    /// Returns the index of the first byte from `start` on that must be escaped; the count if none.
    @inline(__always)
    private static func plainEnd(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let found = special(word)
            guard found == 0 else { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""),
            bytes[index] != UInt8(ascii: "\\")
        { index += 1 }
        return index
    }

    /// Returns a word with the high bit set in each byte that is a control character, a quote or a
    /// backslash.
    ///
    /// Bits above the lowest set bit may be wrong. Bytes above ASCII are not marked.
    @inlinable
    @inline(__always)
    package static func special(_ word: UInt64) -> UInt64 {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return
            ((word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs
    }

    @inline(never)
    private static func appendEscape(_ byte: UInt8, to text: inout TextBuffer) {
        text.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: text.append(UInt8(ascii: "b"))
        case 0x09: text.append(UInt8(ascii: "t"))
        case 0x0A: text.append(UInt8(ascii: "n"))
        case 0x0C: text.append(UInt8(ascii: "f"))
        case 0x0D: text.append(UInt8(ascii: "r"))
        case 0..<0x20:
            text.append("u00")
            text.append(hexDigit(byte >> 4))
            text.append(hexDigit(byte & 15))
        default: text.append(byte)
        }
    }

    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
