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

    private struct Test: Sendable {
        let left: Source
        let comparison: FetchRequest.Comparison.Operator
        let right: Source
        /// The position of the next test, or one of the two ends.
        let whenTrue: Int
        let whenFalse: Int
    }

    private static let accepted = -1
    private static let rejected = -2

    private let tests: PlainArray<Test>
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
        tests = PlainArray(compiler.tests)
        self.starts = PlainArray(starts)
        constants = compiler.constants
    }

    /// Whether a record meets the predicate of its entity.
    func matches(_ record: RecordReader) -> Bool {
        var next = starts[record.entityNumber]
        while next >= 0 {
            let test = tests[next]
            let isTrue = Self.compare(
                Self.operand(test.left, record), test.comparison, Self.operand(test.right, record))
            next = isTrue ? test.whenTrue : test.whenFalse
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
            return text.count >= prefix.count
                && PredicateOperand.order(.init(rebasing: text.prefix(prefix.count)), prefix) == 0
        }
    }

    /// Compiles the predicates of the entities, one after the other.
    private struct Compiler {
        let model: ManagedObjectModel
        /// The number of the entity whose predicate is compiled.
        var number = 0
        private(set) var tests: [Test] = []
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
            let (left, right) = (source(left), source(right))
            tests.append(
                Test(left: left, comparison: comparison, right: right, whenTrue: whenTrue, whenFalse: whenFalse))
            return tests.count - 1
        }

        private mutating func source(_ term: PredicateTerm) -> Source {
            switch term {
            case .evaluatedObject: return .evaluatedObject(root: entity.root)
            case .constant(let constant, _):
                constants.append(constant)
                return .constant(constant.operand)
            case .field(let field):
                return .field(
                    FieldSlot(field, in: entity.layout),
                    destinationRoot: field.destination.map { model.entities[$0].root } ?? -1)
            }
        }
    }
}
