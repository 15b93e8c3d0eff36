internal import RoostCore
internal import RoostQuery

/// A plan for answering a request.
struct PlannedFetch {
    let entity: ManagedObjectModel.Entity
    /// The request, compiled.
    let request: CheckedFetchRequest
    /// The parts of the predicate, which must all be true.
    let conjuncts: [FetchRequest.Predicate]
    /// The access to the objects that can meet them; nil when all objects are read.
    let choice: AccessChoice?
    /// The order in which an index finds them; nil when they are sorted afterwards.
    let order: IndexOrder?

    /// Whether the predicate is true for everything that the access finds, except for objects of
    /// other entities.
    var isDecided: Bool { choice.map { $0.decided.count == conjuncts.count } ?? conjuncts.isEmpty }

    /// The rest of the request, to be applied to the objects found.
    ///
    /// Conditions that the access decides through other objects are left out, since they would read
    /// those objects once more. The others are cheap and checked again.
    var remainder: CheckedFetchRequest {
        get throws(StoreError) {
            let rest = order == nil ? request : request.withoutOrder
            guard let choice, choice.access.leadsThroughObjects else { return rest }
            return try rest.with(.and(conjuncts.indices.filter { !choice.decided.contains($0) }.map { conjuncts[$0] }))
        }
    }

    /// The plan as it is reported.
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
