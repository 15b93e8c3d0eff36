internal import Foundation
internal import RoostCore

/// What a predicate means, said a second time and as plainly as possible, over decoded values.
///
/// The checks compare stores with this; it shares no code with the evaluator that engines use.
enum PlainPredicate {
    /// Whether an object with these values meets the predicate.
    static func matches(_ predicate: FetchRequest.Predicate, _ id: ObjectID, _ values: [String: Value]) -> Bool {
        switch predicate {
        case .constant(let truth): truth
        case .and(let members): members.allSatisfy { matches($0, id, values) }
        case .or(let members): members.contains { matches($0, id, values) }
        case .not(let member): !matches(member, id, values)
        case .comparison(let comparison): matches(comparison, id, values)
        }
    }

    private static func matches(_ comparison: FetchRequest.Comparison, _ id: ObjectID, _ values: [String: Value])
        -> Bool
    {
        let left = value(comparison.left, id, values)
        if comparison.operator == .isIn {
            guard case .aggregate(let members) = comparison.right else { return false }
            return members.contains { equal(left, value($0, id, values)) }
        }
        let right = value(comparison.right, id, values)
        switch comparison.operator {
        case .equal: return equal(left, right)
        case .notEqual: return !equal(left, right)
        case .lessThan: return order(left, right).map { $0 < 0 } ?? false
        case .lessThanOrEqual: return order(left, right).map { $0 <= 0 } ?? false
        case .greaterThan: return order(left, right).map { $0 > 0 } ?? false
        case .greaterThanOrEqual: return order(left, right).map { $0 >= 0 } ?? false
        case .beginsWith:
            guard let text = text(left), let prefix = self.text(right) else { return false }
            return text.starts(with: prefix)
        default: return false
        }
    }

    private static func value(_ expression: FetchRequest.Expression, _ id: ObjectID, _ values: [String: Value]) -> Value
    {
        switch expression {
        case .constant(let value): return value
        case .evaluatedObject: return .objectID(id)
        case .aggregate: return .null
        case .keyPath(let path):
            var current: Value = .composite(values)
            for name in path {
                guard case .composite(let elements) = current else { return .null }
                current = elements[name] ?? .null
            }
            return current
        default: return .null
        }
    }

    private static func equal(_ left: Value, _ right: Value) -> Bool {
        if left.isNull || right.isNull { return left.isNull && right.isNull }
        switch (left, right) {
        case (.objectID(let a), .objectID(let b)): return a == b
        case (.data(let a), .data(let b)): return a == b
        default: return order(left, right) == 0
        }
    }

    private static func text(_ value: Value) -> [UInt8]? {
        switch value {
        case .string(let text), .uri(let text): Array(text.utf8)
        default: nil
        }
    }

    /// −1, 0 or 1; nil where two values have no order: nulls, NaN, values of different kinds.
    static func order(_ left: Value, _ right: Value) -> Int? {
        if let a = text(left), let b = text(right) { return order(a, b) }
        switch (left, right) {
        case (.data(let a), .data(let b)): return order([UInt8](a), [UInt8](b))
        case (.uuid(let a), .uuid(let b)): return order(bytes(a), bytes(b))
        case (.date(let a), .date(let b)):
            return order(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
        case (.double(let a), .double(let b)): return order(a, b)
        case (.bool(let a), .bool(let b)): return order(a ? 1 : 0, b ? 1 : 0)
        case (.int(let a), .int(let b)): return order(a, b)
        case (.int(let a), .double(let b)):
            guard !b.isNaN else { return nil }
            // A double beyond 2^63 settles it; below, its whole part and its fraction are exact.
            if b >= 0x1p63 { return -1 }
            if b < -0x1p63 { return 1 }
            let whole = Int64(b.rounded(.down))
            return a == whole ? (b > b.rounded(.down) ? -1 : 0) : (a < whole ? -1 : 1)
        case (.double, .int): return order(right, left).map { -$0 }
        case (.decimal(let a), .decimal(let b)):
            guard !a.isNaN, !b.isNaN else { return nil }
            return a < b ? -1 : (a == b ? 0 : 1)
        case (.decimal(let a), .int(let b)): return order(.decimal(a), .decimal(Decimal(b)))
        case (.int, .decimal): return order(right, left).map { -$0 }
        default: return nil
        }
    }

    private static func bytes(_ uuid: UUID) -> [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> Int? { a < b ? -1 : (a == b ? 0 : (a > b ? 1 : nil)) }

    private static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a == b ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1)
    }

    /// The keys that a request should give.
    static func keys(_ request: FetchRequest, among objects: [(id: ObjectID, values: [String: Value])]) -> [Int64] {
        var found = objects.filter { object in request.predicate.map { matches($0, object.id, object.values) } ?? true }
        found.sort { left, right in
            for descriptor in request.sortDescriptors {
                let order = totalOrder(
                    value(.keyPath(descriptor.key.split(separator: ".").map(String.init)), left.id, left.values),
                    value(.keyPath(descriptor.key.split(separator: ".").map(String.init)), right.id, right.values))
                if order != 0 { return descriptor.isAscending ? order < 0 : order > 0 }
            }
            return left.id.key < right.id.key
        }
        return found.map(\.id.key).dropFirst(request.fetchOffset).prefix(request.fetchLimit ?? .max).map { $0 }
    }

    /// Null before everything, NaN after every number.
    private static func totalOrder(_ left: Value, _ right: Value) -> Int {
        func rank(_ value: Value) -> Int {
            switch value {
            case .null: 0
            case .double(let number) where number.isNaN: 2
            case .date(let date) where date.timeIntervalSinceReferenceDate.isNaN: 2
            case .decimal(let number) where number.isNaN: 2
            default: 1
            }
        }
        let (a, b) = (rank(left), rank(right))
        return a == b ? (a == 1 ? order(left, right) ?? 0 : 0) : (a < b ? -1 : 1)
    }
}
