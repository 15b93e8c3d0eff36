/// Functions for numbers in JSON texts.
///
/// A finite double is written as its shortest exact decimal text, always with a point or an
/// exponent. JSON has no numbers for other doubles, so they are written as strings: `"Infinity"`,
/// `"-Infinity"` and `"NaN"`. A NaN whose bits differ from those of `Double.nan` is written with
/// its bits: `"NaN:7ff8000000000001"`.
@usableFromInline
package enum JSONNumbers {
    @inlinable
    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Returns the 64-bit integer in a decimal text; nil if the text has other characters, or the
    /// number is out of range.
    ///
    /// An empty text and `-` give 0.
    package static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            // The value is built as a negative number, because the minimum has no positive
            // counterpart.
            guard isDigit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (difference, more) = product.subtractingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !more else { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    // MARK: Doubles

    /// Returns the double nearest to a JSON number; nil if the number is out of range.
    package static func double(_ text: UnsafeRawBufferPointer) -> Double? {
        if let value = shortDouble(text) { return value }
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// Returns the value of a number with few digits; nil for any other number.
    private static func shortDouble(_ text: UnsafeRawBufferPointer) -> Double? {
        guard text.count <= 24 else { return nil }
        var (mantissa, fractionDigits, isFraction) = (Int64(0), 0, false)
        let isNegative = text.first == UInt8(ascii: "-")
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            guard isDigit(byte), mantissa < (1 << 53) / 10 else { return nil }
            mantissa = mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
            if isFraction { fractionDigits += 1 }
        }
        guard let value = double(mantissa, fractionDigits: fractionDigits) else { return nil }
        return isNegative ? -value : value
    }

    /// Returns `mantissa` / 10^`fractionDigits`; nil for more than 22 fraction digits.
    ///
    /// `mantissa` must be at most 2^53. Then both operands are exact doubles, so the quotient is
    /// correctly rounded.
    @inlinable
    @inline(__always)
    package static func double(_ mantissa: Int64, fractionDigits: Int) -> Double? {
        // If this function is inlined into another module, an array would need a call into this
        // module. A switch needs no call.
        let power: Double
        switch fractionDigits {
        case 0: power = 1e0
        case 1: power = 1e1
        case 2: power = 1e2
        case 3: power = 1e3
        case 4: power = 1e4
        case 5: power = 1e5
        case 6: power = 1e6
        case 7: power = 1e7
        case 8: power = 1e8
        case 9: power = 1e9
        case 10: power = 1e10
        case 11: power = 1e11
        case 12: power = 1e12
        case 13: power = 1e13
        case 14: power = 1e14
        case 15: power = 1e15
        case 16: power = 1e16
        case 17: power = 1e17
        case 18: power = 1e18
        case 19: power = 1e19
        case 20: power = 1e20
        case 21: power = 1e21
        case 22: power = 1e22
        default: return nil
        }
        return Double(mantissa) / power
    }

    package static func special(_ text: UnsafeRawBufferPointer) -> Double? {
        if text.elementsEqual("NaN".utf8) { return .nan }
        if text.elementsEqual("Infinity".utf8) { return .infinity }
        if text.elementsEqual("-Infinity".utf8) { return -.infinity }
        return nil
    }

    /// Returns the NaN whose bits follow `NaN:` as 16 hexadecimal digits; nil for any other text.
    package static func nan(_ text: UnsafeRawBufferPointer) -> Double? {
        guard let bits = nanBits(text, digits: 16) else { return nil }
        let value = Double(bitPattern: bits)
        return value.isNaN ? value : nil
    }

    // MARK: Floats

    /// Returns the float nearest to a JSON number; nil if the number is out of range.
    package static func float(_ text: UnsafeRawBufferPointer) -> Float? {
        guard let value = Float(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// Returns the NaN whose bits follow `NaN:` as 8 hexadecimal digits; nil for any other text.
    package static func floatNaN(_ text: UnsafeRawBufferPointer) -> Float? {
        guard let bits = nanBits(text, digits: 8) else { return nil }
        let value = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
        return value.isNaN ? value : nil
    }

    private static func nanBits(_ text: UnsafeRawBufferPointer, digits: Int) -> UInt64? {
        guard text.count == 4 + digits, text.starts(with: "NaN:".utf8), text[4] != UInt8(ascii: "+") else { return nil }
        return UInt64(String(decoding: text.dropFirst(4), as: UTF8.self), radix: 16)
    }
}
