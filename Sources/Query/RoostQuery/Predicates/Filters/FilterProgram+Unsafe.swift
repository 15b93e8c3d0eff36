internal import RoostCore

/// The conditions of a predicate that depend only on the record, as a sequence of tests.
///
/// Each step contains a test, and the next step for each result: true, false or null. So most tests
/// need neither a stack nor reference counting. Conditions that no other test can express become
/// `evaluate`, which calls the evaluator.
final class FilterProgram: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`. Everything that tests point to belongs to `program` or
    // `comparisons`, which never change.

    /// A test of a record; if the field is null, only `isNull` and `evaluate` run.
    fileprivate enum Test: @unchecked Sendable {
        // Proof of Sendable: a value that never changes. The program owns everything that a test
        // points to.
        case isNull(FieldSlot)
        case integer(FieldSlot, low: Int64, high: Int64)
        case number(FieldSlot, low: Double, high: Double)
        case bytes(FieldSlot, equal: UnsafeRawBufferPointer)
        case text(FieldSlot, beginsWith: UnsafeRawBufferPointer)
        case matcher(FieldSlot, Unmanaged<StringMatcher>)
        case member(FieldSlot, destinationRoot: Int, Unmanaged<OperandSet>)
        case evaluate(PredicateProgram.Index)
    }

    private struct Step: Sendable {
        let test: Test
        /// The index of the next step, or `accepted` or `rejected`.
        let whenTrue: Int
        let whenFalse: Int
        let whenNull: Int
    }

    private static let accepted = -1
    private static let rejected = -2

    private let program: PredicateProgram?
    private let comparisons: [FieldComparison]
    // SAFETY of both buffers: they are written in `init`, before other code can access the object,
    // and freed in `deinit`. A ``PlainArray`` would be one more object to create for every fetch.
    private let steps: UnsafeMutableBufferPointer<Step>
    /// By entity number, the first step for the entity's records, or `accepted` or `rejected`.
    private let starts: UnsafeMutableBufferPointer<Int>
    /// The only test of the first entity with steps; nil if that entity needs other tests.
    private let sole: SoleRange?

    /// A step that accepts 8-byte integers from `low` to `high` and rejects all other values.
    private struct SoleRange {
        let position: Int
        let slot: FieldSlot
        let low: Int64
        let high: Int64

        /// Creates a range from a step; nil for a step of another kind.
        init?(_ step: Step, at position: Int) {
            guard case .integer(let slot, let low, let high) = step.test,
                slot.kind == .integer64 || slot.kind == .reference,
                step.whenTrue == FilterProgram.accepted, step.whenFalse == FilterProgram.rejected,
                step.whenNull == FilterProgram.rejected
            else { return nil }
            (self.position, self.slot, self.low, self.high) = (position, slot, low, high)
        }
    }

    /// Compiles a conjunction of conditions; records of entities other than `entities` are
    /// rejected.
    init(_ conditions: [PredicateProgram.Index], of program: PredicateProgram, entities: [Int]) {
        let starts = Self.starts(program.model)
        // One compiler is used for all entities, so that the steps are not copied for each entity.
        var compiler = Compiler(program: program)
        for number in entities {
            compiler.number = number
            starts[number] = compiler.add(all: conditions, whenTrue: Self.accepted, whenFalse: Self.rejected)
        }
        self.program = program
        comparisons = []
        self.starts = starts
        steps = Self.copy(compiler.steps)
        sole = Self.sole(starts, steps: compiler.steps)
    }

    /// Compiles a conjunction of comparisons; returns nil if a comparison needs more than one test.
    ///
    /// `entities` contains the entity of the comparisons, with or without its subentities.
    init?(_ comparisons: [FieldComparison], entities: [Int], model: ManagedObjectModel) {
        let starts = Self.starts(model)
        var compiler = Compiler(program: nil)
        for number in entities {
            let layout = model.entities[number].layout
            var next = Self.accepted
            for index in comparisons.indices.reversed() {
                let comparison = comparisons[index]
                // A subentity may have the field at another offset.
                guard
                    let field = layout.entityNumber == comparison.entity
                        ? comparison.field : layout.field(comparison.field.name),
                    let first = compiler.add(
                        PredicateProgram.Place(field, in: layout, model: model), comparison: comparison.operation,
                        constant: comparison.constant.operand, whenTrue: next, whenFalse: Self.rejected)
                else {
                    starts.deallocate()
                    return nil
                }
                next = first
            }
            starts[number] = next
        }
        program = nil
        self.comparisons = comparisons
        self.starts = starts
        steps = Self.copy(compiler.steps)
        sole = Self.sole(starts, steps: compiler.steps)
    }

    deinit {
        starts.deallocate()
        steps.deallocate()
    }

    /// Allocates the table of first steps by entity, which initially rejects all records.
    private static func starts(_ model: ManagedObjectModel) -> UnsafeMutableBufferPointer<Int> {
        let starts = UnsafeMutableBufferPointer<Int>.allocate(capacity: model.entities.count)
        starts.initialize(repeating: rejected)
        return starts
    }

    private static func copy(_ steps: [Step]) -> UnsafeMutableBufferPointer<Step> {
        guard !steps.isEmpty else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        let copy = UnsafeMutableBufferPointer<Step>.allocate(capacity: steps.count)
        _ = copy.initialize(from: steps)
        return copy
    }

    private static func sole(_ starts: UnsafeMutableBufferPointer<Int>, steps: [Step]) -> SoleRange? {
        for start in starts where start >= 0 { return SoleRange(steps[start], at: start) }
        return nil
    }

    /// Whether a record has a requested entity and meets the conditions.
    ///
    /// Most programs check nothing or a single number, and need no loop over the steps.
    @inline(__always)
    func matches(_ record: RecordReader, evaluator: PredicateEvaluator?) -> Bool {
        let entity = record.entityNumber
        precondition(entity < starts.count, "the record is of another model")
        let start = starts[entity]
        guard start >= 0 else { return start == Self.accepted }
        if let sole, sole.position == start {
            let number = sole.slot.integer64(in: record)
            return !sole.slot.isNull(in: record) && number >= sole.low && number <= sole.high
        }
        return run(from: start, record: record, evaluator: evaluator)
    }

    /// Whether a record meets the conditions, starting at the given step.
    ///
    /// Each case repeats the check for null, because a call would cost more in this hot loop.
    @inline(never)
    private func run(from start: Int, record: RecordReader, evaluator: PredicateEvaluator?) -> Bool {
        var next = start
        while next >= 0 {
            // SAFETY: an index that is not negative refers to a step.
            let step = steps[next]
            let isTrue: Bool
            switch step.test {
            case .isNull(let slot):
                next = slot.isNull(in: record) ? step.whenNull : step.whenFalse
                continue
            case .integer(let slot, let low, let high):
                guard !slot.isNull(in: record) else {
                    next = step.whenNull
                    continue
                }
                let value = slot.integer(in: record)
                isTrue = value >= low && value <= high
            case .number(let slot, let low, let high):
                guard !slot.isNull(in: record) else {
                    next = step.whenNull
                    continue
                }
                let value = slot.double(in: record)
                isTrue = value >= low && value <= high
            case .bytes(let slot, let wanted):
                guard !slot.isNull(in: record) else {
                    next = step.whenNull
                    continue
                }
                let value = slot.bytes(in: record)
                isTrue = value.count == wanted.count && PredicateOperand.order(value, wanted) == 0
            case .text(let slot, let prefix):
                guard !slot.isNull(in: record) else {
                    next = step.whenNull
                    continue
                }
                let text = slot.bytes(in: record)
                isTrue =
                    text.count >= prefix.count
                    && PredicateOperand.order(.init(rebasing: text.prefix(prefix.count)), prefix) == 0
            case .matcher(let slot, let matcher):
                guard !slot.isNull(in: record) else {
                    next = step.whenNull
                    continue
                }
                isTrue = matcher._withUnsafeGuaranteedRef { $0.matchesPlainly(slot.bytes(in: record)) }
            case .member(let slot, let root, let set):
                guard !slot.isNull(in: record) else {
                    next = step.whenNull
                    continue
                }
                let operand = PredicateOperand(record, slot: slot, destinationRoot: root)
                isTrue = set._withUnsafeGuaranteedRef { $0.contains(operand) }
            case .evaluate(let node):
                guard let evaluator else { preconditionFailure("a program with nodes comes with an evaluator") }
                evaluator.begin(record)
                isTrue = evaluator.isTrue(node)
            }
            next = isTrue ? step.whenTrue : step.whenFalse
        }
        return next == Self.accepted
    }

    // MARK: Compiling

    /// A compiler of the conditions for one entity after another.
    private struct Compiler {
        /// The program with the nodes of the conditions; nil for comparisons, which need no nodes.
        let program: PredicateProgram?
        /// The entity whose conditions are being compiled.
        var number = 0
        private(set) var steps: [Step] = []

        init(program: PredicateProgram?) { self.program = program }

        private var nodes: PredicateProgram {
            guard let program else { preconditionFailure("comparisons have no nodes") }
            return program
        }

        mutating func add(all members: [PredicateProgram.Index], whenTrue: Int, whenFalse: Int) -> Int {
            var next = whenTrue
            for member in members.reversed() { next = add(member, whenTrue: next, whenFalse: whenFalse) }
            return next
        }

        private func members(_ range: PredicateProgram.Range) -> [PredicateProgram.Index] {
            (range.start..<range.start + range.count).map { nodes.links[$0] }
        }

        /// Adds the tests of a condition, and returns the index of its first step.
        ///
        /// If the condition needs no test, returns `whenTrue` or `whenFalse`, which already exist.
        private mutating func add(_ node: PredicateProgram.Index, whenTrue: Int, whenFalse: Int) -> Int {
            let program = nodes
            switch program.nodes[node] {
            case .truth(let truth): return truth ? whenTrue : whenFalse
            case .not(let member): return add(member, whenTrue: whenFalse, whenFalse: whenTrue)
            case .and(let range): return add(all: members(range), whenTrue: whenTrue, whenFalse: whenFalse)
            case .or(let range):
                var next = whenFalse
                for member in members(range).reversed() { next = add(member, whenTrue: whenTrue, whenFalse: next) }
                return next
            case .compare(let left, let comparison, let right):
                guard let place = place(left), let constant = constant(right),
                    let first = add(
                        place, comparison: comparison, constant: constant, whenTrue: whenTrue, whenFalse: whenFalse)
                else { break }
                return first
            case .between(let left, let low, let high):
                guard let place = place(left), let low = constant(low), let high = constant(high),
                    let above = test(place, comparison: .greaterOrEqual, constant: low),
                    let below = test(place, comparison: .lessOrEqual, constant: high),
                    let test = above.joined(with: below)
                else { break }
                return add(test, whenTrue: whenTrue, whenFalse: whenFalse, whenNull: whenFalse)
            case .match(let left, let matcher, let isTrueOfNull):
                guard let place = place(left) else { break }
                let matcher = program.matchers[matcher]
                let test =
                    matcher.plainPrefix.map { Test.text(place.slot, beginsWith: $0) }
                    ?? .matcher(place.slot, .passUnretained(matcher))
                return add(
                    test, whenTrue: whenTrue, whenFalse: whenFalse, whenNull: isTrueOfNull ? whenTrue : whenFalse)
            case .member(let left, let set, let options):
                guard options.isEmpty, let place = place(left) else { break }
                let set = program.sets[set]
                return add(
                    .member(place.slot, destinationRoot: place.destinationRoot, .passUnretained(set)),
                    whenTrue: whenTrue,
                    whenFalse: whenFalse, whenNull: set.containsNull ? whenTrue : whenFalse)
            default: break
            }
            return add(.evaluate(node), whenTrue: whenTrue, whenFalse: whenFalse, whenNull: whenFalse)
        }

        /// Adds the comparison of a field with a constant; returns nil, and adds nothing, if one
        /// test is not enough.
        mutating func add(
            _ place: PredicateProgram.Place, comparison: FetchRequest.Comparison.Operator,
            constant: PredicateOperand, whenTrue: Int, whenFalse: Int
        ) -> Int? {
            guard let test = test(place, comparison: comparison, constant: constant) else { return nil }
            let isNegated = comparison == .notEqual
            let isTest = if case .isNull = test { true } else { false }
            return add(
                test, whenTrue: isNegated ? whenFalse : whenTrue, whenFalse: isNegated ? whenTrue : whenFalse,
                whenNull: isTest == isNegated ? whenFalse : whenTrue)
        }

        private mutating func add(_ test: Test, whenTrue: Int, whenFalse: Int, whenNull: Int) -> Int {
            steps.append(Step(test: test, whenTrue: whenTrue, whenFalse: whenFalse, whenNull: whenNull))
            return steps.count - 1
        }

        /// Returns the place of the field that a node reads; nil for any other node, and for an
        /// entity without the field.
        private func place(_ node: PredicateProgram.Index) -> PredicateProgram.Place? {
            guard case .field(let slots) = nodes.nodes[node] else { return nil }
            return nodes.places[slots + number]
        }

        private func constant(_ node: PredicateProgram.Index) -> PredicateOperand? {
            guard case .constant(let operand) = nodes.nodes[node] else { return nil }
            return operand
        }

        /// Returns the single test for a comparison with a constant; nil if one test is not enough.
        ///
        /// For `!=`, returns the test for `==`.
        private func test(
            _ place: PredicateProgram.Place, comparison: FetchRequest.Comparison.Operator,
            constant: PredicateOperand
        ) -> Test? {
            let slot = place.slot
            let isEquality = comparison == .equal || comparison == .notEqual
            switch (slot.kind, constant) {
            case (_, .null): return isEquality ? .isNull(slot) : nil
            case (.integer64, _), (.integer32, _), (.integer16, _), (.boolean, _), (.order, _):
                guard let number = constant.exactInteger else { return nil }
                return Self.range(comparison, number: number).map { .integer(slot, low: $0, high: $1) }
            case (.double, _), (.float, _), (.date, _):
                guard let number = constant.exactDouble else { return nil }
                return Self.range(comparison, number: number).map { .number(slot, low: $0, high: $1) }
            // Objects of different hierarchies are different, even with equal keys.
            case (.reference, .object(place.destinationRoot, let key)) where isEquality:
                return .integer(slot, low: key, high: key)
            case (_, .bytes(let bytes)) where isEquality: return .bytes(slot, equal: bytes)
            default: return nil
            }
        }

        /// Returns the range of integers for which a comparison is true; nil for an empty range or
        /// any other operator.
        ///
        /// For `!=`, returns the range for `==`.
        private static func range(
            _ comparison: FetchRequest.Comparison.Operator, number: Int64
        ) -> (Int64, Int64)? {
            switch comparison {
            case .equal, .notEqual: (number, number)
            case .less: number == .min ? nil : (.min, number - 1)
            case .lessOrEqual: (.min, number)
            case .greater: number == .max ? nil : (number + 1, .max)
            case .greaterOrEqual: (number, .max)
            default: nil
            }
        }

        /// Returns the range of floating-point numbers, as for integers; no range contains NaN.
        private static func range(
            _ comparison: FetchRequest.Comparison.Operator, number: Double
        ) -> (Double, Double)? {
            switch comparison {
            case .equal, .notEqual: (number, number)
            case .less: number == -.infinity ? nil : (-.infinity, number.nextDown)
            case .lessOrEqual: (-.infinity, number)
            case .greater: number == .infinity ? nil : (number.nextUp, .infinity)
            case .greaterOrEqual: (number, .infinity)
            default: nil
            }
        }
    }
}

extension FilterProgram.Test {
    /// Returns a test of the range from this test's lower bound to the upper bound of `other`.
    fileprivate func joined(with other: Self) -> Self? {
        switch (self, other) {
        case (.integer(let slot, let low, _), .integer(_, _, let high)): .integer(slot, low: low, high: high)
        case (.number(let slot, let low, _), .number(_, _, let high)): .number(slot, low: low, high: high)
        default: nil
        }
    }
}

extension PredicateOperand {
    /// The integer that equals this number exactly, or nil.
    var exactInteger: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        case .decimal(let number): number.exactInteger
        default: nil
        }
    }

    /// The double that equals this integer or double exactly, or nil.
    var exactDouble: Double? {
        switch self {
        case .integer(let number): Double(exactly: number)
        case .double(let number): number
        default: nil
        }
    }
}
