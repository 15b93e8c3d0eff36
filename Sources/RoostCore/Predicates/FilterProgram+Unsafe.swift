/// A compiled predicate: comparisons, each of which says which one comes next when it is true and when it is false.
///
/// So evaluating it needs neither a stack nor a reference count.
final class FilterProgram: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`. The bytes that operands point to belong to `constants`, which never change.

    /// Where a value comes from.
    private enum Source: @unchecked Sendable {
        // Proof of Sendable: a value that never changes; the bytes of an operand are the program's, see above.
        case field(FieldSlot, destinationRoot: Int)
        case constant(PredicateOperand)
        case evaluatedObject(root: Int)
    }

    /// A comparison, as what has to be looked at in a record.
    ///
    /// Comparisons of a field with a constant, which nearly all are, become one look at the field's bytes; `general` is the meaning
    /// of all of them. But for `general`, the field is not null when the test is made.
    private enum Test: @unchecked Sendable {
        // Proof of Sendable: a value that never changes; the bytes are the program's, see above.
        case isNull(FieldSlot)
        case integer(FieldSlot, low: Int64, high: Int64)
        case number(FieldSlot, low: Double, high: Double)
        case bytes(FieldSlot, equal: UnsafeRawBufferPointer)
        case text(FieldSlot, beginsWith: UnsafeRawBufferPointer)
        case general(Source, FetchRequest.Comparison.Operator, Source)
    }

    private struct Step: Sendable {
        let test: Test
        /// The position of the next step, or one of the two ends.
        let whenTrue: Int
        let whenFalse: Int
        let whenNull: Int
    }

    private static let accepted = -1
    private static let rejected = -2

    private let steps: PlainArray<Step>
    /// By entity number, where its records start.
    private let starts: PlainArray<Int>
    private let constants: [PredicateConstant]

    /// Compiles predicates.
    ///
    /// - Parameters:
    ///   - nodes: By entity number, what its records must meet; nil rejects them.
    ///   - model: The model of the records.
    init(_ nodes: [RecordFilter.Node?], model: ManagedObjectModel) {
        var starts: [Int] = []
        // One for all entities: a hierarchy has many, and what they add must not be copied for each.
        var compiler = Compiler(model: model)
        for (number, node) in nodes.enumerated() {
            compiler.number = number
            starts.append(
                node.map { compiler.add($0, whenTrue: Self.accepted, whenFalse: Self.rejected) } ?? Self.rejected)
        }
        steps = PlainArray(compiler.steps)
        self.starts = PlainArray(starts)
        constants = compiler.constants
    }

    /// Whether a record meets the predicate of its entity.
    func matches(_ record: RecordReader) -> Bool {
        var next = starts[record.entityNumber]
        while next >= 0 {
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
                isTrue = Self.begins(slot.bytes(in: record), with: prefix)
            case .general(let left, let comparison, let right):
                isTrue = Self.compare(Self.operand(left, record), comparison, Self.operand(right, record))
            }
            next = isTrue ? step.whenTrue : step.whenFalse
        }
        return next == Self.accepted
    }

    // MARK: Comparing

    @inline(__always)
    private static func operand(_ source: Source, _ record: RecordReader) -> PredicateOperand {
        switch source {
        case .constant(let operand): operand
        case .evaluatedObject(let root): .object(root: root, key: record.key)
        case .field(let slot, let root): PredicateOperand(record, slot, destinationRoot: root)
        }
    }

    @inline(__always)
    private static func compare(
        _ left: PredicateOperand, _ comparison: FetchRequest.Comparison.Operator, _ right: PredicateOperand
    ) -> Bool {
        switch comparison {
        case .equal, .isIn: return PredicateOperand.equal(left, right)
        case .notEqual: return !PredicateOperand.equal(left, right)
        case .lessThan: return PredicateOperand.order(left, right).map { $0 < 0 } ?? false
        case .lessThanOrEqual: return PredicateOperand.order(left, right).map { $0 <= 0 } ?? false
        case .greaterThan: return PredicateOperand.order(left, right).map { $0 > 0 } ?? false
        case .greaterThanOrEqual: return PredicateOperand.order(left, right).map { $0 >= 0 } ?? false
        case .beginsWith:
            guard case .bytes(let text) = left, case .bytes(let prefix) = right else { return false }
            return begins(text, with: prefix)
        case .between, .contains, .endsWith, .like, .matches: return false
        }
    }

    @inline(__always)
    private static func begins(_ text: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer) -> Bool {
        text.count >= prefix.count && PredicateOperand.order(.init(rebasing: text.prefix(prefix.count)), prefix) == 0
    }

    // MARK: Compiling

    /// Compiles the predicates of the entities, one after the other.
    private struct Compiler {
        let model: ManagedObjectModel
        /// The number of the entity whose predicate is compiled.
        var number = 0
        private(set) var steps: [Step] = []
        private(set) var constants: [PredicateConstant] = []

        private var entity: ManagedObjectModel.Entity { model.entities[number] }

        init(model: ManagedObjectModel) { self.model = model }

        /// Adds the tests of a part, behind those that follow it; returns the position of its first.
        mutating func add(_ node: RecordFilter.Node, whenTrue: Int, whenFalse: Int) -> Int {
            switch node {
            case .constant(let truth): return truth ? whenTrue : whenFalse
            case .not(let member): return add(member, whenTrue: whenFalse, whenFalse: whenTrue)
            case .and(let members):
                var next = whenTrue
                for member in members.reversed() { next = add(member, whenTrue: next, whenFalse: whenFalse) }
                return next
            case .or(let members):
                var next = whenFalse
                for member in members.reversed() { next = add(member, whenTrue: whenTrue, whenFalse: next) }
                return next
            case .isIn(let left, let members):
                var next = whenFalse
                for member in members.reversed() { next = add(left, .equal, member, whenTrue, next) }
                return next
            case .comparison(let left, let comparison, let right):
                return add(left, comparison, right, whenTrue, whenFalse)
            }
        }

        private mutating func add(
            _ left: PredicateTerm, _ comparison: FetchRequest.Comparison.Operator, _ right: PredicateTerm,
            _ whenTrue: Int, _ whenFalse: Int
        ) -> Int {
            // Of a comparison with null, `!=` alone is true; `==` with the constant null is a test of its own.
            var step = Step(
                test: .general(source(left), comparison, source(right)), whenTrue: whenTrue, whenFalse: whenFalse,
                whenNull: whenFalse)
            if case .field(let field) = left, case .constant(let constant, _) = right,
                let test = test(FieldSlot(field, in: entity.layout), root(of: field), comparison, constant.operand)
            {
                let isNegated = comparison == .notEqual
                let isTest = if case .isNull = test { true } else { false }
                step = Step(
                    test: test, whenTrue: isNegated ? whenFalse : whenTrue,
                    whenFalse: isNegated ? whenTrue : whenFalse,
                    whenNull: isTest == isNegated ? whenFalse : whenTrue)
            }
            steps.append(step)
            return steps.count - 1
        }

        /// The comparison of a field with a constant as one look at the field, `!=` as its opposite; nil where it takes more.
        private func test(
            _ slot: FieldSlot, _ root: Int, _ comparison: FetchRequest.Comparison.Operator, _ constant: PredicateOperand
        ) -> Test? {
            let isEquality = comparison == .equal || comparison == .notEqual
            switch (slot.kind, constant) {
            case (_, .null): return isEquality ? .isNull(slot) : nil
            case (.integer64, _), (.integer32, _), (.integer16, _), (.boolean, _), (.order, _):
                guard let number = constant.exactInteger else { return nil }
                return Self.range(comparison, number).map { .integer(slot, low: $0, high: $1) }
            case (.double, _), (.float, _), (.date, _):
                guard let number = constant.exactDouble else { return nil }
                return Self.range(comparison, number).map { .number(slot, low: $0, high: $1) }
            case (.reference, .object(root, let key)) where isEquality: return .integer(slot, low: key, high: key)
            case (_, .bytes(let bytes)) where isEquality: return .bytes(slot, equal: bytes)
            case (_, .bytes(let bytes)) where comparison == .beginsWith: return .text(slot, beginsWith: bytes)
            default: return nil
            }
        }

        /// The integers for which a comparison is true, or not true for `!=`; nil if there are none, or for another comparison.
        private static func range(
            _ comparison: FetchRequest.Comparison.Operator, _ number: Int64
        ) -> (Int64, Int64)? {
            switch comparison {
            case .equal, .notEqual: (number, number)
            case .lessThan: number == .min ? nil : (.min, number - 1)
            case .lessThanOrEqual: (.min, number)
            case .greaterThan: number == .max ? nil : (number + 1, .max)
            case .greaterThanOrEqual: (number, .max)
            default: nil
            }
        }

        /// The same of floating-point numbers; NaN is in no range.
        private static func range(
            _ comparison: FetchRequest.Comparison.Operator, _ number: Double
        ) -> (Double, Double)? {
            switch comparison {
            case .equal, .notEqual: (number, number)
            case .lessThan: number == -.infinity ? nil : (-.infinity, number.nextDown)
            case .lessThanOrEqual: (-.infinity, number)
            case .greaterThan: number == .infinity ? nil : (number.nextUp, .infinity)
            case .greaterThanOrEqual: (number, .infinity)
            default: nil
            }
        }

        /// The root of the hierarchy that a reference leads into; −1 for a field that does not say.
        private func root(of field: RecordLayout.Field) -> Int {
            field.destination.map { model.entities[$0].root } ?? -1
        }

        private mutating func source(_ term: PredicateTerm) -> Source {
            switch term {
            case .evaluatedObject: return .evaluatedObject(root: entity.root)
            case .constant(let constant, _):
                // Held for the bytes that the test points to.
                constants.append(constant)
                return .constant(constant.operand)
            case .field(let field):
                return .field(FieldSlot(field, in: entity.layout), destinationRoot: root(of: field))
            }
        }
    }
}

extension PredicateOperand {
    /// The integer that a number is exactly; nil if there is none.
    fileprivate var exactInteger: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The floating-point number that a number is exactly; nil if there is none.
    fileprivate var exactDouble: Double? {
        switch self {
        case .integer(let number): Double(exactly: number)
        case .double(let number): number
        default: nil
        }
    }
}
