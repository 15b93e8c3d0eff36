internal import RoostCore

/// The count, sum, mean, minimum or maximum of many values, computed one value at a time.
///
/// Nulls are only counted. Sums of whole numbers and of decimals are exact, and are rounded to 38
/// digits at the end. If one value is a floating-point number, all values are added as
/// floating-point numbers, in the order of the calls.
struct PredicateAccumulator {
    private(set) var count = 0
    /// The number of values that are not null.
    private(set) var valueCount = 0
    private var wholeSum: Int128 = 0
    private var decimalSum = DecimalSum()
    private var doubleSum = 0.0
    private var hasDecimal = false
    private var hasDouble = false
    private(set) var least = PredicateOperand.null
    private(set) var greatest = PredicateOperand.null

    init() {}

    init(wholeSum: Int128, count: Int) { (self.wholeSum, self.count, valueCount) = (wholeSum, count, count) }

    /// Adds a value to the count and the sum.
    mutating func add(_ operand: PredicateOperand) {
        count += 1
        switch operand {
        case .null: return
        case .integer(let number): wholeSum += Int128(number)
        case .double: hasDouble = true
        case .decimal(let number):
            hasDecimal = true
            decimalSum.add(number)
        default: return
        }
        valueCount += 1
        doubleSum += PredicateArithmetic.double(operand)
    }

    /// Counts a value, and compares it with the minimum and the maximum.
    ///
    /// The first of several equal values is kept.
    mutating func compare(_ operand: PredicateOperand) {
        count += 1
        if case .null = operand { return }
        if valueCount == 0 || PredicateOperand.totalOrder(operand, least) < 0 { least = operand }
        if valueCount == 0 || PredicateOperand.totalOrder(operand, greatest) > 0 { greatest = operand }
        valueCount += 1
    }

    /// The sum of the values; 0 without values.
    var sum: PredicateOperand {
        if hasDouble { return .double(doubleSum) }
        if !hasDecimal, let sum = Int64(exactly: wholeSum) { return .integer(sum) }
        return decimal.map { .decimal($0) } ?? .double(doubleSum)
    }

    /// The sum of whole numbers and decimals; nil if it is out of the range of decimals.
    private var decimal: DecimalNumber? {
        guard let whole = DecimalNumber(isNegative: wholeSum < 0, mantissa: wholeSum.magnitude, exponent: 0) else {
            return nil
        }
        var sum = decimalSum
        sum.add(whole)
        return sum.value
    }

    /// The mean of the values; null without values.
    ///
    /// For whole numbers, the result is the double nearest to the mean, even if no double
    /// represents the sum.
    var average: PredicateOperand {
        guard valueCount > 0 else { return .null }
        let sum = sum
        if hasDecimal, !hasDouble { return PredicateArithmetic.divide(sum, .integer(Int64(valueCount))) }
        if !hasDouble, abs(wholeSum) > 1 << 53, let sum = decimal,
            let mean = DecimalNumber.quotient(sum, DecimalNumber(Int64(valueCount)))
        {
            return .double(mean.nearestDouble)
        }
        return .double(PredicateArithmetic.double(sum) / Double(valueCount))
    }
}

extension PredicateOperand {
    /// Compares like ``order(_:_:)``, but null precedes and NaN follows all other values.
    static func totalOrder(_ left: Self, _ right: Self) -> Int {
        if let order = order(left, right) { return order }
        return left.rank - right.rank
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .double(let number) where number.isNaN: 2
        case .decimal(let number) where number.isNaN: 2
        default: 1
        }
    }
}
