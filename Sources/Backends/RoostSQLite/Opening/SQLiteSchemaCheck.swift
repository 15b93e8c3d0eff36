internal import RoostCore
internal import RoostSQL

/// A comparison of a file's schema with the schema that Roost would create.
///
/// After this comparison, no foreign statement runs when Roost reads or writes.
///
/// The check refuses triggers, views, virtual tables, and Roost's own tables and indexes if their
/// text differs. It accepts all other tables, and all other indexes except unique ones on Roost's
/// tables.
struct SQLiteSchemaCheck {
    private struct Entry {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    private let entries: [String: Entry]
    private let path: String

    /// Reads the catalog, and throws if it has objects that no store may have.
    init(_ connection: SQLiteConnection) throws(StoreError) {
        path = connection.path
        entries = try connection.withStatement("SELECT type, name, tbl_name, sql FROM sqlite_schema") {
            (statement) throws(StoreError) in
            var entries: [String: Entry] = [:]
            while try statement.step() {
                guard case .text(let type) = try statement.value(at: 0),
                    case .text(let name) = try statement.value(at: 1),
                    case .text(let table) = try statement.value(at: 2)
                else { throw StoreError(.corrupted, "The catalog of '\(connection.path)' is damaged.") }
                // Indexes that SQLite creates by itself have no text, and are not checked.
                guard case .text(let sql) = try statement.value(at: 3) else { continue }
                let isPlain = type == "table" && sql.prefix(14).uppercased().hasPrefix("CREATE TABLE")
                guard isPlain || type == "index" else {
                    let kind = type == "table" ? "virtual table" : type
                    throw StoreError(
                        .corrupted,
                        "'\(connection.path)' has a \(kind), '\(name)', which no Roost store has; remove it with another tool if it is yours."
                    )
                }
                entries[name] = Entry(type: type, name: name, table: table, sql: sql)
            }
            return entries
        }
    }

    /// Whether the store has the table of ``UnflushedMark``.
    var isUnflushed: Bool { entries[UnflushedMark.table]?.sql == UnflushedMark.declaration }

    func requireSystemTables(formatVersion: Int) throws(StoreError) {
        let tables = SQLSchema.systemTables(SQLiteDialect(), formatVersion: formatVersion)
        guard tables.contains(where: { entries[$0.name] != nil }) else {
            throw StoreError(.notAStore, "'\(path)' has none of the tables of a Roost store.")
        }
        for item in tables { try require(item) }
    }

    func require(_ schema: SQLSchema) throws(StoreError) {
        for item in schema.items { try require(item) }
        let expected = Set(schema.items.map(\.name))
        let tables = Set((schema.systemTables + schema.tables).map { $0.name.lowercased() })
        for entry in entries.values where entry.type == "index" && !expected.contains(entry.name) {
            // A foreign unique index would refuse data that the model allows.
            guard tables.contains(entry.table.lowercased()), entry.sql.prefix(13).uppercased() != "CREATE INDEX " else {
                continue
            }
            throw StoreError(
                .corrupted,
                "'\(path)' has a unique index, '\(entry.name)', that its model does not know; remove it with another tool."
            )
        }
    }

    private func require(_ item: SQLSchema.Item) throws(StoreError) {
        guard let entry = entries[item.name] else {
            throw StoreError(
                .corrupted,
                "'\(path)' lacks '\(item.name)', which belongs to every store of its model; restore it from a backup.")
        }
        guard entry.sql == item.sql else {
            throw StoreError(
                .corrupted,
                "'\(item.name)' in '\(path)' is not declared as Roost declares it; restore the store from a backup.")
        }
    }
}
