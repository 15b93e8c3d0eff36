internal import Foundation
internal import RoostCore

/// The arithmetic of decimals, digit by digit.
///
/// Results have at most 38 digits, rounded half away from zero.
enum PlainDecimal {
    /// The exponent of the first, least significant digit in the array of ``sum(_:)``.
    private static let leastExponent = -128

    /// Returns the sum of decimals, or nil if it does not fit into a decimal.
    static func sum(_ numbers: [Decimal]) -> Decimal? {
        if numbers.contains(where: \.isNaN) { return .nan }
        var digits = Array(repeating: 0, count: 320)
        for number in numbers {
            guard let number = DecimalNumber(number) else { return nil }
            for (index, digit) in self.digits(number.mantissa).enumerated() {
                digits[index + Int(number.exponent) - leastExponent] += number.isNegative ? -digit : digit
            }
        }
        let isNegative = !carry(&digits)
        if isNegative {
            digits = digits.map { -$0 }
            _ = carry(&digits)
        }
        return rounded(isNegative: isNegative, digits: digits, exponent: leastExponent)
    }

    /// Returns the product, or nil if it does not fit into a decimal.
    static func product(_ a: Decimal, _ b: Decimal) -> Decimal? {
        guard !a.isNaN, !b.isNaN else { return .nan }
        guard let left = DecimalNumber(a), let right = DecimalNumber(b) else { return nil }
        var result = Array(repeating: 0, count: 80)
        for (i, first) in digits(left.mantissa).enumerated() {
            for (j, second) in digits(right.mantissa).enumerated() { result[i + j] += first * second }
        }
        _ = carry(&result)
        return rounded(
            isNegative: left.isNegative != right.isNegative, digits: result,
            exponent: Int(left.exponent) + Int(right.exponent))
    }

    /// Returns the quotient, or nil if it does not fit into a decimal; `b` must not be zero.
    static func quotient(_ a: Decimal, _ b: Decimal) -> Decimal? {
        guard !a.isNaN, !b.isNaN else { return .nan }
        guard let left = DecimalNumber(a), let right = DecimalNumber(b) else { return nil }
        // Divides from the most significant digit on, with 80 more digits than the dividend.
        var quotient: [Int] = []
        var rest: UInt128 = 0
        for digit in digits(left.mantissa).reversed() + Array(repeating: 0, count: 80) {
            var (high, low) = rest.multipliedFullWidth(by: 10)
            let (sum, overflows) = low.addingReportingOverflow(UInt128(digit))
            (high, low) = (high + (overflows ? 1 : 0), sum)
            let step = right.mantissa.dividingFullWidth((high, low))
            quotient.append(Int(step.quotient))
            rest = step.remainder
        }
        return rounded(
            isNegative: left.isNegative != right.isNegative, digits: quotient.reversed(),
            exponent: Int(left.exponent) - Int(right.exponent) - 80)
    }

    /// Returns the digits of a number, the least significant first.
    private static func digits(_ number: UInt128) -> [Int] { "\(number)".reversed().compactMap(\.wholeNumberValue) }

    /// Carries until every digit is 0 … 9.
    ///
    /// Returns false without a change if the number is negative.
    private static func carry(_ digits: inout [Int]) -> Bool {
        var (carried, carry) = (digits, 0)
        for index in carried.indices {
            let sum = carried[index] + carry
            carried[index] = (sum % 10 + 10) % 10
            carry = (sum - carried[index]) / 10
        }
        guard carry >= 0 else { return false }
        digits = carried
        return true
    }

    private static func rounded(isNegative: Bool, digits: [Int], exponent: Int) -> Decimal? {
        guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        let dropped = max(0, top + 1 - 38)
        let kept = digits[dropped...top].reversed().map(String.init).joined()
        guard let mantissa = UInt128(kept) else { return nil }
        let roundsUp = dropped > 0 && digits[dropped - 1] >= 5
        return DecimalNumber(
            isNegative: isNegative, mantissa: roundsUp ? mantissa + 1 : mantissa, exponent: exponent + dropped)?
            .decimal
    }
}
