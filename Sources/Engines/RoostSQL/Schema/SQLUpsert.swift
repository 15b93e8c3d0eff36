internal import RoostCore

/// An insert that replaces an existing row with the same key.
struct SQLUpsert: Sendable {
    /// The upsert statement; nil for a database without such statements.
    private let whole: String?
    private let update: String
    private let insert: String

    /// Creates an upsert; `columns` are the columns other than `key`.
    init(into table: String, key: [String], columns: [String], dialect: any SQLDialect) {
        whole = dialect.upsert(into: table, key: key, columns: columns)
        let all = key + columns
        let settings = columns.enumerated().map { "\($1) = \(dialect.parameter(key.count + $0 + 1))" }
        let conditions = key.enumerated().map { "\($1) = \(dialect.parameter($0 + 1))" }
        update =
            "UPDATE \(table) SET \(settings.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND "))"
        insert =
            "INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(SQLMetadata.parameters(all.count, dialect: dialect)))"
    }

    /// Writes a row from the values of the key, then of the other columns.
    func run(_ values: [SQLValue], on connection: any SQLConnection) throws(StoreError) {
        func run(_ sql: String) throws(StoreError) {
            try connection.withStatement(sql) { (statement) throws(StoreError) in
                try statement.bind(values)
                while try statement.step() {}
            }
        }
        if let whole { return try run(whole) }
        try run(update)
        if connection.changedRowCount == 0 { try run(insert) }
    }
}
