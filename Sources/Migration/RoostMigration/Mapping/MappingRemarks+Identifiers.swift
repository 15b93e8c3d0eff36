internal import RoostCore
internal import RoostPredicates

// Remarks on renaming identifiers that match nothing, and on new uniqueness constraints.
extension MappingRemarks {
    /// Adds notes on renaming identifiers that match nothing.
    ///
    /// An element with such an identifier counts as new, which is probably unintended.
    mutating func judgeIdentifiers(of entity: Entity) {
        let declaration = entity.declaration
        let origins = byDestination[entity.name] ?? []
        if let identifier = declaration.renamingIdentifier, identifier != declaration.name,
            origins.allSatisfy({ $0.mapping.sourceEntity == nil })
        {
            let known = source.entities.map(\.declaration)
            add(
                .note, entity: entity.name, property: nil,
                message: Self.unmatched(
                    identifier, known: known.map(\.identifier), named: known.first { $0.name == identifier }?.identifier
                ))
        }
        for mapping in origins where mapping.mapping.type == .transform {
            guard let origin = mapping.mapping.sourceEntity.flatMap(source.entity) else { continue }
            for attribute in entity.attributes where attribute.isStored {
                guard let identifier = attribute.renamingIdentifier, identifier != attribute.name,
                    mapping.value(of: attribute.name) == nil,
                    !origin.attributes.contains(where: { $0.identifier == identifier })
                else { continue }
                let near = origin.attribute(identifier)?.identifier
                add(
                    .note, entity: entity.name, property: attribute.name,
                    message: Self.unmatched(identifier, known: origin.attributes.map(\.identifier), named: near))
            }
            for relationship in entity.relationships.map(\.declaration) {
                guard let identifier = relationship.renamingIdentifier, identifier != relationship.name,
                    mapping.value(of: relationship.name) == nil,
                    !origin.relationships.contains(where: { $0.declaration.identifier == identifier })
                else { continue }
                let near = origin.relationship(identifier)?.declaration.identifier
                add(
                    .note, entity: entity.name, property: relationship.name,
                    message: Self.unmatched(
                        identifier, known: origin.relationships.map(\.declaration.identifier), named: near))
            }
        }
    }

    private static func unmatched(_ identifier: String, known: [String], named: String?) -> String {
        let hint: String
        if let named {
            hint = "; the element with that name is known as '\(named)' there, so keep that identifier."
        } else if let near = nearestName(to: identifier, among: known) {
            hint = "; did you mean '\(near)'?"
        } else {
            hint = "."
        }
        return "Renaming identifier '\(identifier)' matches nothing in the source, so this is new\(hint)"
    }

    mutating func judgeConstraints() {
        for constraint in destination.uniquenessConstraints {
            let entity = destination.entities[constraint.entity]
            let fed = entity.selfAndSubentities.flatMap { byDestination[destination.entities[$0].name] ?? [] }
                .filter { $0.mapping.sourceEntity != nil }
            // One source constraint must hold for all the objects. Two constraints that each hold
            // for half of them do not ensure uniqueness together.
            var kept: Set<Int>?
            for mapping in fed {
                kept =
                    kept?.intersection(binding(constraint, mapping: mapping)) ?? binding(constraint, mapping: mapping)
            }
            guard kept?.isEmpty ?? false else { continue }
            var remark = MappingRemark(
                .demand, entity: entity.name.text,
                message:
                    "The uniqueness constraint on \(constraint.attributes.joined(separator: ", ")) is new: the migration fails if two objects share the values."
            )
            remark.constraint = constraint.number
            add(remark)
        }
    }

    /// Returns the numbers of the source constraints that ensure this constraint after a mapping.
    private func binding(
        _ constraint: ManagedObjectModel.UniquenessConstraint, mapping: Mapping
    ) -> Set<Int> {
        guard let origin = mapping.mapping.sourceEntity.flatMap(source.entity) else { return [] }
        let old: [String] = constraint.attributes.compactMap { name in
            if mapping.mapping.type == .copy { return name }
            let value = mapping.value(of: name)
            return value?.sourceAttribute ?? value?.relatedSourceRelationship
        }
        guard old.count == constraint.attributes.count else { return [] }
        return Set(
            origin.uniquenessConstraints.filter { Set($0.attributes).isSubset(of: old) }.map(\.number))
    }
}
