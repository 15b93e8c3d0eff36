package import RoostCore
internal import RoostPredicates

extension MappingModel {
    /// Returns what migrations with this mapping model drop, what they require of the data, and
    /// what looks like a mistake.
    ///
    /// Losses come first, then requirements, then notes. A policy is assumed to use everything, and
    /// the results of expressions are not judged.
    ///
    /// - Parameters:
    ///   - source: The model of the objects as they are.
    ///   - destination: The model that they shall have.
    /// - Returns: The remarks; none for what ``problems(from:to:)`` finds wrong already.
    package func remarks(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [MappingRemark] {
        var remarks = MappingRemarks(self, source: source, destination: destination)
        remarks.make()
        return MappingRemark.Kind.allCases.flatMap { kind in remarks.remarks.filter { $0.kind == kind } }
    }
}

/// Compares what the source has with what the mappings use, and what the destination needs with
/// what they give.
private struct MappingRemarks {
    private typealias Entity = ManagedObjectModel.Entity

    /// An entity mapping, and what its expressions read and fill.
    private struct Mapping {
        let mapping: EntityMapping
        /// The value of each property, by its name; nil for a default.
        let values: [String: FetchRequest.Expression?]
        /// The properties of the source object that are read.
        var read: Set<String> = []
        /// The source paths that properties get unchanged, by property name; elements of composites
        /// included.
        var taken: [String: [String]] = [:]
        /// The source paths that other expressions read.
        var used: Set<[String]> = []
        /// Whether all of the source object may be read: it is copied, a policy uses it, or a
        /// function gets it as a whole.
        var readsEverything: Bool

        init(_ mapping: EntityMapping) {
            self.mapping = mapping
            let properties = mapping.attributeMappings + mapping.relationshipMappings
            values = Dictionary(
                properties.map { ($0.name, $0.valueExpression) }, uniquingKeysWith: { first, _ in first })
            readsEverything = mapping.type == .copy || mapping.policyName != nil
            for property in properties {
                guard let expression = property.valueExpression else { continue }
                let parts = MappingExpressionParts(of: expression)
                read.formUnion(parts.sourceProperties)
                if parts.takesSource { readsEverything = true }
                if case .path(of: .variable(MappingVariable.source.rawValue), let names) = expression {
                    taken[property.name] = names
                } else {
                    used.formUnion(parts.sourcePaths)
                }
            }
        }

        /// The objects of its entity that it takes.
        func taken(of entity: Entity) -> MappingLoss.Objects { .init(entity.name, where: mapping.sourcePredicate) }

        /// Whether a property of the source object is read.
        func reads(_ property: String) -> Bool { readsEverything || read.contains(property) }

        /// Returns the value of a property; nil for its default.
        func value(of property: String) -> FetchRequest.Expression? { values[property] ?? nil }
    }

    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    private let mappings: [Mapping]
    private let bySource: [EntityName: [Mapping]]
    private let byDestination: [EntityName: [Mapping]]
    private(set) var remarks: [MappingRemark] = []
    /// The positions of remarks that were already made: an inherited property is examined once for
    /// each heir.
    private var said: [MappingRemark: Int] = [:]

    init(_ model: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
        (self.source, self.destination) = (source, destination)
        mappings = model.entityMappings.map(Mapping.init)
        bySource = Self.grouped(mappings, by: \.sourceEntity)
        byDestination = Self.grouped(mappings, by: \.destinationEntity)
    }

    private static func grouped(
        _ mappings: [Mapping], by entity: KeyPath<EntityMapping, EntityName?>
    ) -> [EntityName: [Mapping]] {
        var groups: [EntityName: [Mapping]] = [:]
        for mapping in mappings {
            if let name = mapping.mapping[keyPath: entity] { groups[name, default: []].append(mapping) }
        }
        return groups
    }

    mutating func make() {
        for entity in source.entities where !entity.isAbstract { judge(entity) }
        for mapping in mappings {
            guard let entity = mapping.mapping.destinationEntity.flatMap(destination.entity),
                let origin = mapping.mapping.sourceEntity.flatMap(source.entity)
            else { continue }
            judge(mapping, origin: origin, entity: entity)
        }
        for entity in destination.entities { judgeIdentifiers(of: entity) }
        judgeConstraints()
    }

    private mutating func add(
        _ kind: MappingRemark.Kind, entity: EntityName, property: String? = nil, message: String
    ) {
        add(MappingRemark(kind, entity: entity.text, property: property, message: message))
    }

    private mutating func add(_ remark: MappingRemark) {
        guard said[remark] == nil else { return }
        said[remark] = remarks.count
        remarks.append(remark)
    }

    /// Adds a loss; if a remark says the same of other objects, adds the loss to that remark.
    private mutating func add(
        loss: MappingLoss, entity: EntityName, property: String? = nil, message: String
    ) {
        let remark = MappingRemark(.loss, entity: entity.text, property: property, message: message)
        add(remark)
        guard let index = said[remark], !remarks[index].losses.contains(loss) else { return }
        remarks[index].losses.append(loss)
    }

    // MARK: Dropped data

    private mutating func judge(_ entity: Entity) {
        let takers = bySource[entity.name] ?? []
        // A policy is not asked for the objects of a mapping that removes them.
        let asked = takers.filter { $0.mapping.type != .remove }
        guard asked.allSatisfy({ $0.mapping.policyName == nil }) else { return }
        let makers = asked.filter { $0.mapping.destinationEntity != nil }
        guard !makers.isEmpty else {
            add(
                loss: MappingLoss(.objects, of: .init(entity.name), by: takers.map(\.mapping.name)),
                entity: entity.name, property: nil,
                message: "All objects of the entity are dropped.")
            return
        }
        if let left = objects(of: entity, notTakenBy: makers) {
            add(
                loss: MappingLoss(.objects, of: left, by: makers.map(\.mapping.name)), entity: entity.name,
                property: nil,
                message: "Objects that no mapping's predicate takes are dropped.")
        }
        for attribute in entity.attributes where attribute.isStored {
            let name = attribute.name
            let readers = makers.filter { $0.reads(name) }
            if let left = objects(of: entity, takenBy: makers, notTakenBy: readers) {
                let others = makers.filter { !$0.reads(name) }
                add(
                    loss: MappingLoss(.values(name), of: left, by: others.map(\.mapping.name)), entity: entity.name,
                    property: name,
                    message: readers.isEmpty
                        ? "The attribute's values are dropped: no mapping reads them."
                        : "Of some objects the attribute's values are dropped: no mapping that takes them reads them.")
            } else if attribute.type == .composite {
                judgeElements(of: attribute, path: [name], entity: entity, makers: makers)
            }
        }
        for relationship in entity.relationships { judge(relationship, of: entity, makers: makers) }
    }

    /// The objects of an entity that some mappings take, and none of some others.
    private func objects(
        of entity: Entity, takenBy makers: [Mapping]? = nil, notTakenBy others: [Mapping]
    ) -> MappingLoss.Objects? {
        let taken = makers.flatMap { FetchRequest.Predicate.any($0.map(\.mapping.sourcePredicate)) }
        if others.isEmpty { return .init(entity.name, where: taken) }
        guard let left = FetchRequest.Predicate.any(others.map(\.mapping.sourcePredicate)) else { return nil }
        return .init(entity.name, where: taken.map { $0 && .not(left) } ?? .not(left))
    }

    private mutating func judge(
        _ relationship: ManagedObjectModel.Relationship, of entity: Entity, makers: [Mapping]
    ) {
        let name = relationship.name.name
        let readers = makers.filter { $0.reads(name) }
        guard let left = objects(of: entity, takenBy: makers, notTakenBy: readers) else { return }
        // The inverse may give the pairs for both ends.
        var targets: [MappingLoss.Objects]?
        if let number = relationship.inverse {
            let inverse = source.relationships[number].name.name
            let heirs = source.entities[relationship.destination].selfAndSubentities.map { source.entities[$0] }
                .filter { !$0.isAbstract }
            let saying = heirs.map { (bySource[$0.name] ?? []).filter { $0.reads(inverse) } }
            if saying.contains(where: { !$0.isEmpty }) {
                targets = zip(heirs, saying).compactMap { objects(of: $0, notTakenBy: $1) }
                // A place belongs to the pair, and needs an ordered relationship at this end.
                let droppers = zip(heirs, saying).flatMap { heir, mappings in
                    relationship.isOrdered ? mappings.filter { dropsOrder($0, origin: heir, from: number) } : []
                }
                if !droppers.isEmpty {
                    add(
                        loss: MappingLoss(.order(name), of: left, by: droppers.map(\.mapping.name)),
                        entity: source.entities[relationship.source].name, property: name,
                        message: "The order of the destinations is dropped.")
                }
            }
        }
        guard targets != [] else { return }
        let others = makers.filter { !$0.reads(name) }
        add(
            loss: MappingLoss(.references(name, to: targets), of: left, by: others.map(\.mapping.name)),
            entity: entity.name,
            property: name,
            message: readers.isEmpty && targets == nil
                ? "The relationship's destinations are dropped: no mapping reads them."
                : "Some of the relationship's destinations are dropped: no mapping that takes the objects reads them.")
    }

    /// Whether a mapping keeps the pairs of a relationship of its objects without the order that
    /// they have at the other end.
    private func dropsOrder(_ mapping: Mapping, origin: Entity, from relationship: Int) -> Bool {
        guard mapping.mapping.policyName == nil else { return false }
        let heirs = successors(mapping, origin: origin).filter { $0.old.number == relationship }
        return !heirs.isEmpty
            && !heirs.contains { heir in
                guard let inverse = heir.new.inverse.map({ destination.relationships[$0] }) else { return false }
                // A single destination has no order.
                return inverse.isOrdered || !inverse.isToMany
            }
    }

    /// Judges the elements of a composite, at any depth; an element that no mapping reads is
    /// reported only as a whole.
    private mutating func judgeElements(
        of composite: AttributeDescription, path: [String], entity: Entity, makers: [Mapping]
    ) {
        for element in composite.elements where element.type != .undefined {
            let path = path + [element.name]
            let readers = makers.filter { $0.readsEverything || reads(path, mapping: $0) }
            guard let left = objects(of: entity, takenBy: makers, notTakenBy: readers) else {
                judgeElements(of: element, path: path, entity: entity, makers: makers)
                continue
            }
            let name = path.joined(separator: ".")
            add(
                loss: MappingLoss(.values(name), of: left, by: makers.map(\.mapping.name)), entity: entity.name,
                property: name,
                message: "The element's values are dropped: no mapping reads them.")
        }
    }

    /// Whether a mapping reads an element or a part of it.
    private func reads(_ path: [String], mapping: Mapping) -> Bool {
        if mapping.used.contains(where: { path.starts(with: $0) || $0.starts(with: path) }) { return true }
        return mapping.taken.contains { name, taken in
            if taken.starts(with: path) { return true }
            // A composite that is given as a whole keeps the elements that the other one has too.
            guard path.starts(with: taken), let entity = mapping.mapping.destinationEntity.flatMap(destination.entity)
            else { return false }
            let names = name.split(separator: ".").map(String.init) + path.dropFirst(taken.count)
            return entity.attribute(names[0])?.hasElement(names.dropFirst()) ?? false
        }
    }

    // MARK: What one mapping gives

    private mutating func judge(_ mapping: Mapping, origin: Entity, entity: Entity) {
        guard mapping.mapping.policyName == nil else { return }
        if entity.isAbstract, !origin.isAbstract {
            add(
                .demand, entity: entity.name, property: nil,
                message: "The entity is abstract: the migration fails if '\(origin.name)' has objects of its own.")
        }
        let isCopy = mapping.mapping.type == .copy
        guard isCopy || mapping.mapping.type == .transform, !origin.isAbstract else { return }
        for attribute in entity.attributes where attribute.isStored {
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
                // The relationship is the same, what its destinations become need not be.
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
                    message: "Of several destinations only one remains: '\(entity.name).\(name)' can lead to one.")
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
                        "The relationship is mandatory, and only its inverse says where it leads: the migration fails if nothing refers to an object of '\(origin.name)'."
                )
            }
        }
        judgeStrays(mapping, origin: origin)
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
        // Other expressions give what they give.
        guard let name = value.sourceAttribute, let old = origin.attribute(name), old.isOptional else { return }
        add(
            .demand, entity: entity.name, property: attribute.name,
            message:
                "The attribute becomes mandatory: the migration fails if an object of '\(origin.name)' has no '\(name)'. Give it a default."
        )
    }

    /// Says where a whole number becomes a floating-point number that may be unable to hold it.
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
                "The type changes from \(old.type.name) to \(attribute.type.name): the migration fails if an object of '\(origin.name)' has a number that \(attribute.type.name) cannot hold exactly, which only those beyond \(attribute.type == .float ? "2^24" : "2^53") can be. Give a mapping with an expression for it."
        )
    }

    /// Says which objects' IDs in an attribute of the source become null.
    private mutating func judgeIDs(in attribute: String, of origin: Entity, mapping: Mapping) {
        let strays: [MappingLoss.Objects] = source.entities.compactMap { entity in
            let takers = (bySource[entity.name] ?? []).filter { $0.mapping.type != .remove }
            guard !entity.isAbstract, takers.allSatisfy({ $0.mapping.policyName == nil }) else { return nil }
            return objectsWithoutSuccessor(entity, makers: takers.filter { $0.mapping.destinationEntity != nil })
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
                    "IDs of \(some)objects of \(names) become null: those become no object of the destination, or several."
            )
        }
    }

    /// The objects of an entity that become no object, or several.
    private func objectsWithoutSuccessor(_ entity: Entity, makers: [Mapping]) -> MappingLoss.Objects? {
        let filters = makers.compactMap(\.mapping.sourcePredicate)
        switch makers.count - filters.count {
        case 0:
            // Exactly one filter must take an object.
            let one = filters.indices.map { index -> FetchRequest.Predicate in
                let others = filters.indices.filter { $0 != index }.map { FetchRequest.Predicate.not(filters[$0]) }
                return others.isEmpty ? filters[index] : .and([filters[index]] + others)
            }
            return .init(entity.name, where: one.isEmpty ? nil : .not(one.count == 1 ? one[0] : .or(one)))
        case 1: return filters.isEmpty ? nil : .init(entity.name, where: filters.count == 1 ? filters[0] : .or(filters))
        default: return .init(entity.name)
        }
    }

    /// Says that values lose digits in a type that has fewer; whole numbers are checked one by one
    /// when the migration runs.
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
                // An element with a mapping of its own gets what that says.
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
                message: "The destinations get an order, that of their keys.")
        }
        judgeInverse(of: new, from: old, entity: entity, origin: origin, mapping: mapping)
    }

    /// A relationship of the destination that takes destinations of one of the source.
    private struct Successor {
        let old: ManagedObjectModel.Relationship
        let new: ManagedObjectModel.Relationship
        /// The entity whose objects have the new relationship.
        let entity: EntityName
        /// The entity mapping whose objects it takes; nil for those of any.
        let mapping: String?
    }

    /// The relationships that a mapping makes of those of the source's entity.
    private func successors(_ mapping: Mapping, origin: Entity) -> [Successor] {
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
            guard let old = value?.instancesSource.flatMap(origin.relationship), let maker = value?.instancesMapping
            else { return nil }
            return Successor(old: old, new: new, entity: entity.name, mapping: maker)
        }
    }

    /// Says which destinations are dropped because they become no objects that a relationship can
    /// refer to.
    private mutating func judgeStrays(_ mapping: Mapping, origin: Entity) {
        // Others that take the same objects may keep what this one drops.
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
                    "Destinations of \(names) are dropped: their objects do not become any that '\(successor.entity).\(successor.new.name.name)' can lead to."
            )
        }
    }

    /// The objects of an entity that do not become possible destinations of the given
    /// relationships; nil if all do.
    private func strays(_ entity: Entity, keeping: [Successor]) -> MappingLoss.Objects? {
        let makers = (bySource[entity.name] ?? []).filter { maker in
            guard let made = maker.mapping.destinationEntity.flatMap(destination.entity) else { return false }
            return keeping.contains { successor in
                destination.entities[successor.new.destination].includes(made.number)
                    && (successor.mapping == nil || successor.mapping == maker.mapping.name)
            }
        }
        return objects(of: entity, notTakenBy: makers)
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
                    "Which of two objects leads to the other is dropped: the relationship becomes its own inverse, '\(new.name)'."
            )
        }
        guard let inverse = new.inverse.map({ destination.relationships[$0] }), !inverse.isToMany else { return }
        let wasToOne = old.inverse.map { !source.relationships[$0].isToMany } ?? false
        guard !wasToOne || becomesReflexive else { return }
        let remedy = "Say in a policy which one it keeps."
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
                    "The inverse, '\(inverse.name)', is to-one: the migration fails if two objects lead to the same one. \(remedy)"
            )
        }
    }

    /// Whether some mapping fills a relationship from its other end.
    private func isGiven(_ relationship: ManagedObjectModel.Relationship) -> Bool {
        guard let inverse = relationship.inverse.map({ destination.relationships[$0] }) else { return false }
        return destination.entities[inverse.source].selfAndSubentities.contains { number in
            (byDestination[destination.entities[number].name] ?? []).contains {
                $0.mapping.type == .copy || $0.mapping.policyName != nil || $0.value(of: inverse.name.name) != nil
            }
        }
    }

    /// Whether to-one references of the source to objects of an entity fill a to-one relationship
    /// from its to-one inverse.
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

    // MARK: Identifiers and constraints

    /// Notes renaming identifiers that match nothing: each makes a new element, which is hardly
    /// intended.
    private mutating func judgeIdentifiers(of entity: Entity) {
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
            let fed = entity.selfAndSubentities.flatMap { byDestination[destination.entities[$0].name] ?? [] }
                .filter { $0.mapping.sourceEntity != nil }
            // One constraint of the source must bind all of them: two that bind a half each say nothing about both.
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

    /// The numbers of the source's constraints that objects must meet already, so that they meet
    /// this one after a mapping.
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

extension FetchRequest.Expression {
    /// The attribute of the source object that the expression gives, unchanged.
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

    /// The relationship of the source object whose destinations the manager is asked about, by
    /// whichever function.
    fileprivate var instancesSource: String? {
        guard case .registered(_, let arguments) = self, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue)
        else { return nil }
        return arguments[2].sourceAttribute
    }

    /// The entity mapping whose objects the manager is asked for.
    fileprivate var instancesMapping: String? {
        guard case .registered(MappingFunction.destinationInstances.rawValue, let arguments) = self,
            arguments.count == 3, case .constant(.string(let name)) = arguments[1]
        else { return nil }
        return name
    }

    /// The relationship of the source object whose migrated destinations the expression gives.
    var relatedSourceRelationship: String? {
        guard case .registered(MappingFunction.relatedInstances.rawValue, let arguments) = self, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue),
            case .constant(.string(let name)) = arguments[1]
        else { return nil }
        return name
    }
}

extension AttributeDescription {
    /// Whether elements of these names lie one in the other.
    fileprivate func hasElement(_ names: ArraySlice<String>) -> Bool {
        guard let first = names.first else { return true }
        return elements.first { $0.name == first }?.hasElement(names.dropFirst()) ?? false
    }
}
