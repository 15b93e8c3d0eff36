package import Foundation

/// A decimal number in its canonical stored form: sign × mantissa × 10^exponent.
///
/// The mantissa does not end with the digit 0. Zero has exponent 0 and no sign. NaN has only one
/// form. So equal numbers have equal fields and equal text.
///
/// The mantissa has at most 38 digits, and the exponent is in −128 … 127, as in Foundation's
/// `Decimal`. Other numbers are rejected, never rounded.
package struct DecimalNumber: Hashable, Sendable {
    package let mantissa: UInt128
    package let exponent: Int16
    package let isNegative: Bool
    package let isNaN: Bool

    package static let nan = DecimalNumber(mantissa: 0, exponent: 0, isNegative: false, isNaN: true)
    package static let zero = DecimalNumber(mantissa: 0, exponent: 0, isNegative: false, isNaN: false)

    /// The first whole number with 39 digits.
    package static let mantissaLimit: UInt128 = 100_000_000_000_000_000_000_000_000_000_000_000_000

    private init(mantissa: UInt128, exponent: Int16, isNegative: Bool, isNaN: Bool) {
        self.mantissa = mantissa
        self.exponent = exponent
        self.isNegative = isNegative
        self.isNaN = isNaN
    }

    /// Creates the number sign × mantissa × 10^exponent; nil if it is outside the range.
    package init?(isNegative: Bool, mantissa: UInt128, exponent: Int) {
        guard mantissa != 0 else {
            self = .zero
            return
        }
        // The exponent may come from a file, so it is checked before the loop, which adds at most
        // 38.
        guard (-128 - 38...127).contains(exponent) else { return nil }
        var (mantissa, exponent) = (mantissa, exponent)
        while mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
        guard mantissa < Self.mantissaLimit, (-128...127).contains(exponent) else { return nil }
        self.init(mantissa: mantissa, exponent: Int16(exponent), isNegative: isNegative, isNaN: false)
    }

    package static func isCanonical(mantissa: UInt128, exponent: Int16, isNegative: Bool) -> Bool {
        guard let number = DecimalNumber(isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent)) else {
            return false
        }
        return number.mantissa == mantissa && number.exponent == exponent && number.isNegative == isNegative
    }
}

extension DecimalNumber {
    /// Reads a number such as `-12.340e5`, or `NaN`; nil for other text or a number out of range.
    package init?(utf8 text: some Sequence<UInt8>) {
        var mantissa: UInt128 = 0
        var (digits, exponent, written) = (0, 0, 0)
        var (negative, sawPoint, sawDigit, inExponent, sawExponentDigit) = (false, false, false, false, false)
        var exponentNegative = false
        var position = 0
        var previous: UInt8 = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                if position == 0 {
                    negative = byte == UInt8(ascii: "-")
                } else if inExponent, previous == UInt8(ascii: "e") || previous == UInt8(ascii: "E") {
                    exponentNegative = byte == UInt8(ascii: "-")
                } else {
                    return nil
                }
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if inExponent {
                    sawExponentDigit = true
                    written = written * 10 + Int(digit)
                    guard written < 10_000 else { return nil }
                } else {
                    sawDigit = true
                    if digits < 38 {
                        mantissa = mantissa * 10 + UInt128(digit)
                        if mantissa != 0 { digits += 1 }
                        if sawPoint { exponent -= 1 }
                    } else if digit == 0 {
                        if !sawPoint { exponent += 1 }
                    } else {
                        return nil
                    }
                    guard abs(exponent) < 10_000 else { return nil }
                }
            case UInt8(ascii: "."):
                guard !sawPoint, !inExponent else { return nil }
                sawPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard sawDigit, !inExponent else { return nil }
                inExponent = true
            case UInt8(ascii: "N"):
                guard position == 0 else { return nil }
                var iterator = text.makeIterator()
                for expected in "NaN".utf8 where iterator.next() != expected { return nil }
                guard iterator.next() == nil else { return nil }
                self = .nan
                return
            default:
                return nil
            }
            previous = byte
            position += 1
        }
        guard sawDigit, !inExponent || sawExponentDigit else { return nil }
        self.init(
            isNegative: negative, mantissa: mantissa, exponent: exponent + (exponentNegative ? -written : written))
    }

    /// Converts a `Decimal` exactly; nil if the number is outside the range.
    package init?(_ decimal: Decimal) {
        guard !decimal.isNaN else {
            self = .nan
            return
        }
        self.init(utf8: decimal.description.utf8)
    }

    package var decimal: Decimal {
        guard !isNaN else { return .nan }
        let high = Decimal(UInt64(truncatingIfNeeded: mantissa >> 64))
        let low = Decimal(UInt64(truncatingIfNeeded: mantissa))
        // Multiplies by 2^64 in two steps. All results are below 10^38, so `Decimal` is exact.
        let whole = (high * 4_294_967_296) * 4_294_967_296 + low
        return Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: whole)
    }
}

extension DecimalNumber: CustomStringConvertible {
    /// The number in plain digits (`-12.34`), or with an exponent (`1234e-99`) if it is long.
    package var description: String {
        guard !isNaN else { return "NaN" }
        let digits = String(mantissa)
        let sign = isNegative ? "-" : ""
        let exponent = Int(exponent)
        if exponent >= 0 {
            guard digits.count + exponent <= 60 else { return "\(sign)\(digits)e\(exponent)" }
            return sign + digits + String(repeating: "0", count: exponent)
        }
        let point = digits.count + exponent
        if point > 0 { return "\(sign)\(digits.prefix(point)).\(digits.suffix(-exponent))" }
        guard -exponent <= 58 else { return "\(sign)\(digits)e\(exponent)" }
        return "\(sign)0.\(String(repeating: "0", count: -point))\(digits)"
    }
}

extension DecimalNumber: Comparable {
    /// Compares by value; NaN comes after every number.
    package static func < (left: Self, right: Self) -> Bool {
        if left.isNaN || right.isNaN { return !left.isNaN && right.isNaN }
        if left.isNegative != right.isNegative {
            return left.isNegative ? (left.mantissa != 0 || right.mantissa != 0) : false
        }
        let ascending = magnitudeOrder(left, right)
        return left.isNegative ? ascending > 0 : ascending < 0
    }

    /// Compares magnitudes: −1 if `left` is less, 0 if equal, 1 if greater.
    private static func magnitudeOrder(_ left: Self, _ right: Self) -> Int {
        if left.mantissa == 0 || right.mantissa == 0 {
            return left.mantissa == right.mantissa ? 0 : (left.mantissa == 0 ? -1 : 1)
        }
        let (leftLead, leftDigits) = left.normalized
        let (rightLead, rightDigits) = right.normalized
        if leftLead != rightLead { return leftLead < rightLead ? -1 : 1 }
        return leftDigits == rightDigits ? 0 : (leftDigits < rightDigits ? -1 : 1)
    }

    /// The decimal position of the leading digit, and the mantissa scaled to 38 digits.
    ///
    /// Magnitudes compare like these pairs; index keys rely on this order.
    package var normalized: (lead: Int, digits: UInt128) {
        guard mantissa != 0 else { return (Int.min, 0) }
        var (digits, shift) = (mantissa, 0)
        while digits < Self.mantissaLimit / 10 {
            digits *= 10
            shift += 1
        }
        return (Int(exponent) + 38 - shift, digits)
    }
}
