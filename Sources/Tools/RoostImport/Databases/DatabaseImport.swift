package import RoostCore
package import RoostMigration
internal import RoostSystem

/// A database of another program as the content of a new store.
///
/// The database is read in one transaction and never changed:
///
/// - Each table becomes an entity, and each row an object. An integer primary key or the rowid is
///   the key of the object, if it is positive in all rows.
/// - Each foreign key becomes a to-one relationship with a to-many inverse.
/// - A table that consists of two foreign keys becomes a many-to-many relationship instead.
///
/// ```swift
/// let content = try DatabaseImport(sqlite: "shop.db", model: nil) { () throws(StoreError) in }
/// print(content.plan.tables.map(\.name), content.model.entities.count)
/// let report = try MigrationManager(registry: .standard)
///     .make(.location(.sqlite("shop.sqlite")), of: content, named: content.name)
/// ```
package final class DatabaseImport: MadeContent {
    /// The name of the database, without a password.
    package let name: String
    /// The model of the new store.
    package let model: ManagedObjectModel
    /// The entity of each table and the property of each column.
    package let plan: ImportPlan
    private let job: Mutex<AnyImportJob>
    private let checkCancellation: @Sendable () throws(StoreError) -> Void

    /// Reads every row, and infers a model if `model` is nil.
    ///
    /// - Parameters:
    ///   - source: The database.
    ///   - wrapping: A function that wraps the job in its case of ``AnyImportJob``.
    ///   - model: The model to fill, or nil to infer a model. In the `userInfo` of an entity or
    ///     property, `importedFrom` names its table or column. Without `importedFrom`, the name of
    ///     the entity or property is used.
    ///   - checkCancellation: Called regularly, also in ``send(to:)``. If it throws, the import
    ///     ends.
    /// - Throws: Errors of the database; `invalidModel` if the model does not match the tables;
    ///   `invalidValue` with table, column and row for the first value that the model cannot hold.
    init<Source: ForeignSource>(
        _ source: sending Source, wrapping: (ImportJob<Source>) -> AnyImportJob, model: ManagedObjectModel?,
        checkCancellation: @escaping @Sendable () throws(StoreError) -> Void
    ) throws(StoreError) {
        let schema = source.schema
        var facts: [TableFacts] = []
        for table in schema.tables.indices {
            facts.append(try TableFacts(table, in: source, checkCancellation: checkCancellation))
        }
        let isNumbered = zip(schema.tables, facts).map { $0.rowIDName == nil || !$1.hasPositiveRowIDs }
        try source.chooseKeys(isNumbered)
        var inference = ModelInference(schema, facts: facts, joinTables: JoinTable.find(in: schema))
        let inferred = try inference.model()
        let binding = try ImportBinding(model ?? inferred, inference: inference)
        var planning = ImportPlanning(
            schema, facts: facts, binding: binding, remarks: model == nil ? inference.remarks : ImportRemarks())
        name = source.name
        self.model = binding.model
        plan = planning.plan()
        self.checkCancellation = checkCancellation
        let job = ImportJob(source: source, isNumbered: isNumbered, binding: binding, losses: planning.losses)
        if model != nil { try job.checkValues(checkCancellation) }
        try source.verify()
        self.job = Mutex(wrapping(job))
    }

    /// Sends a record for each row, then the links of join tables.
    ///
    /// - Throws: `busy` if another program changed a file that is read without locks; errors of the
    ///   database, of `sink` and of the cancellation.
    package func send(to sink: ContentSink) throws(StoreError) {
        let checkCancellation = checkCancellation
        try job.withLock { (job) throws(StoreError) in
            try job.send(to: sink, checkCancellation: checkCancellation)
        }
    }

    /// Returns a sentence for each loss of the import.
    ///
    /// Call this after ``send(to:)``. Each sentence is one line: control characters in names become
    /// spaces.
    package func warnings() -> [String] {
        job.withLock { $0.losses }.map { sentence in
            String(
                String.UnicodeScalarView(
                    sentence.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        }
    }
}

/// The database of an import, and the state for reading its rows.
///
/// An enumeration, because an existential would call unspecialized code, which takes a third
/// longer.
enum AnyImportJob {
    #if SQLite
        case sqlite(ImportJob<SQLiteSource>)
    #endif
    #if PostgreSQL
        case postgreSQL(ImportJob<PostgreSQLSource>)
    #endif

    var losses: [String] {
        switch self {
        #if SQLite
            case .sqlite(let job): job.losses
        #endif
        #if PostgreSQL
            case .postgreSQL(let job): job.losses
        #endif
        }
    }

    /// Sends a record for each row, then the links of join tables.
    mutating func send(
        to sink: ContentSink, checkCancellation: () throws(StoreError) -> Void
    ) throws(StoreError) {
        switch self {
        #if SQLite
            case .sqlite(var job):
                try job.send(to: sink, checkCancellation: checkCancellation)
                self = .sqlite(job)
        #endif
        #if PostgreSQL
            case .postgreSQL(var job):
                try job.send(to: sink, checkCancellation: checkCancellation)
                self = .postgreSQL(job)
        #endif
        }
    }
}

/// The database and the state for reading its rows.
struct ImportJob<Source: ForeignSource> {
    let source: Source
    /// For each table, whether the keys of its objects are row numbers, counted from 1.
    let isNumbered: [Bool]
    let binding: ImportBinding
    var losses: [String]

    mutating func send(
        to sink: ContentSink, checkCancellation: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try source.verify()
        for entity in binding.sources { try sendRecords(of: entity, to: sink) }
        for links in binding.links {
            try checkCancellation()
            try sendLinks(links, to: sink)
        }
        try source.verify()
        source.close()
    }

    /// Creates every record without sending it, and throws for the first value that the model
    /// cannot hold.
    func checkValues(_ checkCancellation: () throws(StoreError) -> Void) throws(StoreError) {
        var batch = RecordBatch(model: binding.model)
        for entity in binding.sources {
            var writer = try writer(of: entity)
            while try writer.appendNext(to: &batch) {
                guard batch.isFull else { continue }
                try checkCancellation()
                batch.removeAll()
            }
            batch.removeAll()
        }
    }

    private func writer(of entity: ImportBinding.Source) throws(StoreError) -> RowWriter<Source> {
        try RowWriter(entity, model: binding.model, isNumbered: isNumbered[entity.table], source: source)
    }

    private func sendRecords(of entity: ImportBinding.Source, to sink: ContentSink) throws(StoreError) {
        var writer = try writer(of: entity)
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
    private mutating func sendLinks(_ links: ImportBinding.Links, to sink: ContentSink) throws(StoreError) {
        let rows = try source.pairs(from: links.source, to: links.destination, of: links.table)
        var repeated: Int64 = 0
        var hasMore = true
        while hasMore {
            var batch = sink.emptyLinks(links.relationship.number)
            while !batch.isFull {
                hasMore = try rows.step()
                guard hasMore else { break }
                batch.links.append(Link(try rows.integer(0), try rows.integer(1)))
                repeated += try rows.integer(2) - 1
            }
            if !batch.isEmpty { try sink.send(batch) }
        }
        guard repeated > 0 else { return }
        let table = source.schema.tables[links.table].name
        losses.append(
            "Table '\(table)': \(repeated == 1 ? "1 row repeats" : "\(repeated) rows repeat") a pair that another row has. Relationship '\(links.relationship.name)' has each pair once."
        )
    }
}

#if SQLite
    extension DatabaseImport {
        /// Reads an SQLite database.
        ///
        /// - Parameters:
        ///   - path: The path of the database.
        ///   - model: The model to fill, or nil to infer a model.
        ///   - checkCancellation: Called regularly. If it throws, the import ends.
        /// - Throws: `notFound`, `notAStore`, `corrupted`, `busy`, `permissionDenied`, `ioFailure`;
        ///   `invalidRequest` for a store of Roost or Core Data and for a database without tables;
        ///   `invalidModel` and `invalidValue` for a model that does not fit.
        package convenience init(
            sqlite path: String, model: ManagedObjectModel?,
            checkCancellation: @escaping @Sendable () throws(StoreError) -> Void
        ) throws(StoreError) {
            try self.init(
                try SQLiteSource(path: path, checkCancellation: checkCancellation),
                wrapping: { .sqlite($0) }, model: model, checkCancellation: checkCancellation)
        }
    }
#endif

#if PostgreSQL
    extension DatabaseImport {
        /// Reads a schema of a PostgreSQL database.
        ///
        /// - Parameters:
        ///   - path: The location, as `//user@host/database?schema=name` or as parameters of libpq.
        ///     The default schema is `public`.
        ///   - timeoutSeconds: The maximum time to wait for a locked table.
        ///   - model: The model to fill, or nil to infer a model.
        ///   - checkCancellation: Called regularly. If it throws, the import ends.
        /// - Throws: `invalidRequest` for a path with a password, for a schema with a Roost store
        ///   and for a schema without tables; `notFound`, `busy`, `permissionDenied`, `ioFailure`,
        ///   `unsupported`; `invalidModel` and `invalidValue` for a model that does not fit.
        package convenience init(
            postgreSQL path: String, timeoutSeconds: Double = 10, model: ManagedObjectModel?,
            checkCancellation: @escaping @Sendable () throws(StoreError) -> Void
        ) throws(StoreError) {
            let source = try PostgreSQLSource(
                path: path, timeoutSeconds: timeoutSeconds, checkCancellation: checkCancellation)
            try self.init(
                source, wrapping: { .postgreSQL($0) }, model: model, checkCancellation: checkCancellation)
        }
    }
#endif
