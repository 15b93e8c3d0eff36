internal import RoostCore

/// An exact sum of decimals, which is rounded only when it is read.
struct DecimalSum {
    /// The sum in base 10^18, least significant digit first, in units of 10^−128.
    ///
    /// Empty until a number other than 0 is added. Carries are resolved when the sum is read. Each
    /// number adds less than 10^18 to a digit, so no realistic number of additions overflows a
    /// digit.
    private var digits: [Int128] = []
    private var isNaN = false

    private static let radix: UInt128 = 1_000_000_000_000_000_000
    private static let radixDigits = 18
    private static let leastExponent = -128
    /// The number of digits: enough for exponents from −128 to 127, mantissas of 38 decimal digits,
    /// and 19 more decimal digits for the sum of many numbers.
    private static let digitCount = 19

    init() {}

    mutating func add(_ number: DecimalNumber) {
        guard !number.isNaN, number.mantissa != 0 else {
            isNaN = isNaN || number.isNaN
            return
        }
        if digits.isEmpty { digits = Array(repeating: 0, count: Self.digitCount) }
        let (place, shift) = (Int(number.exponent) - Self.leastExponent).quotientAndRemainder(
            dividingBy: Self.radixDigits)
        var factor: UInt128 = 1
        for _ in 0..<shift { factor *= 10 }
        var (rest, index) = (number.mantissa, place)
        while rest != 0 {
            let part = (rest % Self.radix) * factor
            add(part % Self.radix, at: index, isNegative: number.isNegative)
            add(part / Self.radix, at: index + 1, isNegative: number.isNegative)
            rest /= Self.radix
            index += 1
        }
    }

    private mutating func add(_ part: UInt128, at index: Int, isNegative: Bool) {
        digits[index] += isNegative ? -Int128(part) : Int128(part)
    }

    /// The sum rounded to 38 digits, half away from zero; nil if it is out of the range of
    /// decimals.
    var value: DecimalNumber? {
        guard !isNaN else { return .nan }
        var (carried, carry) = Self.carried(digits)
        let isNegative = carry < 0
        if isNegative { (carried, carry) = Self.carried(digits.map { -$0 }) }
        guard let top = carried.lastIndex(where: { $0 != 0 }) else { return .zero }
        // Four digits of base 10^18 have at least 55 decimal digits, so lower digits do not affect
        // the result.
        let bottom = max(0, top - 3)
        var wide: (high: UInt128, low: UInt128) = (0, 0)
        for digit in carried[bottom...top].reversed() {
            let product = wide.low.multipliedFullWidth(by: Self.radix)
            let (low, overflows) = product.low.addingReportingOverflow(digit)
            wide = (wide.high * Self.radix + product.high + (overflows ? 1 : 0), low)
        }
        return DecimalNumber(
            isNegative: isNegative, rounding: wide, exponent: Self.leastExponent + bottom * Self.radixDigits)
    }

    /// Returns the digits with resolved carries, and the last carry, which is negative for a
    /// negative sum.
    private static func carried(_ digits: [Int128]) -> ([UInt128], Int128) {
        let radix = Int128(radix)
        var carry: Int128 = 0
        let carried = digits.map { digit in
            let sum = digit + carry
            let rest = sum % radix
            let digit = rest < 0 ? rest + radix : rest
            carry = (sum - digit) / radix
            return UInt128(digit)
        }
        return (carried, carry)
    }
}
