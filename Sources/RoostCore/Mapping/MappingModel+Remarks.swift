extension MappingModel {
    /// What migrations with this mapping model leave behind, what they ask of the data, and what looks like a mistake.
    ///
    /// Losses first, then demands, then notes. Of a policy it is assumed that it uses everything; and what an expression makes of a
    /// value is not judged.
    ///
    /// - Parameters:
    ///   - source: The model of the objects as they are.
    ///   - destination: The model that they shall have.
    /// - Returns: The remarks; none for what ``problems(from:to:)`` finds wrong already.
    public func remarks(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingRemark] {
        var remarks = MappingRemarks(self, source, destination)
        remarks.make()
        return MappingRemark.Kind.allCases.flatMap { kind in remarks.remarks.filter { $0.kind == kind } }
    }
}

/// Compares what the source has with what the mappings use, and what the destination needs with what they give.
private struct MappingRemarks {
    private typealias Entity = ManagedObjectModel.Entity

    private let mappings: [EntityMapping]
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    private(set) var remarks: [MappingRemark] = []

    init(_ model: MappingModel, _ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
        mappings = model.entityMappings
        (self.source, self.destination) = (source, destination)
    }

    mutating func make() {
        for entity in source.entities where !entity.isAbstract { judge(entity) }
        for mapping in mappings {
            guard let entity = mapping.destinationEntity.flatMap(destination.entity),
                let origin = mapping.sourceEntity.flatMap(source.entity)
            else { continue }
            judge(mapping, origin, entity)
        }
        for entity in destination.entities { judgeIdentifiers(of: entity) }
        judgeConstraints()
    }

    private mutating func add(
        _ kind: MappingRemark.Kind, _ entity: EntityName, _ property: String? = nil, _ message: String
    ) {
        let remark = MappingRemark(kind, entity: entity.text, property: property, message)
        if !remarks.contains(remark) { remarks.append(remark) }
    }

    // MARK: What is left behind

    private mutating func judge(_ entity: Entity) {
        let takers = mappings.filter { $0.sourceEntity == entity.name }
        guard takers.allSatisfy({ $0.policyName == nil }) else { return }
        let makers = takers.filter { $0.destinationEntity != nil }
        guard !makers.isEmpty else {
            add(.loss, entity.name, nil, "All objects of the entity are dropped.")
            return
        }
        if makers.allSatisfy({ $0.sourcePredicate != nil }) {
            add(.loss, entity.name, nil, "Objects that no mapping's predicate takes are dropped.")
        }
        guard !makers.contains(where: { $0.type == .copy }) else { return }
        let used = makers.reduce(into: Usage()) { $0.add($1) }
        guard !used.isEverything else { return }
        for attribute in entity.attributes where attribute.isStored && !used.properties.contains(attribute.name) {
            add(.loss, entity.name, attribute.name, "The attribute's values are dropped: no mapping reads them.")
        }
        for relationship in entity.relationships where !used.properties.contains(relationship.name.name) {
            guard !isReadFromTheOtherEnd(relationship) else { continue }
            add(
                .loss, entity.name, relationship.name.name,
                "The relationship's destinations are dropped: no mapping reads them.")
        }
    }

    /// What expressions read of a source object.
    private struct Usage {
        var properties: Set<String> = []
        var isEverything = false

        mutating func add(_ mapping: EntityMapping) {
            for property in mapping.attributeMappings + mapping.relationshipMappings {
                guard let expression = property.valueExpression else { continue }
                let parts = MappingExpressionParts(of: expression)
                properties.formUnion(parts.sourceProperties)
                if parts.takesSource { isEverything = true }
            }
        }
    }

    private func isReadFromTheOtherEnd(_ relationship: ManagedObjectModel.Relationship) -> Bool {
        guard let number = relationship.inverse else { return false }
        let inverse = source.relationships[number]
        let owners = source.entities[inverse.source].selfAndSubentities.map { source.entities[$0].name }
        return mappings.contains { mapping in
            guard let origin = mapping.sourceEntity, owners.contains(origin) else { return false }
            return mapping.type == .copy || mapping.policyName != nil
                || mapping.relationshipMappings.contains {
                    $0.valueExpression.map {
                        MappingExpressionParts(of: $0).sourceProperties.contains(inverse.name.name)
                    } ?? false
                }
        }
    }

    // MARK: What one mapping gives

    private mutating func judge(_ mapping: EntityMapping, _ origin: Entity, _ entity: Entity) {
        guard mapping.policyName == nil else { return }
        if entity.isAbstract, !origin.isAbstract {
            add(
                .demand, entity.name, nil,
                "The entity is abstract: the migration fails if '\(origin.name)' has objects of its own.")
        }
        guard mapping.type == .transform, !origin.isAbstract else { return }
        for attribute in entity.attributes where attribute.isStored {
            judge(attribute, of: entity, mapping, origin)
        }
        for property in mapping.relationshipMappings {
            guard let new = entity.relationship(property.name),
                let old = property.valueExpression?.relatedSourceRelationship.flatMap(origin.relationship)
            else { continue }
            judge(new, from: old, of: entity)
        }
        for relationship in entity.relationships where !relationship.declaration.isOptional {
            let name = relationship.name.name
            guard mapping.relationshipMappings.first(where: { $0.name == name })?.valueExpression == nil,
                relationship.inverse == nil || !isGiven(relationship)
            else { continue }
            add(.note, entity.name, name, "The relationship is mandatory, and stays empty in every object.")
        }
    }

    private mutating func judge(
        _ attribute: AttributeDescription, of entity: Entity, _ mapping: EntityMapping, _ origin: Entity
    ) {
        guard !attribute.isOptional, attribute.defaultValue.isNull, attribute.derivationExpression == nil else {
            return
        }
        guard let value = mapping.attributeMappings.first(where: { $0.name == attribute.name })?.valueExpression else {
            add(
                .demand, entity.name, attribute.name,
                "The attribute is mandatory, and nothing gives it a value: the migration fails if '\(origin.name)' has objects. Give it a default."
            )
            return
        }
        // Other expressions give what they give.
        guard let name = value.sourceAttribute, let old = origin.attribute(name), old.isOptional else { return }
        add(
            .demand, entity.name, attribute.name,
            "The attribute becomes mandatory: the migration fails if an object of '\(origin.name)' has no '\(name)'. Give it a default."
        )
    }

    private mutating func judge(
        _ new: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship, of entity: Entity
    ) {
        let heirs = Set(destination.entities[new.destination].selfAndSubentities.map { destination.entities[$0].name })
        let strays = source.entities[old.destination].selfAndSubentities.filter { number in
            let origin = source.entities[number]
            guard !origin.isAbstract else { return false }
            return !mappings.contains {
                $0.sourceEntity == origin.name && $0.destinationEntity.map(heirs.contains) ?? false
            }
        }
        if !strays.isEmpty {
            let names = strays.map { "'\(source.entities[$0].name)'" }.joined(separator: ", ")
            add(
                .loss, source.entities[old.source].name, old.name.name,
                "Destinations of \(names) are dropped: their objects do not become any that '\(entity.name).\(new.name.name)' can lead to."
            )
        }
        if old.isOrdered, !new.isOrdered, new.isToMany {
            add(.loss, source.entities[old.source].name, old.name.name, "The order of the destinations is dropped.")
        } else if new.isOrdered, !old.isOrdered, old.isToMany {
            add(.note, entity.name, new.name.name, "The destinations get an order, that of their keys.")
        }
    }

    /// Whether some mapping fills a relationship from its other end.
    private func isGiven(_ relationship: ManagedObjectModel.Relationship) -> Bool {
        guard let inverse = relationship.inverse.map({ destination.relationships[$0] }) else { return false }
        let owners = Set(
            destination.entities[inverse.source].selfAndSubentities.map { destination.entities[$0].name })
        return mappings.contains { mapping in
            guard let entity = mapping.destinationEntity, owners.contains(entity) else { return false }
            return mapping.type == .copy || mapping.policyName != nil
                || mapping.relationshipMappings.contains { $0.name == inverse.name.name && $0.valueExpression != nil }
        }
    }

    // MARK: Identifiers and constraints

    /// A renaming identifier that means nothing makes a new element, which is hardly what it was written for.
    private mutating func judgeIdentifiers(of entity: Entity) {
        let declaration = entity.declaration
        let origins = mappings.filter { $0.destinationEntity == entity.name }
        if let identifier = declaration.renamingIdentifier, identifier != declaration.name,
            origins.allSatisfy({ $0.sourceEntity == nil })
        {
            let known = source.entities.map(\.declaration)
            add(
                .note, entity.name, nil,
                Self.unmatched(identifier, known.map(\.identifier), known.first { $0.name == identifier }?.identifier))
        }
        for mapping in origins where mapping.type == .transform {
            guard let origin = mapping.sourceEntity.flatMap(source.entity) else { continue }
            for attribute in entity.attributes where attribute.isStored {
                guard let identifier = attribute.renamingIdentifier, identifier != attribute.name,
                    Self.isNew(attribute.name, among: mapping.attributeMappings),
                    !origin.attributes.contains(where: { $0.identifier == identifier })
                else { continue }
                let near = origin.attribute(identifier)?.identifier
                add(
                    .note, entity.name, attribute.name,
                    Self.unmatched(identifier, origin.attributes.map(\.identifier), near))
            }
            for relationship in entity.relationships.map(\.declaration) {
                guard let identifier = relationship.renamingIdentifier, identifier != relationship.name,
                    Self.isNew(relationship.name, among: mapping.relationshipMappings),
                    !origin.relationships.contains(where: { $0.declaration.identifier == identifier })
                else { continue }
                let near = origin.relationship(identifier)?.declaration.identifier
                add(
                    .note, entity.name, relationship.name,
                    Self.unmatched(identifier, origin.relationships.map(\.declaration.identifier), near))
            }
        }
    }

    private static func isNew(_ name: String, among mappings: [PropertyMapping]) -> Bool {
        mappings.first { $0.name == name }?.valueExpression == nil
    }

    private static func unmatched(_ identifier: String, _ known: [String], _ named: String?) -> String {
        let hint: String
        if let named {
            hint = "; the one of that name is known as '\(named)' there, which is the identifier to keep."
        } else if let near = nearestName(to: identifier, among: known) {
            hint = "; did you mean '\(near)'?"
        } else {
            hint = "."
        }
        return "Renaming identifier '\(identifier)' means nothing in the source, so this is new\(hint)"
    }

    private mutating func judgeConstraints() {
        for constraint in destination.uniquenessConstraints {
            let entity = destination.entities[constraint.entity]
            let heirs = entity.selfAndSubentities.map { destination.entities[$0].name }
            let fed = mappings.filter { mapping in
                mapping.sourceEntity != nil && mapping.destinationEntity.map(heirs.contains) ?? false
            }
            // One constraint of the source must bind all of them: two that bind a half each say nothing about both.
            var kept: Set<Int>?
            for mapping in fed {
                kept = kept?.intersection(binding(constraint, mapping)) ?? binding(constraint, mapping)
            }
            guard kept?.isEmpty ?? false else { continue }
            add(
                .demand, entity.name, nil,
                "The uniqueness constraint on \(constraint.attributes.joined(separator: ", ")) is new: the migration fails if two objects share the values."
            )
        }
    }

    /// The numbers of the source's constraints that objects must meet already, so that they meet this one after a mapping.
    private func binding(
        _ constraint: ManagedObjectModel.UniquenessConstraint, _ mapping: EntityMapping
    ) -> Set<Int> {
        guard let origin = mapping.sourceEntity.flatMap(source.entity) else { return [] }
        let old: [String] = constraint.attributes.compactMap { name in
            if mapping.type == .copy { return name }
            let properties = mapping.attributeMappings + mapping.relationshipMappings
            let value = properties.first { $0.name == name }?.valueExpression
            return value?.sourceAttribute ?? value?.relatedSourceRelationship
        }
        guard old.count == constraint.attributes.count else { return [] }
        return Set(
            origin.uniquenessConstraints.filter { Set($0.attributes).isSubset(of: old) }.map(\.number))
    }
}

extension FetchRequest.Expression {
    /// The attribute of the source object that the expression is, unchanged.
    var sourceAttribute: String? {
        switch self {
        case .path(of: .variable(MappingVariable.source.rawValue), let names) where names.count == 1: names[0]
        case .registered(MappingFunction.value.rawValue, let arguments):
            if arguments.count == 2, arguments[0] == .variable(MappingVariable.source.rawValue),
                case .constant(.string(let name)) = arguments[1]
            {
                name
            } else {
                nil
            }
        default: nil
        }
    }

    /// The relationship of the source object whose destinations' successors the expression is.
    var relatedSourceRelationship: String? {
        guard case .registered(MappingFunction.relatedInstances.rawValue, let arguments) = self, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue),
            case .constant(.string(let name)) = arguments[1]
        else { return nil }
        return name
    }
}
