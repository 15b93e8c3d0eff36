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

    /// An entity mapping, and what its expressions read and fill.
    private struct Mapping {
        let mapping: EntityMapping
        /// What each property gets, by its name; nil for a default.
        let values: [String: FetchRequest.Expression?]
        /// The properties of the source object that are read.
        var read: Set<String> = []
        /// What is given to properties as it is, by their names; elements of composites included.
        var taken: [String: [String]] = [:]
        /// What is read by other expressions.
        var used: Set<[String]> = []
        /// Whether all of the source object may be read: it is copied, a policy takes part, or it is handed to a function as a whole.
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

        /// What a property gets; nil for its default.
        func value(of property: String) -> FetchRequest.Expression? { values[property] ?? nil }
    }

    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    private let mappings: [Mapping]
    private let bySource: [EntityName: [Mapping]]
    private let byDestination: [EntityName: [Mapping]]
    private(set) var remarks: [MappingRemark] = []
    /// What was said already: a property that is inherited is looked at once for each heir.
    private var said: Set<MappingRemark> = []

    init(_ model: MappingModel, _ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
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
            judge(mapping, origin, entity)
        }
        for entity in destination.entities { judgeIdentifiers(of: entity) }
        judgeConstraints()
    }

    private mutating func add(
        _ kind: MappingRemark.Kind, _ entity: EntityName, _ property: String? = nil, _ message: String
    ) {
        let remark = MappingRemark(kind, entity: entity.text, property: property, message)
        if said.insert(remark).inserted { remarks.append(remark) }
    }

    // MARK: What is left behind

    private mutating func judge(_ entity: Entity) {
        let takers = bySource[entity.name] ?? []
        guard takers.allSatisfy({ $0.mapping.policyName == nil }) else { return }
        let makers = takers.filter { $0.mapping.destinationEntity != nil }
        guard !makers.isEmpty else {
            add(.loss, entity.name, nil, "All objects of the entity are dropped.")
            return
        }
        if makers.allSatisfy({ $0.mapping.sourcePredicate != nil }) {
            add(.loss, entity.name, nil, "Objects that no mapping's predicate takes are dropped.")
        }
        guard !makers.contains(where: \.readsEverything) else { return }
        let read = makers.reduce(into: Set<String>()) { $0.formUnion($1.read) }
        for attribute in entity.attributes where attribute.isStored && !read.contains(attribute.name) {
            add(.loss, entity.name, attribute.name, "The attribute's values are dropped: no mapping reads them.")
        }
        for attribute in entity.attributes where attribute.type == .composite && read.contains(attribute.name) {
            for element in unreadElements(of: attribute, [attribute.name], makers) {
                add(.loss, entity.name, element, "The element's values are dropped: no mapping reads them.")
            }
        }
        for relationship in entity.relationships where !read.contains(relationship.name.name) {
            guard !isReadFromTheOtherEnd(relationship) else { continue }
            add(
                .loss, entity.name, relationship.name.name,
                "The relationship's destinations are dropped: no mapping reads them.")
        }
    }

    /// The elements of a composite, at any depth, that no mapping reads; of what is inside of one only the whole.
    private func unreadElements(of composite: AttributeDescription, _ path: [String], _ makers: [Mapping]) -> [String] {
        composite.elements.flatMap { element -> [String] in
            let path = path + [element.name]
            guard makers.contains(where: { reads(path, $0) }) else { return [path.joined(separator: ".")] }
            return unreadElements(of: element, path, makers)
        }
    }

    /// Whether a mapping reads an element or a part of it.
    private func reads(_ path: [String], _ mapping: Mapping) -> Bool {
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

    private func isReadFromTheOtherEnd(_ relationship: ManagedObjectModel.Relationship) -> Bool {
        guard let inverse = relationship.inverse.map({ source.relationships[$0] }) else { return false }
        return source.entities[inverse.source].selfAndSubentities.contains { number in
            (bySource[source.entities[number].name] ?? []).contains {
                $0.readsEverything || $0.read.contains(inverse.name.name)
            }
        }
    }

    // MARK: What one mapping gives

    private mutating func judge(_ mapping: Mapping, _ origin: Entity, _ entity: Entity) {
        guard mapping.mapping.policyName == nil else { return }
        if entity.isAbstract, !origin.isAbstract {
            add(
                .demand, entity.name, nil,
                "The entity is abstract: the migration fails if '\(origin.name)' has objects of its own.")
        }
        let isCopy = mapping.mapping.type == .copy
        guard isCopy || mapping.mapping.type == .transform, !origin.isAbstract else { return }
        for attribute in entity.attributes where attribute.isStored {
            let name = isCopy ? attribute.name : mapping.value(of: attribute.name)?.sourceAttribute
            if let name, origin.attribute(name)?.type == .objectID { judgeIDs(in: name, of: origin) }
            if !isCopy {
                judgeExactness(of: attribute, [attribute.name], of: entity, mapping, origin)
                judge(attribute, of: entity, mapping, origin)
            }
        }
        for relationship in entity.relationships {
            let name = relationship.name.name
            if isCopy {
                // The relationship is the same, what its destinations become need not be.
                if let old = origin.relationship(name) { judge(relationship, from: old, of: entity) }
                continue
            }
            let value = mapping.value(of: name)
            if let old = value?.instancesSource.flatMap(origin.relationship), old.isToMany, !relationship.isToMany {
                add(
                    .loss, source.entities[old.source].name, old.name.name,
                    "Of several destinations only one remains: '\(entity.name).\(name)' can lead to one.")
            }
            if let old = value?.relatedSourceRelationship.flatMap(origin.relationship) {
                judge(relationship, from: old, of: entity)
            }
            guard value == nil || value == .constant(.null), relationship.mustLeadSomewhere, !isGiven(relationship)
            else { continue }
            let remark = MappingRemark.staysEmpty(name, of: entity.name)
            if said.insert(remark).inserted { remarks.append(remark) }
        }
    }

    private mutating func judge(
        _ attribute: AttributeDescription, of entity: Entity, _ mapping: Mapping, _ origin: Entity
    ) {
        guard !attribute.isOptional, attribute.defaultValue.isNull, attribute.derivationExpression == nil else {
            return
        }
        guard let value = mapping.value(of: attribute.name) else {
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

    /// Says where a whole number becomes a floating-point number that may be unable to hold it.
    private mutating func judgeExactness(
        of attribute: AttributeDescription, _ path: [String], of entity: Entity, _ mapping: Mapping, _ origin: Entity
    ) {
        let name = path.joined(separator: ".")
        for element in attribute.elements {
            judgeExactness(of: element, path + [element.name], of: entity, mapping, origin)
        }
        guard case .path(of: .variable(MappingVariable.source.rawValue), let names)? = mapping.value(of: name),
            let old = origin.attribute(atPath: names.joined(separator: ".")),
            old.type.convertsWhereExact(to: attribute.type)
        else { return }
        add(
            .demand, entity.name, name,
            "The type changes from \(old.type.name) to \(attribute.type.name): the migration fails if an object of '\(origin.name)' has a number that \(attribute.type.name) cannot hold exactly, which only those beyond \(attribute.type == .float ? "2^24" : "2^53") can be. Give a mapping with an expression for it."
        )
    }

    /// Says which objects' IDs in an attribute of the source become null.
    private mutating func judgeIDs(in attribute: String, of origin: Entity) {
        let strays = source.entities.filter { entity in
            let takers = bySource[entity.name] ?? []
            let makers = takers.filter { $0.mapping.destinationEntity != nil }
            guard !entity.isAbstract, takers.allSatisfy({ $0.mapping.policyName == nil }) else { return false }
            return makers.isEmpty || makers.count(where: { $0.mapping.sourcePredicate == nil }) > 1
        }
        guard !strays.isEmpty else { return }
        let names = strays.map { "'\($0.name)'" }.joined(separator: ", ")
        add(
            .loss, origin.name, attribute,
            "IDs of objects of \(names) become null: those become no object of the destination, or several.")
    }

    private mutating func judge(
        _ new: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship, of entity: Entity
    ) {
        let heirs = Set(destination.entities[new.destination].selfAndSubentities.map { destination.entities[$0].name })
        let strays = source.entities[old.destination].selfAndSubentities.filter { number in
            let origin = source.entities[number]
            guard !origin.isAbstract else { return false }
            return !(bySource[origin.name] ?? []).contains {
                $0.mapping.destinationEntity.map(heirs.contains) ?? false
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
        judgeInverse(of: new, from: old, entity)
    }

    private mutating func judgeInverse(
        of new: ManagedObjectModel.Relationship, from old: ManagedObjectModel.Relationship, _ entity: Entity
    ) {
        let becomesReflexive = new.isReflexive && !old.isReflexive
        if becomesReflexive {
            add(
                .loss, source.entities[old.source].name, old.name.name,
                "Which of two objects leads to the other is dropped: the relationship becomes its own inverse, '\(new.name)'."
            )
        }
        guard let inverse = new.inverse.map({ destination.relationships[$0] }), !inverse.isToMany else { return }
        let wasToOne = old.inverse.map { !source.relationships[$0].isToMany } ?? false
        guard !wasToOne || becomesReflexive else { return }
        let remedy = "Say in a policy which one it keeps."
        if becomesReflexive {
            add(
                .demand, entity.name, new.name.name,
                "The relationship becomes its own to-one inverse: the migration fails if an object would have two partners. \(remedy)"
            )
        } else {
            add(
                .demand, entity.name, new.name.name,
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

    // MARK: Identifiers and constraints

    /// A renaming identifier that means nothing makes a new element, which is hardly what it was written for.
    private mutating func judgeIdentifiers(of entity: Entity) {
        let declaration = entity.declaration
        let origins = byDestination[entity.name] ?? []
        if let identifier = declaration.renamingIdentifier, identifier != declaration.name,
            origins.allSatisfy({ $0.mapping.sourceEntity == nil })
        {
            let known = source.entities.map(\.declaration)
            add(
                .note, entity.name, nil,
                Self.unmatched(identifier, known.map(\.identifier), known.first { $0.name == identifier }?.identifier))
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
                    .note, entity.name, attribute.name,
                    Self.unmatched(identifier, origin.attributes.map(\.identifier), near))
            }
            for relationship in entity.relationships.map(\.declaration) {
                guard let identifier = relationship.renamingIdentifier, identifier != relationship.name,
                    mapping.value(of: relationship.name) == nil,
                    !origin.relationships.contains(where: { $0.declaration.identifier == identifier })
                else { continue }
                let near = origin.relationship(identifier)?.declaration.identifier
                add(
                    .note, entity.name, relationship.name,
                    Self.unmatched(identifier, origin.relationships.map(\.declaration.identifier), near))
            }
        }
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
            let fed = entity.selfAndSubentities.flatMap { byDestination[destination.entities[$0].name] ?? [] }
                .filter { $0.mapping.sourceEntity != nil }
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
        _ constraint: ManagedObjectModel.UniquenessConstraint, _ mapping: Mapping
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

    /// The relationship of the source object whose destinations the manager is asked about, by whichever function.
    fileprivate var instancesSource: String? {
        guard case .registered(_, let arguments) = self, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue)
        else { return nil }
        return arguments[2].sourceAttribute
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

extension AttributeDescription {
    /// Whether elements of these names lie one in the other.
    fileprivate func hasElement(_ names: ArraySlice<String>) -> Bool {
        guard let first = names.first else { return true }
        return elements.first { $0.name == first }?.hasElement(names.dropFirst()) ?? false
    }
}
