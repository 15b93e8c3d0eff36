internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    struct SQLiteSchemaReader {
        private let database: ForeignDatabase
        private var schema = ForeignSchema()

        private init(_ database: ForeignDatabase) { self.database = database }

        /// Reads the schema.
        ///
        /// - Throws: `invalidRequest` for a Core Data store and a database without tables; errors
        ///   of the database.
        static func read(_ database: ForeignDatabase) throws(StoreError) -> ForeignSchema {
            var reader = SQLiteSchemaReader(database)
            try reader.readNames()
            for number in reader.schema.tables.indices { try reader.readColumns(of: number) }
            for number in reader.schema.tables.indices { try reader.readIndexes(of: number) }
            for number in reader.schema.tables.indices { try reader.readForeignKeys(of: number) }
            return reader.schema
        }

        // MARK: Tables

        private mutating func readNames() throws(StoreError) {
            let rows = try database.prepare(
                "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema ORDER BY rowid")
            var virtual: [(name: String, sql: String)] = []
            var ordinary: [(name: String, sql: String)] = []
            while try rows.step() {
                guard let type = try rows.text(0), let name = try rows.text(1) else {
                    schema.remarks.append(
                        "A part of the schema is left out, because its name is not valid UTF-8.")
                    continue
                }
                let sql = try rows.text(4) ?? ""
                switch type {
                case "table" where SchemaName(name).hasPrefix("sqlite_"): break
                case "table" where rows.integer(3) == 0: virtual.append((name, sql))
                case "table": ordinary.append((name, sql))
                case "view": schema.remarks.append("View '\(name)' is left out.")
                case "trigger":
                    schema.remarks.append("Trigger '\(name)' of table '\(try rows.text(2) ?? "")' is left out.")
                default: break
                }
            }
            for (name, _) in virtual { schema.remarks.append("Virtual table '\(name)' is left out.") }
            for (name, sql) in ordinary {
                if let owner = virtual.first(where: { Self.isShadow(name, of: $0) }) {
                    schema.remarks.append("Table '\(name)' of virtual table '\(owner.name)' is left out.")
                    continue
                }
                guard try database.canPrepare("SELECT 1 FROM main.\(ForeignDatabase.quoted(name))") else {
                    schema.remarks.append(
                        "Table '\(name)' is left out, because SQLite cannot read it without the program that made it.")
                    continue
                }
                var table = ForeignTable(name)
                table.hasCheck = SchemaText.words(sql).contains("CHECK")
                guard schema.table(name) == nil else {
                    throw StoreError(.corrupted, "'\(database.path)' has two tables named '\(name)'.")
                }
                schema.add(table)
            }
            if schema.table("Z_METADATA") != nil, schema.table("Z_PRIMARYKEY") != nil {
                throw StoreError(
                    .invalidRequest,
                    "'\(database.path)' is a Core Data store. Use 'roost convert coredata:\(database.path) STORE' to keep its model."
                )
            }
            guard !schema.tables.isEmpty else {
                throw StoreError(.invalidRequest, "'\(database.path)' has no tables to import.")
            }
        }

        /// Returns whether a table belongs to a virtual table of FTS or R*Tree.
        private static func isShadow(_ name: String, of owner: (name: String, sql: String)) -> Bool {
            guard let suffix = SchemaName(name).suffix(after: SchemaName(owner.name + "_")) else { return false }
            let words = SchemaText.words(owner.sql)
            let parts: [String: [String]] = [
                "FTS3": ["content", "segdir", "segments", "stat", "docsize"],
                "FTS4": ["content", "segdir", "segments", "stat", "docsize"],
                "FTS5": ["data", "idx", "content", "docsize", "config"], "RTREE": ["node", "parent", "rowid"],
                "RTREE_I32": ["node", "parent", "rowid"], "GEOPOLY": ["node", "parent", "rowid"],
            ]
            return parts.contains { words.contains($0.key) && $0.value.contains(suffix) }
        }

        // MARK: Columns

        private mutating func readColumns(of number: Int) throws(StoreError) {
            var table = schema.tables[number]
            let rows = try database.prepare("PRAGMA main.table_xinfo(\(ForeignDatabase.quoted(table.name)))")
            var keyPlaces: [(place: Int64, column: Int)] = []
            var integerColumns: Set<Int> = []
            while try rows.step() {
                guard let name = try rows.text(1) else {
                    throw StoreError(
                        .corrupted,
                        "A column of table '\(table.name)' of '\(database.path)' has a name that is not valid UTF-8.")
                }
                let type = try rows.text(2) ?? ""
                let isGenerated = rows.integer(6) >= 2
                // Generated values may need functions that are missing or not allowed.
                if isGenerated, try !isReadable(name, of: table.name) {
                    table.remarks.append(
                        "Column '\(name)' is left out, because SQLite cannot compute its values without the program that made it."
                    )
                    continue
                }
                let column = table.columns.count
                if rows.integer(5) > 0 { keyPlaces.append((rows.integer(5), column)) }
                if type.uppercased() == "INTEGER" { integerColumns.insert(column) }
                let defaultText = isGenerated ? nil : try rows.text(4)
                let collation = try database.collation(ofColumn: name, in: table.name)
                table.add(
                    ForeignTable.Column(
                        name: name, declaredType: DeclaredType(type), isMandatory: rows.integer(3) != 0,
                        defaultText: defaultText, defaultLiteral: defaultText.flatMap { SchemaLiteral($0) },
                        collation: collation, isFolding: collation != "BINARY", isGenerated: isGenerated))
            }
            table.primaryKey = keyPlaces.sorted { $0.place < $1.place }.map(\.column)
            try findRowID(&table, integerColumns: integerColumns)
            schema.tables[number] = table
        }

        private func isReadable(_ column: String, of table: String) throws(StoreError) -> Bool {
            try database.canPrepare(
                "SELECT t.\(ForeignDatabase.quoted(column)) FROM main.\(ForeignDatabase.quoted(table)) AS t")
        }

        private func findRowID(_ table: inout ForeignTable, integerColumns: Set<Int>) throws(StoreError) {
            let names = Set(table.columns.map { SchemaName($0.name) })
            let free = ["rowid", "_rowid_", "oid"].first { !names.contains(SchemaName($0)) }
            let hasIndex = try database.integer(
                "SELECT 1 FROM pragma_index_list(\(Self.literal(table.name)), 'main') WHERE origin = 'pk'")
            if let column = table.primaryKey.first, table.primaryKey.count == 1, hasIndex == nil,
                integerColumns.contains(column)
            {
                table.rowIDColumn = column
                table.rowIDName = ForeignDatabase.quoted(table.columns[column].name)
                return
            }
            if let free,
                try database.canPrepare("SELECT t.\(free) FROM main.\(ForeignDatabase.quoted(table.name)) AS t")
            {
                table.rowIDName = free
                return
            }
            // Without a usable name of the rowid, the rows are sorted by the primary key.
            table.isWithoutRowID = !table.primaryKey.isEmpty
        }

        private static func literal(_ text: String) -> String {
            var bytes = [UInt8(ascii: "'")]
            for byte in text.utf8 { bytes += byte == UInt8(ascii: "'") ? [byte, byte] : [byte] }
            return String(decoding: bytes + [UInt8(ascii: "'")], as: UTF8.self)
        }

        // MARK: Indexes

        private mutating func readIndexes(of number: Int) throws(StoreError) {
            var table = schema.tables[number]
            let rows = try database.prepare("PRAGMA main.index_list(\(ForeignDatabase.quoted(table.name)))")
            while try rows.step() {
                guard let name = try rows.text(1) else {
                    table.remarks.append("An index whose name is not valid UTF-8 is left out.")
                    continue
                }
                let origin = try rows.text(3) ?? "c"
                let parts = try database.prepare("PRAGMA main.index_xinfo(\(ForeignDatabase.quoted(name)))")
                var (columns, descending, collations): ([Int?], [Bool], [String]) = ([], [], [])
                while try parts.step() {
                    guard parts.integer(5) != 0 else { continue }
                    // SQLite's column numbers include columns that are left out.
                    columns.append(try parts.text(2).flatMap { table.column($0) })
                    descending.append(parts.integer(3) != 0)
                    collations.append(try parts.text(4)?.uppercased() ?? "BINARY")
                }
                table.indexes.append(
                    ForeignTable.Index(
                        name: name, columns: columns, isDescending: descending, collations: collations,
                        isUnique: rows.integer(2) != 0, isPartial: rows.integer(4) != 0, isPrimaryKey: origin == "pk",
                        isConstraint: origin != "c"))
            }
            // SQLite lists the newest index first.
            table.indexes.reverse()
            schema.tables[number] = table
        }

        // MARK: Foreign keys

        private mutating func readForeignKeys(of number: Int) throws(StoreError) {
            var table = schema.tables[number]
            let rows = try database.prepare("PRAGMA main.foreign_key_list(\(ForeignDatabase.quoted(table.name)))")
            var found: [(id: Int64, parent: String, from: [String], to: [String?], onDelete: String)] = []
            while try rows.step() {
                let (from, to) = (try rows.text(3) ?? "", try rows.text(4))
                if let last = found.last, last.id == rows.integer(0) {
                    found[found.count - 1].from.append(from)
                    found[found.count - 1].to.append(to)
                } else {
                    found.append(
                        (
                            rows.integer(0), try rows.text(2) ?? "", [from], [to],
                            (try rows.text(6) ?? "").uppercased()
                        ))
                }
            }
            // SQLite lists the last foreign key first.
            for entry in found.reversed() {
                let columns = entry.from.compactMap { table.column($0) }
                let (parent, problem) = try resolve(entry.parent, names: entry.to, count: entry.from.count)
                if let parent, columns.count == entry.from.count, Set(columns).count == columns.count {
                    let key = ForeignTable.ForeignKey(
                        columns: columns, parent: parent.table, parentColumns: parent.columns, onDelete: entry.onDelete)
                    if !table.foreignKeys.contains(key) { table.foreignKeys.append(key) }
                } else if let first = columns.first {
                    let reason = problem ?? "one of its columns is left out or named twice"
                    table.columnRemarks[first, default: []].append(
                        "the foreign key to '\(entry.parent)' is not a relationship, because \(reason)")
                }
            }
            schema.tables[number] = table
        }

        /// Finds the columns to which a foreign key refers, or the reason why the key cannot be
        /// resolved.
        private func resolve(
            _ parent: String, names: [String?], count: Int
        ) throws(StoreError) -> ((table: Int, columns: [Int])?, String?) {
            guard let number = schema.table(parent) else { return (nil, "no such table is imported") }
            let table = schema.tables[number]
            var columns: [Int] = []
            if names.allSatisfy({ $0 == nil }) {
                columns = table.primaryKey
            } else {
                for name in names {
                    guard let name, let column = table.column(name) else {
                        return (nil, "that table has no column '\(name ?? "")'")
                    }
                    columns.append(column)
                }
            }
            guard columns.count == count else { return (nil, "that table's key has \(columns.count) columns") }
            let isRowID = columns.count == 1 && columns.first == table.rowIDColumn
            let isUnique = table.indexes.contains { index in
                index.isUnique && !index.isPartial && index.columns.count == columns.count
                    && Set(index.columns) == Set(columns.map { $0 })
                    && zip(index.columns, index.collations).allSatisfy { column, collation in
                        column.map { table.columns[$0].collation == collation } ?? false
                    }
            }
            guard isRowID || isUnique else { return (nil, "the columns that it refers to are not unique") }
            guard table.rowIDName != nil || table.isWithoutRowID else {
                return (nil, "the columns of that table use all names of its rowid (rowid, _rowid_ and oid)")
            }
            let condition = columns.map { "p.\(ForeignDatabase.quoted(table.columns[$0].name)) = 1" }
            let query =
                "SELECT 1 FROM main.\(ForeignDatabase.quoted(table.name)) AS p WHERE \(condition.joined(separator: " AND "))"
            guard try database.canPrepare(query) else {
                return (nil, "SQLite does not know the collation of that table's key")
            }
            return ((number, columns), nil)
        }
    }
#endif
