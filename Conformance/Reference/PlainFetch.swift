internal import Foundation
internal import RoostCore

/// The results of a fetch request, computed from decoded values.
struct PlainFetch {
    private let graph: PlainGraph
    private let evaluator: PlainPredicate

    init(_ graph: PlainGraph, text: PlainText = PlainText()) {
        self.graph = graph
        evaluator = PlainPredicate(graph, text: text, now: Date(), functions: CampaignFunctions.all)
    }

    /// Returns all objects that meet the predicate, sorted; limit and offset are ignored.
    private func objects(_ request: FetchRequest) throws(StoreError) -> [PlainGraph.Object] {
        let entity = try graph.model.requireEntity(request.entity)
        var found: [(object: PlainGraph.Object, keys: [Value])] = []
        for object in graph.objects(of: entity, includingSubentities: request.includesSubentities) {
            let scope = PlainPredicate.Scope(object: .objectID(object.id), entity: entity.number)
            if let predicate = request.predicate, try !evaluator.matches(predicate, scope: scope) { continue }
            var keys: [Value] = []
            for descriptor in request.sortDescriptors {
                let path = descriptor.key.split(separator: ".").map(String.init)
                keys.append(try evaluator.value(.keyPath(path), scope: scope).single)
            }
            found.append((object, keys))
        }
        found.sort { left, right in
            for (index, descriptor) in request.sortDescriptors.enumerated() {
                let order = evaluator.rank(left.keys[index], right: right.keys[index], options: descriptor.options)
                if order != 0 { return descriptor.isAscending ? order < 0 : order > 0 }
            }
            return left.object.id.key < right.object.id.key
        }
        return found.map(\.object)
    }

    func keys(_ request: FetchRequest) throws(StoreError) -> [Int64] {
        try objects(request).map(\.id.key).dropFirst(request.fetchOffset ?? 0).prefix(request.fetchLimit ?? .max)
            .map { $0 }
    }
}

extension PlainPredicate {
    /// Returns the keys of the given objects that a request fetches.
    ///
    /// The objects have no links.
    static func keys(
        _ request: FetchRequest, among objects: [(id: ObjectID, values: [String: Value])], in model: ManagedObjectModel
    ) throws(StoreError) -> [Int64] {
        var request = request
        // The objects may be of another entity with the same properties.
        if let id = objects.first?.id, model.entity(id.entity)?.root != model.entity(request.entity)?.root {
            request.entity = id.entity
        }
        return try PlainFetch(PlainGraph(model: model, list: objects)).keys(request)
    }
}
