internal import RoostCore
internal import RoostForeignSQLite

#if SQLite

    /// A search for the links of to-many relationships, in join tables or in columns of the
    /// destination.
    struct CoreDataLinkFinder {
        let model: ManagedObjectModel
        let tables: CoreDataTables
        /// Table names by root entity number.
        let tableNames: [Int: String]
        let fileNumbers: [Int64]
        private(set) var notices: [String] = []
        /// The columns with links in entity tables, as `table.column`.
        private(set) var usedColumns: Set<String> = []

        init(model: ManagedObjectModel, tables: CoreDataTables, tableNames: [Int: String], fileNumbers: [Int64]) {
            self.model = model
            self.tables = tables
            self.tableNames = tableNames
            self.fileNumbers = fileNumbers
        }

        /// Returns the query for the links of an owning relationship.
        mutating func links(
            of relationship: ManagedObjectModel.Relationship, database: ForeignDatabase
        ) throws(StoreError) -> CoreDataSchema.Links {
            let source = tableNames[model.entities[relationship.source].root]
            let target = tableNames[model.entities[relationship.destination].root]
            guard let source, let target else { throw missing(relationship, database: database) }
            let query: String
            if let inverse = relationship.inverse {
                query = try joinQuery(relationship, inverse: model.relationships[inverse], database: database)
            } else {
                query = try keyQuery(relationship, table: target, database: database)
            }
            return CoreDataSchema.Links(
                relationship: relationship.number, query: query, sourceTable: source, targetTable: target)
        }

        // MARK: Keys in the destination's table

        /// Returns the query for a to-many relationship without an inverse.
        ///
        /// The destination's rows contain the source's key in column
        /// `Z<source entity number><RELATIONSHIP NAME>`.
        private mutating func keyQuery(
            _ relationship: ManagedObjectModel.Relationship, table: String, database: ForeignDatabase
        ) throws(StoreError) -> String {
            let name = relationship.name.name.uppercased()
            let number = fileNumbers[relationship.source]
            var candidates = tables.candidates("Z\(number)\(name)", in: table).map(\.name)
            if candidates.isEmpty {
                // The column's number may differ from the entity's if only one such column exists.
                candidates = (tables.columns[table] ?? []).map(\.name).filter {
                    Self.isNumbered($0, prefix: "Z", name: name)
                }
                guard candidates.count == 1 else { throw missing(relationship, database: database) }
            }
            guard let column = candidates.first else { throw missing(relationship, database: database) }
            usedColumns.insert("\(table).\(column)")
            let order =
                relationship.isOrdered
                ? (tables.columns[table] ?? []).map(\.name).first {
                    $0.uppercased() == "Z_FOK_" + column.uppercased().dropFirst()
                } : nil
            let key = ForeignDatabase.quoted(column)
            return
                "SELECT \(key) AS s, Z_PK AS t, \(order.map(ForeignDatabase.quoted) ?? "0") AS o, 0 AS i FROM \(ForeignDatabase.quoted(table)) WHERE \(key) IS NOT NULL"
        }

        // MARK: Join tables

        /// Returns the query for a many-to-many relationship.
        ///
        /// The join table has, for each side, a key column and possibly an order column.
        ///
        /// A column `Z_<number><NAME>` contains keys of the entity with that number. NAME is the
        /// other side's relationship to that entity. Duplicate names get digits.
        private mutating func joinQuery(
            _ relationship: ManagedObjectModel.Relationship, inverse: ManagedObjectModel.Relationship,
            database: ForeignDatabase
        ) throws(StoreError) -> String {
            let forward = relationship.name.name.uppercased()
            let backward = inverse.name.name.uppercased()
            let (owner, other) = (fileNumbers[relationship.source], fileNumbers[inverse.source])
            if relationship.isReflexive {
                return try reflexiveQuery(relationship, name: forward, number: owner, database: database)
            }
            for exact in [true, false] {
                for table in joinTables([(owner, forward), (other, backward)], isExact: exact) {
                    let columns = (tables.columns[table] ?? []).map(\.name)
                    let sources = columns.filter {
                        matches($0, prefix: "Z_", number: owner, name: backward, isExact: exact)
                    }
                    let targets = columns.filter {
                        matches($0, prefix: "Z_", number: other, name: forward, isExact: exact)
                    }
                    for source in sources {
                        guard let target = targets.first(where: { $0 != source }) else { continue }
                        if !exact {
                            notices.append(
                                "The links of '\(relationship.name)' are read from table \(table), although the entity numbers in the names of the table or its columns differ from those in Z_PRIMARYKEY."
                            )
                        }
                        return query(table, source: source, target: target, columns: columns)
                    }
                }
            }
            throw missing(relationship, database: database)
        }

        private func query(_ table: String, source: String, target: String, columns: [String]) -> String {
            /// Returns the order column for a key column, or 0.
            func order(_ column: String) -> String {
                let wanted = "Z_FOK_" + column.uppercased().dropFirst(2)
                return columns.first { $0.uppercased() == wanted }.map(ForeignDatabase.quoted) ?? "0"
            }
            let (s, t) = (ForeignDatabase.quoted(source), ForeignDatabase.quoted(target))
            return
                "SELECT \(s) AS s, \(t) AS t, \(order(target)) AS o, \(order(source)) AS i FROM \(ForeignDatabase.quoted(table)) WHERE \(s) IS NOT NULL AND \(t) IS NOT NULL"
        }

        /// Returns the query for a relationship that is its own inverse.
        ///
        /// A pair may be stored once or in both directions. The query returns each pair once, with
        /// the lower key first.
        private func reflexiveQuery(
            _ relationship: ManagedObjectModel.Relationship, name: String, number: Int64,
            database: ForeignDatabase
        ) throws(StoreError) -> String {
            for table in joinTables([(number, name)], isExact: true) + joinTables([(number, name)], isExact: false) {
                let columns = (tables.columns[table] ?? []).map(\.name)
                guard let back = columns.first(where: { $0.uppercased() == "REFLEXIVE" }),
                    let forth = columns.first(where: { Self.isNumbered($0, prefix: "Z_", name: name) })
                else { continue }
                let (x, y) = (ForeignDatabase.quoted(forth), ForeignDatabase.quoted(back))
                let orderOfX =
                    columns.first { $0.uppercased() == "Z_FOK_" + forth.uppercased().dropFirst(2) }
                    .map(ForeignDatabase.quoted) ?? "0"
                let orderOfY =
                    columns.first { ["FOK_REFLEXIVE", "Z_FOK_REFLEXIVE"].contains($0.uppercased()) }
                    .map(ForeignDatabase.quoted) ?? "0"
                return
                    "SELECT min(\(x), \(y)) AS s, max(\(x), \(y)) AS t, max(CASE WHEN \(x) <= \(y) THEN \(orderOfY) ELSE \(orderOfX) END) AS o, max(CASE WHEN \(x) <= \(y) THEN \(orderOfX) ELSE \(orderOfY) END) AS i FROM \(ForeignDatabase.quoted(table)) WHERE \(x) IS NOT NULL AND \(y) IS NOT NULL GROUP BY 1, 2"
            }
            throw missing(relationship, database: database)
        }

        /// Returns the join tables named after either side, shorter names first.
        private func joinTables(_ sides: [(number: Int64, name: String)], isExact: Bool) -> [String] {
            tables.columns.keys.filter { table in
                sides.contains { matches(table, prefix: "Z_", number: $0.number, name: $0.name, isExact: isExact) }
            }.sorted { ($0.count, $0) < ($1.count, $1) }
        }

        private func matches(_ text: String, prefix: String, number: Int64, name: String, isExact: Bool) -> Bool {
            isExact
                ? CoreDataTables.suffix(of: text, after: "\(prefix)\(number)\(name)") != nil
                : Self.isNumbered(text, prefix: prefix, name: name)
        }

        /// Returns whether `text` consists of `prefix`, a number, `name`, and optional digits.
        private static func isNumbered(_ text: String, prefix: String, name: String) -> Bool {
            let upper = text.uppercased()
            guard upper.hasPrefix(prefix) else { return false }
            let rest = upper.dropFirst(prefix.count)
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            return !digits.isEmpty
                && CoreDataTables.suffix(of: String(rest.dropFirst(digits.count)), after: name) != nil
        }

        private func missing(
            _ relationship: ManagedObjectModel.Relationship, database: ForeignDatabase
        ) -> StoreError {
            CoreDataSchema.mismatch(
                database, what: "it has neither table nor column for relationship '\(relationship.name)'")
        }
    }
#endif
