internal import RoostCore
internal import RoostQuery

/// A batch insert that can update or skip existing objects, and can set to-many relationships.
///
/// A row identifies a stored object if both have the same values in a uniqueness constraint. The
/// effect is the same as one request for each row, in order. The rules of the model, however, are
/// checked only at the end.
///
/// All rows become one change set. The rows stay in memory, because the change set is computed
/// again if another writer changes one of its objects.
struct Upsert {
    /// The number of rows that are looked up together.
    static let chunkCount = 200
    /// The maximum number of attempts to commit while other writers insert objects that rows
    /// identify.
    private static let mostAttempts = 10

    /// The values of an object in a uniqueness constraint, in the form in which stores compare
    /// them.
    struct Key: Hashable {
        let constraint: Int
        let values: [Value]
    }

    struct Row {
        /// The position of the row's shape in ``Upsert/shapes``.
        let shape: Int
        let values: [Value]
        let keys: [Key]
        let members: [String: [ObjectID]]
    }

    /// The property names of one or more rows, with the plans for setting these properties.
    struct Shape {
        let names: [String]
        /// The positions in ``names`` of the properties that set fields of constraints.
        let keyPositions: [Int]
        /// The plans by entity number.
        var plans: [Int: RecordEditing.Plan]
    }

    /// An object that rows insert or update, with the merged values of these rows.
    struct Target {
        /// The position of the stored record in ``Resolution/records``, or nil for a new object.
        let position: Int?
        /// The number of the object's first row, from 1.
        let number: Int
        var shape: Int
        var values: [Value]
        var members: [String: [ObjectID]]
        /// The object's keys after all its rows are applied.
        var keys: [Key] = []
        /// For each name, the number of the row that provides the value.
        ///
        /// Empty if only one row identifies the object.
        var sources: [String: Int] = [:]
        var isSkipped = false
    }

    /// The objects to which the rows apply, as found in one snapshot.
    struct Resolution {
        var targets: [Target] = []
        /// For each row, the index of its target in ``targets``.
        var rows: [Int] = []
        var records: RecordBatch
        /// For each position in ``records``, the index of the target in ``targets``.
        var targetsByPosition: [Int: Int] = [:]
        /// For each object, the position of its record in ``records``.
        var positions: [ObjectPlace: Int] = [:]
        /// For each key that was looked up, the position in ``records``; nil if no stored object
        /// has the key.
        var stored: [Key: Int?] = [:]
        /// For each key, the index of the target that has the key.
        var claims: [Key: Int] = [:]
        /// The keys that stored objects lose when their rows are applied.
        var released: Set<Key> = []
    }

    private let author: String?
    private let store: any PersistentStore
    let rules: ModelRules
    let model: ManagedObjectModel
    let entity: ManagedObjectModel.Entity
    let properties: BatchProperties
    let constraints: [[RecordLayout.Field]]
    let skips: Bool
    private(set) var shapes: [Shape] = []
    private var shapesByNames: [[String]: Int] = [:]
    private var lastShape = 0
    private(set) var rows: [Row] = []
    /// The reserved object keys, by the number of the new object's first row.
    private var newKeys: [Int: Int64] = [:]
    let defaults: [Value]

    init(_ request: BatchInsertRequest, in store: any PersistentStore, rules: ModelRules) throws(StoreError) {
        model = rules.model
        entity = try model.requireEntity(request.entity)
        guard !entity.isAbstract else {
            throw StoreError(.invalidRequest, "Entity '\(entity.name)' is abstract and has no objects of its own.")
        }
        self.store = store
        self.rules = rules
        author = request.author
        skips = request.onConflict == .skip
        properties = BatchProperties(entity, in: model)
        let layout = entity.layout
        let entity = entity
        let usedConstraints = request.onConflict == .fail ? [] : entity.uniquenessConstraints
        // A row cannot name a derived attribute, so a constraint with a derived attribute cannot
        // identify an object.
        constraints = usedConstraints.compactMap { constraint in
            let fields = constraint.attributes.compactMap { name in
                entity.attribute(name)?.derivationExpression == nil ? layout.field(name) : nil
            }
            return fields.count == constraint.attributes.count ? fields : nil
        }
        guard !constraints.isEmpty || request.onConflict == .fail else {
            throw StoreError(
                .invalidRequest,
                "Cannot apply a conflict rule to entity '\(entity.name)': it has no uniqueness constraint whose properties can all be in a row. Add a constraint to the model, or insert without a conflict rule."
            )
        }
        defaults = try properties.defaults()
    }

    /// Writes all rows, or nothing after an error.
    mutating func run(_ request: BatchInsertRequest) throws(StoreError) -> BatchResult {
        let next: () throws(StoreError) -> BatchInsertRequest.MemberRow?
        if let memberRows = request.memberRows {
            next = memberRows()
        } else {
            let rows = request.rows()
            next = { () throws(StoreError) in try rows().map { BatchInsertRequest.MemberRow(values: $0) } }
        }
        while let row = try next() {
            try add(row)
            if rows.count.isMultiple(of: 256) { try throwIfCancelled() }
        }
        return try store.retryingConflicts { () throws(StoreError) in try commitRows(request.resultType) }
    }

    // MARK: Rows

    private mutating func add(_ row: BatchInsertRequest.MemberRow) throws(StoreError) {
        let (shape, values) = try shaped(row.values)
        for name in row.members.keys { _ = try toMany(name) }
        let named = try fields(shape, values: values, properties: properties, owner: Self.owner(rows.count + 1))
        let keys = try keys { named[$0.index] ?? defaults[$0.index] }
        rows.append(Row(shape: shape, values: values, keys: keys, members: row.members))
    }

    static func owner(_ number: Int) -> String { "row \(number) of the batch" }

    private func toMany(_ name: String) throws(StoreError) -> ManagedObjectModel.Relationship {
        let relationship = try model.requireRelationship(RelationshipName(entity.name, name: name))
        guard relationship.isToMany else {
            throw StoreError(
                .invalidRequest,
                "'\(relationship.name)' is a to-one relationship, but the row has a list of objects.")
        }
        return relationship
    }

    /// Returns the shape of a row, and the row's values in the order of the shape's names.
    private mutating func shaped(_ row: BatchInsertRequest.Row) throws(StoreError) -> (shape: Int, values: [Value]) {
        var values: [Value] = []
        values.reserveCapacity(row.count)
        // Most rows have the same names as the previous row.
        if lastShape < shapes.count, shapes[lastShape].names.count == row.count {
            for name in shapes[lastShape].names {
                guard let value = row[name] else { break }
                values.append(value)
            }
            if values.count == row.count { return (lastShape, values) }
        }
        let names = row.keys.sorted()
        lastShape = try shape(of: names)
        return (lastShape, names.map { row[$0] ?? .null })
    }

    mutating func shape(of names: [String]) throws(StoreError) -> Int {
        if let known = shapesByNames[names] { return known }
        let plan = try Self.plan(properties, names: names)
        let keyPositions = plan.targets.indices.filter { isPartOfKey(plan.targets[$0]) }
        shapes.append(Shape(names: names, keyPositions: keyPositions, plans: [entity.number: plan]))
        shapesByNames[names] = shapes.count - 1
        return shapes.count - 1
    }

    private static func plan(_ properties: BatchProperties, names: [String]) throws(StoreError) -> RecordEditing.Plan {
        var targets: [BatchProperties.Property] = []
        for name in names { targets.append(try properties.property(name)) }
        return RecordEditing.Plan(properties: properties, targets: targets)
    }

    /// Returns a shape's plan for an entity.
    ///
    /// Each entity has its own field indices.
    private mutating func plan(_ shape: Int, number: Int) throws(StoreError) -> RecordEditing.Plan {
        if let plan = shapes[shape].plans[number] { return plan }
        let plan = try Self.plan(BatchProperties(model.entities[number], in: model), names: shapes[shape].names)
        shapes[shape].plans[number] = plan
        return plan
    }

    // MARK: Changes

    /// Commits the rows, and repeats this while other writers insert objects that rows identify.
    ///
    /// The next attempt finds such an object in its snapshot. If the same constraint violations
    /// occur again, they have another cause.
    private mutating func commitRows(_ resultType: BatchResultType) throws(StoreError) -> BatchResult {
        var violations: [ConstraintViolation]?
        for _ in 1..<Self.mostAttempts {
            do throws(StoreError) { return try commit(resultType) } catch {
                guard error.code == .constraintViolation, !constraints.isEmpty, error.violations != violations else {
                    throw error
                }
                violations = error.violations
            }
        }
        return try commit(resultType)
    }

    private mutating func commit(_ resultType: BatchResultType) throws(StoreError) -> BatchResult {
        let prepared = try prepared()
        try throwIfCancelled()
        let receipt = try store.commit(prepared.changes)
        return BatchResult(
            resultType, generation: receipt.generation, count: prepared.count, objectIDs: prepared.ids,
            relatedObjectIDs: prepared.related)
    }

    /// The changes of all rows, and the contents of the result.
    private struct Prepared {
        var changes: ChangeSet
        /// For each row, the ID of its object.
        var ids: [ObjectID]
        /// The number of the rows' objects that are inserted or changed.
        var count: Int
        /// The changed objects that no row identifies.
        var related: [ObjectID]
    }

    private mutating func prepared() throws(StoreError) -> Prepared {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let resolution = try resolved(on: snapshot)
        try reserveKeys(for: resolution)
        var editing = RecordEditing(rules, on: snapshot)
        var changes = ChangeSet(model: model)
        changes.author = author
        var (ids, kept): ([ObjectID], [ChangeSet.Reference]) = ([], [])
        var insertedRows: [Int] = []
        var start = 0
        while start < resolution.targets.count, !editing.failures.isFull {
            let chunk = start..<min(resolution.targets.count, start + Self.chunkCount)
            start = chunk.upperBound
            try throwIfCancelled()
            try editing.lookUp(references(of: resolution.targets[chunk]))
            for target in resolution.targets[chunk] {
                let owner = { Self.owner(target.number) }
                let id: ObjectID
                if let position = target.position {
                    id = resolution.records.id(at: position)
                    kept.append(ChangeSet.Reference(id, version: resolution.records.version(at: position)))
                    if !target.isSkipped {
                        try update(
                            resolution.records, position: position, target: target, editing: &editing,
                            changes: &changes, owner)
                    }
                } else {
                    id = ObjectID(entity.name, key: newKeys[target.number] ?? 0)
                    insertedRows.append(target.number)
                    try insert(target, key: id.key, editing: &editing, changes: &changes, owner)
                }
                ids.append(id)
                guard !target.isSkipped else { continue }
                for (name, members) in target.members.sorted(by: { $0.key < $1.key }) {
                    let relationship = try toMany(name)
                    try editing.setMembers(relationship, of: (id, target.position == nil), to: members, owner)
                }
            }
        }
        try editing.throwIfAny()
        try editing.finish(&changes) { .row(insertedRows[$0]) }
        return try prepared(changes, ids: resolution.rows.map { ids[$0] }, kept: kept, editing: editing)
    }

    /// Counts the changed objects, and adds the rows' unchanged objects to the change set.
    private func prepared(
        _ changes: ChangeSet, ids: [ObjectID], kept: [ChangeSet.Reference], editing: RecordEditing
    ) throws(StoreError) -> Prepared {
        var (changes, meant, updated): (ChangeSet, Set<ObjectPlace>, Set<ObjectPlace>) = (changes, [], [])
        for reference in kept { meant.insert(try model.place(of: reference.id)) }
        var (count, related): (Int, [ObjectID]) = (changes.inserts.count, [])
        for index in 0..<changes.updates.count {
            let place = model.place(of: changes.updates, at: index)
            updated.insert(place)
            if meant.contains(place) { count += 1 } else { related.append(changes.updates.id(at: index)) }
        }
        for owner in editing.ownersWithOtherMembers where meant.contains(owner) && !updated.contains(owner) {
            count += 1
        }
        if !changes.isEmpty {
            // Without these references, the result could contain objects that another writer has
            // deleted or changed.
            let known = Set(
                try changes.unchanged.map { (reference) throws(StoreError) in try model.place(of: reference.id) })
            for reference in kept {
                let place = try model.place(of: reference.id)
                if !updated.contains(place), !known.contains(place) { changes.unchanged.append(reference) }
            }
        }
        return Prepared(changes: changes, ids: ids, count: count, related: related)
    }

    private func references(of targets: ArraySlice<Target>) -> [ObjectID] {
        var ids: [ObjectID] = []
        for target in targets where !target.isSkipped {
            let properties = shapes[target.shape].plans[entity.number]?.targets ?? []
            for (value, property) in zip(target.values, properties) {
                if case .toOne = property, case .objectID(let id) = value { ids.append(id) }
            }
            for members in target.members.values { ids += members }
        }
        return ids
    }

    /// Reserves a key for each new object that does not have one yet.
    private mutating func reserveKeys(for resolution: Resolution) throws(StoreError) {
        let new = resolution.targets.filter { $0.position == nil && newKeys[$0.number] == nil }
        guard !new.isEmpty else { return }
        let keys = try store.reserveKeys(new.count, for: entity.name)
        for (target, key) in zip(new, keys) { newKeys[target.number] = key }
    }

    private mutating func insert(
        _ target: Target, key: Int64, editing: inout RecordEditing, changes: inout ChangeSet,
        _ owner: () -> String
    ) throws(StoreError) {
        var base = RecordBatch(model: model)
        base.beginRecord(entity.layout, key: key, version: 1)
        do throws(StoreError) {
            for field in entity.layout.fields { try base.set(defaults[field.index], for: field) }
        } catch {
            base.abandonRecord()
            throw error
        }
        base.endRecord()
        let plan = try plan(target.shape, number: entity.number)
        try base.withRecord(at: 0) { (record) throws(StoreError) in
            let fields = try editing.fields(of: record, values: target.values, plan: plan, owner)
            try changes.inserts.append(record, replacing: fields)
        }
        try changes.inserts.withRecord(at: changes.inserts.count - 1) { (record) throws(StoreError) in
            try editing.check(record) { .row(target.number(of: $0.name)) }
        }
    }

    private mutating func update(
        _ existing: RecordBatch, position: Int, target: Target, editing: inout RecordEditing,
        changes: inout ChangeSet, _ owner: () -> String
    ) throws(StoreError) {
        let plan = try plan(target.shape, number: existing.entityNumber(at: position))
        try existing.withRecord(at: position) { (record) throws(StoreError) in
            let fields = try editing.fields(of: record, values: target.values, plan: plan, owner)
            guard fields.contains(where: { record.value($0.field) != $0.value }) else { return }
            try changes.updates.append(record, replacing: fields)
            try changes.updates.withRecord(at: changes.updates.count - 1) { (record) throws(StoreError) in
                try editing.check(record, fields: fields, plan: plan) { .row(target.number(of: $0.name)) }
            }
        }
    }
}
