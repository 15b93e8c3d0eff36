internal import Foundation

/// Calculating with decimals of 38 digits; what has more is rounded, half away from zero.
///
/// What fits is calculated here, exactly; Foundation does the rest.
extension DecimalNumber {
    init(_ number: Int64) {
        // Every such number has at most 19 digits.
        self = DecimalNumber(isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0) ?? .zero
    }

    var negated: DecimalNumber {
        isNaN || mantissa == 0
            ? self : DecimalNumber(isNegative: !isNegative, mantissa: mantissa, exponent: Int(exponent)) ?? self
    }

    var magnitude: DecimalNumber { isNegative ? negated : self }

    /// The sum; nil when a decimal cannot hold it, large or small as it is.
    static func sum(_ left: Self, _ right: Self) -> Self? {
        guard !left.isNaN, !right.isNaN else { return .nan }
        let exponent = min(left.exponent, right.exponent)
        if let a = left.mantissa(exponent), let b = right.mantissa(exponent) {
            // Both are below 10^38, so that their sum is far from 2^128.
            let (isNegative, mantissa) =
                left.isNegative == right.isNegative
                ? (left.isNegative, a + b) : (a >= b ? (left.isNegative, a - b) : (right.isNegative, b - a))
            if let sum = DecimalNumber(isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent)) {
                return sum
            }
        }
        return calculated(left, right) { NSDecimalAdd(&$0, &$1, &$2, .plain) }
    }

    /// The product; nil when a decimal cannot hold it, large or small as it is.
    ///
    /// Foundation's own multiplication traps on products that are too small.
    static func product(_ left: Self, _ right: Self) -> Self? {
        guard !left.isNaN, !right.isNaN else { return .nan }
        let product = left.mantissa.multipliedFullWidth(by: right.mantissa)
        var (mantissa, exponent) = (product.low, Int(left.exponent) + Int(right.exponent))
        // As many digits go as are more than 38: 38 at most, since each side has no more.
        var divisor: UInt128 = 1
        while product.high >= divisor || mantissa >= Self.mantissaLimit {
            divisor *= 10
            exponent += 1
            guard product.high < divisor else { continue }
            let (quotient, rest) = divisor.dividingFullWidth(product)
            mantissa = quotient < Self.mantissaLimit && rest >= divisor - rest ? quotient + 1 : quotient
            if quotient < Self.mantissaLimit { break }
        }
        return DecimalNumber(
            isNegative: left.isNegative != right.isNegative, mantissa: mantissa, exponent: exponent)
    }

    /// The quotient; nil when a decimal cannot hold it, large or small as it is.
    ///
    /// The divisor must not be 0.
    static func quotient(_ left: Self, _ right: Self) -> Self? {
        guard !left.isNaN, !right.isNaN else { return .nan }
        return calculated(left, right) { NSDecimalDivide(&$0, &$1, &$2, .plain) }
    }

    /// The remainder of a division, exact and with the sign of the dividend; the divisor must not be 0.
    static func remainder(_ left: Self, _ right: Self) -> Self {
        guard !left.isNaN, !right.isNaN, right.mantissa != 0 else { return .nan }
        let remainder: UInt128
        let exponent: Int
        if left.exponent >= right.exponent {
            // (m × 10^k) mod n, factor by factor, so that nothing grows beyond 2^256.
            let divisor = right.mantissa
            var result = left.mantissa % divisor
            for _ in right.exponent..<left.exponent {
                let product = result.multipliedFullWidth(by: 10)
                result = divisor.dividingFullWidth(product).remainder
            }
            (remainder, exponent) = (result, Int(right.exponent))
        } else if let divisor = right.wholeMantissa(left.exponent) {
            (remainder, exponent) = (left.mantissa % divisor, Int(left.exponent))
        } else {
            // A divisor that is longer than 38 digits is greater than the dividend.
            return left
        }
        return DecimalNumber(isNegative: left.isNegative, mantissa: remainder, exponent: exponent) ?? .nan
    }

    /// The whole number next to it towards zero, upwards or downwards.
    func rounded(_ rule: FloatingPointRoundingRule) -> Self {
        guard !isNaN, exponent < 0 else { return self }
        var divisor: UInt128 = 1
        for _ in 0..<min(38, -Int(exponent)) { divisor *= 10 }
        var (whole, rest) = exponent < -38 ? (0, mantissa) : mantissa.quotientAndRemainder(dividingBy: divisor)
        if rest != 0, rule == .up && !isNegative || rule == .down && isNegative {
            whole += 1
            rest = 0
        }
        return DecimalNumber(isNegative: isNegative, mantissa: whole, exponent: 0) ?? self
    }

    /// The digits for a smaller exponent; nil when they are more than 38.
    private func mantissa(_ exponent: Int16) -> UInt128? {
        wholeMantissa(exponent).flatMap { $0 < Self.mantissaLimit ? $0 : nil }
    }

    /// The digits for a smaller exponent; nil when they are no number of 128 bits.
    private func wholeMantissa(_ exponent: Int16) -> UInt128? {
        guard mantissa != 0 else { return 0 }
        guard self.exponent - exponent <= 38 else { return nil }
        var result = mantissa
        for _ in exponent..<self.exponent {
            let (product, isTooLarge) = result.multipliedReportingOverflow(by: 10)
            guard !isTooLarge else { return nil }
            result = product
        }
        return result
    }

    private static func calculated(
        _ left: Self, _ right: Self,
        _ body: (inout Decimal, inout Decimal, inout Decimal) -> NSDecimalNumber.CalculationError
    ) -> Self? {
        var (result, a, b) = (Decimal(), left.decimal, right.decimal)
        switch body(&result, &a, &b) {
        case .noError, .lossOfPrecision: return DecimalNumber(rounding: result)
        default: return nil
        }
    }

    /// Foundation's number, which may have 39 digits, with 38 of them; nil when it is none.
    init?(rounding decimal: Decimal) {
        guard !decimal.isNaN else { return nil }
        if let exact = DecimalNumber(decimal) {
            self = exact
            return
        }
        let text = decimal.description
        let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) ?? text.utf8.endIndex
        let behindPoint = text.utf8.distance(from: point, to: text.utf8.endIndex)
        var exponent = behindPoint > 0 ? 1 - behindPoint : 0
        var digits = text.utf8.compactMap { $0 &- UInt8(ascii: "0") < 10 ? $0 - UInt8(ascii: "0") : nil }
        digits.removeFirst(digits.prefix { $0 == 0 }.count)
        guard digits.count > 38 else { return nil }
        exponent += digits.count - 38
        var mantissa = digits.prefix(38).reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        if digits[38] >= 5 { mantissa += 1 }
        self.init(isNegative: text.utf8.first == UInt8(ascii: "-"), mantissa: mantissa, exponent: exponent)
    }
}
