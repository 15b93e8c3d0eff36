internal import RoostCore

extension MappingPlan {
    // MARK: Relationship mappings

    /// Returns an entity plan's statement about a destination relationship.
    ///
    /// If one pass cannot execute the statement, adds an obstacle and returns nil.
    private mutating func statement(
        _ entityPlan: EntityPlan, relationship: ManagedObjectModel.Relationship
    ) -> RelationshipStatement? {
        let name = relationship.name.name
        let mapping = entityMapping(of: entityPlan)
        if mapping.type == .copy {
            return entityPlan.source.relationship(name).map { .related($0, by: nil) } ?? .nothing
        }
        let expression = mapping.relationshipMappings.first { $0.name == name }?.valueExpression
        if let statement = RelationshipStatement(expression, source: entityPlan.source) { return statement }
        addObstacle("mapping '\(mapping.name)' sets '\(name)' by an expression that is more than a relationship")
        return nil
    }

    /// Returns the source relationship from which an entity plan sets `relationship`, or nil.
    private mutating func origin(
        _ entityPlan: EntityPlan, relationship: ManagedObjectModel.Relationship
    ) -> ManagedObjectModel.Relationship? {
        guard case .related(let origin, let name)? = statement(entityPlan, relationship: relationship) else {
            return nil
        }
        guard let name else { return origin }
        // The name of the entity mapping matters only if other entity mappings also create suitable objects.
        let fitting = fitting(origin.destination, to: relationship.destination)
        if fitting.contains(where: { entityMapping(of: $0).name != name }) {
            addObstacle(
                "mapping '\(entityMapping(of: entityPlan).name)' sets '\(relationship.name.name)' to the objects of mapping '\(name)', but other mappings make suitable objects too"
            )
        }
        return origin
    }

    /// Returns the entity plans from a source entity or its subentities to a destination entity or
    /// its subentities.
    private func fitting(_ source: Int, to destination: Int) -> [EntityPlan] {
        let (from, to) = (self.source.entities[source], self.destination.entities[destination])
        return entityPlans.filter { from.includes($0.source.number) && to.includes($0.destination.number) }
    }

    /// Returns the entity plans whose new objects have `relationship`.
    ///
    /// Each plan comes with the source relationship from which it sets `relationship`, or nil.
    private mutating func origins(
        of relationship: ManagedObjectModel.Relationship
    ) -> [(plan: EntityPlan, origin: ManagedObjectModel.Relationship?)] {
        let entity = destination.entities[relationship.source]
        var origins: [(plan: EntityPlan, origin: ManagedObjectModel.Relationship?)] = []
        for entityPlan in entityPlans where entity.includes(entityPlan.destination.number) {
            origins.append((entityPlan, origin(entityPlan, relationship: relationship)))
        }
        return origins
    }

    private func sayDifferently(_ relationship: ManagedObjectModel.Relationship) -> String {
        "the mappings disagree on the pairs of '\(relationship.name)'"
    }

    // MARK: To-one

    mutating func resolveReferences(of number: Int) {
        var references: [ReferencePlan] = []
        var backReferences: [BackReferencePlan] = []
        let entityPlan = entityPlans[number]
        for relationship in entityPlan.destination.relationships where relationship.storage == .field {
            if let reference = reference(entityPlan, relationship: relationship, backReferences: &backReferences) {
                references.append(reference)
            }
        }
        update(number) { entityPlan in
            entityPlan.references = references
            entityPlan.backReferences = backReferences
        }
    }

    /// Returns the plan for a to-one relationship if a field of the same source object stores it,
    /// otherwise nil.
    ///
    /// If a field of another object stores the relationship, adds a plan to `backReferences`.
    private mutating func reference(
        _ entityPlan: EntityPlan, relationship: ManagedObjectModel.Relationship,
        backReferences: inout [BackReferencePlan]
    ) -> ReferencePlan? {
        let inverse = relationship.inverse.map { destination.relationships[$0] }
        let own = origin(entityPlan, relationship: relationship)
        if relationship.isReflexive, hasReflexiveObstacle(relationship, from: own) { return nil }
        // If the mappings set both ends, both must get the same pairs.
        var others: [(plan: EntityPlan, origin: ManagedObjectModel.Relationship?)] = []
        if let inverse, inverse.number != relationship.number { others = origins(of: inverse) }
        let saying = others.filter { $0.origin != nil }
        let relations = Set(saying.compactMap { $0.origin.map { SourceRelation($0, model: source).flipped(source) } })
        let (from, targets): (ManagedObjectModel.Relationship, [EntityPlan])
        if let own {
            guard own.storage == .field else {
                addObstacle(
                    "'\(entityPlan.destination.name).\(relationship.name.name)' is to-one, but is set from a to-many relationship"
                )
                return nil
            }
            guard relations.isSubset(of: [SourceRelation(own, model: source)]) else {
                addObstacle(sayDifferently(relationship))
                return nil
            }
            (from, targets) = (own, fitting(own.destination, to: relationship.destination))
        } else {
            // If the mappings set only the inverse, it determines the pairs.
            guard let relation = relations.first else { return nil }
            guard relations.count == 1 else {
                addObstacle(sayDifferently(relationship))
                return nil
            }
            guard
                let field = entityPlan.source.relationships.first(where: {
                    $0.storage == .field && SourceRelation($0, model: source) == relation
                })
            else {
                // The plan's objects have pairs only if a source relationship that sets the inverse can refer to them.
                guard saying.contains(where: { leads($0.origin, to: entityPlan.source) }), let inverse,
                    destination.entities[inverse.destination].includes(entityPlan.destination.number)
                else { return nil }
                let back = backReference(
                    entityPlan, relationship: relationship, from: relation.relationship(source),
                    saying: saying.map(\.plan))
                if let back {
                    backReferences.append(back)
                } else {
                    addObstacle("the source has the pairs of '\(relationship.name)' only in the inverse")
                }
                return nil
            }
            let saying = Set(saying.map(\.plan.number))
            let targetPlans = fitting(field.destination, to: relationship.destination)
            (from, targets) = (field, targetPlans.filter { saying.contains($0.number) })
        }
        guard let to = entityPlan.destination.layout.field(relationship.name.name),
            let fromField = entityPlan.source.layout.field(from.name.name)
        else { return nil }
        return reference(
            entityPlan, relationship: relationship, from: from, fromField: fromField, to: to, targets: targets,
            isRequired: own != nil && !relationship.declaration.isOptional,
            keepsBothEnds: inverse?.storage == .field && !others.isEmpty && saying.count == others.count && own != nil)
    }

    /// Returns whether one pass cannot create the pairs of a relationship that is its own inverse.
    ///
    /// If so, adds an obstacle.
    private mutating func hasReflexiveObstacle(
        _ relationship: ManagedObjectModel.Relationship, from own: ManagedObjectModel.Relationship?
    ) -> Bool {
        // The two objects of a pair refer to each other, so all mappings must use the same source relationship.
        guard Set(origins(of: relationship).map { $0.origin?.number }).count < 2 else {
            addObstacle(sayDifferently(relationship))
            return true
        }
        guard let own, !own.isReflexive else { return false }
        addObstacle("'\(relationship.name)' becomes its own inverse, so an object can be in two pairs")
        return true
    }

    private func leads(_ relationship: ManagedObjectModel.Relationship?, to entity: ManagedObjectModel.Entity) -> Bool {
        relationship.map { source.entities[$0.destination].includes(entity.number) } ?? false
    }

    private mutating func reference(
        _ entityPlan: EntityPlan, relationship: ManagedObjectModel.Relationship, from: ManagedObjectModel.Relationship,
        fromField: RecordLayout.Field, to: RecordLayout.Field, targets: [EntityPlan], isRequired: Bool,
        keepsBothEnds: Bool
    ) -> ReferencePlan {
        var table = [Int32](repeating: -1, count: source.entities.count)
        var sets = [Int32](repeating: -1, count: source.entities.count)
        for target in targets {
            table[target.source.number] = Int32(truncatingIfNeeded: target.destination.number)
            if target.filter != nil { sets[target.source.number] = Int32(truncatingIfNeeded: keySet(of: [target])) }
        }
        let reachable = source.entities[from.destination].selfAndSubentities.filter { !source.entities[$0].isAbstract }
        let isMove =
            fromField.kind == to.kind
            && reachable.allSatisfy { entity in
                sets[entity] < 0
                    && (to.kind == .reference
                        ? Int(table[entity]) == relationship.destination : Int(table[entity]) == entity)
            }
        let layouts = (entityPlan.source.layout, entityPlan.destination.layout)
        return ReferencePlan(
            to: to, order: layouts.1.field(RecordLayout.orderFieldName(of: to.name)), from: fromField,
            orderFrom: layouts.0.field(RecordLayout.orderFieldName(of: fromField.name)), targets: table, keySets: sets,
            isMove: isMove, isRequired: isRequired,
            isNewlyRequired: isRequired && from.declaration.isOptional,
            oneToOne: !keepsBothEnds && OneSidedPairs.areKept(by: from, model: source) ? from.number : nil)
    }

    // MARK: Counts

    /// Adds a to-many relationship to ``countedRelationships`` if its destinations must be counted.
    mutating func resolveCounts(of relationship: ManagedObjectModel.Relationship) {
        let new = relationship.declaration
        guard new.minCount > 0 || new.maxCount != nil else { return }
        let origins = origins(of: relationship)
        let old = origins.compactMap(\.origin)
        guard !old.isEmpty else { return }
        let isNarrower = old.contains(where: relationship.isNarrower)
        let leavesOut = old.contains { origin in
            let from = source.entities[origin.destination]
            let fitting = fitting(origin.destination, to: relationship.destination)
            return from.selfAndSubentities.contains { entity in
                !source.entities[entity].isAbstract
                    && !fitting.contains { $0.source.number == entity && $0.filter == nil }
            }
        }
        // In a relationship that is its own inverse, a pair counts for both objects.
        let becomesReflexive = relationship.isReflexive && old.contains { !$0.isReflexive }
        if isNarrower || leavesOut || becomesReflexive || old.count < origins.count {
            countedRelationships.append(relationship.number)
            // Reflexive pairs are counted only after the migration.
            guard !relationship.isReflexive else { return }
            for (entityPlan, origin) in origins {
                guard let origin else { continue }
                let targetPlans = fitting(origin.destination, to: relationship.destination)
                countedOrigins.append(
                    CountedOrigin(
                        relationship: relationship.number, origin: origin.number, entityPlan: entityPlan.number,
                        targetPlans: targetPlans,
                        readsAllTargets: source.entities[origin.destination].selfAndSubentities.allSatisfy { entity in
                            source.entities[entity].isAbstract || targetPlans.contains { $0.source.number == entity }
                        }))
            }
        }
    }

    /// Returns the numbers of the destination entities for which no mapping sets `relationship`.
    func entitiesWithoutStatement(of relationship: ManagedObjectModel.Relationship) -> Set<Int> {
        let entityPlans = entityPlans.filter {
            destination.entities[relationship.source].includes($0.destination.number)
        }
        let saying = entityPlans.filter { entityMapping(of: $0).says(relationship.name.name, of: $0.source) }
        return Set(entityPlans.map(\.destination.number)).subtracting(saying.map(\.destination.number))
    }

    // MARK: Links

    mutating func resolveLinks(of relationship: ManagedObjectModel.Relationship) {
        let here = origins(of: relationship)
        var there: [(plan: EntityPlan, origin: ManagedObjectModel.Relationship?)] = []
        if let inverse = relationship.inverse, inverse != relationship.number {
            there = origins(of: destination.relationships[inverse])
        }
        let relations = Set(
            here.compactMap { $0.origin.map { SourceRelation($0, model: source) } }
                + there.compactMap { $0.origin.map { SourceRelation($0, model: source).flipped(source) } })
        guard let relation = relations.first else { return }
        let owner = relation.relationship(source)
        guard relations.count == 1 else { return addObstacle(sayDifferently(relationship)) }
        let (from, to) =
            relation.isFlipped ? (owner.destination, owner.source) : (owner.source, owner.destination)
        var sources = fitting(from, to: relationship.source)
        var targets = fitting(to, to: relationship.destination)
        // A pair is included if the mapping of either end includes it.
        let (saying, sayingBack) = (
            Set(here.filter { $0.origin != nil }.map(\.plan.number)),
            Set(there.filter { $0.origin != nil }.map(\.plan.number))
        )
        let (allSay, allSayBack) = (
            sources.allSatisfy { saying.contains($0.number) }, targets.allSatisfy { sayingBack.contains($0.number) }
        )
        if !allSay, !allSayBack {
            if sayingBack.isEmpty {
                sources = sources.filter { saying.contains($0.number) }
                if relationship.isReflexive { return addObstacle(sayDifferently(relationship)) }
            } else if saying.isEmpty {
                targets = targets.filter { sayingBack.contains($0.number) }
            } else {
                return addObstacle(sayDifferently(relationship))
            }
        }
        guard let taken = taken(of: source.entities[from], by: sources),
            let takenBack = self.taken(of: source.entities[to], by: targets)
        else { return }
        links.append(
            LinkPlan(relationship: relationship, relation: relation, sources: taken, targets: takenBack))
    }
}
