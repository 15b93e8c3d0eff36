internal import RoostCore
internal import RoostQuery

/// Inserts rows, and updates or skips existing objects.
///
/// An object exists if it has the same values in a uniqueness constraint.
///
/// All rows are one change set. Their values stay in memory, because a commit that meets another
/// writer is worked out anew.
struct Upsert {
    /// The rows that are looked up together.
    private static let chunkCount = 200

    /// The values of a row in a uniqueness constraint.
    private struct Key: Hashable {
        let constraint: Int
        let values: [Value]
    }

    /// A row, or several rows of one object merged into one.
    private struct Row {
        /// The position of its names in ``Upsert/shapes``.
        var shape: Int
        var values: [Value]
        /// The number of the row, from 1.
        let number: Int
        var keys: [Key]
        /// The key of a new object, once one was reserved.
        var newKey: Int64?
        /// The objects of to-many relationships.
        var members: [String: [ObjectID]]
    }

    /// The names of a row and the properties that they mean.
    private struct Shape {
        let names: [String]
        let plan: RecordEditing.Plan
    }

    private let store: any PersistentStore
    private let rules: ModelRules
    private let model: ManagedObjectModel
    private let entity: ManagedObjectModel.Entity
    private let properties: BatchProperties
    private let constraints: [[RecordLayout.Field]]
    private let skips: Bool
    private var shapes: [Shape] = []
    private var shapesByNames: [[String]: Int] = [:]
    private var rows: [Row] = []
    private var rowsByKey: [Key: Int] = [:]
    /// The default values, by field.
    private let defaults: [Value]

    init(_ request: BatchInsertRequest, in store: any PersistentStore, rules: ModelRules) throws(StoreError) {
        model = rules.model
        entity = try model.requireEntity(request.entity)
        guard !entity.isAbstract else {
            throw StoreError(.invalidRequest, "Entity '\(entity.name)' is abstract and has no objects of its own.")
        }
        self.store = store
        self.rules = rules
        skips = request.onConflict == .skip
        properties = BatchProperties(entity, in: model)
        let layout = entity.layout
        let usedConstraints = request.onConflict == .fail ? [] : entity.uniquenessConstraints
        constraints = usedConstraints.compactMap { constraint in
            let fields = constraint.attributes.compactMap { layout.field($0) }
            return fields.count == constraint.attributes.count ? fields : nil
        }
        guard !constraints.isEmpty || request.onConflict == .fail else {
            throw StoreError(
                .invalidRequest,
                "Entity '\(entity.name)' has no uniqueness constraint, so no row can be the same object as another one. Add a constraint to the model, or insert without a conflict rule."
            )
        }
        var defaults = [Value](repeating: .null, count: layout.fields.count)
        for attribute in entity.attributes where attribute.isStored && !attribute.defaultValue.isNull {
            let field = try layout.requireField(attribute.name)
            try properties.forEachField(
                of: attribute.defaultValue, for: field.kind == .composite ? .composite(field) : .field(field),
                owner: { "its default" }, { defaults[$0.index] = $1 })
        }
        self.defaults = defaults
    }

    /// Reads all rows and writes them; nothing is written after an error.
    mutating func run(_ request: BatchInsertRequest) throws(StoreError) -> BatchResult {
        let next: () throws(StoreError) -> BatchInsertRequest.MemberRow?
        if let memberRows = request.memberRows {
            next = memberRows()
        } else {
            let rows = request.rows()
            next = { () throws(StoreError) in try rows().map { BatchInsertRequest.MemberRow(values: $0) } }
        }
        var number = 0
        while let row = try next() {
            number += 1
            try add(row, number)
            if number.isMultiple(of: 256) { try throwIfCancelled() }
        }
        return try store.retryingConflicts { () throws(StoreError) in
            do throws(StoreError) { return try commit(request.resultType) } catch {
                // Another writer may have inserted the same object since. The next snapshot has it.
                guard error.code == .constraintViolation else { throw error }
                return try commit(request.resultType)
            }
        }
    }

    private mutating func commit(_ resultType: BatchResultType) throws(StoreError) -> BatchResult {
        let (changes, ids, related) = try prepared()
        try throwIfCancelled()
        let receipt = try store.commit(changes)
        return BatchResult(
            resultType, generation: receipt.generation,
            count: changes.inserts.count + changes.updates.count - related.count, objectIDs: ids,
            relatedObjectIDs: related)
    }

    // MARK: Rows

    private mutating func add(_ row: BatchInsertRequest.MemberRow, _ number: Int) throws(StoreError) {
        let names = row.values.keys.sorted()
        let shape = try shape(of: names)
        var values: [Value] = []
        values.reserveCapacity(names.count)
        for name in names { values.append(row.values[name] ?? .null) }
        for name in row.members.keys { _ = try toMany(name) }
        var new = Row(shape: shape, values: values, number: number, keys: [], members: row.members)
        new.keys = try keys(of: new)
        guard let index = index(of: new.keys) else {
            for key in new.keys { rowsByKey[key] = rows.count }
            rows.append(new)
            return
        }
        // The same object again.
        guard !skips else { return }
        let old = rows[index]
        var merged: [String: Value] = [:]
        for (name, value) in zip(shapes[old.shape].names, old.values) { merged[name] = value }
        for (name, value) in zip(names, values) { merged[name] = value }
        let mergedNames = merged.keys.sorted()
        rows[index].shape = try self.shape(of: mergedNames)
        rows[index].values = mergedNames.map { merged[$0] ?? .null }
        rows[index].members.merge(row.members) { $1 }
        for key in old.keys { rowsByKey[key] = nil }
        rows[index].keys = try keys(of: rows[index])
        for key in rows[index].keys { rowsByKey[key] = index }
    }

    /// Returns a to-many relationship of the entity.
    ///
    /// - Throws: `unknownProperty`, `invalidRequest`.
    private func toMany(_ name: String) throws(StoreError) -> ManagedObjectModel.Relationship {
        let relationship = try model.requireRelationship(RelationshipName(entity.name, name: name))
        guard relationship.isToMany else {
            throw StoreError(.invalidRequest, "'\(relationship.name)' has one object, and a list of objects was given.")
        }
        return relationship
    }

    /// Returns the position of the row that has one of the keys already.
    private func index(of keys: [Key]) -> Int? {
        for key in keys {
            if let index = rowsByKey[key] { return index }
        }
        return nil
    }

    private mutating func shape(of names: [String]) throws(StoreError) -> Int {
        if let known = shapesByNames[names] { return known }
        var targets: [BatchProperties.Property] = []
        for name in names { targets.append(try properties.property(name)) }
        shapes.append(Shape(names: names, plan: RecordEditing.Plan(properties: properties, targets: targets)))
        shapesByNames[names] = shapes.count - 1
        return shapes.count - 1
    }

    /// Returns the values of a row in the constraints that it meets without a null.
    private func keys(of row: Row) throws(StoreError) -> [Key] {
        var named: [Int: Value] = [:]
        let shape = shapes[row.shape]
        for (value, property) in zip(row.values, shape.plan.targets) {
            if case .toOne(let field, _) = property {
                named[field.index] = value
            } else {
                try properties.forEachField(of: value, for: property, owner: { "row \(row.number) of the batch" }) {
                    named[$0.index] = $1
                }
            }
        }
        var keys: [Key] = []
        for (number, fields) in constraints.enumerated() {
            let values = fields.map { named[$0.index] ?? defaults[$0.index] }
            if !values.contains(.null) { keys.append(Key(constraint: number, values: values)) }
        }
        return keys
    }

    // MARK: Changes

    /// Works out the changes on a new snapshot.
    private mutating func prepared() throws(StoreError) -> (ChangeSet, [ObjectID], [ObjectID]) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var editing = RecordEditing(rules, on: snapshot)
        var changes = ChangeSet(model: model)
        var ids: [ObjectID] = []
        var insertedRows: [Int] = []
        var start = 0
        while start < rows.count, !editing.failures.isFull {
            let chunk = start..<min(rows.count, start + Self.chunkCount)
            start = chunk.upperBound
            try throwIfCancelled()
            let existing = try existingRecords(of: chunk, in: snapshot)
            try reserveKeys(for: chunk.filter { existing.rows[$0] == nil })
            try editing.lookUp(references(of: chunk))
            for index in chunk {
                let row = rows[index]
                let owner = { "row \(row.number) of the batch" }
                let isNew = existing.rows[index] == nil
                if let position = existing.rows[index] {
                    ids.append(existing.records.id(at: position))
                    guard !skips else { continue }
                    try update(existing.records, position, row, &editing, &changes, owner)
                } else if let key = row.newKey {
                    ids.append(ObjectID(entity.name, key: key))
                    insertedRows.append(row.number)
                    try insert(row, key, &editing, &changes, owner)
                }
                guard let id = ids.last else { continue }
                for (name, members) in row.members.sorted(by: { $0.key < $1.key }) {
                    try editing.setMembers(try toMany(name), of: (id, isNew), to: members, owner)
                }
            }
        }
        try editing.throwIfAny()
        let updateCount = changes.updates.count
        try editing.finish(&changes) { .row(insertedRows[$0]) }
        return (changes, ids, (updateCount..<changes.updates.count).map { changes.updates.id(at: $0) })
    }

    private func references(of chunk: Range<Int>) -> [ObjectID] {
        var ids: [ObjectID] = []
        for row in rows[chunk] {
            for (value, property) in zip(row.values, shapes[row.shape].plan.targets) {
                if case .toOne = property, case .objectID(let id) = value { ids.append(id) }
            }
            for members in row.members.values { ids += members }
        }
        return ids
    }

    private mutating func reserveKeys(for indices: [Int]) throws(StoreError) {
        let new = indices.filter { rows[$0].newKey == nil }
        guard !new.isEmpty else { return }
        let keys = try store.reserveKeys(new.count, for: entity.name)
        for (index, key) in zip(new, keys) { rows[index].newKey = key }
    }

    private func insert(
        _ row: Row, _ key: Int64, _ editing: inout RecordEditing, _ changes: inout ChangeSet, _ owner: () -> String
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
        let plan = shapes[row.shape].plan
        try base.withRecord(at: 0) { (record) throws(StoreError) in
            let fields = try editing.fields(of: record, row.values, plan, owner)
            try changes.inserts.append(record, replacing: fields)
        }
        try changes.inserts.withRecord(at: changes.inserts.count - 1) { (record) throws(StoreError) in
            try editing.check(record, .row(row.number))
        }
    }

    private func update(
        _ existing: RecordBatch, _ position: Int, _ row: Row, _ editing: inout RecordEditing,
        _ changes: inout ChangeSet, _ owner: () -> String
    ) throws(StoreError) {
        let plan = shapes[row.shape].plan
        try existing.withRecord(at: position) { (record) throws(StoreError) in
            let fields = try editing.fields(of: record, row.values, plan, owner)
            guard fields.contains(where: { record.value($0.field) != $0.value }) else { return }
            try changes.updates.append(record, replacing: fields)
            try changes.updates.withRecord(at: changes.updates.count - 1) { (record) throws(StoreError) in
                try editing.check(record, .row(row.number), fields: fields, plan)
            }
        }
    }

    /// Finds the stored objects that have the same values in a constraint as rows.
    ///
    /// - Returns: The records, and by row the position of its record.
    private func existingRecords(
        of chunk: Range<Int>, in snapshot: any StoreSnapshot
    ) throws(StoreError) -> (records: RecordBatch, rows: [Int: Int]) {
        var (found, positions): (RecordBatch, [Int: Int]) = (RecordBatch(model: model), [:])
        for (number, fields) in constraints.enumerated() {
            var wanted: [Key: Int] = [:]
            for index in chunk where positions[index] == nil {
                for key in rows[index].keys where key.constraint == number { wanted[key] = index }
            }
            guard !wanted.isEmpty else { continue }
            let cursor = try snapshot.fetch(
                FetchRequest(entity.name, where: Self.condition(fields, wanted.keys.map(\.values))))
            var batch = RecordBatch(model: model)
            while try cursor.next(into: &batch) {
                for position in 0..<batch.count {
                    // A subentity has the fields of the entity under the same names.
                    let values = batch.withRecord(at: position) { record in
                        fields.map { field in record.layout.field(field.name).map { record.value($0) } ?? .null }
                    }
                    guard let index = wanted[Key(constraint: number, values: values)], positions[index] == nil else {
                        continue
                    }
                    positions[index] = found.count
                    found.append(batch, at: position)
                }
            }
        }
        return (found, positions)
    }

    private static func condition(
        _ fields: [RecordLayout.Field], _ keys: [[Value]]
    ) -> FetchRequest.Predicate {
        func path(_ field: RecordLayout.Field) -> FetchRequest.Expression {
            .keyPath(field.name.split(separator: ".").map(String.init))
        }
        if fields.count == 1 {
            return .comparison(
                .init(
                    left: path(fields[0]), operator: .isIn,
                    right: .aggregate(keys.map { .constant($0[0]) })))
        }
        return .or(
            keys.map { values in
                .and(
                    zip(fields, values).map { field, value in
                        .comparison(.init(left: path(field), operator: .equal, right: .constant(value)))
                    })
            })
    }
}
