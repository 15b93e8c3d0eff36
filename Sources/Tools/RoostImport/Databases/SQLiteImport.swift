#if SQLite
    package import RoostCore
    internal import RoostForeignSQLite
    package import RoostMigration

    /// A foreign SQLite database as the content of a new store.
    ///
    /// The database is read in one transaction and never changed:
    ///
    /// - Each table becomes an entity, and each row an object whose key is the rowid.
    /// - Each foreign key becomes a to-one relationship with a to-many inverse.
    /// - Each table that consists of two foreign keys becomes a many-to-many relationship.
    ///
    /// ```swift
    /// let content = try SQLiteImport(path: "shop.db", model: nil) { () throws(StoreError) in }
    /// print(content.plan.tables.map(\.name), content.model.entities.count)
    /// let report = try MigrationManager(registry: .standard)
    ///     .make(.location(.sqlite("shop.sqlite")), of: content, named: "shop.db")
    /// ```
    package final class SQLiteImport: MadeContent {
        /// The model of the new store.
        package let model: ManagedObjectModel
        /// The plan: the entity of each table and the property of each column.
        package let plan: ImportPlan
        private let job: Mutex<Job>
        private let checkCancellation: @Sendable () throws(StoreError) -> Void

        /// The connection and the state for reading rows.
        struct Job {
            let file: DatabaseFile
            let database: ForeignDatabase
            let schema: ForeignSchema
            let facts: [TableFacts]
            let lookup: KeyLookup
            let binding: ImportBinding
            var losses: [String]
        }

        /// Reads the schema and every row once, and infers a model if none is given.
        ///
        /// - Parameters:
        ///   - path: The path of the database.
        ///   - model: The model to fill, or nil to infer a model. The source of an entity or
        ///     property is `importedFrom` in its `userInfo`, or otherwise its name.
        ///   - checkCancellation: Called regularly, also in ``send(to:)``. If it throws, the import
        ///     ends.
        /// - Throws: `notFound`, `notAStore`, `corrupted`, `busy`, `permissionDenied`, `ioFailure`;
        ///   `invalidRequest` for a store of Roost or Core Data and for a database without tables;
        ///   `invalidModel` if the model does not match the tables; `invalidValue` with table,
        ///   column and row for the first value that the model cannot hold.
        package init(
            path: String, model: ManagedObjectModel?,
            checkCancellation: @escaping @Sendable () throws(StoreError) -> Void
        ) throws(StoreError) {
            let file = try DatabaseFile(path: path)
            let database = try ForeignDatabase(
                file: path, mode: file.mode, checkCancellation: checkCancellation)
            try database.execute("PRAGMA temp_store=FILE")
            try database.execute("BEGIN")
            // The transaction begins with the first read.
            try database.execute("SELECT count(*) FROM main.sqlite_schema")
            var schema = try SchemaReader.read(database)
            if let remark = file.remark { schema.remarks.insert(remark, at: 0) }
            var facts: [TableFacts] = []
            for table in schema.tables {
                facts.append(
                    try TableFacts(table, schema: schema, database: database, checkCancellation: checkCancellation))
            }
            let lookup = try KeyLookup(schema, facts: facts, database: database)
            var inference = ModelInference(schema, facts: facts, joinTables: JoinTable.find(in: schema))
            let inferred = try inference.model()
            let binding = try ImportBinding(model ?? inferred, inference: inference, lookup: lookup)
            var planning = ImportPlanning(
                schema, facts: facts, binding: binding, remarks: model == nil ? inference.remarks : ImportRemarks())
            self.model = binding.model
            plan = planning.plan()
            self.checkCancellation = checkCancellation
            let job = Job(
                file: file, database: database, schema: schema, facts: facts, lookup: lookup, binding: binding,
                losses: planning.losses)
            if model != nil { try job.checkValues(checkCancellation) }
            try file.verify()
            self.job = Mutex(job)
        }

        /// Sends a record for each row, then the links of join tables.
        ///
        /// - Throws: `busy` if another program changed a file that is read without locks; errors of
        ///   the database and of `sink`.
        package func send(to sink: ContentSink) throws(StoreError) {
            let checkCancellation = checkCancellation
            try job.withLock { (job) throws(StoreError) in
                try job.file.verify()
                for source in job.binding.sources { try job.sendRecords(of: source, to: sink) }
                for links in job.binding.links {
                    try checkCancellation()
                    try job.sendLinks(links, to: sink)
                }
                try job.file.verify()
            }
        }

        /// Returns a sentence for each loss of the import.
        ///
        /// Call this after ``send(to:)``.
        package func warnings() -> [String] { job.withLock { $0.losses } }
    }

    extension SQLiteImport.Job {
        /// Creates every record without storing it, to find the first value that the model cannot
        /// hold.
        func checkValues(_ checkCancellation: () throws(StoreError) -> Void) throws(StoreError) {
            var batch = RecordBatch(model: binding.model)
            for source in binding.sources {
                var writer = try writer(of: source)
                while try writer.appendNext(to: &batch) {
                    guard batch.isFull else { continue }
                    try checkCancellation()
                    batch.removeAll()
                }
                batch.removeAll()
            }
        }

        private func writer(of source: ImportBinding.Source) throws(StoreError) -> RowWriter {
            try RowWriter(
                source, table: schema.tables[source.table], model: binding.model,
                isNumbered: lookup.isNumbered[source.table], database: database)
        }

        /// Sends the records of a table.
        func sendRecords(of source: ImportBinding.Source, to sink: ContentSink) throws(StoreError) {
            var writer = try writer(of: source)
            var hasMore = true
            while hasMore {
                var batch = sink.emptyRecords()
                while !batch.isFull {
                    hasMore = try writer.appendNext(to: &batch)
                    if !hasMore { break }
                }
                if !batch.isEmpty { try sink.send(batch) }
            }
        }

        /// Sends the links of a join table, each pair once.
        mutating func sendLinks(_ links: ImportBinding.Links, to sink: ContentSink) throws(StoreError) {
            let table = schema.tables[links.table]
            let (source, destination) = (lookup.key(links.source, of: table), lookup.key(links.destination, of: table))
            let statement = try database.prepare(
                "SELECT s, d, count(*) FROM (SELECT \(source) AS s, \(destination) AS d \(RowReader.source(table))) WHERE s IS NOT NULL AND d IS NOT NULL GROUP BY s, d ORDER BY s, d"
            )
            var repeated: Int64 = 0
            var hasMore = true
            while hasMore {
                var batch = sink.emptyLinks(links.relationship.number)
                while !batch.isFull {
                    hasMore = try statement.step()
                    guard hasMore else { break }
                    batch.links.append(Link(statement.integer(0), statement.integer(1)))
                    repeated += statement.integer(2) - 1
                }
                if !batch.isEmpty { try sink.send(batch) }
            }
            guard repeated > 0 else { return }
            losses.append(
                "Table '\(table.name)': \(repeated == 1 ? "1 row repeats" : "\(repeated) rows repeat") a pair that another row has. Relationship '\(links.relationship.name)' has each pair once."
            )
        }
    }
#endif
