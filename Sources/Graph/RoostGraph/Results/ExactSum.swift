internal import Foundation
package import RoostCore

/// A sum from which numbers can be removed without rounding errors.
///
/// Doubles are added as multiples of the smallest double, and the sum is rounded only when it is
/// read. A sum of decimals is exact up to 38 digits.
package struct ExactSum: Sendable {
    private var whole: Int128 = 0
    private var decimal: Decimal = 0
    /// The sum of the finite doubles, in digits of 32 bits, lowest first.
    private var digits: [Int64] = []
    private var (nanCount, plusCount, minusCount) = (0, 0, 0)
    private var uncarriedCount = 0
    private let kind: RecordLayout.Field.Kind

    package init(_ kind: RecordLayout.Field.Kind) { self.kind = kind }

    static func supports(_ kind: RecordLayout.Field.Kind) -> Bool {
        switch kind {
        case .integer16, .integer32, .integer64, .double, .float, .decimal: true
        default: false
        }
    }

    /// Adds or subtracts a number, and ignores other values.
    package mutating func add(_ value: Value, isRemoved: Bool = false) {
        switch value {
        case .int(let number): whole += isRemoved ? -Int128(number) : Int128(number)
        case .decimal(let number): if isRemoved { decimal -= number } else { decimal += number }
        case .double(let number): add(number, isRemoved: isRemoved)
        default: break
        }
    }

    private mutating func add(_ number: Double, isRemoved: Bool) {
        let step = isRemoved ? -1 : 1
        guard number.isFinite else {
            if number.isNaN {
                nanCount += step
            } else if number > 0 {
                plusCount += step
            } else {
                minusCount += step
            }
            return
        }
        guard number != 0 else { return }
        // Doubles have bits at 2 098 positions. The remaining bits of the 68 digits are room for carries.
        if digits.isEmpty { digits = [Int64](repeating: 0, count: 68) }
        let exponent = max(1, Int(number.exponentBitPattern)) - 1
        let mantissa =
            number.exponentBitPattern == 0 ? number.significandBitPattern : number.significandBitPattern | 1 << 52
        let sign: Int64 = (number < 0) == isRemoved ? 1 : -1
        let shifted = UInt128(mantissa) << UInt128(exponent % 32)
        for part in 0..<3 {
            digits[exponent / 32 + part] +=
                sign * Int64(truncatingIfNeeded: shifted >> UInt128(32 * part) & 0xFFFF_FFFF)
        }
        uncarriedCount += 1
        if uncarriedCount >= 1 << 29 { carry() }
    }

    /// Normalizes all digits except the highest to 0..<2^32.
    private mutating func carry() {
        uncarriedCount = 0
        for index in 0..<max(0, digits.count - 1) {
            digits[index + 1] += digits[index] >> 32
            digits[index] &= 0xFFFF_FFFF
        }
    }

    /// The sum; a whole number beyond 64 bits becomes a double.
    package var value: Value {
        switch kind {
        case .decimal: .decimal(decimal)
        case .double, .float: .double(double)
        default: Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole))
        }
    }

    private var double: Double {
        if nanCount > 0 || plusCount > 0 && minusCount > 0 { return .nan }
        if plusCount > 0 { return .infinity }
        if minusCount > 0 { return -.infinity }
        guard !digits.isEmpty else { return 0 }
        var sum = self
        sum.carry()
        let isNegative = (sum.digits.last ?? 0) < 0
        if isNegative {
            for index in sum.digits.indices { sum.digits[index] = -sum.digits[index] }
            sum.carry()
        }
        guard let top = sum.digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        // Rounding depends on the highest 128 bits, and on whether any lower bit is set.
        var lead: UInt128 = 0
        for index in stride(from: top, through: top - 3, by: -1) {
            lead = lead << 32 | UInt128(index >= 0 ? UInt64(bitPattern: sum.digits[index]) : 0)
        }
        if top > 3, sum.digits[..<(top - 3)].contains(where: { $0 != 0 }) { lead |= 1 }
        let unit = 32 * (top - 3) - 1_074
        let result: Double
        let width = 128 - lead.leadingZeroBitCount
        if unit + width > -1_021 {
            // A normal number is rounded once, to 53 bits.
            result = Self.scaled(Double(lead), exponent: unit)
        } else {
            // A number below twice the smallest normal number is exact.
            result = Double(
                bitPattern: UInt64(
                    truncatingIfNeeded: unit + 1_074 >= 0
                        ? lead << UInt128(unit + 1_074) : lead >> UInt128(-unit - 1_074)))
        }
        return isNegative ? -result : result
    }

    private static func scaled(_ number: Double, exponent: Int) -> Double {
        // Scale in two steps, so that each factor has a valid exponent.
        let half = exponent / 2
        return number * Double(sign: .plus, exponent: half, significand: 1)
            * Double(sign: .plus, exponent: exponent - half, significand: 1)
    }
}
