package import RoostCore

/// A statement that reads and writes whole records, which is faster than value by value.
package protocol SQLRecordStatement: SQLStatement {
    /// Sets the parameters of one row: key, entity, version, checksum, then the columns.
    ///
    /// A statement need not copy the record's bytes. The caller steps and resets the statement
    /// while the bytes are valid.
    func bind(
        _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
    ) throws(StoreError)

    /// Adds the records of the next rows to a batch until the batch is full.
    ///
    /// The columns are those of ``SQLReadPlan/columnList``. After an error, the batch contains the
    /// records of the preceding rows. Unless `accepting`, a row that does not match its checksum
    /// ends the call.
    func fill(_ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool) throws(StoreError) -> SQLFill

    /// Adds the record of the row with the given key, if any, and resets the statement.
    ///
    /// The key is parameter 1. The columns are those of ``SQLReadPlan/columnList``. Unless
    /// `accepting`, a row that does not match its checksum is not added.
    ///
    /// - Returns: The damage of a row that is not added, otherwise nil.
    func look(
        up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> StoreError?
}

/// A connection that inserts whole batches of records, which is faster than record by record.
package protocol SQLBatchInserting: SQLConnection {
    /// Inserts the records that belong to the plan's table, in the order of the batch.
    ///
    /// The records must be valid, with correct content hashes. If `version` is nil, each record
    /// keeps its own version.
    ///
    /// - Throws: `duplicateObject`, `constraintViolation`, `noSpace`, and other errors of the
    ///   database.
    func insert(_ records: RecordBatch, plan: SQLWritePlan, version: UInt32?) throws(StoreError)
}

/// A connection that inserts many links faster than INSERT statements.
package protocol SQLLinkInserting: SQLConnection {
    /// Whether the connection has this ability; if not, the engine uses INSERT statements.
    var insertsLinks: Bool { get }

    /// Inserts links in their order.
    ///
    /// `target` is the table with its columns: `table (source, target, order, inverse order)`.
    ///
    /// - Throws: `duplicateObject`, `noSpace`, and other errors of the database.
    func insert(_ links: [Link], into target: String) throws(StoreError)
}

package enum SQLFill {
    /// The batch is full; there may be more rows.
    case full
    /// All rows have been read.
    case end
    /// A row does not match its checksum or has invalid values.
    ///
    /// The batch contains all preceding rows. The next call continues after the damaged row.
    case damaged(StoreError)
}

/// A statement whose rows are records; uses ``SQLRecordStatement`` if possible.
struct SQLRecordAccess {
    let statement: any SQLStatement
    private let fast: (any SQLRecordStatement)?

    init(_ statement: any SQLStatement) {
        self.statement = statement
        fast = statement as? any SQLRecordStatement
    }

    func bind(
        _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
    ) throws(StoreError) {
        if let fast { return try fast.bind(record, version: version, columns: columns, at: position) }
        try statement.bindValues(of: record, version: version, columns: columns, at: position)
    }

    func fill(_ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool) throws(StoreError) -> SQLFill {
        if let fast { return try fast.fill(&batch, plan: plan, accepting: accepting) }
        var row = RecordBatch(model: plan.model)
        while !batch.isFull {
            guard try statement.step() else { return .end }
            if let error = try plan.append(statement, to: &batch, by: &row, accepting: accepting) {
                return .damaged(error)
            }
        }
        return .full
    }

    func look(
        up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> StoreError? {
        if let fast { return try fast.look(up: key, into: &batch, plan: plan, accepting: accepting) }
        try statement.bind(.integer(key), at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        var row = RecordBatch(model: plan.model)
        return try plan.append(statement, to: &batch, by: &row, accepting: accepting)
    }
}

extension SQLStatement {
    fileprivate func bindValues(
        of record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
    ) throws(StoreError) {
        let number = record.entityNumber
        guard let steps = columns.entities[number] else {
            throw StoreError(
                .internalInconsistency, "\(record.id) was to be written into the table of another hierarchy.")
        }
        let checksum = columns.checksum.checksum(contentHash: record.storedContentHash, version: version)
        try bind(.integer(record.key), at: position)
        try bind(.integer(Int64(number)), at: position + 1)
        try bind(.integer(Int64(version)), at: position + 2)
        try bind(.integer(Int64(bitPattern: checksum)), at: position + 3)
        let base = position + SQLRowColumns.systemColumnCount
        for column in columns.unused[number] { try bind(.null, at: base + Int(column)) }
        for step in steps {
            let field = record.layout.fields[Int(step.fieldIndex)]
            // An update without indexed columns may set only one of a reference's two columns.
            if step.column >= 0 { try bind(SQLValue(field, of: record), at: base + Int(step.column)) }
            guard step.entityColumn >= 0 else { continue }
            let entity = record.isNull(field) ? nil : record.reference(field)?.entity
            try bind(entity.map { .integer(Int64($0)) } ?? .null, at: base + Int(step.entityColumn))
        }
    }
}

extension SQLConnection {
    /// Inserts the records of a batch that belong to the plan's table, if possible by
    /// ``SQLBatchInserting``.
    func insertRecords(_ records: RecordBatch, plan: SQLWritePlan, version: UInt32?) throws(StoreError) {
        if let fast = self as? any SQLBatchInserting {
            return try fast.insert(records, plan: plan, version: version)
        }
        try insertByStatements(records, plan: plan, version: version)
    }

    /// Inserts the records of a batch that belong to the plan's table, by INSERT statements.
    package func insertByStatements(
        _ records: RecordBatch, plan: SQLWritePlan, version: UInt32?
    ) throws(StoreError) {
        var remaining = 0
        for index in 0..<records.count where plan.columns.entities[records.entityNumber(at: index)] != nil {
            remaining += 1
        }
        let width = plan.columns.count + SQLRowColumns.systemColumnCount
        var open: (access: SQLRecordAccess, rowCount: Int)?
        defer { if let open { recycle(open.access.statement) } }
        var row = 0
        try records.forEachRecord { (record) throws(StoreError) in
            guard plan.columns.entities[record.entityNumber] != nil else { return }
            let rowCount = remaining >= plan.rowsPerInsert ? plan.rowsPerInsert : 1
            if let other = open, other.rowCount != rowCount {
                recycle(other.access.statement)
                open = nil
            }
            let access: SQLRecordAccess
            if let open {
                access = open.access
            } else {
                access = SQLRecordAccess(
                    try self.statement(rowCount == 1 ? plan.insertOneSQL : plan.insertManySQL))
                open = (access, rowCount)
            }
            try access.bind(record, version: version ?? record.version, columns: plan.columns, at: row * width + 1)
            row += 1
            guard row == rowCount else { return }
            while try access.statement.step() {}
            access.statement.reset()
            remaining -= row
            row = 0
        }
    }
}
