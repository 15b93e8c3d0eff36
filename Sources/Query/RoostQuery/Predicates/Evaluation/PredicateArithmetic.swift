internal import Foundation
internal import RoostCore

/// Functions of numbers and dates.
///
/// A sum, difference or product of whole numbers is whole if it fits into 64 bits. Otherwise it is
/// a decimal or, beyond the range of decimals, a floating-point number. If one operand is a
/// floating-point number, both are converted to floating-point numbers.
enum PredicateArithmetic {
    /// Computes a function; if it takes one argument, `right` must be `left`.
    static func value(
        of function: FetchRequest.Function, left: PredicateOperand, right: PredicateOperand
    ) -> PredicateOperand {
        if case .null = left { return .null }
        if case .null = right { return .null }
        switch function {
        case .add: return add(left, right)
        case .subtract: return subtract(left, right)
        case .multiply: return multiply(left, right)
        case .divide: return divide(left, right)
        case .power: return power(left, right)
        case .negate: return negated(left)
        case .modulus: return modulus(left, right)
        case .squareRoot: return .double(double(left).squareRoot())
        case .log: return .double(log10(double(left)))
        case .naturalLog: return .double(Foundation.log(double(left)))
        case .exponential: return .double(exp(double(left)))
        case .floor: return rounded(left, rule: .down)
        case .ceiling: return rounded(left, rule: .up)
        case .truncate: return rounded(left, rule: .towardZero)
        case .absolute: return absolute(left)
        case .bitwiseAnd: return whole(left, right: right) { $0 & $1 }
        case .bitwiseOr: return whole(left, right: right) { $0 | $1 }
        case .bitwiseXor: return whole(left, right: right) { $0 ^ $1 }
        case .leftShift: return whole(left, right: right) { $0 << $1 }
        case .rightShift: return whole(left, right: right) { $0 >> $1 }
        case .onesComplement: return whole(left, right: left) { a, _ in ~a }
        default: return .null
        }
    }

    /// Returns the nearest double; NaN for a value that is not a number.
    static func double(_ operand: PredicateOperand) -> Double {
        switch operand {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.isNaN ? .nan : number.nearestDouble
        default: .nan
        }
    }

    static func decimal(_ operand: PredicateOperand) -> DecimalNumber? {
        switch operand {
        case .integer(let number): DecimalNumber(number)
        case .decimal(let number): number
        default: nil
        }
    }

    static func add(_ left: PredicateOperand, _ right: PredicateOperand) -> PredicateOperand {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (sum, isTooLarge) = a.addingReportingOverflow(b)
            if !isTooLarge { return .integer(sum) }
        }
        return decimalOrDouble(left, right: right, decimals: DecimalNumber.sum) { $0 + $1 }
    }

    private static func subtract(_ left: PredicateOperand, _ right: PredicateOperand) -> PredicateOperand {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (difference, isTooLarge) = a.subtractingReportingOverflow(b)
            if !isTooLarge { return .integer(difference) }
        }
        return add(left, negated(right))
    }

    private static func multiply(_ left: PredicateOperand, _ right: PredicateOperand) -> PredicateOperand {
        if case .integer(let a) = left, case .integer(let b) = right {
            let (product, isTooLarge) = a.multipliedReportingOverflow(by: b)
            if !isTooLarge { return .integer(product) }
        }
        return decimalOrDouble(left, right: right, decimals: DecimalNumber.product) { $0 * $1 }
    }

    /// Divides two numbers, but never as integers.
    ///
    /// Division by zero gives null for two decimals, and for a decimal and a whole number.
    static func divide(_ left: PredicateOperand, _ right: PredicateOperand) -> PredicateOperand {
        if case .integer(let a) = left, case .integer(let b) = right { return .double(Double(a) / Double(b)) }
        if decimal(left) != nil, let b = decimal(right), !b.isNaN, b.mantissa == 0 { return .null }
        return decimalOrDouble(left, right: right, decimals: DecimalNumber.quotient) { $0 / $1 }
    }

    private static func decimalOrDouble(
        _ left: PredicateOperand, right: PredicateOperand,
        decimals: (DecimalNumber, DecimalNumber) -> DecimalNumber?, _ doubles: (Double, Double) -> Double
    ) -> PredicateOperand {
        if let a = decimal(left), let b = decimal(right), let result = decimals(a, b) { return .decimal(result) }
        return .double(doubles(double(left), double(right)))
    }

    private static func power(_ left: PredicateOperand, _ right: PredicateOperand) -> PredicateOperand {
        if case .integer(let base) = left, case .integer(let exponent) = right, exponent >= 0,
            let power = wholePower(base, exponent: exponent)
        {
            return .integer(power)
        }
        return .double(pow(double(left), double(right)))
    }

    /// Returns the power; nil if it does not fit into 64 bits.
    private static func wholePower(_ base: Int64, exponent: Int64) -> Int64? {
        var (result, square, rest): (Int64, Int64, Int64) = (1, base, exponent)
        while true {
            if rest & 1 == 1 {
                let (product, isTooLarge) = result.multipliedReportingOverflow(by: square)
                guard !isTooLarge else { return nil }
                result = product
            }
            rest >>= 1
            guard rest > 0 else { return result }
            let (next, isTooLarge) = square.multipliedReportingOverflow(by: square)
            guard !isTooLarge else { return nil }
            square = next
        }
    }

    private static func modulus(_ left: PredicateOperand, _ right: PredicateOperand) -> PredicateOperand {
        if PredicateOperand.equal(right, .integer(0)) { return .null }
        if case .integer(let a) = left, case .integer(let b) = right {
            // A remainder by −1 is 0, but `%` would trap for the minimum integer.
            return .integer(b == -1 ? 0 : a % b)
        }
        if let a = decimal(left), let b = decimal(right) { return .decimal(.remainder(a, b)) }
        return .double(double(left).truncatingRemainder(dividingBy: double(right)))
    }

    private static func negated(_ operand: PredicateOperand) -> PredicateOperand {
        switch operand {
        case .integer(.min): .decimal(DecimalNumber(Int64.min).negated)
        case .integer(let number): .integer(-number)
        case .double(let number): .double(-number)
        case .decimal(let number): .decimal(number.negated)
        default: .null
        }
    }

    private static func absolute(_ operand: PredicateOperand) -> PredicateOperand {
        switch operand {
        case .integer(let number): number < 0 ? negated(operand) : operand
        case .double(let number): .double(number.magnitude)
        case .decimal(let number): .decimal(number.magnitude)
        default: .null
        }
    }

    private static func rounded(_ operand: PredicateOperand, rule: FloatingPointRoundingRule) -> PredicateOperand {
        switch operand {
        case .integer: operand
        case .double(let number): .double(number.rounded(rule))
        case .decimal(let number): .decimal(number.rounded(rule))
        default: .null
        }
    }

    private static func whole(
        _ left: PredicateOperand, right: PredicateOperand, _ body: (Int64, Int64) -> Int64
    ) -> PredicateOperand {
        guard case .integer(let a) = left, case .integer(let b) = right else { return .null }
        return .integer(body(a, b))
    }
}
