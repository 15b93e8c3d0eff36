internal import RoostCore

/// Arithmetic on decimals of 38 digits; a result out of the range of decimals is nil.
///
/// Results with more digits are rounded half away from zero. Foundation's functions truncate
/// instead, and its multiplication traps on very small products.
extension DecimalNumber {
    init(_ number: Int64) {
        // Every 64-bit integer has at most 19 digits.
        self = DecimalNumber(isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0) ?? .zero
    }

    var negated: DecimalNumber {
        isNaN || mantissa == 0
            ? self : DecimalNumber(isNegative: !isNegative, mantissa: mantissa, exponent: Int(exponent)) ?? self
    }

    /// The integer that equals this number exactly, or nil.
    var exactInteger: Int64? {
        guard !isNaN, exponent >= 0, let whole = mantissa(0) else { return nil }
        // The mantissa is below 10^38, so it fits into 127 bits.
        return Int64(exactly: isNegative ? -Int128(whole) : Int128(whole))
    }

    var magnitude: DecimalNumber { isNegative ? negated : self }

    static func sum(_ left: Self, _ right: Self) -> Self? {
        guard !left.isNaN, !right.isNaN else { return .nan }
        let exponent = min(left.exponent, right.exponent)
        if let a = left.mantissa(exponent), let b = right.mantissa(exponent) {
            // Both mantissas are below 10^38, so their sum is below 2^128.
            let (isNegative, mantissa) =
                left.isNegative == right.isNegative
                ? (left.isNegative, a + b) : (a >= b ? (left.isNegative, a - b) : (right.isNegative, b - a))
            if let sum = DecimalNumber(isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent)) {
                return sum
            }
        }
        var sum = DecimalSum()
        sum.add(left)
        sum.add(right)
        return sum.value
    }

    static func product(_ left: Self, _ right: Self) -> Self? {
        guard !left.isNaN, !right.isNaN else { return .nan }
        return DecimalNumber(
            isNegative: left.isNegative != right.isNegative,
            rounding: left.mantissa.multipliedFullWidth(by: right.mantissa),
            exponent: Int(left.exponent) + Int(right.exponent))
    }

    /// Divides; a divisor of 0 gives NaN.
    static func quotient(_ left: Self, _ right: Self) -> Self? {
        guard !left.isNaN, !right.isNaN, right.mantissa != 0 else { return .nan }
        guard left.mantissa != 0 else { return .zero }
        // The dividend consists of 38 digits and 39 zeros, and fits into 256 bits. The divisor has at most 38 digits.
        // So the quotient has at least 39 digits, and the remainder does not affect the rounded result.
        let (lead, digits) = left.normalized
        let (high, low) = digits.multipliedFullWidth(by: Self.mantissaLimit)
        let dividend = Self.timesTen((high, low))
        let (quotient, rest) = dividend.high.quotientAndRemainder(dividingBy: right.mantissa)
        return DecimalNumber(
            isNegative: left.isNegative != right.isNegative,
            rounding: (quotient, right.mantissa.dividingFullWidth((rest, dividend.low)).quotient),
            exponent: lead - 38 - 39 - Int(right.exponent))
    }

    private static func timesTen(_ number: (high: UInt128, low: UInt128)) -> (high: UInt128, low: UInt128) {
        let (carry, low) = number.low.multipliedFullWidth(by: 10)
        return (number.high * 10 + carry, low)
    }

    /// Rounds a 256-bit number to 38 digits, half away from zero.
    ///
    /// The caller may omit the fraction of a number with more than 38 digits, because it does not
    /// affect the result.
    init?(isNegative: Bool, rounding number: (high: UInt128, low: UInt128), exponent: Int) {
        var ((high, low), exponent, lastDigit) = (number, exponent, UInt128(0))
        while high != 0 || low >= Self.mantissaLimit {
            let (quotient, rest) = high.quotientAndRemainder(dividingBy: 10)
            (low, lastDigit) = UInt128(10).dividingFullWidth((rest, low))
            high = quotient
            exponent += 1
        }
        self.init(isNegative: isNegative, mantissa: lastDigit >= 5 ? low + 1 : low, exponent: exponent)
    }

    /// Returns the exact remainder, with the sign of the dividend; a divisor of 0 gives NaN.
    static func remainder(_ left: Self, _ right: Self) -> Self {
        guard !left.isNaN, !right.isNaN, right.mantissa != 0 else { return .nan }
        let remainder: UInt128
        let exponent: Int
        if left.exponent >= right.exponent {
            // Computes (m × 10^k) mod n, factor by factor, so that no product exceeds 2^256.
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
            // A divisor that does not fit into 128 bits is greater than the dividend.
            return left
        }
        return DecimalNumber(isNegative: left.isNegative, mantissa: remainder, exponent: exponent) ?? .nan
    }

    /// Rounds to a whole number by one of the rules `towardZero`, `up` and `down`.
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

    /// Returns the mantissa scaled to an equal or lower exponent; nil if over 38 digits.
    private func mantissa(_ exponent: Int16) -> UInt128? {
        wholeMantissa(exponent).flatMap { $0 < Self.mantissaLimit ? $0 : nil }
    }

    /// Returns the mantissa scaled to an equal or lower exponent; nil if over 128 bits.
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
}
