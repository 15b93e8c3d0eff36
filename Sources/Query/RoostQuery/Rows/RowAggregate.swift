internal import RoostCore

/// An aggregate that is computed for all groups, one batch of records at a time.
///
/// One call processes a batch, so that the loop over records contains no dynamic calls.
protocol RowAggregate: AnyObject {
    /// Adds the records of a batch in their order.
    ///
    /// `groups` contains the index of each record's group, and `groupCount` is the number of groups
    /// so far.
    func add(_ batch: RecordBatch, groups: [Int], groupCount: Int, evaluator: PredicateEvaluator)
        throws(StoreError)

    func value(of group: Int) -> PredicateOperand
}

/// An aggregate that can be derived from aggregates of whole numbers, which a store may be able to
/// compute.
protocol WholeNumberRowAggregate: RowAggregate {
    var questions: [WholeNumberAggregate] { get }

    /// Sets the only group's value from the results for ``questions``, instead of adding records.
    func take(_ answers: [Int64?])
}

/// An aggregate of a field in the record itself, so that records can be read in place.
protocol FieldAggregate: RowAggregate {
    /// Visits records with `show`, and adds each record to the only group.
    func add(_ show: ((RecordReader) -> Void) throws(StoreError) -> Void) throws(StoreError)
}

extension FieldAggregate {
    func add(_ batch: RecordBatch) throws(StoreError) {
        try add { (body) throws(StoreError) in batch.forEachRecord(body) }
    }
}

/// The number of objects, even if the argument of the function is null for some of them.
final class CountAggregate: WholeNumberRowAggregate {
    private var counts: [Int64] = []
    let questions: [WholeNumberAggregate] = [.objects]

    func take(_ answers: [Int64?]) { counts = answers.map { $0 ?? 0 } }

    func add(_ batch: RecordBatch, groups: [Int], groupCount: Int, evaluator: PredicateEvaluator) {
        counts.extend(to: groupCount, with: 0)
        for group in groups { counts[group] += 1 }
    }

    func value(of group: Int) -> PredicateOperand { .integer(group < counts.count ? counts[group] : 0) }
}

/// The sum or mean of a field with whole numbers, from an exact total.
final class WholeSumAggregate: WholeNumberRowAggregate, FieldAggregate {
    private let slots: PlainArray<FieldSlot?>
    private let isAverage: Bool
    private var sums: [Int128] = []
    private var counts: [Int] = []
    let questions: [WholeNumberAggregate]

    init(_ field: String, slots: PlainArray<FieldSlot?>, isAverage: Bool) {
        (self.slots, self.isAverage) = (slots, isAverage)
        questions = isAverage ? [.sum(field), .count(field)] : [.sum(field)]
    }

    func take(_ answers: [Int64?]) {
        sums = [Int128(answers.first.flatMap { $0 } ?? 0)]
        counts = [isAverage ? Int(answers.last.flatMap { $0 } ?? 0) : 0]
    }

    func add(_ show: ((RecordReader) -> Void) throws(StoreError) -> Void) throws(StoreError) {
        let slots = slots
        var (sum, count) = (sums.first ?? 0, counts.first ?? 0)
        defer { (sums, counts) = ([sum], [count]) }
        try show { record in
            guard let slot = slots[record.entityNumber], !slot.isNull(in: record) else { return }
            sum += Int128(slot.integer(in: record))
            count += 1
        }
    }

    func add(
        _ batch: RecordBatch, groups: [Int], groupCount: Int, evaluator: PredicateEvaluator
    ) throws(StoreError) {
        guard groupCount > 1 else { return try add(batch) }
        sums.extend(to: groupCount, with: 0)
        counts.extend(to: groupCount, with: 0)
        batch.forEach(slots) { index, slot, record in
            sums[groups[index]] += Int128(slot.integer(in: record))
            counts[groups[index]] += 1
        }
    }

    func value(of group: Int) -> PredicateOperand {
        guard group < sums.count else { return isAverage ? .null : .integer(0) }
        let accumulator = PredicateAccumulator(wholeSum: sums[group], count: counts[group])
        return isAverage ? accumulator.average : accumulator.sum
    }
}

/// The sum or mean of a field with floating-point numbers, added in the order of the records.
final class DoubleSumAggregate: FieldAggregate {
    private let slots: PlainArray<FieldSlot?>
    private let isAverage: Bool
    private var sums: [Double] = []
    private var counts: [Int] = []

    init(_ slots: PlainArray<FieldSlot?>, isAverage: Bool) { (self.slots, self.isAverage) = (slots, isAverage) }

    func add(_ show: ((RecordReader) -> Void) throws(StoreError) -> Void) throws(StoreError) {
        let slots = slots
        var (sum, count) = (sums.first ?? 0, counts.first ?? 0)
        defer { (sums, counts) = ([sum], [count]) }
        try show { record in
            guard let slot = slots[record.entityNumber], !slot.isNull(in: record) else { return }
            sum += slot.double(in: record)
            count += 1
        }
    }

    func add(
        _ batch: RecordBatch, groups: [Int], groupCount: Int, evaluator: PredicateEvaluator
    ) throws(StoreError) {
        guard groupCount > 1 else { return try add(batch) }
        sums.extend(to: groupCount, with: 0)
        counts.extend(to: groupCount, with: 0)
        batch.forEach(slots) { index, slot, record in
            sums[groups[index]] += slot.double(in: record)
            counts[groups[index]] += 1
        }
    }

    func value(of group: Int) -> PredicateOperand {
        // The sum of no values is the integer 0 for fields of all types.
        guard group < sums.count, counts[group] > 0 else { return isAverage ? .null : .integer(0) }
        return .double(isAverage ? sums[group] / Double(counts[group]) : sums[group])
    }
}

/// The minimum or maximum of a field with whole numbers.
final class WholeExtremeAggregate: WholeNumberRowAggregate, FieldAggregate {
    private let slots: PlainArray<FieldSlot?>
    private let isMaximum: Bool
    private var extremes: [Int64] = []
    private var isFound: [Bool] = []
    let questions: [WholeNumberAggregate]

    init(_ field: String, slots: PlainArray<FieldSlot?>, isMaximum: Bool) {
        (self.slots, self.isMaximum) = (slots, isMaximum)
        questions = [isMaximum ? .maximum(field) : .minimum(field)]
    }

    func take(_ answers: [Int64?]) {
        extremes = answers.map { $0 ?? 0 }
        isFound = answers.map { $0 != nil }
    }

    func add(_ show: ((RecordReader) -> Void) throws(StoreError) -> Void) throws(StoreError) {
        let (slots, isMaximum) = (slots, isMaximum)
        var (extreme, isFound) = (extremes.first ?? (isMaximum ? .min : .max), self.isFound.first ?? false)
        defer { (extremes, self.isFound) = ([extreme], [isFound]) }
        try show { record in
            guard let slot = slots[record.entityNumber], !slot.isNull(in: record) else { return }
            let number = slot.integer(in: record)
            extreme = isMaximum ? max(extreme, number) : min(extreme, number)
            isFound = true
        }
    }

    func add(
        _ batch: RecordBatch, groups: [Int], groupCount: Int, evaluator: PredicateEvaluator
    ) throws(StoreError) {
        guard groupCount > 1 else { return try add(batch) }
        extremes.extend(to: groupCount, with: isMaximum ? .min : .max)
        isFound.extend(to: groupCount, with: false)
        let isMaximum = isMaximum
        batch.forEach(slots) { index, slot, record in
            let (number, group) = (slot.integer(in: record), groups[index])
            if isMaximum ? number > extremes[group] : number < extremes[group] { extremes[group] = number }
            isFound[group] = true
        }
    }

    func value(of group: Int) -> PredicateOperand {
        group < isFound.count && isFound[group] ? .integer(extremes[group]) : .null
    }
}

/// An aggregate with any function except count, over values of any type.
///
/// Median, mode and standard deviation store all values.
final class GeneralAggregate: RowAggregate {
    private let function: FetchRequest.Function
    private let source: RowSource
    private var accumulators: [PredicateAccumulator] = []
    private var extremes: [OwnedOperand] = []
    private var values: [[OwnedOperand]] = []

    init(_ function: FetchRequest.Function, source: RowSource) { (self.function, self.source) = (function, source) }

    func add(
        _ batch: RecordBatch, groups: [Int], groupCount: Int, evaluator: PredicateEvaluator
    ) throws(StoreError) {
        accumulators.extend(to: groupCount, with: PredicateAccumulator())
        extremes.extend(to: groupCount, with: OwnedOperand())
        values.extend(to: groupCount, with: [])
        source.prefetch(for: batch, evaluator: evaluator)
        for (index, group) in groups.enumerated() {
            batch.withRecord(at: index) { record in
                evaluator.begin(record)
                let operand = source.operand(of: record, evaluator: evaluator)
                if case .null = operand { return }
                add(operand, to: group)
            }
            try evaluator.requireSuccess()
        }
    }

    private func add(_ operand: PredicateOperand, to group: Int) {
        switch function {
        case .minimum, .maximum:
            let order = extremes[group].withOperand { extreme in
                if case .null = extreme { return function == .minimum ? -1 : 1 }
                return PredicateOperand.totalOrder(operand, extreme)
            }
            if function == .minimum ? order < 0 : order > 0 { extremes[group] = OwnedOperand(operand) }
        case .median, .mode, .standardDeviation: values[group].append(OwnedOperand(operand))
        default: accumulators[group].add(operand)
        }
    }

    func value(of group: Int) -> PredicateOperand {
        guard group < accumulators.count else { return function == .sum ? .integer(0) : .null }
        switch function {
        case .minimum, .maximum: return extremes[group].operand
        case .sum: return accumulators[group].sum
        case .average: return accumulators[group].average
        default:
            var operands = values[group].map(\.operand)
            switch function {
            case .median: return PredicateStatistics.median(&operands)
            case .mode: return PredicateStatistics.mode(&operands)
            default: return PredicateStatistics.standardDeviation(operands)
            }
        }
    }
}

extension Array {
    /// Appends copies of `value` until the array has `count` elements.
    @inline(__always)
    fileprivate mutating func extend(to count: Int, with value: Element) {
        if self.count < count { append(contentsOf: repeatElement(value, count: count - self.count)) }
    }
}

extension RecordBatch {
    /// Runs `body` with the position, slot and reader of each record whose field is not null.
    @inline(__always)
    fileprivate func forEach(_ slots: PlainArray<FieldSlot?>, _ body: (Int, FieldSlot, RecordReader) -> Void) {
        var index = -1
        forEachRecord { record in
            index += 1
            guard let slot = slots[record.entityNumber], !slot.isNull(in: record) else { return }
            body(index, slot, record)
        }
    }
}
