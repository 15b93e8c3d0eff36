internal import RoostCore
internal import RoostQuery

struct PlannedFetch {
    let entity: ManagedObjectModel.Entity
    let request: CheckedFetchRequest
    let conjuncts: [FetchRequest.Predicate]
    /// The access to the objects that can match; nil if all objects are read.
    let choice: AccessChoice?
    /// The index order that provides the request's order, or nil.
    let order: IndexOrder?

    /// Whether all found objects of the requested entity match the predicate.
    var isDecided: Bool { choice.map { $0.decided.count == conjuncts.count } ?? conjuncts.isEmpty }

    /// The rest of the request, which is applied to the objects found.
    ///
    /// The rest omits conditions that an access through related objects decides. Checking them
    /// would read the related objects again.
    var remainder: CheckedFetchRequest {
        get throws(StoreError) {
            let rest = order == nil ? request : request.withoutOrder
            guard let choice, choice.access.leadsThroughObjects else { return rest }
            return try rest.with(.and(conjuncts.indices.filter { !choice.decided.contains($0) }.map { conjuncts[$0] }))
        }
    }

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
    /// Whether the access, or a member of a union, first finds related objects with a request.
    var leadsThroughObjects: Bool {
        switch self {
        case .sources: true
        case .union(let members): members.contains(where: \.leadsThroughObjects)
        case .nothing, .keys, .entries, .references: false
        }
    }
}
