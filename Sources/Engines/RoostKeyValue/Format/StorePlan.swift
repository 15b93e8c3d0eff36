internal import RoostCore

/// The entries that the engine writes for objects of each entity in addition to their records.
struct StorePlan: Sendable {
    struct Reference: Sendable {
        let relationship: Int
        let field: RecordLayout.Field
        /// The field with the place in the inverse relationship; nil if the inverse is not ordered.
        let place: RecordLayout.Field?
    }

    /// A uniqueness constraint or an index, with the fields of one entity.
    struct Values: Sendable {
        let number: Int
        let fields: [RecordLayout.Field]
        let isAscending: [Bool]
    }

    struct Entity: Sendable {
        let root: Int
        let references: [Reference]
        let constraints: [Values]
        let indexes: [Values]
        /// The comparison of all fields that occur in entries.
        let entryFields: RecordAgreement
        /// The relationships that own links and can have an object of this entity as source.
        let linksAsSource: [Int]
        /// The relationships that own links and can have an object of this entity as target.
        let linksAsTarget: [Int]
    }

    let model: ManagedObjectModel
    let entities: [Entity]
    let constraints: [ManagedObjectModel.UniquenessConstraint]
    /// The maximum length of a key; only shortened keys have exactly this length.
    ///
    /// The store contains the limit, so that all programs use the same limit.
    let keyLimit: Int

    /// Creates the plan; throws `limitExceeded` if the model has more than 65 535 entities,
    /// relationships, constraints or indexes.
    init(model: ManagedObjectModel, keyLimit: Int) throws(StoreError) {
        self.model = model
        self.keyLimit = keyLimit
        constraints = model.uniquenessConstraints
        guard model.relationships.count <= UInt16.max, constraints.count <= UInt16.max,
            model.fetchIndexes.count <= UInt16.max, model.entities.count <= UInt16.max
        else {
            throw StoreError(
                .limitExceeded,
                "The model has more than \(UInt16.max) entities, relationships, constraints or indexes; a store of this type cannot number them."
            )
        }
        entities = model.entities.map { Self.plan($0, model: model) }
    }

    private static func plan(_ entity: ManagedObjectModel.Entity, model: ManagedObjectModel) -> Entity {
        let layout = entity.layout
        let references = layout.fields.compactMap { field -> Reference? in
            guard let relationship = field.relationship, field.kind != .order else { return nil }
            return Reference(
                relationship: relationship, field: field,
                place: layout.field(RecordLayout.orderFieldName(of: field.name)))
        }
        // A constraint or index is omitted if a property is not stored (transient, expression).
        let constraints = entity.uniquenessConstraints.compactMap { constraint -> Values? in
            let fields = constraint.attributes.compactMap { layout.field($0) }
            guard fields.count == constraint.attributes.count, !fields.isEmpty else { return nil }
            return Values(number: constraint.number, fields: fields, isAscending: fields.map { _ in true })
        }
        let indexes = entity.fetchIndexes.compactMap { index -> Values? in
            let elements = index.declaration.elements
            let fields = elements.compactMap { $0.expression == nil ? layout.field($0.property) : nil }
            guard fields.count == elements.count, !fields.isEmpty else { return nil }
            return Values(number: index.number, fields: fields, isAscending: elements.map(\.isAscending))
        }
        let owners = model.linkRelationships
        let entryFields =
            references.map(\.field) + references.compactMap(\.place) + (constraints + indexes).flatMap(\.fields)
        return Entity(
            root: entity.root, references: references, constraints: constraints, indexes: indexes,
            entryFields: RecordAgreement(entryFields, layout: layout),
            linksAsSource: owners.filter { model.entities[$0.source].includes(entity.number) }.map(\.number),
            linksAsTarget: owners.filter { model.entities[$0.destination].includes(entity.number) }.map(\.number))
    }

    /// Encodes the values of a constraint or index for one record.
    ///
    /// The result is false if a value of a constraint is null, so that the record has no entry.
    func encode(_ values: Values, of record: RecordReader, isConstraint: Bool, into bytes: inout [UInt8]) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        for (field, isAscending) in zip(values.fields, values.isAscending) {
            let hasValue = IndexKeyEncoding.append(
                field, of: record, isAscending: isAscending, model: model, to: &bytes)
            if isConstraint, !hasValue { return false }
        }
        return true
    }
}

/// The entries of a record in the spaces `references`, `unique` and `indexes`.
enum RecordEntries {
    struct Entry: Sendable, Hashable {
        let space: KeySpace
        let key: StorageKey

        /// Hashing the key is sufficient, and faster than also hashing the space.
        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    static func all(of record: RecordReader, plan: StorePlan) -> [Entry] {
        var (entries, values, key) = ([Entry](), [UInt8](), StorageKey())
        visit(record, plan: plan, values: &values, key: &key) { entries.append(Entry(space: $0, key: $1)) }
        return entries
    }

    /// Returns whether two records of one object have the same entity, and equal values in all
    /// fields that occur in entries.
    ///
    /// If false, the records may still have the same entries.
    static func agree(_ left: RecordReader, right: RecordReader, plan: StorePlan) -> Bool {
        guard left.entityNumber == right.entityNumber else { return false }
        return plan.entities[left.entityNumber].entryFields.holds(left, right)
    }

    /// Calls `body` with each entry of `record`; `values` and `key` are reusable memory.
    static func visit<Failure: Error>(
        _ record: RecordReader, plan: StorePlan, values: inout [UInt8], key: inout StorageKey,
        _ body: (KeySpace, StorageKey) throws(Failure) -> Void
    ) throws(Failure) {
        let entity = plan.entities[record.entityNumber]
        // The loop uses indices, because copying a `Reference` would retain the names in its fields.
        for index in entity.references.indices where !record.isNull(entity.references[index].field) {
            var place: Int64 = 0
            if let field = entity.references[index].place { place = record.integer(field) }
            key.start(
                ShortKey(
                    entity.references[index].relationship, from: record.integer(entity.references[index].field),
                    place: place, to: record.key))
            try body(.references, key)
        }
        for constraint in entity.constraints
        where plan.encode(constraint, of: record, isConstraint: true, into: &values) {
            _ = IndexKeyEncoding.makeUniqueKey(
                constraint: constraint.number, values: values, object: record.key, limit: plan.keyLimit, into: &key)
            try body(.unique, key)
        }
        for index in entity.indexes where plan.encode(index, of: record, isConstraint: false, into: &values) {
            IndexKeyEncoding.makeIndexKey(
                index: index.number, values: values, object: record.key, limit: plan.keyLimit, into: &key)
            try body(.indexes, key)
        }
    }

    /// Returns an entry's value: the object's key in the space `unique`, empty in other spaces.
    static func value(in space: KeySpace, object: Int64) -> [UInt8] {
        space == .unique ? UInt64(bitPattern: object).littleEndianBytes : []
    }
}
