#if PostgreSQL
    internal import CPostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// A statement that was prepared on the server, in the session of one connection.
    final class PostgreSQLPrepared {
        let name: String
        let nameBytes: ContiguousArray<CChar>
        let parameterTypes: [Oid]
        /// The number of the latest request for this statement; the connection counts all requests.
        var lastUse = 0

        init(name: String, parameterTypes: [Oid]) {
            (self.name, nameBytes, self.parameterTypes) = (name, name.utf8CString, parameterTypes)
        }
    }

    /// A statement whose rows are all fetched when it runs.
    ///
    /// Use it for statements that change rows or return few rows.
    class PostgreSQLStatement: SQLStatement {
        let connection: PostgreSQLConnection
        private let prepared: PostgreSQLPrepared?
        var parameters: PostgreSQLParameters
        var result: PostgreSQLResult?
        let scratch = PostgreSQLScratch()
        /// The current row of the result; −1 before the first.
        var row: Int32 = -1

        init(_ connection: PostgreSQLConnection, prepared: PostgreSQLPrepared?) {
            (self.connection, self.prepared) = (connection, prepared)
            parameters = PostgreSQLParameters(types: prepared?.parameterTypes ?? [])
        }

        func bind(_ value: SQLValue, at position: Int) throws(StoreError) {
            try parameters.set(value, at: position - 1)
        }

        func step() throws(StoreError) -> Bool {
            if result == nil {
                guard let prepared else { return false }
                parameters.compact()
                if connection.isDeferring {
                    try connection.runLater(prepared, parameters: parameters)
                    return false
                }
                try connection.renewSavepoint()
                result = try connection.run(prepared, parameters: parameters)
                row = -1
            }
            guard let result, row + 1 < result.rowCount else { return false }
            row += 1
            return true
        }

        func reset() {
            (result, row) = (nil, -1)
        }

        /// Returns the result and its current row; throws `internalInconsistency` without a row.
        final func current() throws(StoreError) -> (result: PostgreSQLResult, row: Int32) {
            guard let result, row >= 0, row < result.rowCount else {
                throw StoreError(.internalInconsistency, "A statement on '\(connection.name)' has no current row.")
            }
            return (result, row)
        }

        func value(at column: Int) throws(StoreError) -> SQLValue {
            let (result, row) = try current()
            return try result.value(row, column: Int32(clamping: column), name: connection.name)
        }

        func isNull(at column: Int) throws(StoreError) -> Bool {
            let (result, row) = try current()
            return result.isNull(row, column: Int32(clamping: column))
        }

        func integer(at column: Int) throws(StoreError) -> Int64 {
            let (result, row) = try current()
            guard let number = result.integer(row, column: Int32(clamping: column)) else {
                throw StoreError(
                    .corrupted,
                    "A value of '\(connection.name)' that must be an integer is not one. Restore the store from a backup."
                )
            }
            return number
        }
    }

    extension PostgreSQLResult {
        /// Returns the integer in a column, or nil for another value.
        func integer(_ row: Int32, column: Int32) -> Int64? {
            guard column < columnCount, !isNull(row, column: column) else { return nil }
            return Self.integer(bytes(row, column: column), type: type(column))
        }

        /// Returns the integer or boolean in the bytes of a value, or nil for other types.
        static func integer(_ bytes: UnsafeRawBufferPointer, type: Oid) -> Int64? {
            switch type {
            case PostgreSQLType.int8: return bytes.bigEndian(as: Int64.self)
            case PostgreSQLType.int4: return bytes.bigEndian(as: Int32.self).map(Int64.init)
            case PostgreSQLType.int2: return bytes.bigEndian(as: Int16.self).map(Int64.init)
            case PostgreSQLType.oid: return bytes.bigEndian(as: UInt32.self).map(Int64.init)
            case PostgreSQLType.bool: return bytes.first.map(Int64.init)
            default: return nil
            }
        }

        /// Returns a value of this result, which must be in binary format.
        func value(_ row: Int32, column: Int32, name: String) throws(StoreError) -> SQLValue {
            guard column < columnCount else {
                throw StoreError(.internalInconsistency, "A statement on '\(name)' has no column \(column).")
            }
            if isNull(row, column: column) { return .null }
            let bytes = bytes(row, column: column)
            switch type(column) {
            case PostgreSQLType.float8:
                if let bits = bytes.bigEndian(as: UInt64.self) { return .real(Double(bitPattern: bits)) }
            case PostgreSQLType.bytea: return .blob(Array(bytes))
            case PostgreSQLType.text, PostgreSQLType.varchar, PostgreSQLType.name, PostgreSQLType.json:
                if let text = PostgreSQLText.text(bytes).flatMap({ String(validating: $0, as: UTF8.self) }) {
                    return .text(text)
                }
            default:
                if let number = integer(row, column: column) { return .integer(number) }
            }
            throw StoreError(
                .corrupted,
                "A value of '\(name)' has a form that Roost does not write. Restore the store from a backup.")
        }
    }
#endif
