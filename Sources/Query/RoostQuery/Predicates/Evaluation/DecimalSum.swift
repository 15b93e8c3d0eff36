internal import RoostCore

/// The exact sum of any number of decimals, in any order, which is rounded once when it is read.
struct DecimalSum {
    /// The sum in base 10^18, least significant digit first, in units of 10^−128; carries are
    /// resolved at the end.
    ///
    /// Empty while the sum has only zeros. Each number adds less than 10^18 to a digit, so that no
    /// number of additions overflows it.
    private var digits: [Int128] = []
    private var isNaN = false

    private static let radix: UInt128 = 1_000_000_000_000_000_000
    private static let radixDigits = 18
    private static let leastExponent = -128
    /// 127 + 128 zeros, 38 digits and 19 for what many numbers add up to, with room for the places
    /// they begin at.
    private static let digitCount = 19

    /// Creates an empty sum.
    init() {}

    /// Adds a number.
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

    /// The sum with 38 digits, rounded half away from zero; nil if it is out of the range of
    /// decimals.
    var value: DecimalNumber? {
        guard !isNaN else { return .nan }
        var (carried, carry) = Self.carried(digits)
        let isNegative = carry < 0
        if isNegative { (carried, carry) = Self.carried(digits.map { -$0 }) }
        guard let top = carried.lastIndex(where: { $0 != 0 }) else { return .zero }
        // Four of them have 55 digits at least: what is below decides nothing.
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

    /// Each digit below the radix, and what is left: below zero for a sum that is.
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
