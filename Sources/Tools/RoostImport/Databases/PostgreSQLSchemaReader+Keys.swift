internal import RoostCore

#if PostgreSQL
    internal import RoostPostgreSQL

    extension PostgreSQLSchemaReader {
        // MARK: Indexes

        mutating func readIndexes() throws(StoreError) {
            let isHere = try isInSchema("c.relnamespace")
            let rows = try database.query(
                """
                SELECT i.indrelid, x.relname, i.indisunique, i.indisprimary, i.indisvalid, i.indpred IS NOT NULL,
                    m.amname, i.indkey, i.indnkeyatts, i.indoption,
                    COALESCE(to_jsonb(i) ->> 'indnullsnotdistinct', 'false') = 'true', k.contype,
                    (SELECT l.collname FROM pg_collation l WHERE l.oid = ANY (i.indcollation::oid[])
                        AND NOT l.collisdeterministic LIMIT 1)
                FROM pg_index i
                JOIN pg_class c ON c.oid = i.indrelid
                JOIN pg_class x ON x.oid = i.indexrelid
                JOIN pg_am m ON m.oid = x.relam
                LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
                    AND k.contype IN ('p', 'u', 'x')
                WHERE \(isHere)
                ORDER BY c.oid, NOT i.indisprimary, x.relname COLLATE "C"
                """)
            for row in rows {
                let row = CatalogRow(row)
                guard let table = numbers[row.text(0)] else { continue }
                addIndex(row, table: table)
            }
        }

        private mutating func addIndex(_ row: CatalogRow, table: Int) {
            let count = max(0, row.numbers(8).first ?? 0)
            // The column number 0 means an expression. The numbers after the first `count` mean INCLUDE columns.
            let keyNumbers = row.numbers(7).prefix(count)
            let positions = keyNumbers.map { columns[table][$0] }
            let options = row.numbers(9)
            var index = ForeignTable.Index(
                name: row.text(1), columns: positions,
                isDescending: positions.indices.map { $0 < options.count && options[$0] & 1 != 0 },
                collations: positions.map { _ in "BINARY" },
                isUnique: row.isTrue(2), isPartial: row.isTrue(5), isPrimaryKey: row.isTrue(3),
                isConstraint: row.text(11) == "p" || row.text(11) == "u")
            if row.text(11) == "x" {
                index.problem = "it is an exclusion constraint"
            } else if !row.isTrue(4) {
                index.problem = "it is not valid"
            } else if keyNumbers.contains(where: { $0 != 0 && columns[table][$0] == nil }) {
                index.problem = "one of its columns is left out"
            } else if positions.contains(where: { $0.map { schema.tables[table].columns[$0].isFolding } ?? false }) {
                let name = row.isNull(12) ? "without case" : "with collation \(row.text(12))"
                index.problem = "it compares texts \(name)"
            } else if row.text(6) != "btree", row.text(6) != "hash" {
                index.problem = "it is an index of type \(row.text(6))"
            }
            if row.isTrue(10), index.problem == nil {
                schema.tables[table].remarks.append(
                    "Index '\(index.name)' allows one null; the constraint allows many.")
            }
            schema.tables[table].indexes.append(index)
            guard index.isPrimaryKey, !positions.contains(nil) else { return }
            setPrimaryKey(positions.compactMap { $0 }, of: table)
        }

        /// Sets the columns of the primary key, and makes a single integer column the key of the
        /// objects.
        private mutating func setPrimaryKey(_ positions: [Int], of table: Int) {
            schema.tables[table].primaryKey = positions
            guard let column = positions.first, positions.count == 1, isInteger(column, of: table) else {
                schema.tables[table].isWithoutRowID = true
                return
            }
            schema.tables[table].rowIDColumn = column
            schema.tables[table].rowIDName = quoted(column, of: table)
        }

        // MARK: Foreign keys

        mutating func readForeignKeys() throws(StoreError) {
            let isHere = try isInSchema("c.relnamespace")
            let rows = try database.query(
                """
                SELECT k.conrelid, k.confrelid, k.conkey, k.confkey, k.confdeltype, p.relname, p.relispartition,
                    COALESCE(to_jsonb(k) ->> 'conperiod', 'false') = 'true',
                    (SELECT n.nspname FROM pg_namespace n WHERE n.oid = p.relnamespace), k.oid
                FROM pg_constraint k
                JOIN pg_class c ON c.oid = k.conrelid
                JOIN pg_class p ON p.oid = k.confrelid
                WHERE \(isHere) AND k.contype = 'f' AND k.conparentid = 0
                ORDER BY k.conrelid, k.conkey, k.conname COLLATE "C"
                """)
            let operators = try readOperators(isHere)
            for row in rows {
                let row = CatalogRow(row)
                guard let table = numbers[row.text(0)] else { continue }
                addForeignKey(row, table: table, operators: operators[row.text(9)] ?? [])
            }
        }

        /// Returns the operators that compare the columns of foreign keys, by the oids of the keys.
        private func readOperators(_ isHere: String) throws(StoreError) -> [String: [String]] {
            let rows = try database.query(
                """
                SELECT k.oid, format('OPERATOR(%I.%s)', n.nspname, o.oprname)
                FROM pg_constraint k
                JOIN pg_class c ON c.oid = k.conrelid
                CROSS JOIN LATERAL unnest(k.conpfeqop) WITH ORDINALITY AS u(oid, place)
                JOIN pg_operator o ON o.oid = u.oid
                JOIN pg_namespace n ON n.oid = o.oprnamespace
                WHERE \(isHere) AND k.contype = 'f'
                ORDER BY k.oid, u.place
                """)
            var result: [String: [String]] = [:]
            for row in rows {
                let row = CatalogRow(row)
                result[row.text(0), default: []].append(row.text(1))
            }
            return result
        }

        private mutating func addForeignKey(_ row: CatalogRow, table: Int, operators: [String]) {
            let positions = row.numbers(2).map { columns[table][$0] }
            let parent = numbers[row.text(1)]
            let parentPositions = row.numbers(3).map { number in parent.flatMap { columns[$0][number] } }
            let problem: String?
            if parent == nil {
                problem = row.isTrue(6) ? "that table is a partition" : "no such table is imported"
            } else if row.isTrue(7) {
                problem = "it compares periods"
            } else if positions.contains(nil) || Set(positions).count != positions.count {
                problem = "one of its columns is left out or named twice"
            } else {
                problem = parentPositions.contains(nil) ? "a column that it refers to is left out" : nil
            }
            guard let parent, problem == nil else {
                guard let first = positions.compactMap({ $0 }).first else { return }
                let name = row.text(8) == database.schema ? row.text(5) : "\(row.text(8)).\(row.text(5))"
                schema.tables[table].columnRemarks[first, default: []].append(
                    "the foreign key to '\(name)' is not a relationship, because \(problem ?? "it cannot be read")")
                return
            }
            let rules = ["a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"]
            let key = ForeignTable.ForeignKey(
                columns: positions.compactMap { $0 }, parent: parent,
                parentColumns: parentPositions.compactMap { $0 }, onDelete: rules[row.text(4)] ?? "",
                operators: operators)
            if !schema.tables[table].foreignKeys.contains(key) { schema.tables[table].foreignKeys.append(key) }
        }

        // MARK: Others

        /// Adds remarks about omitted triggers, rules, policies, functions and types.
        mutating func readOthers() throws(StoreError) {
            let isTable = try isInSchema("c.relnamespace")
            try leaveOutParts(
                "Trigger",
                found:
                    "SELECT g.tgname, c.oid FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid WHERE \(isTable) AND NOT g.tgisinternal ORDER BY 2, 1"
            )
            try leaveOutParts(
                "Rule",
                found:
                    "SELECT r.rulename, c.oid FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE \(isTable) AND r.rulename <> '_RETURN' ORDER BY 2, 1"
            )
            try leaveOutParts(
                "Row-level security policy",
                found:
                    "SELECT p.polname, c.oid FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE \(isTable) ORDER BY 2, 1"
            )
            try leaveOutAll(
                "Function",
                found:
                    "SELECT DISTINCT f.proname FROM pg_proc f WHERE \(try isInSchema("f.pronamespace")) AND \(Self.isOwn("pg_proc", alias: "f")) ORDER BY 1"
            )
            try leaveOutAll(
                "Type",
                found:
                    "SELECT t.typname FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid WHERE \(try isInSchema("t.typnamespace")) AND \(Self.isOwn("pg_type", alias: "t")) AND (t.typtype IN ('e', 'd', 'r') OR t.typtype = 'c' AND c.relkind = 'c') ORDER BY 1"
            )
        }

        /// Returns the SQL condition that a catalog entry does not belong to an extension.
        private static func isOwn(_ catalog: String, alias: String) -> String {
            "NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = '\(catalog)'::regclass AND d.objid = \(alias).oid AND d.deptype = 'e')"
        }

        /// Adds a remark for each part of an imported table, such as a trigger.
        private mutating func leaveOutParts(_ kind: String, found sql: String) throws(StoreError) {
            for row in try database.query(sql) {
                let row = CatalogRow(row)
                guard let table = numbers[row.text(1)] else { continue }
                leaveOut("\(kind) '\(row.text(0))' of table '\(schema.tables[table].name)' is left out.")
            }
        }

        /// Adds one remark for all functions or all types.
        private mutating func leaveOutAll(_ kind: String, found sql: String) throws(StoreError) {
            let names = try database.query(sql).map { "'\(CatalogRow($0).text(0))'" }
            guard let first = names.first else { return }
            guard names.count > 1 else { return leaveOut("\(kind) \(first) is left out.") }
            let more = names.count > 20 ? " and \(names.count - 20) more" : ""
            leaveOut("\(kind)s are left out: \(names.prefix(20).joined(separator: ", "))\(more).")
        }
    }
#endif
