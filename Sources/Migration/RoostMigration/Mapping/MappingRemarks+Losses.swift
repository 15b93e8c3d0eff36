internal import RoostCore
internal import RoostPredicates

// Remarks on source data that no mapping uses.
extension MappingRemarks {
    mutating func judge(_ entity: Entity) {
        let entityMappings = bySource[entity.name] ?? []
        // A policy does not receive the objects of a mapping that removes them.
        let asked = entityMappings.filter { $0.mapping.type != .remove }
        guard asked.allSatisfy({ $0.mapping.policyName == nil }) else { return }
        let creators = asked.filter { $0.mapping.destinationEntity != nil }
        guard !creators.isEmpty else {
            add(
                loss: MappingLoss(.objects, of: .init(entity.name), by: entityMappings.map(\.mapping.name)),
                entity: entity.name, property: nil,
                message: "All objects of the entity are dropped.")
            return
        }
        if let left = objects(of: entity, notTakenBy: creators) {
            add(
                loss: MappingLoss(.objects, of: left, by: creators.map(\.mapping.name)), entity: entity.name,
                property: nil,
                message: "Objects that no mapping's predicate selects are dropped.")
        }
        // The values of a computed attribute can be computed again.
        for attribute in entity.attributes where attribute.isStored && !entity.computes(attribute.name) {
            let name = attribute.name
            let readers = creators.filter { $0.reads(name) }
            if let left = objects(of: entity, takenBy: creators, notTakenBy: readers) {
                let others = creators.filter { !$0.reads(name) }
                add(
                    loss: MappingLoss(.values(name), of: left, by: others.map(\.mapping.name)), entity: entity.name,
                    property: name,
                    message: readers.isEmpty
                        ? "The attribute's values are dropped: no mapping reads them."
                        : "The attribute's values are dropped for some objects: no mapping that takes those objects reads them."
                )
            } else if attribute.type == .composite {
                judgeElements(of: attribute, path: [name], entity: entity, creators: creators)
            }
        }
        for relationship in entity.relationships { judge(relationship, of: entity, creators: creators) }
    }

    /// Returns the objects of an entity that `creators` read and `others` do not; nil if `others`
    /// read all.
    ///
    /// Without `creators`, returns the objects that `others` do not read.
    func objects(
        of entity: Entity, takenBy creators: [Mapping]? = nil, notTakenBy others: [Mapping]
    ) -> MappingLoss.Objects? {
        let taken = creators.flatMap { FetchRequest.Predicate.any($0.map(\.mapping.sourcePredicate)) }
        if others.isEmpty { return .init(entity.name, where: taken) }
        guard let left = FetchRequest.Predicate.any(others.map(\.mapping.sourcePredicate)) else { return nil }
        return .init(entity.name, where: taken.map { $0 && .not(left) } ?? .not(left))
    }

    private mutating func judge(
        _ relationship: ManagedObjectModel.Relationship, of entity: Entity, creators: [Mapping]
    ) {
        let name = relationship.name.name
        let readers = creators.filter { $0.reads(name) }
        guard let left = objects(of: entity, takenBy: creators, notTakenBy: readers) else { return }
        // The inverse may provide the pairs for both ends.
        var targets: [MappingLoss.Objects]?
        if let number = relationship.inverse {
            let inverse = source.relationships[number].name.name
            let heirs = source.entities[relationship.destination].selfAndSubentities.map { source.entities[$0] }
                .filter { !$0.isAbstract }
            let saying = heirs.map { (bySource[$0.name] ?? []).filter { $0.reads(inverse) } }
            if saying.contains(where: { !$0.isEmpty }) {
                targets = zip(heirs, saying).compactMap { objects(of: $0, notTakenBy: $1) }
                // An order can be lost only if this end is ordered.
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
        let others = creators.filter { !$0.reads(name) }
        add(
            loss: MappingLoss(.references(name, to: targets), of: left, by: others.map(\.mapping.name)),
            entity: entity.name,
            property: name,
            message: readers.isEmpty && targets == nil
                ? "The relationship's destinations are dropped: no mapping reads them."
                : "Some of the relationship's destinations are dropped: no mapping that takes the objects reads them.")
    }

    /// Returns whether a mapping preserves the pairs of a relationship but drops the order in which
    /// the inverse lists them.
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

    /// Examines the elements of a composite, at any depth.
    ///
    /// If an element is reported, its own elements are not reported separately.
    private mutating func judgeElements(
        of composite: AttributeDescription, path: [String], entity: Entity, creators: [Mapping]
    ) {
        for element in composite.elements where element.type != .undefined {
            let path = path + [element.name]
            let readers = creators.filter { $0.readsEverything || reads(path, mapping: $0) }
            guard let left = objects(of: entity, takenBy: creators, notTakenBy: readers) else {
                judgeElements(of: element, path: path, entity: entity, creators: creators)
                continue
            }
            let name = path.joined(separator: ".")
            add(
                loss: MappingLoss(.values(name), of: left, by: creators.map(\.mapping.name)), entity: entity.name,
                property: name,
                message: "The element's values are dropped: no mapping reads them.")
        }
    }

    /// Returns whether a mapping reads an element, a part of it or a composite that contains it.
    private func reads(_ path: [String], mapping: Mapping) -> Bool {
        if mapping.used.contains(where: { path.starts(with: $0) || $0.starts(with: path) }) { return true }
        return mapping.taken.contains { name, taken in
            if taken.starts(with: path) { return true }
            // A composite that is mapped as a whole keeps the elements that both composites have.
            guard path.starts(with: taken), let entity = mapping.mapping.destinationEntity.flatMap(destination.entity)
            else { return false }
            let names = name.split(separator: ".").map(String.init) + path.dropFirst(taken.count)
            return entity.attribute(names[0])?.hasElement(names.dropFirst()) ?? false
        }
    }
}

extension AttributeDescription {
    fileprivate func hasElement(_ names: ArraySlice<String>) -> Bool {
        guard let first = names.first else { return true }
        return elements.first { $0.name == first }?.hasElement(names.dropFirst()) ?? false
    }
}
