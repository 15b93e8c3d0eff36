internal import RoostCore
internal import RoostQuery
internal import RoostStores

/// The rows of a text as values by property name, with object IDs as references.
final class RowFeed {
    private let source: TextImport
    private let reader: any TextRowReader
    /// The store, or nil if rows are only checked.
    private let store: (any PersistentStore)?
    private var mapping: ColumnMapping
    private struct NumberedRow {
        var values: BatchInsertRequest.Row
        let line: Int
        /// The columns whose dates have an offset from UTC.
        let columnsWithOffset: [String]
    }

    /// The next rows in reverse order, with object IDs as references.
    private var ready: [NumberedRow] = []
    private(set) var rowCount = 0
    /// The rules of single records, or nil if the import has a key or the entity has no rules.
    private var recordRules: RecordRules?
    private let defaults: BatchInsertRequest.Row

    init(_ source: TextImport, in store: (any PersistentStore)?) throws(StoreError) {
        (self.source, self.store) = (source, store)
        reader = try source.reader()
        mapping = ColumnMapping(source.options, entity: source.entity, in: source.model, of: source.input.name)
        let rules = source.rules.records
        let hasRules = source.options.key.isEmpty && !rules.isEmpty(forEntity: source.entity.number)
        recordRules = hasRules ? rules : nil
        let values = try BatchProperties(source.entity, in: source.model).defaults()
        let fields = source.entity.layout.fields.filter { !values[$0.index].isNull }
        defaults = Dictionary(fields.map { ($0.name, values[$0.index]) }, uniquingKeysWith: { first, _ in first })
    }

    func next() throws(StoreError) -> BatchInsertRequest.Row? {
        // All rows of a chunk may be invalid.
        while ready.isEmpty {
            var rows = try read(TextImport.chunkCount)
            guard !rows.isEmpty else { break }
            for target in mapping.targets { try resolve(target, in: &rows) }
            ready = try withoutFaults(rows).reversed()
        }
        guard let row = ready.popLast() else {
            try source.input.requireUnchanged()
            return nil
        }
        rowCount += 1
        source.addOffsets(row.columnsWithOffset)
        return row.values
    }

    /// Inserts the missing objects to which rows refer, and returns their number.
    func insertMissing() throws(StoreError) -> Int {
        guard let store else { return 0 }
        var count = 0
        while true {
            let rows = try read(TextImport.chunkCount, isLook: true)
            guard !rows.isEmpty else { return count }
            for target in mapping.targets {
                guard let relation = target.relation else { continue }
                let values = Set(rows.compactMap { $0.values[target.property] }.filter { !$0.isNull })
                let known = try objects(values, relation: relation)
                let missing = values.filter { known[$0] == nil }.sorted { "\($0)" < "\($1)" }
                guard !missing.isEmpty else { continue }
                let entity = try relatedEntity(relation)
                let new = missing.map { [relation.attribute: $0] }
                count +=
                    try store.execute(
                        BatchInsertRequest(entity.name, rows: new, result: .count), model: source.model
                    ).count ?? new.count
            }
        }
    }

    /// Checks all rows, and returns the number of valid rows.
    func lookAtAll() throws(StoreError) -> Int {
        var count = 0
        while true {
            var rows = try read(TextImport.chunkCount)
            guard !rows.isEmpty else { return count }
            for target in mapping.targets {
                guard let relation = target.relation else { continue }
                // Any object of the entity suffices to check the rules of a single object.
                let other = Value.objectID(ObjectID(try relatedEntity(relation).name, key: 1))
                for index in rows.indices where rows[index].values[target.property]?.isNull == false {
                    rows[index].values[target.property] = other
                }
            }
            for row in try withoutFaults(rows) {
                source.addOffsets(row.columnsWithOffset)
                count += 1
            }
        }
    }

    // MARK: Reading

    /// Reads up to `limit` rows.
    ///
    /// A column with a relation has the value that identifies the related object. If `isLook` is
    /// true, invalid rows are not counted or reported.
    private func read(_ limit: Int, isLook: Bool = false) throws(StoreError) -> [NumberedRow] {
        var rows: [NumberedRow] = []
        try source.checkCancellation()
        while rows.count < limit, try reader.next() {
            if mapping.columnCount < reader.columns.count { try mapping.extend(to: reader.columns) }
            var problem = reader.row.problem
            var row: BatchInsertRequest.Row = [:]
            for target in mapping.targets where problem == nil {
                let cells = reader.row.cells
                let cell = target.position < cells.count ? cells[target.position] : .absent
                switch cell.kind {
                case .absent, .null:
                    if source.options.key.contains(target.column) {
                        problem = "column '\(target.column)' is a part of the key and has no value."
                    } else if cell.kind == .null {
                        row[target.property] = .null
                    }
                default:
                    let bytes = reader.bytes(of: cell)
                    let field =
                        try target.relation.map { (relation) throws(StoreError) in try attribute(relation) }
                        ?? target.field
                    if let value = source.format.value(bytes, for: field, in: source.model) {
                        // The value is compared with stored values, so 4.1 for a float becomes the nearest float.
                        row[target.property] =
                            target.relation == nil ? value : value.stored(as: field.kind) ?? value
                    } else {
                        problem = TextImport.problem(bytes, column: target.column, field: field)
                    }
                }
            }
            if problem == nil, mapping.keyCount < source.options.key.count {
                problem = "the row lacks a column of the key."
            }
            guard let problem else {
                let offsets = source.columnsWithOffset(of: reader, targets: mapping.targets)
                rows.append(NumberedRow(values: row, line: reader.row.line, columnsWithOffset: offsets))
                continue
            }
            let line = reader.row.line
            if isLook {
                try source.faults.look(problem, line: line, of: source.input.name)
            } else {
                try source.faults.add(problem, line: line, of: source.input.name)
            }
        }
        return rows
    }

    /// Returns the rows that break no rule of a single record, and counts all others as invalid.
    private func withoutFaults(_ rows: [NumberedRow]) throws(StoreError) -> [NumberedRow] {
        guard recordRules != nil else { return rows }
        var sound: [NumberedRow] = []
        for row in rows {
            if let problem = try problem(row.values) {
                try source.faults.add(problem, line: row.line, of: source.input.name)
            } else {
                sound.append(row)
            }
        }
        return sound
    }

    /// Returns a message about the first rule that a row breaks.
    private func problem(_ row: BatchInsertRequest.Row) throws(StoreError) -> String? {
        guard var rules = recordRules else { return nil }
        var record = RecordBatch(model: source.model)
        do throws(StoreError) {
            try record.append(
                ObjectID(source.entity.name, key: 1), values: defaults.merging(row, uniquingKeysWith: { $1 }))
        } catch {
            guard error.code == .invalidValue else { throw error }
            return error.message
        }
        var failures = FailureList()
        try record.withRecord(at: 0) { (record) throws(StoreError) in
            try failures.check(record, rules: &rules) { _, _ in .row(TextImport.rowNumber) }
        }
        recordRules = rules
        return failures.failures.first.map { TextImport.problem($0) }
    }

    // MARK: Related objects

    private func resolve(
        _ target: ColumnMapping.Target, in rows: inout [NumberedRow]
    ) throws(StoreError) {
        guard let relation = target.relation else { return }
        let known = try objects(Set(rows.compactMap { $0.values[target.property] }), relation: relation)
        for index in rows.indices {
            guard let value = rows[index].values[target.property], !value.isNull else { continue }
            guard let id = known[value] else {
                throw StoreError(
                    .objectNotFound,
                    "Another program changed or deleted an object of '\(relation.entity)' to which the column '\(relation.column)' of '\(source.input.name)' refers. Import again."
                )
            }
            rows[index].values[target.property] = .objectID(id)
        }
    }

    private func objects(
        _ values: Set<Value>, relation: TextImportOptions.Relation
    ) throws(StoreError) -> [Value: ObjectID] {
        let wanted = values.filter { !$0.isNull }
        guard let store, !wanted.isEmpty else { return [:] }
        let entity = try relatedEntity(relation)
        let request = FetchRequest(
            entity.name,
            where: .comparison(
                .init(
                    left: .keyPath([relation.attribute]), operator: .isIn,
                    right: .aggregate(wanted.map { .constant($0) }))))
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.fetch(request)
        var found: [Value: ObjectID] = [:]
        var batch = RecordBatch(model: store.model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                let (value, id) = (try batch.value(relation.attribute, at: index), batch.id(at: index))
                if let other = found.updateValue(id, forKey: value) {
                    throw StoreError(
                        .invalidRequest,
                        "\(other) and \(id) have the same '\(relation.attribute)', so a cell of the column '\(relation.column)' may mean either of them."
                    )
                }
            }
        }
        return found
    }

    private func relatedEntity(
        _ relation: TextImportOptions.Relation
    ) throws(StoreError) -> ManagedObjectModel.Entity {
        try TextImport.entity(relation.entity, model: source.model)
    }

    private func attribute(_ relation: TextImportOptions.Relation) throws(StoreError) -> RecordLayout.Field {
        try relatedEntity(relation).layout.requireField(relation.attribute)
    }
}
