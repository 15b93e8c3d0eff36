internal import Foundation
internal import RoostCore
internal import RoostQuery

/// The results of a request for rows, computed from decoded values.
struct PlainRows {
    private let graph: PlainGraph
    private let evaluator: PlainPredicate

    init(_ graph: PlainGraph, text: PlainText = PlainText()) {
        self.graph = graph
        evaluator = PlainPredicate(graph, text: text, now: Date(), functions: CampaignFunctions.all)
    }

    private static let aggregates: Set<FetchRequest.Function> = [
        .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation,
    ]

    /// Returns the values of each row in the order of the columns.
    func rows(_ request: RowRequest) throws(StoreError) -> [[Value]] {
        let entity = try graph.model.requireEntity(request.entity)
        var members: [PlainPredicate.Scope] = []
        for object in graph.objects(of: entity, includingSubentities: request.includesSubentities) {
            let scope = PlainPredicate.Scope(object: .objectID(object.id), entity: entity.number)
            if let predicate = request.predicate, try !evaluator.matches(predicate, scope: scope) { continue }
            members.append(scope)
        }
        var rows: [(values: [Value], keys: [Value])] = []
        var isGrouped = !request.propertiesToGroupBy.isEmpty
        for property in request.propertiesToFetch where try hasAggregate(property.expression, entity: entity.number) {
            isGrouped = true
        }
        for group in try isGrouped ? groups(members, by: request.propertiesToGroupBy) : members.map({ [$0] }) {
            var values: [Value] = []
            for property in request.propertiesToFetch {
                values.append(
                    isGrouped
                        ? try value(
                            property.expression, of: group, entity: entity.number, request: request, columns: values)
                        : try evaluator.value(property.expression, scope: group[0]).single)
            }
            if let condition = request.havingPredicate,
                try !meets(condition, group: group, entity: entity.number, request: request, columns: values)
            {
                continue
            }
            var keys: [Value] = []
            for descriptor in request.sortDescriptors {
                if let column = request.propertiesToFetch.firstIndex(where: { $0.name == descriptor.key }) {
                    keys.append(values[column])
                } else {
                    let path = descriptor.key.split(separator: ".").map(String.init)
                    keys.append(try evaluator.value(.keyPath(path), scope: group[0]).single)
                }
            }
            rows.append((values, keys))
        }
        let sorted = rows.enumerated().sorted { left, right in
            for (index, descriptor) in request.sortDescriptors.enumerated() {
                let order = evaluator.rank(
                    left.element.keys[index], right: right.element.keys[index], options: descriptor.options)
                if order != 0 { return descriptor.isAscending ? order < 0 : order > 0 }
            }
            return left.offset < right.offset
        }
        var result = sorted.map(\.element.values)
        if request.returnsDistinctResults {
            var first: [[Value]] = []
            var keys: [[Value]] = []
            for row in result {
                let key = row.map { named($0) }
                guard !keys.contains(where: { Self.areSame($0, key) }) else { continue }
                keys.append(key)
                first.append(row)
            }
            result = first
        }
        return Array(result.dropFirst(request.fetchOffset ?? 0).prefix(request.fetchLimit ?? .max))
    }

    /// Returns the value with root entities in its object IDs.
    ///
    /// All IDs of an object are then equal.
    private func named(_ value: Value) -> Value {
        switch value {
        case .objectID(let id):
            guard let entity = graph.model.entity(id.entity) else { return value }
            return .objectID(ObjectID(graph.model.entities[entity.root].name, key: id.key))
        case .composite(let elements): return .composite(elements.mapValues { named($0) })
        default: return value
        }
    }

    /// Returns whether rows are equal: null equals null, NaN equals NaN, and both zeros are equal.
    static func areSame(_ left: [Value], _ right: [Value]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    }

    private static func isSame(_ left: Value, _ right: Value) -> Bool {
        if let a = left.plainText, let b = right.plainText { return a.utf8.elementsEqual(b.utf8) }
        return left == right || (PlainValue.isNaN(left) && PlainValue.isNaN(right))
            || PlainNumber.order(left, right) == 0
            || PlainValue.order(left, right) == 0
    }

    /// Returns groups of objects with equal values, in the order of their first objects.
    ///
    /// Without properties there is one group.
    private func groups(
        _ members: [PlainPredicate.Scope], by properties: [FetchRequest.Expression]
    ) throws(StoreError) -> [[PlainPredicate.Scope]] {
        guard !properties.isEmpty else { return [members] }
        var groups: [(key: [Value], members: [PlainPredicate.Scope])] = []
        for member in members {
            var key: [Value] = []
            for property in properties { key.append(named(try evaluator.value(property, scope: member).single)) }
            if let index = groups.firstIndex(where: { Self.areSame($0.key, key) }) {
                groups[index].members.append(member)
            } else {
                groups.append((key, [member]))
            }
        }
        return groups.map(\.members)
    }

    /// Returns whether an expression contains an aggregate over objects.
    private func hasAggregate(_ expression: FetchRequest.Expression, entity: Int) throws(StoreError) -> Bool {
        guard case .function(let function, let arguments) = expression else { return false }
        if try isAggregate(function, arguments: arguments, entity: entity) { return true }
        for argument in arguments where try hasAggregate(argument, entity: entity) { return true }
        return false
    }

    /// Returns whether a function aggregates one value per object, not the values of a collection.
    private func isAggregate(
        _ function: FetchRequest.Function, arguments: [FetchRequest.Expression], entity: Int
    ) throws(StoreError) -> Bool {
        guard Self.aggregates.contains(function), let argument = arguments.first else { return false }
        switch argument {
        case .evaluatedObject: return true
        case .keyPath(let names): return try !ResolvedPath(names, from: entity, model: graph.model).isCollection
        default: return false
        }
    }

    /// Returns the value of a column for a group.
    ///
    /// Evaluates aggregates over all objects of the group, and other parts of the expression on the
    /// group's first object.
    private func value(
        _ expression: FetchRequest.Expression, of group: [PlainPredicate.Scope], entity: Int,
        request: RowRequest, columns: [Value]
    ) throws(StoreError) -> Value {
        if case .keyPath(let names) = expression, names.count == 1,
            let column = request.propertiesToFetch.firstIndex(where: { $0.name == names[0] }), column < columns.count
        {
            return columns[column]
        }
        guard case .function(let function, let arguments) = expression else {
            guard let first = group.first else {
                if case .constant(let value) = expression { return value }
                return .null
            }
            return try evaluator.value(expression, scope: first).single
        }
        if try isAggregate(function, arguments: arguments, entity: entity) {
            var values: [Value] = []
            for member in group { values.append(try evaluator.value(arguments[0], scope: member).single) }
            return PlainNumber.aggregate(function, of: values)
        }
        var constants: [FetchRequest.Expression] = []
        for argument in arguments {
            constants.append(
                .constant(try value(argument, of: group, entity: entity, request: request, columns: columns)))
        }
        let scope = PlainPredicate.Scope(object: .null, entity: entity)
        return try evaluator.value(.function(function, constants), scope: scope).single
    }

    private func meets(
        _ predicate: FetchRequest.Predicate, group: [PlainPredicate.Scope], entity: Int, request: RowRequest,
        columns: [Value]
    ) throws(StoreError) -> Bool {
        switch predicate {
        case .constant(let truth): return truth
        case .and(let members):
            for member in members
            where try !meets(member, group: group, entity: entity, request: request, columns: columns) { return false }
            return true
        case .or(let members):
            for member in members
            where try meets(member, group: group, entity: entity, request: request, columns: columns) { return true }
            return false
        case .comparison(var comparison):
            comparison.left = .constant(
                try value(comparison.left, of: group, entity: entity, request: request, columns: columns))
            comparison.right = .constant(
                try value(comparison.right, of: group, entity: entity, request: request, columns: columns))
            return try evaluator.matches(
                .comparison(comparison), scope: PlainPredicate.Scope(object: .null, entity: entity))
        case .not(let member):
            return try !meets(member, group: group, entity: entity, request: request, columns: columns)
        }
    }
}
