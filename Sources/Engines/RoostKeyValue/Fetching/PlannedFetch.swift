internal import RoostCore
internal import RoostQuery

/// A plan for answering a request.
struct PlannedFetch {
    let entity: ManagedObjectModel.Entity
    /// The compiled request.
    let request: CheckedFetchRequest
    /// The conjuncts of the predicate, which must all be true.
    let conjuncts: [FetchRequest.Predicate]
    /// The access to the objects that can match the conjuncts; nil if all objects are read.
    let choice: AccessChoice?
    /// The order in which an index finds the objects; nil if they are sorted afterwards.
    let order: IndexOrder?

    /// Whether the predicate is true for all objects that the access finds, except for objects of
    /// other entities.
    var isDecided: Bool { choice.map { $0.decided.count == conjuncts.count } ?? conjuncts.isEmpty }

    /// The rest of the request, which is applied to the objects found.
    ///
    /// After an access through related objects, the conditions that it decides are omitted:
    /// checking them would read the related objects again. After any other access, none are
    /// omitted.
    var remainder: CheckedFetchRequest {
        get throws(StoreError) {
            let rest = order == nil ? request : request.withoutOrder
            guard let choice, choice.access.leadsThroughObjects else { return rest }
            return try rest.with(.and(conjuncts.indices.filter { !choice.decided.contains($0) }.map { conjuncts[$0] }))
        }
    }

    /// The public description of the plan.
    var description: FetchPlan {
        func parts(areDecided: Bool) -> [String] {
            conjuncts.indices.filter { (choice?.decided.contains($0) ?? false) == areDecided }
                .map { FetchPlan.describe(conjuncts[$0], of: request.request, model: request.model) }
        }
        return FetchPlan(
            access: choice?.access.descriptions(request.model) ?? [.scan], decidedByAccess: parts(areDecided: true),
            filteredAfterwards: parts(areDecided: false),
            order: order == nil ? .afterwards(request.request) : .asFound)
    }
}

extension KeyAccess {
    /// Whether objects of the entity are found through related objects.
    var leadsThroughObjects: Bool {
        switch self {
        case .sources: true
        case .union(let members): members.contains(where: \.leadsThroughObjects)
        case .nothing, .keys, .entries, .references: false
        }
    }
}
