#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    enum PostgreSQLRemoval {
        /// Removes a store in a new transaction.
        ///
        /// `isWanted` is called while no program has the store open.
        ///
        /// - Throws: `busy`, `notAStore`, `corrupted`.
        static func remove(
            _ schema: String, if isWanted: () throws(StoreError) -> Bool = { true },
            on connection: PostgreSQLConnection
        ) throws(StoreError) {
            try change([schema], on: connection) { () throws(StoreError) -> PostgreSQLSchemaChange in
                guard try isWanted() else { return PostgreSQLSchemaChange() }
                return try dropping(schema, on: connection)
            }
        }

        /// Changes schemas, as `plan` determines, while no program has any of the stores open.
        private static func change(
            _ schemas: [String], on connection: PostgreSQLConnection,
            _ plan: () throws(StoreError) -> PostgreSQLSchemaChange
        ) throws(StoreError) {
            let found = try profiles(of: schemas, on: connection)
            /// Returns the changes, or throws `busy` if stores were created or removed meanwhile.
            func planOfSame() throws(StoreError) -> PostgreSQLSchemaChange {
                guard try profiles(of: schemas, on: connection) == found else {
                    throw StoreError(
                        .busy, "Another program just created or removed a store of '\(connection.name)'; try again.")
                }
                return try plan()
            }
            var leases: [(schema: String, lease: PostgreSQLLease)] = []
            for (schema, profile) in found.sorted(by: { $0.key < $1.key }) where profile == .portable {
                leases.append((schema, try PostgreSQLLease(schema, on: connection)))
            }
            var names: [String: String?] = [:]
            var takenCount = 0
            defer {
                for (schema, lease) in leases.prefix(takenCount) {
                    // A lease that cannot be released expires. A dropped store has no lease.
                    if let now = names[schema, default: schema] { try? lease.giveBack(in: now, on: connection) }
                }
            }
            for (_, lease) in leases {
                try connection.use(.portable)
                try lease.take(alone: true, timeout: .milliseconds(500), on: connection)
                takenCount += 1
            }
            let locked = found.filter { $0.value == .postgresql }.map(\.key)
            guard locked.isEmpty, !found.isEmpty else {
                // One transaction makes all changes, and sees every commit made before it took its
                // locks. Without a store, the portable profile is used, because it works on every
                // server.
                try connection.use(locked.isEmpty ? .portable : .postgresql)
                names = try connection.transaction { () throws(StoreError) in
                    if !locked.isEmpty { try PostgreSQLStoreLock.takeAlone(schemas, in: connection) }
                    for (_, lease) in leases { try lease.requireAlone(on: connection) }
                    let change = try planOfSame()
                    try change.run(on: connection)
                    return change.names
                }
                return
            }
            let change = try connection.retrying(planOfSame)
            try connection.retrying { () throws(StoreError) in
                for (_, lease) in leases { try lease.requireAlone(on: connection) }
                try change.run(on: connection)
            }
            names = change.names
        }

        /// Returns the profiles of the existing stores by their schemas.
        private static func profiles(
            of schemas: [String], on connection: PostgreSQLConnection
        ) throws(StoreError) -> [String: PostgreSQLProfile] {
            var found: [String: PostgreSQLProfile] = [:]
            for schema in schemas { found[schema] = try PostgreSQLProfile.found(schema, on: connection) }
            return found
        }

        /// Returns statements that drop a store's tables and schema, but fail if the schema has
        /// other objects.
        ///
        /// `name` is the name of the schema when the statements run, if it differs.
        private static func dropping(
            _ schema: String, after name: String? = nil, on connection: PostgreSQLConnection
        ) throws(StoreError) -> PostgreSQLSchemaChange {
            var change = PostgreSQLSchemaChange()
            let owner = try connection.identifier(name ?? schema)
            switch try PostgreSQLCatalog.kind(of: schema, on: connection) {
            case .missing: return change
            case .empty: break
            case .foreign:
                throw StoreError(
                    .notAStore,
                    "The schema '\(schema)' has tables that are not those of a Roost store; it was not changed.")
            case .store:
                let tables = try ownTables(schema, on: connection)
                let list = tables.map { "\(owner).\(PostgreSQLDialect().quote($0))" }.joined(separator: ", ")
                change.drop("DROP TABLE \(list) RESTRICT", of: schema)
            }
            change.drop("DROP SCHEMA \(owner) RESTRICT", of: schema)
            return change
        }

        /// Returns the tables of a store, found by its model or, if it is unreadable, by their
        /// comments.
        ///
        /// - Throws: `corrupted` if the model cannot be read and no table has the comment.
        private static func ownTables(
            _ schema: String, on connection: PostgreSQLConnection
        ) throws(StoreError) -> [String] {
            let present = try PostgreSQLCatalog.tables(of: schema, on: connection)
            let known = try? connection.attempting { () throws(StoreError) -> [String]? in
                try connection.query(
                    "SET LOCAL search_path = \(try connection.identifier(schema))", what: "Looking at")
                let version = try connection.query("SELECT value FROM _roost_metadata WHERE name = 'formatVersion'")
                guard let number = version.text(0, column: 0).flatMap({ Int($0) }) else { return nil }
                let (_, model) = try SQLMetadata.read(connection, storeName: schema, formatVersion: number)
                let made = try SQLSchema(model, dialect: PostgreSQLDialect(), formatVersion: number)
                return made.items.filter { !$0.isIndex }.map(\.name) + PostgreSQLSchemaCheck.furtherTables
                    + [SQLSchema.historyTable(PostgreSQLDialect()).name]
            }
            if let known = known ?? nil {
                let names = Set(known)
                return present.filter { names.contains($0) }
            }
            let marked = try PostgreSQLCatalog.tables(
                of: schema, with: PostgreSQLSchemaCheck.tableComment, on: connection)
            guard !marked.isEmpty else {
                throw StoreError(
                    .corrupted,
                    "The store '\(schema)' is damaged, and its own tables cannot be identified; it was not changed. Remove the schema with psql."
                )
            }
            return marked
        }

        /// Renames a store, and replaces the store that has the new name, in one transaction.
        ///
        /// The replaced store is renamed before it is removed. Some databases commit after each
        /// change of a schema. On these, a crash can leave the replaced store under a backup name.
        ///
        /// With `expected`, the replaced store must have that generation. It is kept at the
        /// `backup` location, if any, and otherwise removed.
        ///
        /// - Throws: `busy`, `notFound`, `alreadyExists`, `notAStore`, `corrupted`.
        static func replace(
            _ destination: PostgreSQLLocation, with source: PostgreSQLLocation,
            expecting expected: (generation: Generation, backup: PostgreSQLLocation?)? = nil, overwriting: Bool,
            on connection: PostgreSQLConnection
        ) throws(StoreError) {
            try change([destination.schema, source.schema], on: connection) {
                () throws(StoreError) -> PostgreSQLSchemaChange in
                guard try PostgreSQLCatalog.kind(of: source.schema, on: connection) == .store else {
                    throw StoreError(.notFound, "The store '\(source.name)' does not exist. Create it first.")
                }
                var change = PostgreSQLSchemaChange()
                var removal = PostgreSQLSchemaChange()
                switch try PostgreSQLCatalog.kind(of: destination.schema, on: connection) {
                case .missing: break
                case .store where !overwriting:
                    throw StoreError(
                        .alreadyExists, "The store '\(destination.name)' exists already. Open or destroy it.")
                case .foreign where !overwriting:
                    throw StoreError(
                        .alreadyExists,
                        "The schema of '\(destination.name)' exists and has other tables; choose another schema.")
                default:
                    if let expected { try require(expected.generation, of: destination, in: connection) }
                    let name = expected?.backup?.schema ?? destination.backupSchema()
                    if expected?.backup == nil {
                        removal = try dropping(destination.schema, after: name, on: connection)
                    }
                    try change.rename(destination.schema, to: name, on: connection)
                }
                try change.rename(source.schema, to: destination.schema, on: connection)
                change.add(removal)
                return change
            }
        }

        /// Throws `busy` unless a store has the generation, and keeps others from changing it.
        private static func require(
            _ generation: Generation, of location: PostgreSQLLocation, in connection: PostgreSQLConnection
        ) throws(StoreError) {
            let table = "\(try connection.identifier(location.schema))._roost_tallies"
            // No transaction can write while all places are taken.
            let places = try connection.query(
                "SELECT 1 FROM \(table) WHERE kind = 'generation' ORDER BY place FOR UPDATE")
            let sum = try connection.query(
                "SELECT \(PostgreSQLDialect().wrappingSum("count")) FROM \(table) WHERE kind = 'generation'")
            let found = sum.text(0, column: 0).flatMap { Int64($0) }.map {
                SQLTallies.generation(sum: $0, writerPlaceCount: Int(places.rowCount))
            }
            guard found == generation else {
                throw StoreError(
                    .busy,
                    "Cannot replace '\(location.name)': another program changed it meanwhile. Try again when no program writes to it."
                )
            }
        }
    }

    /// Statements that change schemas in one transaction.
    struct PostgreSQLSchemaChange {
        private enum Statement {
            case rename(String)
            case drop(String, schema: String)
        }

        private var statements: [Statement] = []
        /// The new names of schemas by their old names; nil for schemas that are dropped.
        private(set) var names: [String: String?] = [:]

        mutating func rename(
            _ old: String, to new: String, on connection: PostgreSQLConnection
        ) throws(StoreError) {
            names[old] = .some(new)
            let (old, new) = (try connection.identifier(old), try connection.identifier(new))
            statements.append(.rename("ALTER SCHEMA \(old) RENAME TO \(new)"))
        }

        mutating func drop(_ sql: String, of schema: String) {
            names.updateValue(nil, forKey: schema)
            statements.append(.drop(sql, schema: schema))
        }

        mutating func add(_ other: PostgreSQLSchemaChange) {
            statements += other.statements
            names.merge(other.names) { $1 }
        }

        /// Runs the statements in a transaction of the caller.
        ///
        /// - Throws: `alreadyExists` if a name is in use; `busy`; `notAStore` if a dropped schema
        ///   has other objects, or other objects use its tables.
        func run(on connection: PostgreSQLConnection) throws(StoreError) {
            for statement in statements {
                switch statement {
                case .rename(let sql):
                    do throws(StoreError) { try connection.query(sql, what: "Renaming") } catch {
                        switch (error.underlying as? PostgreSQLError)?.state {
                        // Another program just took the name. Either the server's check or the
                        // unique index of its system table reports this.
                        case "42P06", "23505":
                            throw error.withMessage(
                                "Cannot rename a store in the database of '\(connection.name)': a schema already has the new name. Choose another name.",
                                code: .alreadyExists)
                        case "XX000":
                            throw error.withMessage(
                                "Another program just renamed a store of '\(connection.name)'; try again.",
                                code: .busy)
                        default: throw error
                        }
                    }
                case .drop(let sql, let schema):
                    do throws(StoreError) { try connection.query(sql, what: "Removing") } catch {
                        guard (error.underlying as? PostgreSQLError)?.state == "2BP01" else { throw error }
                        throw error.withMessage(
                            "Cannot remove the schema '\(schema)': it has tables, views or other objects that are not Roost's, or such objects elsewhere use its tables. Remove these objects first.",
                            code: .notAStore)
                    }
                }
            }
        }
    }
#endif
