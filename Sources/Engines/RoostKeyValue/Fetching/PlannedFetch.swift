internal import RoostCore
internal import RoostQuery

/// How the answer to a request is found.
struct PlannedFetch {
    let entity: ManagedObjectModel.Entity
    /// The request, compiled.
    let request: CheckedFetchRequest
    /// The parts all of which the predicate asks for.
    let conjuncts: [FetchRequest.Predicate]
    /// The way to the objects that can meet them; nil when all objects are read.
    let choice: AccessChoice?
    /// How they are found in the request's order; nil when that comes afterwards.
    let order: IndexOrder?

    /// Whether everything that the way leads to is asked for, objects of other entities aside.
    var isDecided: Bool { choice.map { $0.decided.count == conjuncts.count } ?? conjuncts.isEmpty }

    /// What remains of the request to be done on the objects found.
    ///
    /// What the way decides by other objects is left out, for it would read them once more; the rest is cheap, and checked again.
    var remainder: CheckedFetchRequest {
        get throws(StoreError) {
            let rest = order == nil ? request : request.withoutOrder
            guard let choice, choice.access.leadsThroughObjects else { return rest }
            return try rest.with(.and(conjuncts.indices.filter { !choice.decided.contains($0) }.map { conjuncts[$0] }))
        }
    }

    /// The plan as it is told.
    var description: FetchPlan {
        func parts(_ areDecided: Bool) -> [String] {
            conjuncts.indices.filter { (choice?.decided.contains($0) ?? false) == areDecided }
                .map { FetchPlan.describe(conjuncts[$0], of: request.request, model: request.model) }
        }
        return FetchPlan(
            access: choice?.access.descriptions(request.model) ?? [.scan], decidedByAccess: parts(true),
            filteredAfterwards: parts(false),
            order: order == nil ? .afterwards(request.request) : .asFound)
    }
}

extension KeyAccess {
    /// Whether objects of the entity are found by way of other ones.
    var leadsThroughObjects: Bool {
        switch self {
        case .sources: true
        case .union(let members): members.contains(where: \.leadsThroughObjects)
        case .nothing, .keys, .entries, .references: false
        }
    }
}
