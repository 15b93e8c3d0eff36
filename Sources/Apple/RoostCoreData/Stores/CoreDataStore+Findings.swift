#if SQLite
    internal import RoostAppleModels
    package import RoostCore
    internal import RoostForeignSQLite

    extension CoreDataStore {
        /// The notices about ambiguous or unused columns, ambiguous tables and unusable parts of
        /// the model.
        var openingNotices: [String] { schema.notices + modelWarnings.map(\.description) }

        /// Returns the notices from opening the store, then notices about content that cannot be
        /// read unchanged.
        ///
        /// Reads every row. Throws `busy` if another program changed the file meanwhile. Throws
        /// `corrupted` if the file's structure is damaged, because the missing content is then
        /// unknown.
        package func contentNotices() throws(StoreError) -> [String] {
            let snapshot = try makeSnapshot()
            defer { snapshot.close() }
            if let report = try structureReports(try snapshot.database).first {
                throw StoreError(
                    .corrupted,
                    "'\(location.path)' is a damaged SQLite file, and objects may be missing. Restore it from a backup. SQLite reports: \(report)"
                )
            }
            let found = try contentFindings(try snapshot.database)
            try snapshot.verifySource()
            return openingNotices + found.map(\.message)
        }

        /// Checks the file for damage, and for content that cannot be read unchanged.
        ///
        /// Reads every row. A store with only warnings can still be converted.
        package func examineIntegrity() throws(StoreError) -> [StoreFinding] {
            let snapshot = try makeSnapshot()
            defer { snapshot.close() }
            let database = try snapshot.database
            var findings = openingNotices.map { StoreFinding(.warning, message: $0) }
            findings += try structureReports(database).map { StoreFinding(.damage, message: "SQLite reports: \($0)") }
            findings += try contentFindings(database)
            try snapshot.verifySource()
            return findings
        }

        /// Returns SQLite's reports on damage to the file's structure; empty for an undamaged file.
        private func structureReports(_ database: ForeignDatabase) throws(StoreError) -> [String] {
            var reports: [String] = []
            let check = try database.prepare("PRAGMA quick_check(20)")
            while try check.step() {
                if let text = try check.string(0), text != "ok" { reports.append(text) }
            }
            return reports
        }

        private func contentFindings(_ database: ForeignDatabase) throws(StoreError) -> [StoreFinding] {
            var findings: [StoreFinding] = []
            for (number, root) in schema.roots.sorted(by: { $0.key < $1.key }) {
                findings += try rowFindings(number, root: root, database: database)
            }
            for reference in schema.references.values.sorted(by: { $0.relationship < $1.relationship }) {
                findings += try referenceFindings(reference, database: database)
            }
            for links in schema.links.values.sorted(by: { $0.relationship < $1.relationship }) {
                findings += try linkFindings(links, database: database)
            }
            for (number, root) in schema.roots.sorted(by: { $0.key < $1.key }) {
                findings += try externalFindings(number, root: root, database: database)
            }
            let hasHistory = try count(
                database, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'")
            let transactions = hasHistory > 0 ? try count(database, sql: "SELECT count(*) FROM ATRANSACTION") : 0
            if transactions > 0 {
                findings.append(
                    StoreFinding(
                        .warning,
                        message: "The persistent history of the store (\(transactions) transactions) is left out."))
            }
            return findings
        }

        private func rowFindings(
            _ number: Int, root: CoreDataSchema.Root, database: ForeignDatabase
        ) throws(StoreError) -> [StoreFinding] {
            let known = root.entities.keys.sorted().map(String.init).joined(separator: ", ")
            return try warning(
                database,
                sql:
                    "SELECT count(*) FROM \(ForeignDatabase.quoted(root.table)) WHERE Z_PK < 1 OR Z_ENT IS NULL OR Z_ENT NOT IN (\(known))"
            ) { count in
                "\(count) rows of table \(root.table) belong to no entity of hierarchy '\(model.entities[number].name)'; they are left out."
            }
        }

        private func referenceFindings(
            _ reference: CoreDataSchema.Reference, database: ForeignDatabase
        ) throws(StoreError) -> [StoreFinding] {
            let relationship = model.relationships[reference.relationship]
            let destinations = model.entities[relationship.destination].selfAndSubentities.map {
                String(schema.fileNumbers[$0])
            }
            let numbers = reference.entities.map(String.init)
            let column = ForeignDatabase.quoted(reference.column)
            return try warning(
                database,
                sql: """
                    SELECT count(*) FROM \(ForeignDatabase.quoted(reference.table)) r
                    WHERE r.\(column) IS NOT NULL AND r.Z_ENT IN (\(numbers.joined(separator: ", "))) AND NOT EXISTS (
                    SELECT 1 FROM \(ForeignDatabase.quoted(reference.destinationTable)) d
                    WHERE d.Z_PK = r.\(column) AND d.Z_ENT IN (\(destinations.joined(separator: ", "))))
                    """
            ) { count in
                "\(count) references of '\(relationship.name)' refer to objects that do not exist; they are read as null."
            }
        }

        private func linkFindings(
            _ links: CoreDataSchema.Links, database: ForeignDatabase
        ) throws(StoreError) -> [StoreFinding] {
            return try warning(
                database,
                sql: """
                    SELECT count(*) FROM (\(links.query))
                    WHERE NOT EXISTS (SELECT 1 FROM \(ForeignDatabase.quoted(links.sourceTable)) x WHERE x.Z_PK = s)
                    OR NOT EXISTS (SELECT 1 FROM \(ForeignDatabase.quoted(links.targetTable)) x WHERE x.Z_PK = t)
                    """
            ) { count in
                "\(count) links of '\(model.relationships[links.relationship].name)' have an end that does not exist."
            }
        }

        /// Returns findings about references to missing data files.
        private func externalFindings(
            _ number: Int, root: CoreDataSchema.Root, database: ForeignDatabase
        ) throws(StoreError) -> [StoreFinding] {
            let columns = root.externalColumns.sorted { $0.key < $1.key }
            guard !columns.isEmpty else { return [] }
            // Other values may be large, so read only values in the form of a reference to a data file.
            let values = columns.map {
                "CASE WHEN length(\($0.value)) IN (37, 38) AND substr(\($0.value), 1, 1) = x'02' THEN \($0.value) END"
            }
            let external = ExternalData(storePath: location.path)
            var missing: [String: Int] = [:]
            let statement = try database.prepare(
                "SELECT r.Z_ENT, \(values.joined(separator: ", ")) FROM \(ForeignDatabase.quoted(root.table)) r")
            while try statement.step() {
                guard let entity = root.entities[statement.integer(0)] else { continue }
                for (index, column) in columns.enumerated() where !statement.isNull(Int32(index + 1)) {
                    guard let field = entity.readings.first(where: { $0.isExternal && $0.column == column.key })?.field,
                        let name = ExternalData.name(in: try statement.bytes(Int32(index + 1))),
                        try !external.exists(name)
                    else { continue }
                    missing["\(entity.layout.entity).\(field.name)", default: 0] += 1
                }
            }
            return missing.sorted { $0.key < $1.key }.map {
                StoreFinding(
                    .warning,
                    message:
                        "\($0.value) values of '\($0.key)' are in data files that are not beside the store; they are read as null."
                )
            }
        }

        private func warning(
            _ database: ForeignDatabase, sql: String, message: (Int64) -> String
        ) throws(StoreError) -> [StoreFinding] {
            let count = try count(database, sql: sql)
            return count > 0 ? [StoreFinding(.warning, message: message(count))] : []
        }

        private func count(_ database: ForeignDatabase, sql: String) throws(StoreError) -> Int64 {
            let statement = try database.prepare(sql)
            return try statement.step() ? statement.integer(0) : 0
        }
    }
#endif
