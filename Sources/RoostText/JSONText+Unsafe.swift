/// Appends values to a JSON text, byte by byte and without Foundation.
public enum JSONText {
    // MARK: Text

    /// Appends a string in quotes, with as few escapes as JSON allows.
    public static func append(_ string: String, to text: inout TextBuffer) {
        var string = string
        string.withUTF8 { append(string: UnsafeRawBufferPointer($0), to: &text) }
    }

    /// Appends a string in quotes, with as few escapes as JSON allows.
    ///
    /// The bytes must be valid UTF-8; they are not checked here.
    public static func append(string bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
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

    /// The first byte from `start` on that must be escaped; the count if there is none.
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

    /// The high bit of each byte of a word that is a control character, a quote or a backslash.
    ///
    /// Right for the lowest such byte; what is above it does not count. Bytes above ASCII are none.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
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

    // MARK: Bytes

    /// Appends bytes as a string in base64, padded.
    public static func append(base64 bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        // Four digits for each three bytes that are begun, and two quotes.
        let byteCount = (bytes.count + 2) / 3 * 4 + 2
        // SAFETY: each turn reads three bytes before `whole` and writes four; the last group is the one that is left.
        let output = text.room(for: byteCount)
        let digits = base64Digits.utf8Start
        output[0] = UInt8(ascii: "\"")
        let (whole, rest) = (bytes.count / 3 * 3, bytes.count % 3)
        var (index, place) = (0, 1)
        while index < whole {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            output[place] = digits[Int(group >> 18)]
            output[place + 1] = digits[Int(group >> 12 & 63)]
            output[place + 2] = digits[Int(group >> 6 & 63)]
            output[place + 3] = digits[Int(group & 63)]
            index += 3
            place += 4
        }
        if rest > 0 {
            let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
            output[place] = digits[Int(group >> 18)]
            output[place + 1] = digits[Int(group >> 12 & 63)]
            output[place + 2] = rest == 2 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "=")
            output[place + 3] = UInt8(ascii: "=")
            place += 4
        }
        output[place] = UInt8(ascii: "\"")
        text.count += byteCount
    }

    /// Appends the 16 bytes of a UUID as a string in upper case.
    public static func append(uuid bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        // Two digits for each byte, four hyphens, two quotes.
        let byteCount = bytes.count * 2 + 6
        let output = text.room(for: byteCount)
        let digits = upperHexDigits.utf8Start
        output[0] = UInt8(ascii: "\"")
        var place = 1
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                output[place] = UInt8(ascii: "-")
                place += 1
            }
            output[place] = digits[Int(byte >> 4)]
            output[place + 1] = digits[Int(byte & 15)]
            place += 2
        }
        output[place] = UInt8(ascii: "\"")
        // Fewer bytes have fewer hyphens.
        text.count += place + 1
    }

    /// The 64 digits of base64, in the order of their values.
    static let base64Digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    private static let upperHexDigits: StaticString = "0123456789ABCDEF"

    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
