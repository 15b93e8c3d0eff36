internal import RoostCore

/// Statistics of values that are not null; null without values.
enum PredicateStatistics {
    /// Returns the middle value, or the mean of the two middle values.
    static func median(_ values: inout [PredicateOperand]) -> PredicateOperand {
        guard !values.isEmpty else { return .null }
        values.sort { PredicateOperand.totalOrder($0, $1) < 0 }
        let middle = values.count / 2
        guard values.count.isMultiple(of: 2) else { return values[middle] }
        var mean = PredicateAccumulator()
        mean.add(values[middle - 1])
        mean.add(values[middle])
        return mean.average
    }

    /// Returns the most frequent value, or the lowest of equally frequent values.
    static func mode(_ values: inout [PredicateOperand]) -> PredicateOperand {
        values.sort { PredicateOperand.totalOrder($0, $1) < 0 }
        var (mode, most) = (PredicateOperand.null, 0)
        var start = 0
        while start < values.count {
            var end = start + 1
            while end < values.count, PredicateOperand.totalOrder(values[start], values[end]) == 0 { end += 1 }
            if end - start > most { (mode, most) = (values[start], end - start) }
            start = end
        }
        return mode
    }

    /// Returns the standard deviation of a whole population.
    static func standardDeviation(_ values: [PredicateOperand]) -> PredicateOperand {
        guard !values.isEmpty else { return .null }
        let numbers = values.map { PredicateArithmetic.double($0) }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
        return .double(variance.squareRoot())
    }
}

/// A set of values.
///
/// Nulls are equal, NaNs of one type are equal, and 0 equals −0.
struct DistinctOperands {
    private var positions: [Int: [Int]] = [:]
    private var elements: [PredicateOperand] = []

    func contains(_ operand: PredicateOperand) -> Bool {
        positions[OperandSet.hash(operand), default: []].contains { Self.isSame(elements[$0], operand) }
    }

    /// Adds a value, or returns false if the set already contains it.
    @discardableResult
    mutating func insert(_ operand: PredicateOperand) -> Bool {
        guard !contains(operand) else { return false }
        positions[OperandSet.hash(operand), default: []].append(elements.count)
        elements.append(operand)
        return true
    }

    private static func isSame(_ left: PredicateOperand, _ right: PredicateOperand) -> Bool {
        if PredicateOperand.equal(left, right) { return true }
        switch (left, right) {
        case (.double(let a), .double(let b)): return a.isNaN && b.isNaN
        case (.decimal(let a), .decimal(let b)): return a.isNaN && b.isNaN
        default: return false
        }
    }
}
