internal import RoostCore

/// The mandatory relationships that at least one mapping to their entity does not set.
///
/// Relationships have no default, so these stay empty unless their inverses set them.
struct EmptyRelationships {
    private let members: [(entity: ManagedObjectModel.Entity, relationship: ManagedObjectModel.Relationship)]

    /// Finds the relationships, ignoring mappings with policies: their objects are validated.
    init(_ mapping: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel) {
        var members: [(ManagedObjectModel.Entity, ManagedObjectModel.Relationship)] = []
        for mapping in mapping.entityMappings where mapping.policyName == nil {
            guard let from = mapping.sourceEntity.flatMap(source.entity), !from.isAbstract,
                let to = mapping.destinationEntity.flatMap(destination.entity), !to.isAbstract
            else { continue }
            for relationship in to.relationships
            where relationship.mustLeadSomewhere && !mapping.says(relationship.name.name, of: from) {
                guard !members.contains(where: { $0.0.number == to.number && $0.1.number == relationship.number })
                else { continue }
                members.append((to, relationship))
            }
        }
        self.members = members
    }

    /// Returns one warning for each relationship that is empty in some objects of a finished
    /// destination.
    func warnings(_ store: any PersistentStore) throws(StoreError) -> [String] {
        guard !members.isEmpty else { return [] }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var warnings: [String] = []
        for (entity, relationship) in members {
            let name = relationship.name.name
            let isEmpty: FetchRequest.Predicate =
                relationship.isToMany ? .equal("\(name).@count", to: 0) : .isNull(name)
            let count = try snapshot.count(
                FetchRequest(entity.name, where: isEmpty).with { $0.includesSubentities = false })
            if count > 0 { warnings.append(Self.warning(name, of: entity.name.text, count: count)) }
        }
        return warnings
    }

    static func warning(_ relationship: String, of entity: String, count: Int) -> String {
        "The mandatory relationship '\(entity).\(relationship)' is empty in \(count) objects, because their mapping does not set it; set it in a mapping or a policy, or make it optional."
    }
}

extension EntityMapping {
    /// Returns whether the mapping sets a relationship; a constant null does not count.
    func says(_ relationship: String, of source: ManagedObjectModel.Entity) -> Bool {
        if type == .copy { return source.relationship(relationship) != nil }
        let expression = relationshipMappings.first { $0.name == relationship }?.valueExpression
        return expression.map { $0 != .constant(.null) } ?? false
    }
}

extension MappingRemark {
    /// Whether the remark is about a relationship that ``EmptyRelationships`` counts.
    var isAboutEmptyRelationship: Bool {
        property.map { self == .staysEmpty($0, of: EntityName(entity)) } ?? false
    }
}
