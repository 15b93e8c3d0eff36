package import RoostCore

extension KeyValueStore {
    /// Sets the generation and raises the highest keys, for a store loaded from another
    /// representation.
    package func setGeneration(_ generation: Generation, lastKeys: [EntityName: Int64]) throws(StoreError) {
        try requireWritable()
        let model = model
        try storage.write(timeoutSeconds: options.timeoutSeconds) { (writer) throws(StoreError) in
            var tally = try MetaSpace.readTally(model, reader: writer)
            tally.generation = generation
            try MetaSpace.writeTally(tally, writer: writer)
            for (name, key) in lastKeys {
                let root = try model.requireEntity(name).root
                if try MetaSpace.readLastKey(root: root, reader: writer) < key {
                    try MetaSpace.writeLastKey(key, root: root, writer: writer)
                }
            }
        }
    }

    /// A to-one reference or a link with an end that does not exist or has the wrong entity.
    package struct DanglingReference: Sendable {
        /// The to-one relationship, or the relationship under which the link is stored.
        package let relationship: RelationshipName
        package let source: Int64
        package let target: Int64
        /// Whether the source of a link is missing or has the wrong entity; false for a reference.
        package let lacksSource: Bool
        /// The entity number in a to-one reference, if the referenced object has another entity.
        package var named: Int?
    }

    /// Returns the first reference or link with an end that does not exist or has the wrong entity.
    ///
    /// - Complexity: At most two look-ups for each reference or link.
    package func firstDanglingReference() throws(StoreError) -> DanglingReference? {
        let reader = try read()
        defer { reader.close() }
        if let found = try firstDangling(.references, reader: reader) { return found }
        if let found = try firstDangling(.links, reader: reader) { return found }
        return try firstDangling(.inverseLinks, reader: reader)
    }

    /// Returns the first dangling reference or link in a space, or nil.
    ///
    /// Checks the first object of each key: the destination of a reference, the source in `links`,
    /// the target in `inverseLinks`. For a reference, also checks the entity number in the record.
    private func firstDangling(
        _ space: KeySpace, reader: any KeyValueReader
    ) throws(StoreError) -> DanglingReference? {
        let cursor = try reader.cursor(in: space)
        var last: (relationship: Int, key: Int64, entity: Int)?
        while try cursor.next() {
            guard let entry = LinkKey(cursor.key), model.relationships.indices.contains(entry.relationship) else {
                throw StoreError(.corrupted, "A key in space '\(space)' names no relationship.")
            }
            let (number, near, far) = (entry.relationship, entry.from, entry.to)
            let relationship = model.relationships[number]
            let entity: Int
            if let last, last.relationship == number, last.key == near {
                entity = last.entity
                guard space == .references else { continue }
            } else {
                let end = model.entities[space == .links ? relationship.source : relationship.destination]
                let found = try reader.entityNumber(of: near, root: end.root, model: model)
                guard let found, end.includes(found) else {
                    return DanglingReference(
                        relationship: relationship.name, source: space == .links ? near : far,
                        target: space == .links ? far : near, lacksSource: space == .links)
                }
                entity = found
                last = (number, near, found)
            }
            guard space == .references, let named = try namedEntity(relationship, key: far, reader: reader),
                named != entity
            else {
                continue
            }
            return DanglingReference(
                relationship: relationship.name, source: far, target: near, lacksSource: false, named: named)
        }
        return nil
    }

    /// Returns the entity number in a to-one reference; nil if the destination has no subentities.
    private func namedEntity(
        _ relationship: ManagedObjectModel.Relationship, key: Int64, reader: any KeyValueReader
    ) throws(StoreError) -> Int? {
        let destination = model.entities[relationship.destination]
        guard destination.selfAndSubentities.count > 1 else { return nil }
        var named: Int?
        let root = model.entities[relationship.source].root
        try reader.withRecord(key, root: root, model: model) { (record) throws(StoreError) in
            guard let record, let field = record.layout.field(relationship.name.name) else { return }
            named = record.reference(field)?.entity
        }
        return named
    }
}
