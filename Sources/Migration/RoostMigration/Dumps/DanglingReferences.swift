internal import RoostCore

/// A filter for partial dumps that drops references and links to objects outside the dump.
struct DanglingReferences {
    /// A reference's field, and the field of its position in an ordered inverse.
    private struct Reference {
        var field: RecordLayout.Field
        var order: RecordLayout.Field?
    }

    /// Whether references and links can be dropped; true only for a partial dump.
    ///
    /// A complete dump keeps the dangling references of its store.
    let isPossible: Bool
    private var scope: DumpScope
    private let model: ManagedObjectModel
    /// The references of each entity, by entity number.
    private let references: [[Reference]]
    private var countByRelationship: [Int]

    init(_ scope: DumpScope) {
        self.scope = scope
        model = scope.model
        isPossible = !scope.isWhole
        references = scope.model.entities.map { entity in
            entity.layout.fields.filter { $0.destination != nil && $0.relationship != nil && $0.kind != .order }
                .map {
                    Reference(field: $0, order: entity.layout.field(RecordLayout.orderFieldName(of: $0.name)))
                }
        }
        countByRelationship = Array(repeating: 0, count: scope.model.relationships.count)
    }

    /// Appends the only record of a batch to another batch, without references to objects outside
    /// the dump.
    mutating func append(_ single: RecordBatch, to batch: inout RecordBatch) throws(StoreError) {
        scope.note(single)
        var cleared: [(field: RecordLayout.Field, value: Value)] = []
        single.withRecord(at: 0) { record in
            for reference in references[record.entityNumber] {
                guard let (entity, _) = record.reference(reference.field), leadsOut(entity, of: reference.field) else {
                    continue
                }
                cleared.append((reference.field, .null))
                if let order = reference.order { cleared.append((order, .null)) }
                if let relationship = reference.field.relationship { countByRelationship[relationship] += 1 }
            }
        }
        guard !cleared.isEmpty else { return batch.append(single, at: 0) }
        try single.withRecord(at: 0) { (record) throws(StoreError) in try batch.append(record, replacing: cleared) }
    }

    private func leadsOut(_ entity: Int, of field: RecordLayout.Field) -> Bool {
        entity < model.entities.count && !scope.includes(entity)
    }

    /// Returns whether an end of a link is outside the dump, and counts such a link.
    mutating func leadsOut(_ link: Link, relationship: ManagedObjectModel.Relationship) -> Bool {
        if scope.includes(key: link.source, inHierarchyOf: relationship.source),
            scope.includes(key: link.target, inHierarchyOf: relationship.destination)
        {
            return false
        }
        countByRelationship[relationship.number] += 1
        return true
    }

    /// The number of dropped references and links, by relationship; without zeros.
    var counts: [RelationshipCount] {
        zip(model.relationships, countByRelationship).filter { $1 > 0 }
            .map { RelationshipCount(relationship: $0.name.description, count: $1) }
    }
}
