internal import RoostCore
internal import RoostForeignSQLite

#if SQLite

    /// The tables and columns of a Core Data file, and the numbers of its entities.
    struct CoreDataTables: Sendable {
        struct Column: Sendable {
            let name: String
            /// The declared type in upper case.
            let declaredType: String
        }

        /// The first number of Core Data's own entities, for history and cloud mirroring.
        static let firstReservedEntity: Int64 = 16_000

        /// The columns of each table with a name that begins with `Z`.
        let columns: [String: [Column]]
        /// The file's number of each application entity, by entity name.
        let entityNumbers: [String: Int64]
        /// The last assigned keys, by the file's entity number.
        let lastKeys: [Int64: Int64]

        /// Reads the schema and `Z_PRIMARYKEY`.
        init(_ database: ForeignDatabase) throws(StoreError) {
            var columns: [String: [Column]] = [:]
            let tables = try database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%'")
            while try tables.step() {
                guard let name = try tables.string(0) else { continue }
                let info = try database.prepare("PRAGMA table_info(\(ForeignDatabase.quoted(name)))")
                var list: [Column] = []
                while try info.step() {
                    list.append(
                        Column(name: try info.string(1) ?? "", declaredType: try info.string(2)?.uppercased() ?? ""))
                }
                columns[name] = list
            }
            guard columns["Z_PRIMARYKEY"] != nil, columns["Z_METADATA"] != nil else {
                throw StoreError(
                    .notAStore,
                    "'\(database.path)' is an SQLite database but not a Core Data store: it has no tables Z_METADATA and Z_PRIMARYKEY."
                )
            }
            self.columns = columns
            var numbers: [String: Int64] = [:]
            var lastKeys: [Int64: Int64] = [:]
            let rows = try database.prepare("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY")
            while try rows.step() {
                let number = rows.integer(0)
                guard number > 0, number < Self.firstReservedEntity, let name = try rows.string(1) else { continue }
                guard numbers.updateValue(number, forKey: name) == nil else {
                    throw StoreError(.corrupted, "'\(database.path)' lists entity '\(name)' twice in Z_PRIMARYKEY.")
                }
                lastKeys[number] = max(0, rows.integer(2))
            }
            guard Set(numbers.values).count == numbers.count else {
                throw StoreError(.corrupted, "'\(database.path)' gives two entities one number in Z_PRIMARYKEY.")
            }
            entityNumbers = numbers
            self.lastKeys = lastKeys
        }

        func table(ofRoot name: String) -> String? {
            let wanted = "Z" + name.uppercased()
            if columns[wanted] != nil { return wanted }
            return columns.keys.first { $0.uppercased() == wanted }
        }

        /// Returns the columns with the name `base` or `base` and a number, in numeric order.
        func candidates(_ base: String, in table: String) -> [Column] {
            var found: [(suffix: Int, column: Column)] = []
            for column in columns[table] ?? [] {
                guard let suffix = Self.suffix(of: column.name, after: base) else { continue }
                found.append((suffix, column))
            }
            return found.sorted { $0.suffix < $1.suffix }.map(\.column)
        }

        /// Returns the number of one to four digits that follows `base` in `name`, 0 if nothing
        /// follows, or nil for another name.
        static func suffix(of name: String, after base: String) -> Int? {
            let upper = name.uppercased()
            guard upper.hasPrefix(base) else { return nil }
            let rest = upper.dropFirst(base.count)
            if rest.isEmpty { return 0 }
            guard rest.count <= 4, rest.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
            return Int(rest)
        }
    }
#endif
