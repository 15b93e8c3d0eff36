/// A compiled predicate: comparisons, each of which says which one comes next when it is true and when it is false.
///
/// So evaluating it needs neither a stack nor a reference count.
final class FilterProgram: @unchecked Sendable {
    // Proof of Sendable: nothing changes after `init`. The bytes that operands point to belong to `constants`, which never change.

    /// Where a value comes from.
    private enum Source {
        case field(FieldSlot, destinationRoot: Int)
        case constant(PredicateOperand)
        case evaluatedObject(root: Int)
    }

    private struct Test {
        let left: Source
        let comparison: FetchRequest.Comparison.Operator
        let right: Source
        /// The position of the next test, or one of the two ends.
        let whenTrue: Int
        let whenFalse: Int
    }

    private static let accepted = -1
    private static let rejected = -2

    private let entity: ManagedObjectModel.Entity
    private let model: ManagedObjectModel
    private var tests: [Test] = []
    private var constants: [PredicateConstant] = []
    private var start = FilterProgram.accepted

    /// Compiles a predicate for records of exactly this entity.
    init(_ node: RecordFilter.Node, entity: ManagedObjectModel.Entity, model: ManagedObjectModel) {
        self.entity = entity
        self.model = model
        start = add(node, whenTrue: Self.accepted, whenFalse: Self.rejected)
    }

    /// Whether a record of the entity meets the predicate.
    func matches(_ record: RecordReader) -> Bool {
        var next = start
        while next >= 0 {
            let test = tests[next]
            let isTrue = Self.compare(
                operand(test.left, record), test.comparison, operand(test.right, record))
            next = isTrue ? test.whenTrue : test.whenFalse
        }
        return next == Self.accepted
    }

    // MARK: Compiling

    /// Adds the tests of a part, behind those that follow it; returns the position of its first.
    private func add(_ node: RecordFilter.Node, whenTrue: Int, whenFalse: Int) -> Int {
        switch node {
        case .constant(let truth): return truth ? whenTrue : whenFalse
        case .not(let member): return add(member, whenTrue: whenFalse, whenFalse: whenTrue)
        case .and(let members):
            return members.reversed().reduce(whenTrue) { add($1, whenTrue: $0, whenFalse: whenFalse) }
        case .or(let members):
            return members.reversed().reduce(whenFalse) { add($1, whenTrue: whenTrue, whenFalse: $0) }
        case .isIn(let left, let members):
            return members.reversed().reduce(whenFalse) { add(left, .equal, $1, whenTrue, $0) }
        case .comparison(let left, let comparison, let right):
            return add(left, comparison, right, whenTrue, whenFalse)
        }
    }

    private func add(
        _ left: PredicateTerm, _ comparison: FetchRequest.Comparison.Operator, _ right: PredicateTerm, _ whenTrue: Int,
        _ whenFalse: Int
    ) -> Int {
        tests.append(
            Test(
                left: source(left), comparison: comparison, right: source(right), whenTrue: whenTrue,
                whenFalse: whenFalse))
        return tests.count - 1
    }

    private func source(_ term: PredicateTerm) -> Source {
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

    // MARK: Comparing

    @inline(__always)
    private func operand(_ source: Source, _ record: RecordReader) -> PredicateOperand {
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
}
