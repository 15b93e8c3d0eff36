internal import RoostCore

extension MappingInference {
    typealias Entity = ManagedObjectModel.Entity

    // MARK: Attributes

    /// Returns mappings for the stored attributes of an entity; an attribute that migrations
    /// compute gets no expression.
    mutating func attributeMappings(from origin: Entity, to entity: Entity) -> [PropertyMapping] {
        let stored = entity.attributes.filter(\.isStored)
        let computed = stored.filter { entity.computes($0.name) }
        return mappings(
            of: stored.filter { !entity.computes($0.name) }, from: origin.attributes.filter(\.isStored), path: [],
            sourcePath: [], entity: entity) + computed.map { PropertyMapping($0.name) }
    }

    /// Returns mappings for an entity's attributes, or for the elements of the composite at `path`.
    private mutating func mappings(
        of attributes: [AttributeDescription], from origins: [AttributeDescription], path: [String],
        sourcePath: [String], entity: Entity
    ) -> [PropertyMapping] {
        let options = options
        let matching = VersionMatching(
            from: origins, to: attributes, traits: .attributes(canTake: { Self.canTake($0, as: $1, options: options) }))
        var mappings: [PropertyMapping] = []
        for (index, attribute) in attributes.enumerated() {
            let path = path + [attribute.name]
            let name = path.joined(separator: ".")
            guard let origin = matching.origins[index].map({ origins[$0] }) else {
                if let candidates = matching.ambiguous[index] {
                    add(
                        entity, path: path,
                        message: Self.ambiguous(attribute.identifier, names: candidates.map { origins[$0].name }))
                }
                mappings.append(PropertyMapping(name))
                continue
            }
            let sourcePath = sourcePath + [origin.name]
            let value = FetchRequest.Expression.path(of: .variable(MappingVariable.source.rawValue), sourcePath)
            if attribute.type == .composite, origin.type == .composite {
                mappings.append(PropertyMapping(name, expression: value))
                if !Self.haveSameElements(origin, attribute) {
                    mappings += self.mappings(
                        of: attribute.elements, from: origin.elements, path: path, sourcePath: sourcePath,
                        entity: entity)
                }
            } else if origin.type.widens(to: attribute.type) || origin.type.convertsWhereExact(to: attribute.type) {
                mappings.append(PropertyMapping(name, expression: value))
            } else if attribute.type == .string, options.convertsToString, origin.type.hasText {
                mappings.append(PropertyMapping(name, expression: .cast(value, .string)))
            } else {
                add(entity, path: path, message: Self.refusal(of: origin, at: sourcePath, becoming: attribute))
            }
        }
        return mappings
    }

    private static func canTake(
        _ origin: AttributeDescription, as attribute: AttributeDescription, options: MappingModel.InferenceOptions
    ) -> Bool {
        origin.type.widens(to: attribute.type) || origin.type.convertsWhereExact(to: attribute.type)
            || attribute.type == .string && options.convertsToString && origin.type.hasText
    }

    /// Reports an attribute's problem for the entity that declares it, once for all subentities.
    private mutating func add(_ entity: Entity, path: [String], message: String) {
        var current = entity
        while let parent = current.superentity,
            !current.declaration.attributes.contains(where: { $0.name == path.first })
        {
            current = destination.entities[parent]
        }
        add(current.name, property: path.joined(separator: "."), message: message)
    }

    private static func haveSameElements(_ old: AttributeDescription, _ new: AttributeDescription) -> Bool {
        old.elements.count == new.elements.count
            && zip(old.elements, new.elements).allSatisfy { old, new in
                old.name == new.name && old.type == new.type && old.identifier == new.identifier
                    && haveSameElements(old, new)
            }
    }

    private static func refusal(
        of origin: AttributeDescription, at sourcePath: [String], becoming attribute: AttributeDescription
    ) -> String {
        let change =
            "The type changes from \(origin.type.name)\(origin.name == attribute.name ? "" : " (of '\(sourcePath.joined(separator: "."))')") to \(attribute.type.name), which may lose values"
        let remedy =
            "give a mapping model with an expression for it, or rename the old attribute with a renaming identifier and add a new attribute"
        let option =
            attribute.type == .string && origin.type.hasText
            ? "allow conversions to strings (convertsToString, --to-text), " : ""
        return "\(change); \(option)\(remedy)."
    }

    // MARK: Relationships

    mutating func relationshipMappings(from origin: Entity, to entity: Entity) -> [PropertyMapping] {
        entity.relationships.map { relationship in
            let name = relationship.declaration.name
            guard let old = self.origin(of: relationship, in: origin, for: entity) else { return PropertyMapping(name) }
            guard relationship.isToMany || !old.isToMany else {
                if isGivenByInverse(relationship, from: old) { return PropertyMapping(name) }
                add(
                    relationship.name.entity, property: name,
                    message:
                        "The relationship changes from to-many to to-one, and the object to keep is not specified; give a mapping model with a policy for it, or add a new relationship."
                )
                return PropertyMapping(name)
            }
            guard leads(old, to: relationship), !givesWay(relationship, from: old) else {
                return PropertyMapping(name)
            }
            return PropertyMapping(name, expression: .relatedInstances(ofSourceRelationship: old.declaration.name))
        }
    }

    /// Returns whether the inverse provides the pairs of a relationship that changes from to-many
    /// to to-one.
    ///
    /// The inverse must be to-one and come from the old relationship's inverse, so that it has all
    /// pairs. The migration fails if the inverse refers to an object twice.
    private mutating func isGivenByInverse(
        _ relationship: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship
    ) -> Bool {
        guard case .derived(let oldInverse) = old.storage, let inverse = relationship.inverse,
            destination.relationships[inverse].storage == .field
        else { return false }
        return firstOrigin(of: destination.relationships[inverse]) == oldInverse
    }

    private mutating func origin(
        of relationship: ManagedObjectModel.Relationship, in origin: Entity, for entity: Entity
    ) -> ManagedObjectModel.Relationship? {
        let pair = EntityPair(source: origin.number, destination: entity.number)
        if let known = relationshipOrigins[pair] { return known[relationship.declaration.name] }
        let matching = VersionMatching(from: origin.relationships, to: entity.relationships, traits: .relationships)
        var origins: [String: ManagedObjectModel.Relationship] = [:]
        for (index, new) in entity.relationships.enumerated() {
            if let match = matching.origins[index] { origins[new.declaration.name] = origin.relationships[match] }
            if let candidates = matching.ambiguous[index] {
                let names = candidates.map { origin.relationships[$0].declaration.name }
                add(
                    new.name.entity, property: new.declaration.name,
                    message: Self.ambiguous(new.declaration.identifier, names: names))
            }
        }
        relationshipOrigins[pair] = origins
        return origins[relationship.declaration.name]
    }

    /// Returns whether any old destination can become a destination of the new relationship.
    ///
    /// If none can, the relationships are treated as different.
    private mutating func leads(
        _ old: ManagedObjectModel.Relationship, to new: ManagedObjectModel.Relationship
    ) -> Bool {
        let pair = EntityPair(source: old.destination, destination: new.destination)
        if let known = isFollowed[pair] { return known }
        let old = source.entities[pair.source]
        let answer = destination.entities[pair.destination].selfAndSubentities.contains { heir in
            origins[heir].map(old.includes) ?? false
        }
        isFollowed[pair] = answer
        return answer
    }

    /// Returns whether a relationship gets its pairs from its inverse, instead of from its own
    /// source relationship.
    ///
    /// True if the inverse is the stored end, and the two ends come from source relationships that
    /// are not inverse to each other. Both ends must have the same pairs, so the stored end
    /// determines them.
    private mutating func givesWay(
        _ relationship: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship
    ) -> Bool {
        guard let number = relationship.inverse, number != relationship.number else { return false }
        let inverse = destination.relationships[number]
        guard !isKept(relationship, before: inverse), let other = firstOrigin(of: inverse) else { return false }
        return source.relationships[other].inverse != old.number
    }

    /// Returns the number of the old relationship from which a new relationship comes, or nil.
    ///
    /// If subentities have different source relationships, the first one found is used.
    private mutating func firstOrigin(of relationship: ManagedObjectModel.Relationship) -> Int? {
        if let known = firstOrigins[relationship.number] { return known }
        var first: Int?
        for heir in destination.entities[relationship.source].selfAndSubentities {
            guard let origin = origins[heir].map({ source.entities[$0] }),
                let old = self.origin(of: relationship, in: origin, for: destination.entities[heir]),
                leads(old, to: relationship)
            else { continue }
            first = old.number
            break
        }
        firstOrigins[relationship.number] = .some(first)
        return first
    }

    /// Returns whether the relationship, rather than its inverse, counts as the stored end.
    private func isKept(
        _ relationship: ManagedObjectModel.Relationship, before inverse: ManagedObjectModel.Relationship
    ) -> Bool {
        switch relationship.storage {
        case .field: inverse.storage != .field || relationship.number < inverse.number
        case .derived: false
        case .links(_, let isFlipped): !isFlipped
        }
    }
}
