internal import RoostCore
internal import RoostSQL

extension SQLiteDatabase: ForeignContentDatabase {
    /// Returns the tables of other programs, and their indexes on the store's tables.
    func foreignContent(besides schema: SQLSchema) throws(StoreError) -> ForeignContent {
        let own = Set(schema.items.map { $0.name.lowercased() })
        let ownTables = Set((schema.systemTables + schema.tables).map { $0.name.lowercased() })
        let reader = try beginReading()
        defer { endReading(reader) }
        var found = ForeignContent()
        let sql = "SELECT type, name, tbl_name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        try self.own(reader).withStatement(sql) { (statement) throws(StoreError) in
            while try statement.step() {
                guard case .text(let type) = try statement.value(at: 0),
                    case .text(let name) = try statement.value(at: 1),
                    case .text(let table) = try statement.value(at: 2)
                else { throw StoreError(.corrupted, "The catalog of '\(path)' is damaged.") }
                let folded = name.lowercased()
                guard !own.contains(folded), !folded.hasPrefix("sqlite_"), !folded.hasPrefix("_roost_") else {
                    continue
                }
                if type != "index" {
                    found.tables.append(name)
                } else if ownTables.contains(table.lowercased()) {
                    found.indexes.append(name)
                }
            }
        }
        return found
    }
}
