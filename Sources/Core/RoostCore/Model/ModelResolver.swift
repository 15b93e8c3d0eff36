/// The computation of a valid model's numbers, inheritance, storage forms, layouts and hashes.
enum ModelResolver {
    static func resolve(
        entities unsorted: [EntityDescription], configurations: [String: [String]],
        fetchRequestTemplates: [FetchRequestTemplate], versionIdentifiers: [String], userInfo: [String: String]
    ) -> ManagedObjectModel.Resolved {
        let entities = unsorted.map(canonical).sorted { precedes($0.name, $1.name) }
        let numbers = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let parents = entities.map { $0.superentityName.flatMap { numbers[$0] } }

        /// Returns the numbers of the entities from an entity up to its root.
        ///
        /// Validation excludes cycles; the limit of the loop is a safeguard.
        func lineage(_ number: Int) -> [Int] {
            var line = [number]
            while line.count <= entities.count, let parent = parents[line[line.count - 1]] { line.append(parent) }
            return line
        }
        let lineages = entities.indices.map(lineage)
        var subentities = entities.map { _ in [Int]() }
        for (number, line) in lineages.enumerated() { for ancestor in line { subentities[ancestor].append(number) } }

        let relationships = resolveRelationships(entities, numbers: numbers, lineages: lineages)
        let (constraints, indexes) = numberedKeys(of: entities)
        let hashes = VersionHash.hashes(
            of: entities, parents: parents, relationships: relationships, recipe: .current)
        let properties = inherited(
            by: entities, relationships: relationships, lineages: lineages, subentities: subentities)

        var resolved: [ManagedObjectModel.Entity] = []
        for (number, entity) in entities.enumerated() {
            let line = lineages[number]
            resolved.append(
                ManagedObjectModel.Entity(
                    number: number, declaration: entity, superentity: parents[number], root: line[line.count - 1],
                    selfAndSubentities: subentities[number], attributes: properties.attributes[number],
                    relationships: properties.relationships[number],
                    layout: RecordLayout(
                        entity: EntityName(entity.name), entityNumber: number, sortedDrafts: properties.drafts[number]),
                    uniquenessConstraints: line.reversed().flatMap { constraints[$0] },
                    fetchIndexes: line.reversed().flatMap { indexes[$0] }, versionHash: hashes[number]))
        }
        return ManagedObjectModel.Resolved(
            descriptions: entities, configurations: configurations.mapValues { $0.sorted(by: precedes) },
            fetchRequestTemplates: fetchRequestTemplates.sorted { precedes($0.name, $1.name) },
            versionIdentifiers: versionIdentifiers, userInfo: userInfo, entities: resolved,
            relationships: relationships)
    }

    /// Returns the numbered uniqueness constraints and fetch indexes that each entity declares.
    private static func numberedKeys(
        of entities: [EntityDescription]
    ) -> (constraints: [[ManagedObjectModel.UniquenessConstraint]], indexes: [[ManagedObjectModel.FetchIndex]]) {
        var constraintNumber = 0
        var indexNumber = 0
        var constraints = entities.map { _ in [ManagedObjectModel.UniquenessConstraint]() }
        var indexes = entities.map { _ in [ManagedObjectModel.FetchIndex]() }
        for (number, entity) in entities.enumerated() {
            for attributes in entity.uniquenessConstraints {
                constraints[number].append(.init(number: constraintNumber, entity: number, attributes: attributes))
                constraintNumber += 1
            }
            for index in entity.fetchIndexes {
                indexes[number].append(.init(number: indexNumber, entity: number, declaration: index))
                indexNumber += 1
            }
        }
        return (constraints, indexes)
    }

    private struct Inherited {
        let attributes: [[AttributeDescription]]
        let relationships: [[ManagedObjectModel.Relationship]]
        let drafts: [[RecordLayout.Draft]]
    }

    /// Returns the sorted properties of each entity, including inherited ones.
    private static func inherited(
        by entities: [EntityDescription], relationships: [ManagedObjectModel.Relationship], lineages: [[Int]],
        subentities: [[Int]]
    ) -> Inherited {
        var declared = entities.map { _ in [ManagedObjectModel.Relationship]() }
        for relationship in relationships { declared[relationship.source].append(relationship) }

        // Superentities are processed first, so that an entity's own properties are merged into sorted inherited
        // properties.
        var attributes = entities.map { _ in [AttributeDescription]() }
        var allRelationships = declared.map { _ in [ManagedObjectModel.Relationship]() }
        var drafts = entities.map { _ in [RecordLayout.Draft]() }
        for number in entities.indices.sorted(by: { lineages[$0].count < lineages[$1].count }) {
            let (entity, parent) = (entities[number], lineages[number].count > 1 ? lineages[number][1] : nil)
            let own = declared[number].sorted { precedes($0.declaration.name, $1.declaration.name) }
            let ownDrafts =
                entity.attributes.filter(\.isStored).flatMap { fields(of: $0, prefix: "") }
                + own.flatMap { fields(of: $0, hasSubentities: subentities[$0.destination].count > 1) }
            attributes[number] = merged(parent.map { attributes[$0] } ?? [], right: entity.attributes) {
                precedes($0.name, $1.name)
            }
            allRelationships[number] = merged(parent.map { allRelationships[$0] } ?? [], right: own) {
                precedes($0.declaration.name, $1.declaration.name)
            }
            drafts[number] = merged(
                parent.map { drafts[$0] } ?? [], right: ownDrafts.sorted(by: RecordLayout.Draft.precedes),
                RecordLayout.Draft.precedes)
        }
        return Inherited(attributes: attributes, relationships: allRelationships, drafts: drafts)
    }

    /// Merges two sorted lists, with equal elements of `left` first.
    private static func merged<Element>(
        _ left: [Element], right: [Element], _ precedes: (Element, Element) -> Bool
    ) -> [Element] {
        guard !right.isEmpty else { return left }
        var merged: [Element] = []
        merged.reserveCapacity(left.count + right.count)
        var start = 0
        for element in right {
            // Uses binary search, because usually a few elements are merged into many.
            var (low, high) = (start, left.count)
            while low < high {
                let middle = low + (high - low) / 2
                if precedes(element, left[middle]) { high = middle } else { low = middle + 1 }
            }
            merged += left[start..<low]
            merged.append(element)
            start = low
        }
        merged += left[start...]
        return merged
    }

    /// Returns whether `left` comes before `right` in byte order.
    static func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }

    /// Returns the entity with sorted declarations, so that their original order does not affect
    /// equality.
    private static func canonical(_ entity: EntityDescription) -> EntityDescription {
        var entity = entity
        entity.attributes.sort { precedes($0.name, $1.name) }
        entity.relationships.sort { precedes($0.name, $1.name) }
        entity.fetchedProperties.sort { precedes($0.name, $1.name) }
        entity.fetchIndexes.sort { precedes($0.name, $1.name) }
        entity.uniquenessConstraints.sort { $0.lexicographicallyPrecedes($1, by: precedes) }
        for index in entity.attributes.indices { sortElements(of: &entity.attributes[index]) }
        return entity
    }

    private static func sortElements(of attribute: inout AttributeDescription) {
        attribute.elements.sort { precedes($0.name, $1.name) }
        for index in attribute.elements.indices { sortElements(of: &attribute.elements[index]) }
    }

    private static func resolveRelationships(
        _ entities: [EntityDescription], numbers: [String: Int], lineages: [[Int]]
    ) -> [ManagedObjectModel.Relationship] {
        var declared: [(source: Int, declaration: RelationshipDescription)] = []
        for (number, entity) in entities.enumerated() {
            for relationship in entity.relationships
            where !relationship.isTransient && numbers[relationship.destinationEntityName] != nil {
                declared.append((number, relationship))
            }
        }
        var numberByName = entities.map { _ in [String: Int]() }
        for (number, relationship) in declared.enumerated() {
            numberByName[relationship.source][relationship.declaration.name] = number
        }
        /// Returns the number of the inverse, which the destination declares or inherits.
        ///
        /// A transient inverse is ignored, because stores do not save it.
        func inverse(of declaration: RelationshipDescription) -> Int? {
            guard let name = declaration.inverseName, let destination = numbers[declaration.destinationEntityName]
            else {
                return nil
            }
            for ancestor in lineages[destination] { if let number = numberByName[ancestor][name] { return number } }
            return nil
        }
        return declared.enumerated().map { number, relationship in
            let inverse = inverse(of: relationship.declaration)
            let storage: ManagedObjectModel.Relationship.Storage
            if !relationship.declaration.isToMany {
                storage = .field
            } else if let inverse, !declared[inverse].declaration.isToMany {
                storage = .derived(inverse: inverse)
            } else if let inverse, inverse < number {
                storage = .links(of: inverse, isFlipped: true)
            } else {
                storage = .links(of: number, isFlipped: false)
            }
            return ManagedObjectModel.Relationship(
                number: number,
                name: RelationshipName(
                    EntityName(entities[relationship.source].name), name: relationship.declaration.name),
                declaration: relationship.declaration, source: relationship.source,
                destination: numbers[relationship.declaration.destinationEntityName] ?? relationship.source,
                inverse: inverse,
                inverseIsOrdered: inverse.map {
                    declared[$0].declaration.isToMany && declared[$0].declaration.isOrdered
                } ?? false,
                storage: storage)
        }
    }

    /// Returns the fields of an attribute; a composite has a marker field and the fields of its
    /// elements.
    private static func fields(of attribute: AttributeDescription, prefix: String) -> [RecordLayout.Draft] {
        let name = prefix + attribute.name
        let kind: RecordLayout.Field.Kind
        switch attribute.type {
        case .undefined: return []
        case .integer16: kind = .integer16
        case .integer32: kind = .integer32
        case .integer64: kind = .integer64
        case .decimal: kind = .decimal
        case .double: kind = .double
        case .float: kind = .float
        case .string: kind = .string
        case .boolean: kind = .boolean
        case .date: kind = .date
        case .binaryData: kind = .data
        case .uuid: kind = .uuid
        case .uri: kind = .uri
        case .transformable: kind = .transformable
        case .objectID: kind = .objectID
        case .composite:
            return [RecordLayout.Draft(name: name, kind: .composite)]
                + attribute.elements.flatMap { fields(of: $0, prefix: name + ".") }
        }
        return [RecordLayout.Draft(name: name, kind: kind)]
    }

    private static func fields(
        of relationship: ManagedObjectModel.Relationship, hasSubentities: Bool
    ) -> [RecordLayout.Draft] {
        guard relationship.storage == .field else { return [] }
        let name = relationship.name.name
        let reference = RecordLayout.Draft(
            name: name, kind: hasSubentities ? .polymorphicReference : .reference,
            destination: relationship.destination, relationship: relationship.number)
        guard relationship.inverseIsOrdered else { return [reference] }
        return [
            reference,
            RecordLayout.Draft(
                name: RecordLayout.orderFieldName(of: name), kind: .order, relationship: relationship.number),
        ]
    }
}
