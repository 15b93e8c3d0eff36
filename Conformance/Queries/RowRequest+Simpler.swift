internal import RoostCore

extension RowRequest {
    /// Requests with one part less, or with a simpler part.
    var simpler: [RowRequest] {
        var result: [RowRequest] = []
        func add(_ change: (inout RowRequest) -> Void) {
            var copy = self
            change(&copy)
            if copy != self { result.append(copy) }
        }
        add { $0.predicate = nil }
        add { $0.sortDescriptors = [] }
        add { $0.fetchLimit = nil }
        if fetchRequest.fetchLimit ?? 0 > 1 { add { $0.fetchLimit = 1 } }
        add { $0.fetchOffset = nil }
        if fetchRequest.fetchOffset ?? 0 > 1 { add { $0.fetchOffset = 1 } }
        add { $0.includesSubentities = true }
        add { $0.havingPredicate = nil }
        add { $0.returnsDistinctResults = false }
        if propertiesToFetch.count > 1 {
            for index in propertiesToFetch.indices { add { $0.propertiesToFetch.remove(at: index) } }
        }
        for index in propertiesToGroupBy.indices { add { $0.propertiesToGroupBy.remove(at: index) } }
        for index in fetchRequest.sortDescriptors.indices { add { $0.sortDescriptors.remove(at: index) } }
        for simpler in havingPredicate?.simpler ?? [] { add { $0.havingPredicate = simpler } }
        for simpler in fetchRequest.predicate?.simpler ?? [] { add { $0.predicate = simpler } }
        return result
    }
}

extension FetchRequest.Predicate {
    /// Predicates with one part less, or with a constant for a comparison.
    var simpler: [Self] {
        switch self {
        case .constant: return []
        case .and(let members):
            return members + Self.parts(members).map { .and($0) }
        case .or(let members):
            return members + Self.parts(members).map { .or($0) }
        case .not(let member): return [member] + member.simpler.map { .not($0) }
        case .comparison(let comparison):
            var result: [Self] = [.constant(true), .constant(false)]
            result += comparison.left.conditions + comparison.right.conditions
            func add(_ change: (inout FetchRequest.Comparison) -> Void) {
                var copy = comparison
                change(&copy)
                if copy != comparison { result.append(.comparison(copy)) }
            }
            add { $0.options = [] }
            for left in comparison.left.simpler { add { $0.left = left } }
            for right in comparison.right.simpler { add { $0.right = right } }
            return result
        }
    }

    /// Returns lists without one element, or with a simpler one.
    private static func parts(_ members: [Self]) -> [[Self]] {
        members.indices.map { index in
            var fewer = members
            fewer.remove(at: index)
            return fewer
        }
            + members.indices.flatMap { index in
                members[index].simpler.map { simpler in
                    var changed = members
                    changed[index] = simpler
                    return changed
                }
            }
    }
}

extension FetchRequest.Expression {
    /// The condition of a conditional expression.
    fileprivate var conditions: [FetchRequest.Predicate] {
        switch self {
        case .conditional(let condition, _, _): [condition]
        default: []
        }
    }

    /// Expressions with one part less, which may be invalid.
    fileprivate var simpler: [Self] {
        func each(_ list: [Self], _ make: ([Self]) -> Self) -> [Self] {
            list.indices.flatMap { index in
                list[index].simpler.map { simpler in
                    var changed = list
                    changed[index] = simpler
                    return make(changed)
                }
            }
        }
        switch self {
        case .constant, .evaluatedObject, .variable: return []
        case .keyPath(let names): return names.count > 1 ? [.keyPath(Array(names.dropLast()))] : []
        case .path(let start, let names):
            var result: [Self] = [start]
            if names.count > 1 { result.append(.path(of: start, Array(names.dropLast()))) }
            if start == .evaluatedObject { result.append(.keyPath(names)) }
            if case .keyPath(let first) = start { result.append(.keyPath(first + names)) }
            return result + start.simpler.map { .path(of: $0, names) }
        case .aggregate(let members):
            return members.indices.map { index in
                var fewer = members
                fewer.remove(at: index)
                return .aggregate(fewer)
            } + each(members) { .aggregate($0) }
        case .function(let function, let arguments): return arguments + each(arguments) { .function(function, $0) }
        case .registered(let name, let arguments): return arguments + each(arguments) { .registered(name, $0) }
        case .cast(let source, let type): return [source] + source.simpler.map { .cast($0, type) }
        case .subquery(let collection, let variable, let predicate):
            return [collection]
                + predicate.simpler.map { .subquery(collection, variable: variable, $0) }
                + collection.simpler.map { .subquery($0, variable: variable, predicate) }
        case .conditional(let condition, let first, let second):
            return [first, second] + condition.simpler.map { .conditional($0, first, second) }
                + first.simpler.map { .conditional(condition, $0, second) }
                + second.simpler.map { .conditional(condition, first, $0) }
        case .element(let list, let index): return list.simpler.map { .element(of: $0, index) }
        case .setOperation(let operation, let left, let right):
            return [left, right] + left.simpler.map { .setOperation(operation, $0, right) }
                + right.simpler.map { .setOperation(operation, left, $0) }
        }
    }
}
