internal import RoostCore
internal import RoostPredicates

// Remarks on data that one mapping drops or requires.
extension MappingRemarks {
    mutating func judge(_ mapping: Mapping, origin: Entity, entity: Entity) {
        guard mapping.mapping.policyName == nil else { return }
        if entity.isAbstract, !origin.isAbstract {
            add(
                .demand, entity: entity.name, property: nil,
                message: "The entity is abstract: the migration fails if '\(origin.name)' has objects of its own.")
        }
        let isCopy = mapping.mapping.type == .copy
        guard isCopy || mapping.mapping.type == .transform, !origin.isAbstract else { return }
        for attribute in entity.attributes where attribute.isStored {
            guard !entity.computes(attribute.name) else {
                judgeComputed(attribute.name, of: entity, mapping: mapping)
                continue
            }
            let name = isCopy ? attribute.name : mapping.value(of: attribute.name)?.sourceAttribute
            if let name, let old = origin.attribute(name) {
                if old.type == .objectID { judgeIDs(in: name, of: origin, mapping: mapping) }
                judgeDigits(
                    of: old, in: attribute, oldPath: [old.name], newPath: [attribute.name], origin: origin,
                    mapping: mapping)
            }
            if !isCopy {
                judgeExactness(of: attribute, path: [attribute.name], of: entity, mapping: mapping, origin: origin)
                judge(attribute, of: entity, mapping: mapping, origin: origin)
            }
        }
        for relationship in entity.relationships {
            let name = relationship.name.name
            if isCopy {
                // The relationship is unchanged, but its destinations may change.
                if let old = origin.relationship(name) {
                    judge(relationship, from: old, of: entity, origin: origin, mapping: mapping)
                }
                continue
            }
            let value = mapping.value(of: name)
            if let old = value?.instancesSource.flatMap(origin.relationship), old.isToMany, !relationship.isToMany {
                add(
                    loss: MappingLoss(
                        .furtherReferences(old.name.name), of: mapping.taken(of: origin), by: [mapping.mapping.name]),
                    entity: source.entities[old.source].name, property: old.name.name,
                    message: "Only one of several destinations remains: '\(entity.name).\(name)' is to-one.")
            }
            if let old = value?.relatedSourceRelationship.flatMap(origin.relationship) {
                judge(relationship, from: old, of: entity, origin: origin, mapping: mapping)
            }
            guard value == nil || value == .constant(.null), relationship.mustLeadSomewhere else { continue }
            if !isGiven(relationship) {
                add(MappingRemark.staysEmpty(name, of: entity.name))
            } else if isGivenByReferences(relationship, to: origin) {
                add(
                    .demand, entity: entity.name, property: name,
                    message:
                        "The relationship is mandatory, and only its inverse sets it: the migration fails if nothing refers to an object of '\(origin.name)'."
                )
            }
        }
        judgeStrays(mapping, origin: origin)
    }

    /// Adds a remark on an expression for an attribute that is computed from the new objects.
    ///
    /// A plain copy of the source's value gets no remark, because mapping models usually list all
    /// attributes.
    private mutating func judgeComputed(_ name: String, of entity: Entity, mapping: Mapping) {
        let property = mapping.mapping.attributeMappings.first { $0.name == name }
        guard let expression = property?.valueExpression, expression.sourceAttribute == nil else { return }
        add(
            .note, entity: entity.name, property: name,
            message: "The attribute is derived: its expression in the mapping has no effect.")
    }

    private mutating func judge(
        _ attribute: AttributeDescription, of entity: Entity, mapping: Mapping, origin: Entity
    ) {
        guard !attribute.isOptional, attribute.defaultValue.isNull, attribute.derivationExpression == nil else {
            return
        }
        guard let value = mapping.value(of: attribute.name) else {
            add(
                .demand, entity: entity.name, property: attribute.name,
                message:
                    "The attribute is mandatory, and nothing gives it a value: the migration fails if '\(origin.name)' has objects. Give it a default."
            )
            return
        }
        // The results of other expressions are unknown.
        guard let name = value.sourceAttribute, let old = origin.attribute(name), old.isOptional else { return }
        add(
            .demand, entity: entity.name, property: attribute.name,
            message:
                "The attribute becomes mandatory: the migration fails if an object of '\(origin.name)' has no '\(name)'. Give it a default."
        )
    }

    private mutating func judgeExactness(
        of attribute: AttributeDescription, path: [String], of entity: Entity, mapping: Mapping, origin: Entity
    ) {
        let name = path.joined(separator: ".")
        for element in attribute.elements {
            judgeExactness(of: element, path: path + [element.name], of: entity, mapping: mapping, origin: origin)
        }
        guard case .path(of: .variable(MappingVariable.source.rawValue), let names)? = mapping.value(of: name),
            let old = origin.attribute(atPath: names.joined(separator: ".")),
            old.type.convertsWhereExact(to: attribute.type)
        else { return }
        add(
            .demand, entity: entity.name, property: name,
            message:
                "The type changes from \(old.type.name) to \(attribute.type.name): the migration fails if an object of '\(origin.name)' has a number that \(attribute.type.name) cannot hold exactly. Only numbers beyond \(attribute.type == .float ? "2^24" : "2^53") can be inexact. Give a mapping with an expression for it."
        )
    }

    /// Adds remarks on objects whose IDs in a source attribute become null.
    private mutating func judgeIDs(in attribute: String, of origin: Entity, mapping: Mapping) {
        let strays: [MappingLoss.Objects] = source.entities.compactMap { entity in
            let entityMappings = (bySource[entity.name] ?? []).filter { $0.mapping.type != .remove }
            guard !entity.isAbstract, entityMappings.allSatisfy({ $0.mapping.policyName == nil }) else { return nil }
            return objectsWithoutSuccessor(
                entity, creators: entityMappings.filter { $0.mapping.destinationEntity != nil })
        }
        for (strays, some) in [
            (strays.filter { $0.predicate == nil }, ""), (strays.filter { $0.predicate != nil }, "some "),
        ]
        where !strays.isEmpty {
            let names = strays.map { "'\($0.entity)'" }.joined(separator: ", ")
            add(
                loss: MappingLoss(
                    .ids(attribute, of: strays), of: mapping.taken(of: origin), by: [mapping.mapping.name]),
                entity: origin.name, property: attribute,
                message:
                    "IDs of \(some)objects of \(names) become null: the destination has no object, or several objects, for each of these objects."
            )
        }
    }

    /// Returns the objects of an entity that become no object or several objects in the
    /// destination; nil if each becomes one.
    private func objectsWithoutSuccessor(_ entity: Entity, creators: [Mapping]) -> MappingLoss.Objects? {
        let filters = creators.compactMap(\.mapping.sourcePredicate)
        switch creators.count - filters.count {
        case 0:
            // An object has one successor if exactly one filter matches it.
            let one = filters.indices.map { index -> FetchRequest.Predicate in
                let others = filters.indices.filter { $0 != index }.map { FetchRequest.Predicate.not(filters[$0]) }
                return others.isEmpty ? filters[index] : .and([filters[index]] + others)
            }
            return .init(entity.name, where: one.isEmpty ? nil : .not(one.count == 1 ? one[0] : .or(one)))
        case 1: return filters.isEmpty ? nil : .init(entity.name, where: filters.count == 1 ? filters[0] : .or(filters))
        default: return .init(entity.name)
        }
    }

    /// Adds remarks on values that lose digits in a smaller type, except whole numbers, which must
    /// stay exact.
    private mutating func judgeDigits(
        of old: AttributeDescription, in new: AttributeDescription, oldPath: [String], newPath: [String],
        origin: Entity, mapping: Mapping
    ) {
        switch (old.type, new.type) {
        case (.double, .float), (.decimal, .float), (.decimal, .double):
            let name = oldPath.joined(separator: ".")
            add(
                loss: MappingLoss(.digits(name, new.type), of: mapping.taken(of: origin), by: [mapping.mapping.name]),
                entity: origin.name, property: name,
                message: "Digits of values are dropped: \(old.type.name) becomes \(new.type.name), which has fewer.")
        case (.composite, .composite):
            for element in new.elements {
                let path = newPath + [element.name]
                // An element with its own mapping gets the value of that mapping.
                guard mapping.values[path.joined(separator: ".")] == nil,
                    let former = old.elements.first(where: { $0.name == element.name })
                else { continue }
                judgeDigits(
                    of: former, in: element, oldPath: oldPath + [element.name], newPath: path, origin: origin,
                    mapping: mapping)
            }
        default: return
        }
    }

    private mutating func judge(
        _ new: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship, of entity: Entity,
        origin: Entity, mapping: Mapping
    ) {
        if old.isOrdered, !new.isOrdered, new.isToMany {
            add(
                loss: MappingLoss(.order(old.name.name), of: mapping.taken(of: origin), by: [mapping.mapping.name]),
                entity: source.entities[old.source].name, property: old.name.name,
                message: "The order of the destinations is dropped.")
        } else if new.isOrdered, !old.isOrdered, old.isToMany {
            add(
                .note, entity: entity.name, property: new.name.name,
                message: "The destinations get the order of their keys.")
        }
        judgeInverse(of: new, from: old, entity: entity, origin: origin, mapping: mapping)
    }

    /// A relationship of the new model that gets its destinations from a source relationship.
    struct Successor {
        let old: ManagedObjectModel.Relationship
        let new: ManagedObjectModel.Relationship
        /// The entity of the objects with the new relationship.
        let entity: EntityName
        /// The entity mapping that creates the destinations, or nil for any.
        let mapping: String?
    }

    /// Returns the new relationships that a mapping sets from relationships of the source entity.
    func successors(_ mapping: Mapping, origin: Entity) -> [Successor] {
        guard let entity = mapping.mapping.destinationEntity.flatMap(destination.entity) else { return [] }
        return entity.relationships.compactMap { new in
            let name = new.name.name
            if mapping.mapping.type == .copy {
                return origin.relationship(name).map { Successor(old: $0, new: new, entity: entity.name, mapping: nil) }
            }
            let value = mapping.value(of: name)
            if let old = value?.relatedSourceRelationship.flatMap(origin.relationship) {
                return Successor(old: old, new: new, entity: entity.name, mapping: nil)
            }
            guard let old = value?.instancesSource.flatMap(origin.relationship), let creator = value?.instancesMapping
            else { return nil }
            return Successor(old: old, new: new, entity: entity.name, mapping: creator)
        }
    }

    /// Adds remarks on old destinations that no new relationship can refer to.
    private mutating func judgeStrays(_ mapping: Mapping, origin: Entity) {
        // Other mappings of the same objects may preserve references that this mapping drops.
        let peers = (bySource[origin.name] ?? []).filter {
            let predicate = $0.mapping.sourcePredicate
            return predicate == nil || predicate == mapping.mapping.sourcePredicate
        }
        guard peers.allSatisfy({ $0.mapping.policyName == nil }) else { return }
        let all = peers.flatMap { successors($0, origin: origin) }
        var judged: Set<Int> = []
        for successor in successors(mapping, origin: origin) where judged.insert(successor.old.number).inserted {
            let old = successor.old
            let keeping = all.filter { $0.old.number == old.number }
            let strays = source.entities[old.destination].selfAndSubentities.compactMap { number in
                source.entities[number].isAbstract ? nil : self.strays(source.entities[number], keeping: keeping)
            }
            guard !strays.isEmpty else { continue }
            let names = strays.map { "'\($0.entity)'" }.joined(separator: ", ")
            add(
                loss: MappingLoss(
                    .references(old.name.name, to: strays), of: mapping.taken(of: origin), by: [mapping.mapping.name]),
                entity: source.entities[old.source].name, property: old.name.name,
                message:
                    "References to objects of \(names) are dropped: none of these objects becomes an object that '\(successor.entity).\(successor.new.name.name)' can refer to."
            )
        }
    }

    /// Returns the objects of an entity that do not become possible destinations of the given
    /// relationships, or nil if all do.
    private func strays(_ entity: Entity, keeping: [Successor]) -> MappingLoss.Objects? {
        let creators = (bySource[entity.name] ?? []).filter { creator in
            guard let made = creator.mapping.destinationEntity.flatMap(destination.entity) else { return false }
            return keeping.contains { successor in
                destination.entities[successor.new.destination].includes(made.number)
                    && (successor.mapping == nil || successor.mapping == creator.mapping.name)
            }
        }
        return objects(of: entity, notTakenBy: creators)
    }

    private mutating func judgeInverse(
        of new: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship, entity: Entity,
        origin: Entity, mapping: Mapping
    ) {
        let becomesReflexive = new.isReflexive && !old.isReflexive
        if becomesReflexive {
            add(
                loss: MappingLoss(
                    .direction(old.name.name), of: mapping.taken(of: origin), by: [mapping.mapping.name]),
                entity: source.entities[old.source].name, property: old.name.name,
                message:
                    "The direction of each pair is dropped: the relationship becomes its own inverse, '\(new.name)'."
            )
        }
        guard let inverse = new.inverse.map({ destination.relationships[$0] }), !inverse.isToMany else { return }
        let wasToOne = old.inverse.map { !source.relationships[$0].isToMany } ?? false
        guard !wasToOne || becomesReflexive else { return }
        let remedy = "Select the pair to keep in a policy."
        if becomesReflexive {
            add(
                .demand, entity: entity.name, property: new.name.name,
                message:
                    "The relationship becomes its own to-one inverse: the migration fails if an object would have two partners. \(remedy)"
            )
        } else {
            add(
                .demand, entity: entity.name, property: new.name.name,
                message:
                    "The inverse, '\(inverse.name)', is to-one: the migration fails if two objects refer to the same object. \(remedy)"
            )
        }
    }

    /// Returns whether any mapping sets the inverse of a relationship.
    private func isGiven(_ relationship: ManagedObjectModel.Relationship) -> Bool {
        guard let inverse = relationship.inverse.map({ destination.relationships[$0] }) else { return false }
        return destination.entities[inverse.source].selfAndSubentities.contains { number in
            (byDestination[destination.entities[number].name] ?? []).contains {
                $0.mapping.type == .copy || $0.mapping.policyName != nil || $0.value(of: inverse.name.name) != nil
            }
        }
    }

    /// Returns whether a to-one relationship gets its destinations through its to-one inverse.
    ///
    /// The inverse must come from a to-one source relationship that can refer to objects of
    /// `origin` and has no to-one inverse of its own.
    private func isGivenByReferences(_ relationship: ManagedObjectModel.Relationship, to origin: Entity) -> Bool {
        guard relationship.storage == .field, !relationship.isReflexive,
            let inverse = relationship.inverse.map({ destination.relationships[$0] }), inverse.storage == .field
        else { return false }
        return destination.entities[inverse.source].selfAndSubentities.contains { number in
            (byDestination[destination.entities[number].name] ?? []).contains { mapping in
                guard let entity = mapping.mapping.sourceEntity.flatMap(source.entity) else { return false }
                return successors(mapping, origin: entity).contains { successor in
                    successor.new.number == inverse.number && successor.old.storage == .field
                        && source.entities[successor.old.destination].includes(origin.number)
                        && successor.old.inverse.map { source.relationships[$0].storage != .field } ?? true
                }
            }
        }
    }
}
