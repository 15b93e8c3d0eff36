public import RoostCore

/// A prepared statement.
///
/// Parameters count from 1, columns from 0. All members below are required.
public protocol SQLStatement: SQLStatementAbilities {
    /// Sets a parameter; copies text and bytes.
    func bind(_ value: SQLValue, at position: Int) throws(StoreError)

    /// Moves to the next row; false at the end.
    func step() throws(StoreError) -> Bool

    /// Makes the statement ready to run again; parameters keep their values.
    func reset()

    /// The value in a column of the current row.
    ///
    /// Text that is not UTF-8 throws code `corrupted`.
    func value(at column: Int) throws(StoreError) -> SQLValue
}

/// The optional abilities of a statement; each member has a default.
public protocol SQLStatementAbilities: AnyObject {
    /// Sets the parameters of one row: key, entity, version, checksum, then the columns.
    ///
    /// A statement need not copy the record's bytes: step and reset it before they go.
    func bind(
        _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
    ) throws(StoreError)

    /// Sets a parameter to the value of one field, as the field's first column holds it.
    ///
    /// Copies the bytes.
    func bind(_ field: RecordLayout.Field, of record: RecordReader, at position: Int) throws(StoreError)

    /// Whether the column of the current row is null.
    func isNull(at column: Int) throws(StoreError) -> Bool

    /// The integer in a column; throws code `corrupted` when the column holds anything else.
    func integer(at column: Int) throws(StoreError) -> Int64

    /// Adds the records of the next rows to a batch until it is full.
    ///
    /// The columns are those of ``SQLReadPlan/columnList``. After an error the batch has the
    /// records of the rows before it.
    ///
    /// - Parameters:
    ///   - batch: Where the records go.
    ///   - plan: How rows become records.
    ///   - accepting: Whether rows that do not match their checksums are added too, instead of
    ///     ending the call as damaged.
    /// - Returns: Why the call ended.
    /// - Throws: What the database reports.
    func fill(_ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool) throws(StoreError) -> SQLFill

    /// Adds the record of the row with a key, if any, and makes the statement ready to run again.
    ///
    /// The key is parameter 1, the columns are those of ``SQLReadPlan/columnList``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - batch: Where the record goes.
    ///   - plan: How rows become records.
    ///   - accepting: Whether a row that does not match its checksum is added too.
    /// - Returns: What is wrong with a row that is not added; else nil.
    /// - Throws: What the database reports.
    func look(
        up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> StoreError?

    /// Adds links until the batch is full; false at the end.
    ///
    /// Columns: source, target, order, inverse order.
    func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool
}

/// The reason why filling a batch ended.
public enum SQLFill {
    /// The batch is full; there may be more rows.
    case full
    /// The end of the rows.
    case end
    /// A row does not match its checksum, or holds what no record can; the batch has all rows
    /// before it, and the next call continues after it.
    case damaged(StoreError)
}

extension SQLStatement {
    /// Sets the first parameters.
    public func bind(_ values: [SQLValue]) throws(StoreError) {
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
    }

    // MARK: Defaults, written on the required members

    /// Sets parameter after parameter.
    public func bind(
        _ record: RecordReader, version: UInt32, columns: SQLRowColumns, at position: Int
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
            // An index may have one of the two columns of a reference only.
            if step.column >= 0 { try bind(SQLValue(field, of: record), at: base + Int(step.column)) }
            guard step.entityColumn >= 0 else { continue }
            let entity = record.isNull(field) ? nil : record.reference(field)?.entity
            try bind(entity.map { .integer(Int64($0)) } ?? .null, at: base + Int(step.entityColumn))
        }
    }

    /// Sets the parameter.
    public func bind(_ field: RecordLayout.Field, of record: RecordReader, at position: Int) throws(StoreError) {
        try bind(SQLValue(field, of: record), at: position)
    }

    /// Whether the value is null.
    public func isNull(at column: Int) throws(StoreError) -> Bool { try value(at: column) == .null }

    /// The value, which must be an integer.
    public func integer(at column: Int) throws(StoreError) -> Int64 {
        guard case .integer(let number) = try value(at: column) else {
            throw StoreError(.corrupted, "A value that must be an integer is none; the database is damaged.")
        }
        return number
    }

    /// Makes a record of each row.
    public func fill(
        _ batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> SQLFill {
        var row = RecordBatch(model: plan.model)
        while !batch.isFull {
            guard try step() else { return .end }
            if let error = try plan.append(self, to: &batch, by: &row, accepting: accepting) { return .damaged(error) }
        }
        return .full
    }

    /// Makes a record of the row.
    public func look(
        up key: Int64, into batch: inout RecordBatch, plan: SQLReadPlan, accepting: Bool
    ) throws(StoreError) -> StoreError? {
        try bind(.integer(key), at: 1)
        defer { reset() }
        guard try step() else { return nil }
        var row = RecordBatch(model: plan.model)
        return try plan.append(self, to: &batch, by: &row, accepting: accepting)
    }

    /// Makes a link of each row.
    public func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        while !batch.isFull {
            guard try step() else { return false }
            batch.links.append(
                Link(
                    try integer(at: 0), try integer(at: 1), order: try integer(at: 2),
                    inverseOrder: try integer(at: 3)))
        }
        return true
    }
}
