internal import Foundation
internal import RoostCore

extension QueryGenerator {
    mutating func rowsRequest() -> RowRequest {
        var request = RowRequest(request())
        request.sortDescriptors = []
        guard let entity = model.entity(request.entity) else { return request }
        if random.oneIn(2) { makeGroups(&request, entity: entity) } else { makeColumns(&request, entity: entity) }
        if random.oneIn(2) {
            let names = request.propertiesToFetch.map(\.name).filter { !$0.hasPrefix("object") }
            if !names.isEmpty {
                request.sortDescriptors = (0...random.below(2)).map { _ in
                    .init(random.pick(names), ascending: random.oneIn(2))
                }
            }
        }
        request.returnsDistinctResults = random.oneIn(4)
        return request
    }

    private mutating func makeColumns(_ request: inout RowRequest, entity: ManagedObjectModel.Entity) {
        let scope = Scope(entity: entity, depth: 1)
        for index in 0...random.below(3) {
            let column: FetchRequest.FetchedProperty =
                switch random.below(5) {
                case 0: .init("object\(index)", expression: toOnePath(entity) ?? .evaluatedObject)
                case 1, 2: .init("c\(index)", expression: scalar(random.pick(Kind.allCases), scope: scope))
                default: .init("c\(index)", expression: groupable(entity) ?? .constant(.int(1)))
                }
            request.propertiesToFetch.append(column)
        }
    }

    private mutating func makeGroups(_ request: inout RowRequest, entity: ManagedObjectModel.Entity) {
        for index in 0..<random.below(3) {
            guard let key = groupable(entity) else { continue }
            request.propertiesToGroupBy.append(key)
            if !random.oneIn(4) { request.propertiesToFetch.append(.init("c\(index)", expression: key)) }
        }
        for index in 0...random.below(3) {
            request.propertiesToFetch.append(.init("a\(index)", expression: aggregate(entity)))
        }
        if !request.propertiesToGroupBy.isEmpty, random.oneIn(3), let last = request.propertiesToFetch.last {
            let left: Expression = random.oneIn(2) ? .keyPath([last.name]) : last.expression
            let condition = Predicate.comparison(
                .init(left: left, operator: random.pick(Self.orders), right: .constant(.int(Int64(random.below(4))))))
            func one(_ comparison: Comparison.Operator) -> Predicate {
                .comparison(.init(left: left, operator: comparison, right: .constant(1)))
            }
            request.havingPredicate =
                switch random.below(6) {
                case 0: .not(condition)
                case 1: .and([condition, one(.notEqual)])
                case 2: .or([condition, one(.equal)])
                default: condition
                }
        }
    }

    /// Returns an aggregate over the objects of a group, sometimes combined with a count.
    private mutating func aggregate(_ entity: ManagedObjectModel.Entity) -> Expression {
        let functions: [FetchRequest.Function] = [.sum, .count, .minimum, .maximum, .average, .median, .mode]
        guard !random.oneIn(5), let field = path(.number, entity: entity) else {
            return .function(.count, [.evaluatedObject])
        }
        let one = Expression.function(random.pick(functions), [field])
        guard random.oneIn(5) else { return one }
        return .function(random.pick([.add, .multiply, .subtract]), [one, .function(.count, [field])])
    }

    /// Returns an expression by which objects can be grouped.
    private mutating func groupable(_ entity: ManagedObjectModel.Entity) -> Expression? {
        path(random.pick(Kind.allCases), entity: entity)
    }
}
