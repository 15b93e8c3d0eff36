internal import RoostCore
internal import RoostPredicates

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
            hint = "; the source element '\(identifier)' has the renaming identifier '\(named)', so use '\(named)'."
        } else if let near = nearestName(to: identifier, among: known) {
            hint = "; did you mean '\(near)'?"
        } else {
            hint = "."
        }
        return "Renaming identifier '\(identifier)' matches nothing in the source, so the element is new\(hint)"
    }

    /// Adds remarks on the uniqueness constraints that source objects may violate.
    mutating func judgeConstraints() {
        for constraint in destination.uniquenessConstraints {
            let entity = destination.entities[constraint.entity]
            let fed = entity.selfAndSubentities.flatMap { byDestination[destination.entities[$0].name] ?? [] }
                .filter { $0.mapping.sourceEntity != nil }
            guard !fed.isEmpty, !isEnsured(constraint, by: fed, ignoringValues: false) else { continue }
            let names = constraint.attributes.joined(separator: ", ")
            let message =
                isEnsured(constraint, by: fed, ignoringValues: true)
                ? "The migration computes or changes values of the uniqueness constraint on \(names): it fails if two objects share the new values."
                : "The uniqueness constraint on \(names) is new: the migration fails if two objects share the values."
            var remark = MappingRemark(.demand, entity: entity.name.text, message: message)
            remark.constraint = constraint.number
            add(remark)
        }
    }

    /// Returns whether one source constraint ensures a constraint for the objects of all mappings.
    ///
    /// Two constraints that each hold for half of the objects do not ensure uniqueness together. If
    /// `ignoresValues` is true, assumes that the mappings change no values.
    private func isEnsured(
        _ constraint: ManagedObjectModel.UniquenessConstraint, by mappings: [Mapping],
        ignoringValues ignoresValues: Bool
    ) -> Bool {
        var kept: Set<Int>?
        for mapping in mappings {
            let binding = binding(constraint, mapping: mapping, ignoresValues: ignoresValues)
            kept = kept?.intersection(binding) ?? binding
        }
        return !(kept?.isEmpty ?? true)
    }

    /// Returns the numbers of the source constraints that ensure this constraint after a mapping.
    private func binding(
        _ constraint: ManagedObjectModel.UniquenessConstraint, mapping: Mapping, ignoresValues: Bool
    ) -> Set<Int> {
        guard let origin = mapping.mapping.sourceEntity.flatMap(source.entity),
            let entity = mapping.mapping.destinationEntity.flatMap(destination.entity)
        else { return [] }
        let old: [String] = constraint.attributes.compactMap { name in
            let value = mapping.value(of: name)
            let isSameName = mapping.mapping.type == .copy || entity.computes(name)
            let old = isSameName ? name : value?.sourceAttribute ?? value?.relatedSourceRelationship
            return old.flatMap { ignoresValues || keepsDifferences($0, of: origin, as: name, of: entity) ? $0 : nil }
        }
        guard old.count == constraint.attributes.count else { return [] }
        return Set(
            origin.uniquenessConstraints.filter { Set($0.attributes).isSubset(of: old) }.map(\.number))
    }

    /// Returns whether different values of a source attribute become different values of a
    /// destination attribute.
    ///
    /// A constraint allows several nulls, but a default replaces all of them by one value. A type
    /// with fewer values can make different values equal.
    private func keepsDifferences(
        _ old: String, of origin: Entity, as new: String, of entity: Entity
    ) -> Bool {
        guard let new = entity.attribute(atPath: new) else { return true }
        guard new.derivationExpression == nil else { return false }
        guard let old = origin.attribute(atPath: old) else { return true }
        if old.isOptional, !new.isOptional, !new.defaultValue.isNull { return false }
        return old.type.widens(to: new.type) || old.type.convertsWhereExact(to: new.type)
    }
}
