internal import Foundation
internal import RoostCore

/// The comparison of numbers across types, and their arithmetic.
enum PlainNumber {
    /// Returns −1, 0 or 1; nil if either side is NaN or not a number.
    static func order(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.bool(let flag), _): return order(.int(flag ? 1 : 0), right)
        case (_, .bool(let flag)): return order(left, .int(flag ? 1 : 0))
        case (.int(let a), .int(let b)): return order(a, b)
        case (.double(let a), .double(let b)): return order(a, b)
        case (.int(let a), .double(let b)):
            guard !b.isNaN else { return nil }
            // A double of at least 2^63, or below −2^63, is beyond every integer. The integer part of any other double
            // fits into 64 bits.
            if b >= 0x1p63 { return -1 }
            if b < -0x1p63 { return 1 }
            let whole = Int64(b.rounded(.down))
            return a == whole ? (b > b.rounded(.down) ? -1 : 0) : (a < whole ? -1 : 1)
        case (.double, .int): return order(right, left).map { -$0 }
        case (.decimal(let a), .decimal(let b)):
            guard !a.isNaN, !b.isNaN else { return nil }
            return a < b ? -1 : (a == b ? 0 : 1)
        case (.decimal, .int(let b)): return order(left, .decimal(Decimal(b)))
        case (.int, .decimal): return order(right, left).map { -$0 }
        case (.decimal, .double(let b)): return order(double(left) ?? .nan, b)
        case (.double, .decimal): return order(right, left).map { -$0 }
        default: return nil
        }
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> Int? { a < b ? -1 : (a == b ? 0 : (a > b ? 1 : nil)) }

    /// Returns the double that is nearest to a number, or nil for another value.
    static func double(_ value: Value) -> Double? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Double(number)
        case .double(let number): number
        // Converts through text, which rounds correctly.
        case .decimal(let number): number.isNaN ? .nan : Double(number.description)
        default: nil
        }
    }

    /// Returns a boolean as 0 or 1, and another value unchanged.
    private static func counted(_ value: Value) -> Value {
        if case .bool(let flag) = value { .int(flag ? 1 : 0) } else { value }
    }

    /// Returns the result of `+`, `-`, `*` or `/` for two values that are not null.
    static func calculate(
        _ function: FetchRequest.Function, left: Value, right: Value
    ) -> Value {
        switch (left, right) {
        case (.date(let a), .date(let b)):
            return .double(a.timeIntervalSinceReferenceDate - b.timeIntervalSinceReferenceDate)
        case (.date(let date), _):
            let seconds = double(right) ?? .nan
            let start = date.timeIntervalSinceReferenceDate
            return .date(
                Date(timeIntervalSinceReferenceDate: function == .subtract ? start - seconds : start + seconds))
        default: break
        }
        switch (counted(left), counted(right)) {
        case (.int(let a), .int(let b)):
            switch function {
            case .divide: return .double(Double(a) / Double(b))
            case .add:
                return whole(Decimal(a), result: a.addingReportingOverflow(b), right: Decimal(b), function: function)
            case .subtract:
                return whole(
                    Decimal(a), result: a.subtractingReportingOverflow(b), right: Decimal(b), function: function)
            default:
                return whole(
                    Decimal(a), result: a.multipliedReportingOverflow(by: b), right: Decimal(b), function: function)
            }
        case (.double, _), (_, .double):
            let (a, b) = (double(left) ?? .nan, double(right) ?? .nan)
            return .double(doubles(function, a: a, b: b))
        case (let a, let b):
            return decimals(function, a: decimal(a), b: decimal(b))
        }
    }

    private static func whole(
        _ left: Decimal, result: (partialValue: Int64, overflow: Bool), right: Decimal,
        function: FetchRequest.Function
    ) -> Value {
        result.overflow ? decimals(function, a: left, b: right) : .int(result.partialValue)
    }

    private static func doubles(_ function: FetchRequest.Function, a: Double, b: Double) -> Double {
        switch function {
        case .add: a + b
        case .subtract: a - b
        case .multiply: a * b
        default: a / b
        }
    }

    private static func decimal(_ value: Value) -> Decimal {
        switch value {
        case .int(let number): Decimal(number)
        case .decimal(let number): number
        default: .nan
        }
    }

    private static func decimals(_ function: FetchRequest.Function, a: Decimal, b: Decimal) -> Value {
        if function == .divide, b.isZero { return .null }
        guard !a.isNaN, !b.isNaN else { return .decimal(.nan) }
        let result =
            switch function {
            case .add: PlainDecimal.sum([a, b])
            case .subtract: PlainDecimal.sum([a, -b])
            case .multiply: PlainDecimal.product(a, b)
            default: PlainDecimal.quotient(a, b)
            }
        return result.map { .decimal($0) }
            ?? .double(doubles(function, a: double(.decimal(a)) ?? .nan, b: double(.decimal(b)) ?? .nan))
    }

    /// Returns the remainder with the sign of the dividend, or null for a division by zero.
    static func modulus(_ left: Value, _ right: Value) -> Value {
        switch (counted(left), counted(right)) {
        case (.int(let a), .int(let b)):
            return b == 0 ? .null : .int(a.remainderReportingOverflow(dividingBy: b).partialValue)
        case (.decimal, .decimal), (.decimal, .int), (.int, .decimal):
            let (a, b) = (decimal(counted(left)), decimal(counted(right)))
            guard !b.isZero else { return .null }
            guard case .decimal(let quotient) = decimals(.divide, a: a, b: b) else { return .null }
            guard case .decimal(let product) = decimals(.multiply, a: rounded(quotient, rule: .towardZero), b: b) else {
                return .null
            }
            return decimals(.subtract, a: a, b: product)
        default:
            let (a, b) = (double(left) ?? .nan, double(right) ?? .nan)
            return b == 0 ? .null : .double(a.truncatingRemainder(dividingBy: b))
        }
    }

    static func power(_ left: Value, _ right: Value) -> Value {
        if case (.int(let base), .int(let exponent)) = (counted(left), counted(right)), exponent >= 0 {
            // With larger exponents, only the powers of −1, 0 and 1 fit into 64 bits.
            if exponent > 64 {
                switch base {
                case 0, 1: return .int(base)
                case -1: return .int(exponent % 2 == 0 ? 1 : -1)
                default: return .double(pow(Double(base), Double(exponent)))
                }
            }
            var result: Int64 = 1
            for _ in 0..<exponent {
                let (product, overflow) = result.multipliedReportingOverflow(by: base)
                if overflow { return .double(pow(Double(base), Double(exponent))) }
                result = product
            }
            return .int(result)
        }
        return .double(pow(double(left) ?? .nan, double(right) ?? .nan))
    }

    /// Returns the result of `-a`, `abs`, `floor`, `ceiling` or `trunc`.
    ///
    /// The result has the type of the value, but an integer that overflows becomes a decimal. A
    /// boolean counts as an integer.
    static func alter(_ function: FetchRequest.Function, value: Value) -> Value {
        switch counted(value) {
        case .int(let number):
            switch function {
            case .negate: return calculate(.subtract, left: .int(0), right: value)
            case .absolute: return number < 0 ? calculate(.subtract, left: .int(0), right: value) : .int(number)
            default: return .int(number)
            }
        case .double(let number):
            switch function {
            case .negate: return .double(-number)
            case .absolute: return .double(abs(number))
            case .floor: return .double(number.rounded(.down))
            case .ceiling: return .double(number.rounded(.up))
            default: return .double(number.rounded(.towardZero))
            }
        case .decimal(let number):
            guard !number.isNaN else { return value }
            switch function {
            case .negate: return .decimal(-number)
            case .absolute: return .decimal(number < 0 ? -number : number)
            case .floor: return .decimal(rounded(number, rule: .down))
            case .ceiling: return .decimal(rounded(number, rule: .up))
            default: return .decimal(rounded(number, rule: .towardZero))
            }
        default: return .null
        }
    }

    private static func rounded(_ number: Decimal, rule: FloatingPointRoundingRule) -> Decimal {
        var (source, result) = (number, Decimal())
        let isUp = rule == .up || (rule == .towardZero && number < 0)
        // Foundation's `.up` and `.down` are directions on the number line.
        NSDecimalRound(&result, &source, 0, isUp ? .up : .down)
        return result
    }

    /// Returns the result of `sqrt`, `log`, `ln` or `exp`.
    static func curve(_ function: FetchRequest.Function, value: Value) -> Value {
        let number = double(value) ?? .nan
        switch function {
        case .squareRoot: return .double(number.squareRoot())
        case .log: return .double(log10(number))
        case .naturalLog: return .double(log(number))
        default: return .double(exp(number))
        }
    }

    static func bits(_ function: FetchRequest.Function, left: Value, right: Value) -> Value {
        guard case (.int(let a), .int(let b)) = (counted(left), counted(right)) else { return .null }
        switch function {
        case .bitwiseAnd: return .int(a & b)
        case .bitwiseOr: return .int(a | b)
        case .bitwiseXor: return .int(a ^ b)
        case .leftShift: return .int(a << b)
        default: return .int(a >> b)
        }
    }

    // MARK: Aggregates

    /// Returns the result of an aggregate; only `count` includes nulls.
    static func aggregate(_ function: FetchRequest.Function, of values: [Value]) -> Value {
        if function == .count { return .int(Int64(values.count)) }
        let present = values.filter { !$0.isNull }
        if function == .sum { return sum(present) }
        guard let first = present.first else { return .null }
        switch function {
        case .minimum: return present.dropFirst().reduce(first) { PlainValue.rank($1, $0) < 0 ? $1 : $0 }
        case .maximum: return present.dropFirst().reduce(first) { PlainValue.rank($1, $0) > 0 ? $1 : $0 }
        case .average:
            // The average of integers is a floating-point number, even if their sum is a decimal.
            let isWhole = present.allSatisfy { if case .int = counted($0) { true } else { false } }
            return isWhole
                ? mean(of: present) : calculate(.divide, left: sum(present), right: .int(Int64(present.count)))
        case .median:
            let sorted = present.sorted { PlainValue.rank($0, $1) < 0 }
            let middle = sorted.count / 2
            guard sorted.count % 2 == 0 else { return sorted[middle] }
            return aggregate(.average, of: [sorted[middle - 1], sorted[middle]])
        case .mode:
            let sorted = present.sorted { PlainValue.rank($0, $1) < 0 }
            var best = (value: first, count: 0)
            for value in sorted {
                let count = sorted.count { PlainValue.rank($0, value) == 0 }
                if count > best.count { best = (value, count) }
            }
            return best.value
        case .standardDeviation:
            let numbers = present.map { double($0) ?? .nan }
            let mean = numbers.reduce(0, +) / Double(numbers.count)
            let squares = numbers.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
            return .double((squares / Double(numbers.count)).squareRoot())
        default: return .null
        }
    }

    /// Returns the double that is nearest to the mean of integers.
    private static func mean(of values: [Value]) -> Value {
        let quotient = PlainDecimal.sum(values.map { decimal(counted($0)) })
            .flatMap { PlainDecimal.quotient($0, Decimal(values.count)) }
        return .double(quotient.flatMap { double(.decimal($0)) } ?? .nan)
    }

    /// Returns the sum of numbers.
    ///
    /// Without doubles, the exact sum is rounded once, and only if it does not fit the digits of a
    /// decimal.
    private static func sum(_ values: [Value]) -> Value {
        func sumOfDoubles() -> Value { .double(values.reduce(0) { $0 + (double($1) ?? .nan) }) }
        if values.contains(where: { if case .double = $0 { true } else { false } }) { return sumOfDoubles() }
        let numbers = values.map { counted($0) }
        guard let sum = PlainDecimal.sum(numbers.map { decimal($0) }) else { return sumOfDoubles() }
        let isWhole = numbers.allSatisfy { if case .int = $0 { true } else { false } }
        if isWhole, let whole = Int64(sum.description) { return .int(whole) }
        return .decimal(sum)
    }

    /// Returns the order of two equal numbers by their decimal texts.
    ///
    /// Sorting needs this order, because the digits of equal numbers may differ.
    static func orderAsWritten(_ left: Value, _ right: Value) -> Int {
        guard let a = written(left), let b = written(right) else { return 0 }
        return a < b ? -1 : (a == b ? 0 : 1)
    }

    private static func written(_ value: Value) -> DecimalNumber? {
        switch counted(value) {
        case .int(let number): DecimalNumber(Decimal(number))
        case .decimal(let number): number.isNaN ? nil : DecimalNumber(number)
        case .double(let number):
            number.isNaN
                ? nil
                : Int64(exactly: number).flatMap { DecimalNumber(Decimal($0)) } ?? DecimalNumber(utf8: "\(number)".utf8)
                    ?? .zero
        default: nil
        }
    }
}
