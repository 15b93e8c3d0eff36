public import RoostCore

/// A prepared statement.
///
/// Parameters count from 1, columns from 0. All members below are required.
public protocol SQLStatement: SQLStatementAbilities {
    /// Sets a parameter; copies text and bytes.
    func bind(_ value: SQLValue, at position: Int) throws(StoreError)

    /// Moves to the next row; returns false at the end.
    func step() throws(StoreError) -> Bool

    /// Makes the statement ready to run again; parameters keep their values.
    func reset()

    /// Returns the value in a column of the current row.
    ///
    /// Throws `corrupted` if a text is not valid UTF-8.
    func value(at column: Int) throws(StoreError) -> SQLValue
}

/// The optional abilities of a statement; each member has a default.
public protocol SQLStatementAbilities: AnyObject {
    /// Sets a parameter to a copy of a record's value for the first column of a field.
    func bind(_ field: RecordLayout.Field, of record: RecordReader, at position: Int) throws(StoreError)

    /// Returns whether the column of the current row is null.
    func isNull(at column: Int) throws(StoreError) -> Bool

    /// Returns the integer in a column; throws `corrupted` if the value is not an integer.
    func integer(at column: Int) throws(StoreError) -> Int64

    /// Adds a link for each of the next rows until the batch is full; returns false after the last
    /// row.
    ///
    /// The columns are source, target, order, inverse order.
    func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool
}

extension SQLStatement {
    package func bind(_ values: [SQLValue]) throws(StoreError) {
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
    }

    // MARK: Defaults, implemented with the required members

    /// Sets the parameter.
    public func bind(_ field: RecordLayout.Field, of record: RecordReader, at position: Int) throws(StoreError) {
        try bind(SQLValue(field, of: record), at: position)
    }

    /// Returns whether the value is null.
    public func isNull(at column: Int) throws(StoreError) -> Bool { try value(at: column) == .null }

    /// Returns the value; throws `corrupted` if it is not an integer.
    public func integer(at column: Int) throws(StoreError) -> Int64 {
        guard case .integer(let number) = try value(at: column) else {
            throw StoreError(.corrupted, "A value that must be an integer is not one; the database is damaged.")
        }
        return number
    }

    /// Adds a link for each row.
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
