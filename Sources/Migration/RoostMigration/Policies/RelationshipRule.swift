internal import RoostCore

/// A rule that sets one relationship in the objects of an entity mapping.
struct RelationshipRule {
    /// The origin of a rule's destinations.
    enum Origin {
        /// The objects that entity mappings created from a source relationship's destinations.
        case related(ManagedObjectModel.Relationship, by: [Int])
        /// The objects that entity mappings created from the result of an expression on the source
        /// object.
        case objects(FetchRequest.Expression, by: [Int])
        /// All objects that an entity mapping created.
        case all(by: Int)
        /// A destination object that the policy selects.
        case policy(PolicyExpression, PropertyMapping)
    }

    /// The way in which the standard behavior applies a rule.
    enum Way {
        /// In the first pass, by writing the field of a new object as if every object kept its key.
        case field
        /// All links of the relationship together.
        case links
        /// Not at all, because the inverse's rule creates the same pairs.
        case given
        /// Object by object.
        case each
    }

    /// The relationship in the destination model.
    let relationship: ManagedObjectModel.Relationship
    let origin: Origin
    var way = Way.each
    /// The destination entity number of objects that can keep their keys, or −1, by source entity
    /// number.
    private let kept: [Int32]
    private let from: RecordLayout.Field?
    private let fromOrder: RecordLayout.Field?
    private let to: RecordLayout.Field?
    private let toOrder: RecordLayout.Field?

    /// Resolves the rule, or returns nil if the mapping does not set the relationship.
    init?(
        _ relationship: ManagedObjectModel.Relationship, mapping: EntityMapping, source: ManagedObjectModel.Entity,
        plan: PolicyPlan
    ) throws(StoreError) {
        let name = relationship.name.name
        guard let origin = try Self.origin(relationship, mapping: mapping, source: source, plan: plan) else {
            return nil
        }
        self.relationship = relationship
        self.origin = origin
        var kept = [Int32](repeating: -1, count: plan.source.entities.count)
        var fields: (from: RecordLayout.Field?, order: RecordLayout.Field?) = (nil, nil)
        if case .related(let related, let targets) = origin {
            for target in targets.reversed() where plan.mappings[target].keepsKeys {
                guard let from = plan.mappings[target].source, let to = plan.mappings[target].destination,
                    plan.destination.entities[relationship.destination].includes(to.number), !to.isAbstract
                else { continue }
                kept[from.number] = Int32(truncatingIfNeeded: to.number)
            }
            if !related.isToMany {
                fields.from = source.layout.field(related.name.name)
                fields.order = source.layout.field(RecordLayout.orderFieldName(of: related.name.name))
            }
        }
        self.kept = kept
        (from, fromOrder) = fields
        let layout = mapping.destinationEntity.flatMap { plan.destination.entity($0)?.layout }
        to = relationship.isToMany ? nil : layout?.field(name)
        toOrder = layout?.field(RecordLayout.orderFieldName(of: name))
    }

    private static func origin(
        _ relationship: ManagedObjectModel.Relationship, mapping: EntityMapping, source: ManagedObjectModel.Entity,
        plan: PolicyPlan
    ) throws(StoreError) -> Origin? {
        let name = relationship.name.name
        if mapping.type == .copy {
            return source.relationship(name).map { same in
                .related(
                    same,
                    by: plan.mappings(from: same.destination, to: relationship.destination).map(\.number))
            }
        }
        guard let property = mapping.relationshipMappings.first(where: { $0.name == name }),
            let expression = property.valueExpression, expression != .constant(.null)
        else { return nil }
        guard case .registered(let function, let arguments) = expression, let target = arguments.first else {
            throw misfit(property, mapping: mapping)
        }
        if target == .variable(MappingVariable.entityPolicy.rawValue) {
            return .policy(try PolicyExpression(expression, mapping: mapping.name, property: name), property)
        }
        guard target == .variable(MappingVariable.manager.rawValue), arguments.count == 3,
            case .constant(.string(let text)) = arguments[1], let function = MappingFunction(rawValue: function)
        else { throw misfit(property, mapping: mapping) }
        let targets: [Int]
        switch function {
        case .destinationInstances:
            let target: PolicyMapping
            do throws(StoreError) { target = try plan.requireMapping(text) } catch {
                throw error.withMessage(
                    "Mapping '\(mapping.name)', '\(name)': \(error.message)", code: .invalidMappingModel)
            }
            if arguments[2] == .constant(.null) { return .all(by: target.number) }
            targets = [target.number]
        case .relatedInstances:
            targets = plan.mappings.filter { made in
                made.destination.map { plan.destination.entities[relationship.destination].includes($0.number) }
                    ?? false
            }.map(\.number)
        case .value: throw misfit(property, mapping: mapping)
        }
        guard let objects = arguments[2].ofSourceObject() else { throw misfit(property, mapping: mapping) }
        if case .keyPath(let names) = objects, names.count == 1, let related = source.relationship(names[0]) {
            return .related(related, by: targets.filter { plan.mappings[$0].mayTake(related, model: plan.source) })
        }
        return .objects(objects, by: targets)
    }

    private static func misfit(_ property: PropertyMapping, mapping: EntityMapping) -> StoreError {
        StoreError(
            .invalidMappingModel,
            "Mapping '\(mapping.name)', '\(property.name)': the expression gives no objects of the destination; write destinationInstances(ofEntityMapping:from:), relatedInstances(ofSourceRelationship:), or a function of the policy."
        )
    }

    /// The entity mappings of possible destinations.
    var targets: [Int] {
        switch origin {
        case .related(_, let targets), .objects(_, let targets): targets
        case .all(let target): [target]
        case .policy: []
        }
    }

    // MARK: Ways

    /// The number of the relationship that stores the rule's links, or nil without links.
    var linkOwner: Int? {
        guard case .links(let owner, _) = relationship.storage else { return nil }
        return owner
    }

    func way(of mapping: PolicyMapping, plan: PolicyPlan) -> Way {
        guard case .related(let related, let targets) = origin else { return .each }
        switch relationship.storage {
        case .field:
            guard related.storage == .field, from != nil, to != nil else { return .each }
            guard let inverse = relationship.inverse, !plan.destination.relationships[inverse].isToMany else {
                // If the source relationship is one-to-one, its inverse may store pairs that it lacks.
                return OneSidedPairs.areKept(by: related, model: plan.source) ? .each : .field
            }
            // One-to-one: each end has a field, and both rules must set them consistently.
            return isGivenBack(inverse, origin: related.inverse, by: targets, to: mapping, plan: plan) ? .field : .each
        case .derived(let inverse):
            guard case .derived(let origin) = related.storage else { return .each }
            return isGivenBack(inverse, origin: origin, by: targets, to: mapping, plan: plan) ? .given : .each
        case .links(let owner, _):
            guard case .links(let origin, _) = related.storage else { return .each }
            let reflexive = (
                plan.destination.relationships[owner].isReflexive, plan.source.relationships[origin].isReflexive
            )
            guard reflexive.0 || reflexive.1 else { return .links }
            // A relationship that is its own inverse stores one link for both directions. Its links can be
            // created together only if the rules for both directions create the same pairs.
            let bothWays = isGivenBack(
                relationship.number, origin: related.number, by: targets, to: mapping, plan: plan)
            return reflexive.0 && reflexive.1 && bothWays ? .links : .each
        }
    }

    /// Returns whether each target mapping's rule for `inverse` finds objects of `mapping` through
    /// the source relationship `origin`.
    private func isGivenBack(
        _ inverse: Int, origin: Int?, by targets: [Int], to mapping: PolicyMapping, plan: PolicyPlan
    ) -> Bool {
        targets.allSatisfy { target in
            plan.mappings[target].rules.contains { rule in
                guard rule.relationship.number == inverse, case .related(let related, let back) = rule.origin else {
                    return false
                }
                return related.number == origin && back.contains(mapping.number)
            }
        }
    }

    // MARK: Fields

    /// Returns the plan for writing the rule's field in the first pass, or nil if ``way`` is not
    /// ``Way/field``.
    func reference(_ source: ManagedObjectModel) -> ReferencePlan? {
        guard way == .field, let from, let to, case .related(let related, _) = origin else { return nil }
        let reachable = source.entities[related.destination].selfAndSubentities.filter {
            !source.entities[$0].isAbstract
        }
        let isMove =
            from.kind == to.kind
            && reachable.allSatisfy {
                to.kind == .reference ? Int(kept[$0]) == relationship.destination : Int(kept[$0]) == $0
            }
        return ReferencePlan(
            to: to, order: toOrder, from: from, orderFrom: fromOrder, targets: kept,
            keySets: Array(repeating: -1, count: kept.count), isMove: isMove, isRequired: false,
            isNewlyRequired: false)
    }

    /// Returns a record's position in the ordered inverse, or the record's key as a substitute.
    private func place(of record: RecordReader) -> Int64 {
        fromOrder.flatMap { record.isNull($0) ? nil : record.integer($0) } ?? record.key
    }

    /// Returns the field and value of the position in the ordered inverse, or nil without such a
    /// field.
    func orderPlace(_ source: SourceObject) -> (field: RecordLayout.Field, place: Int64)? {
        guard case .related(let related, _) = origin, related.storage == .field, let toOrder else { return nil }
        return (toOrder, source.batch.records.withRecord(at: source.index) { place(of: $0) })
    }
}

extension PolicyMapping {
    /// Returns whether a source relationship can refer to objects that the mapping may read.
    func mayTake(_ relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel) -> Bool {
        source.map { model.entities[relationship.destination].includes($0.number) } ?? true
    }
}
