package import RoostCore

/// Finds an attribute for which an index would make a request faster.
package enum MissingIndex {
    /// Returns the first attribute that a condition compares without an index, for example
    /// `Artist.country`.
    ///
    /// Returns nil if the plan already uses an index or a relationship, or if no new index would
    /// help.
    package static func attribute(
        _ plan: FetchPlan, for request: FetchRequest, model: ManagedObjectModel
    ) -> String? {
        guard let entity = model.entity(request.entity) else { return nil }
        for access in plan.access {
            switch access {
            case .index, .relationship, .nothing: return nil
            case .scan, .keys, .statement: continue
            }
        }
        for condition in request.predicate?.conjuncts ?? [] {
            guard case .comparison(let comparison) = condition, canUseIndex(comparison),
                case .keyPath(let names) = comparison.left,
                let path = try? ResolvedPath(names, from: entity.number, model: model), path.collectionOperator == nil,
                case .field(let field) = path.end
            else { continue }
            let owner = model.entities[path.entity]
            guard owner.attribute(field.name) != nil, !isIndexed(field.name, of: owner) else { continue }
            return "\(owner.name).\(field.name)"
        }
        return nil
    }

    /// Whether the matching objects would be in few contiguous ranges of an index.
    private static func canUseIndex(_ comparison: FetchRequest.Comparison) -> Bool {
        guard comparison.options.isEmpty, comparison.modifier != .all else { return false }
        switch comparison.operator {
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .isIn, .beginsWith: return true
        case .notEqual, .contains, .endsWith, .like, .matches: return false
        }
    }

    /// Whether an index or a uniqueness constraint of the entity begins with the given property.
    package static func isIndexed(_ name: String, of entity: ManagedObjectModel.Entity) -> Bool {
        entity.fetchIndexes.contains { $0.declaration.elements.first?.property == name }
            || entity.uniquenessConstraints.contains { $0.attributes.first == name }
    }
}
