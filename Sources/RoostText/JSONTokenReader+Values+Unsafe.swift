public import RoostCore

extension JSONTokenReader {
    /// The number as a whole number of 64 bits; nil when it has a fraction or an exponent, is out of range, or is no number.
    public var integer: Int64? {
        guard token == .number, isWhole else { return nil }
        return withText { Self.integer($0) }
    }

    static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            // Negative all the way: the lowest number has no positive counterpart.
            guard byte &- UInt8(ascii: "0") < 10 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (difference, more) = product.subtractingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !more else { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// The number, or the string that stands for one, as the nearest double; nil when it is neither or out of range.
    ///
    /// Reads what ``JSONText/append(_:to:)-(Double,_)`` writes, every bit kept, and any other JSON number.
    public var double: Double? {
        if token == .number { return withText { Self.double($0) } }
        guard token == .string else { return nil }
        return withText { text in
            if let special = Self.special(text) { return special }
            guard let bits = Self.nanBits(text, digits: 16) else { return nil }
            let value = Double(bitPattern: bits)
            return value.isNaN ? value : nil
        }
    }

    /// The number, or the string that stands for one, as the nearest float; nil when it is neither or out of range.
    ///
    /// Reads what ``JSONText/append(_:to:)-(Float,_)`` writes, every bit kept, and any other JSON number.
    public var float: Float? {
        if token == .number {
            return withText { text in
                guard let value = Float(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
                return value
            }
        }
        guard token == .string else { return nil }
        return withText { text in
            if let special = Self.special(text) { return Float(special) }
            guard let bits = Self.nanBits(text, digits: 8) else { return nil }
            let value = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
            return value.isNaN ? value : nil
        }
    }

    static func double(_ text: UnsafeRawBufferPointer) -> Double? {
        if let value = shortDouble(text) { return value }
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// The value of a number of few digits, which one exact multiplication or division gives; nil for any other.
    ///
    /// A whole number up to 2^53 and a power of ten up to 10^22 are doubles, so the result is rounded once, as it should be.
    private static func shortDouble(_ text: UnsafeRawBufferPointer) -> Double? {
        guard text.count <= 24 else { return nil }
        var (mantissa, exponent, isFraction) = (0, 0, false)
        let isNegative = text.first == UInt8(ascii: "-")
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            guard byte &- UInt8(ascii: "0") < 10, mantissa < (1 << 53) / 10 else { return nil }
            mantissa = mantissa * 10 + Int(byte - UInt8(ascii: "0"))
            if isFraction { exponent += 1 }
        }
        guard exponent < powersOfTen.count else { return nil }
        let value = Double(mantissa) / powersOfTen[exponent]
        return isNegative ? -value : value
    }

    static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    private static func special(_ text: UnsafeRawBufferPointer) -> Double? {
        if text.elementsEqual("NaN".utf8) { return .nan }
        if text.elementsEqual("Infinity".utf8) { return .infinity }
        if text.elementsEqual("-Infinity".utf8) { return -.infinity }
        return nil
    }

    /// The bits in `NaN:<digits>`.
    private static func nanBits(_ text: UnsafeRawBufferPointer, digits: Int) -> UInt64? {
        guard text.count == 4 + digits, text.starts(with: "NaN:".utf8), text[4] != UInt8(ascii: "+") else { return nil }
        return UInt64(String(decoding: text.dropFirst(4), as: UTF8.self), radix: 16)
    }

    // MARK: Strings

    /// The string as a decimal number, or the number in its own digits; nil when it is neither or out of range.
    public var decimal: DecimalNumber? {
        guard token == .string || token == .number else { return nil }
        return withText { DecimalNumber(utf8: $0) }
    }

    /// Writes the bytes that the string is the base64 of to `bytes`, which has room for three for every four of the text.
    ///
    /// Strict: padded, without space, and no bits in the last digit that would be lost. Gives the number of bytes; nil when it is
    /// not base64.
    func decodeBase64(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard token == .string else { return nil }
        return withText { Base64.decode($0, into: bytes) }
    }

    /// Writes the 16 bytes of the UUID that the string is; false when it is none.
    func decodeUUID(into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard token == .string, bytes.count == 16 else { return false }
        return withText { Base64.decodeUUID($0, into: bytes) }
    }
}

/// Bytes out of digits.
enum Base64 {
    /// The value of each digit; 255 for everything else.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in JSONText.base64Digits.description.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// The value of each hexadecimal digit of either case; 255 for everything else.
    static let hexadecimalValues: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in "0123456789abcdef".utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        for (value, digit) in "ABCDEF".utf8.enumerated() { values[Int(digit)] = UInt8(value + 10) }
        return values
    }()

    /// Writes the 16 bytes of the UUID that a text is; false when it is none.
    static func decodeUUID(_ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard text.count == 36, bytes.count == 16 else { return false }
        return hexadecimalValues.withUnsafeBufferPointer { values in
            var (index, offset) = (0, 0)
            while index < 36 {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    guard text[index] == UInt8(ascii: "-") else { return false }
                    index += 1
                }
                let (high, low) = (values[Int(text[index])], values[Int(text[index + 1])])
                guard high | low < 16 else { return false }
                bytes[offset] = high << 4 | low
                index += 2
                offset += 1
            }
            return true
        }
    }

    /// Writes the bytes that a text stands for to `bytes`, which has room for three for every four of the text.
    ///
    /// Gives the number of bytes; nil when the text is not base64.
    static func decode(_ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard text.count % 4 == 0, text.count / 4 * 3 <= bytes.count else { return nil }
        guard !text.isEmpty else { return 0 }
        let padding = text[text.count - 1] != UInt8(ascii: "=") ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
        return values.withUnsafeBufferPointer { values in
            let whole = text.count - (padding > 0 ? 4 : 0)
            var (index, offset) = (0, 0)
            while index < whole {
                let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
                let (c, d) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
                guard (a | b | c | d) < 64 else { return nil }
                bytes[offset] = a << 2 | b >> 4
                bytes[offset + 1] = b << 4 | c >> 2
                bytes[offset + 2] = c << 6 | d
                index += 4
                offset += 3
            }
            guard padding > 0 else { return offset }
            let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
            let c = padding == 1 ? values[Int(text[index + 2])] : 0
            guard (a | b | c) < 64, padding == 1 ? c & 3 == 0 : b & 15 == 0 else { return nil }
            bytes[offset] = a << 2 | b >> 4
            if padding == 1 { bytes[offset + 1] = b << 4 | c >> 2 }
            return offset + 3 - padding
        }
    }
}
