public import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Appends values to a JSON text, byte by byte and without Foundation.
public enum JSONText {
    // MARK: Text

    /// Appends a string in quotes, with as few escapes as JSON allows.
    public static func append(_ string: String, to text: inout [UInt8]) {
        var string = string
        string.withUTF8 { append(string: UnsafeRawBufferPointer($0), to: &text) }
    }

    /// Appends a string in quotes, with as few escapes as JSON allows.
    ///
    /// The bytes must be valid UTF-8; they are not checked here.
    public static func append(string bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        var start = 0
        while true {
            let end = plainEnd(of: bytes, from: start)
            text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            guard end < bytes.count else { break }
            start = end + 1
            appendEscape(bytes[end], to: &text)
        }
        text.append(UInt8(ascii: "\""))
    }

    /// The first byte from `start` on that must be escaped; the count if there is none.
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

    private static func appendEscape(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: text.append(UInt8(ascii: "b"))
        case 0x09: text.append(UInt8(ascii: "t"))
        case 0x0A: text.append(UInt8(ascii: "n"))
        case 0x0C: text.append(UInt8(ascii: "f"))
        case 0x0D: text.append(UInt8(ascii: "r"))
        case 0..<0x20:
            text.append(contentsOf: "u00".utf8)
            text.append(hexDigit(byte >> 4))
            text.append(hexDigit(byte & 15))
        default: text.append(byte)
        }
    }

    // MARK: Numbers

    /// Appends a whole number.
    public static func append(_ number: Int64, to text: inout [UInt8]) {
        if number < 0 { text.append(UInt8(ascii: "-")) }
        append(digitsOf: number.magnitude, to: &text)
    }

    /// Appends the digits of a whole number, with zeros before them up to a count.
    static func append(digitsOf number: UInt64, atLeast count: Int = 1, to text: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, start) = (number, 20)
            while rest > 0 || 20 - start < count {
                start -= 1
                // SAFETY: `start` begins at 20, and a number of 64 bits has at most 20 digits, as has `count`.
                digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            }
            text.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Appends a double: its shortest exact text, or a string for what JSON's numbers cannot say; every bit kept.
    public static func append(_ number: Double, to text: inout [UInt8]) {
        guard number.isFinite else {
            return append(
                special: number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "NaN",
                bits: number.isNaN && number.bitPattern != Double.nan.bitPattern ? number.bitPattern : nil, digits: 16,
                to: &text)
        }
        append(ascii: number.description, to: &text)
    }

    /// Appends a float: its shortest exact text as a float, or a string for what JSON's numbers cannot say; every bit kept.
    public static func append(_ number: Float, to text: inout [UInt8]) {
        guard number.isFinite else {
            return append(
                special: number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "NaN",
                bits: number.isNaN && number.bitPattern != Float.nan.bitPattern ? UInt64(number.bitPattern) : nil,
                digits: 8, to: &text)
        }
        append(ascii: number.description, to: &text)
    }

    private static func append(special name: StaticString, bits: UInt64?, digits: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        text.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        if let bits {
            text.append(UInt8(ascii: ":"))
            for digit in (0..<digits).reversed() { text.append(hexDigit(UInt8(bits >> (UInt64(digit) * 4) & 15))) }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func append(ascii string: String, to text: inout [UInt8]) {
        var string = string
        string.withUTF8 { text.append(contentsOf: $0) }
    }

    /// Appends a decimal as a string of all its digits, as ``DecimalNumber/description`` has them.
    public static func append(_ number: DecimalNumber, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        append(ascii: number.description, to: &text)
        text.append(UInt8(ascii: "\""))
    }

    // MARK: Bytes

    /// Appends bytes as a string in base64, padded.
    public static func append(base64 bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        let (whole, rest) = (bytes.count / 3 * 3, bytes.count % 3)
        appendInPlace((bytes.count + 2) / 3 * 4 + 2, to: &text) { output in
            output[0] = UInt8(ascii: "\"")
            var (index, place) = (0, 1)
            base64Digits.withUnsafeBufferPointer { digits in
                while index < whole {
                    let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                    output[place] = digits[Int(group >> 18)]
                    output[place + 1] = digits[Int(group >> 12 & 63)]
                    output[place + 2] = digits[Int(group >> 6 & 63)]
                    output[place + 3] = digits[Int(group & 63)]
                    index += 3
                    place += 4
                }
                guard rest > 0 else { return }
                let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
                output[place] = digits[Int(group >> 18)]
                output[place + 1] = digits[Int(group >> 12 & 63)]
                output[place + 2] = rest == 2 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "=")
                output[place + 3] = UInt8(ascii: "=")
                place += 4
            }
            output[place] = UInt8(ascii: "\"")
        }
    }

    /// Appends the 16 bytes of a UUID as a string in upper case.
    public static func append(uuid bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        // Two digits for each byte, four hyphens, two quotes.
        appendInPlace(bytes.count * 2 + 6, to: &text) { output in
            output[0] = UInt8(ascii: "\"")
            var place = 1
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    output[place] = UInt8(ascii: "-")
                    place += 1
                }
                output[place] = hexDigit(byte >> 4, ten: UInt8(ascii: "A"))
                output[place + 1] = hexDigit(byte & 15, ten: UInt8(ascii: "A"))
                place += 2
            }
            output[place] = UInt8(ascii: "\"")
        }
    }

    /// Appends a number of bytes that `body` sets, every one of them.
    private static func appendInPlace(
        _ count: Int, to text: inout [UInt8], _ body: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: count))
        text.withUnsafeMutableBytes { body(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }

    static let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func hexDigit(_ value: UInt8, ten: UInt8 = UInt8(ascii: "a")) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : ten + value - 10
    }
}
