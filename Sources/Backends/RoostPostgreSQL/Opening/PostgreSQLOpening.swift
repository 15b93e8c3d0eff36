#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// Opens and creates stores.
    ///
    /// Except for leases, a store is not changed before all checks have passed.
    struct PostgreSQLOpening {
        let location: PostgreSQLLocation
        let options: StoreOptions
        let settings: PostgreSQLSettings
        private var name: String { location.name }

        init(_ place: StoreLocation, options: StoreOptions) throws(StoreError) {
            location = try PostgreSQLLocation(place.path)
            self.options = options
            settings = try PostgreSQLSettings(options)
        }

        // MARK: Opening

        func open(type: any PersistentStoreType, place: StoreLocation) throws(StoreError) -> SQLStore {
            // The lock prevents other sessions from removing or renaming the store.
            let lock = try PostgreSQLStoreLock.acquire(self)
            do throws(StoreError) {
                let (incarnation, schema) = try lock.withConnection {
                    (connection) throws(StoreError) -> (PostgreSQLIncarnation, SQLSchema) in
                    // In the portable profile, one transaction reads all values, so that they fit
                    // together.
                    let (uuid, found) =
                        connection.settings.profile == .portable
                        ? try connection.retrying { () throws(StoreError) in try inspect(connection) }
                        : try inspect(connection)
                    if !settings.isReadOnly, !settings.isUnpublished {
                        // If this fails, the next opening removes the old commit keys.
                        _ = try? connection.query(PostgreSQLCommitKey.sweep)
                    }
                    let schema = try applyHistoryOptions(found, lock: lock, connection: connection)
                    let table = try connection.query(PostgreSQLIncarnation.tableNumber, what: "Opening")
                    let incarnation = PostgreSQLIncarnation(
                        uuid: uuid, tableNumber: table.text(0, column: 0).flatMap { Int64($0) } ?? 0,
                        formatVersion: schema.formatVersion)
                    return (incarnation, schema)
                }
                let database = try PostgreSQLDatabase(location, lock: lock, incarnation: incarnation)
                return SQLStore(
                    database, schema: schema, storeUUID: incarnation.uuid, type: type,
                    description: PersistentStoreDescription(place, options: options))
            } catch {
                lock.release()
                throw error
            }
        }

        /// Throws `notFound`, `notAStore` or `permissionDenied` unless this user may use the store.
        func requireStore(_ connection: PostgreSQLConnection) throws(StoreError) {
            switch try PostgreSQLCatalog.kind(of: location.schema, on: connection) {
            case .store:
                // Without this privilege, the names in the schema are not found.
                let right = try connection.query(
                    "SELECT has_schema_privilege(\(try connection.literal(location.schema)), 'USAGE')")
                guard right.text(0, column: 0) == "t" else {
                    throw StoreError(
                        .permissionDenied,
                        "The user has no right to the schema of '\(name)'; ask the administrator of the server.")
                }
            case .missing, .empty:
                throw StoreError(
                    .notFound, "The store '\(name)' does not exist: the schema is missing or empty.")
            case .foreign:
                throw StoreError(
                    .notAStore,
                    "The schema of '\(name)' has tables that are not those of a Roost store; it was not changed.")
            }
        }

        /// Reads the identity and the model, and checks that the tables agree with the model.
        private func inspect(_ connection: PostgreSQLConnection) throws(StoreError) -> (StoreUUID, SQLSchema) {
            try requireStore(connection)
            // Another store may have taken the name before the lock was taken.
            guard try PostgreSQLProfile.found(location.schema, on: connection) == connection.settings.profile else {
                throw StoreError(.busy, "'\(name)' was just replaced by another program; try again.")
            }
            do throws(StoreError) {
                let version = try connection.query(
                    "SELECT value FROM _roost_metadata WHERE name = 'formatVersion'", what: "Opening")
                guard let text = version.text(0, column: 0), let number = Int(text) else {
                    throw StoreError(
                        .corrupted,
                        "'\(name)' is damaged: its metadata lack the format version. Restore it from a backup.")
                }
                try SQLSchema.requireFormat(number, of: name)
                let (uuid, model) = try SQLMetadata.read(connection, storeName: name, formatVersion: number)
                let dialect = PostgreSQLDialect(connection.settings.profile)
                let schema = try SQLSchema(model, dialect: dialect, formatVersion: number)
                try PostgreSQLSchemaCheck.require(schema, location: location, on: connection)
                try SQLMetadata.requireEntities(of: schema, on: connection, storeName: name)
                if let expected = options.model {
                    let metadata = StoreMetadata(
                        type: "postgresql", formatVersion: number, storeUUID: uuid, model: model)
                    guard expected.isCompatible(with: metadata) else {
                        throw .modelMismatch(name, has: model, expected: expected)
                    }
                }
                return (uuid, schema)
            } catch {
                // The lock prevents removal and renaming, so a missing table is damage.
                guard error.code == .storeReplaced else { throw error }
                throw error.withMessage(
                    "'\(name)' is damaged: a table is missing. Restore it from a backup.", code: .corrupted)
            }
        }

        private func applyHistoryOptions(
            _ schema: SQLSchema, lock: PostgreSQLStoreLock, connection: PostgreSQLConnection
        ) throws(StoreError) -> SQLSchema {
            guard options.tracksHistory != nil || options.historyRetention != nil else { return schema }
            let current = try SQLHistorySwitch.settings(schema, storeName: name, on: connection)
            guard try options.changesHistory(current, of: StoreLocation(type: "postgresql", path: name)) else {
                return schema
            }
            let isSwitched = options.tracksHistory.map { $0 != schema.hasHistory } ?? false
            func turnOn(makesTable: Bool = true) throws(StoreError) -> SQLSchema {
                try SQLHistorySwitch.turnOn(
                    schema, retention: options.historyRetention, storeName: name, makesTable: makesTable,
                    on: connection)
            }
            guard connection.settings.profile == .postgresql else {
                guard isSwitched else { return try connection.retrying { () throws(StoreError) in try turnOn() } }
                return try lock.withLeaseAlone(connection) { () throws(StoreError) in
                    try switchHistoryByParts(schema, connection: connection) { () throws(StoreError) in
                        try turnOn(makesTable: false)
                    }
                }
            }
            return try connection.transaction { () throws(StoreError) in
                if isSwitched { try PostgreSQLStoreLock.takeAlone([location.schema], in: connection) }
                // A commit that trims the history locks these rows before the row with the limits.
                // This order prevents a deadlock with such a commit.
                try connection.query(
                    "SELECT 1 FROM _roost_tallies WHERE kind = 'generation' ORDER BY place FOR UPDATE", what: "Opening")
                let new =
                    schema.hasHistory && isSwitched
                    ? try SQLHistorySwitch.turnOff(schema, on: connection) : try turnOn()
                if isSwitched { try PostgreSQLSchemaCheck.record(new, location: location, on: connection) }
                return new
            }
        }

        /// Turns the history on or off, and changes its table in a separate transaction.
        ///
        /// The connection must have the exclusive lease. `turnOn` writes the rows that turn the
        /// history on.
        ///
        /// - Throws: `busy` if another program changed the history first.
        private func switchHistoryByParts(
            _ schema: SQLSchema, connection: PostgreSQLConnection,
            turnOn: () throws(StoreError) -> SQLSchema
        ) throws(StoreError) -> SQLSchema {
            let version = try connection.query(
                "SELECT value FROM _roost_metadata WHERE name = 'formatVersion'", what: "Opening")
            guard version.text(0, column: 0) == String(schema.formatVersion) else {
                throw StoreError(.busy, "Another program just changed '\(name)'; try again.")
            }
            let dialect = PostgreSQLDialect(.portable)
            let table = SQLSchema.historyTable(dialect)
            let drop = "DROP TABLE IF EXISTS \(dialect.quote(table.name))"
            guard !schema.hasHistory else {
                let new = try connection.retrying { () throws(StoreError) in
                    try SQLHistorySwitch.turnOff(schema, dropsTable: false, on: connection)
                }
                try connection.transaction { () throws(StoreError) in _ = try connection.query(drop) }
                return new
            }
            try connection.transaction { () throws(StoreError) in
                // An earlier attempt may have crashed between its transactions and left the table.
                try connection.query(drop)
                try connection.query(table.sql)
                try PostgreSQLSchemaCheck.comment([table.name], on: connection)
            }
            return try connection.retrying(turnOn)
        }

        // MARK: Creating

        func create(_ model: ManagedObjectModel) throws(StoreError) {
            try location.requireCreatable(isTemporary: options.isUnpublished)
            try options.requireWritable()
            try options.historyRetention?.requireValid()
            let connection = try PostgreSQLConnection(location, settings: settings)
            defer { connection.close() }
            try connection.requireSession(location)
            try requireFree(connection)
            sweep(connection)
            try connection.use(try profileForCreating(connection))
            let schema = try SQLSchema(
                model, dialect: PostgreSQLDialect(connection.settings.profile),
                formatVersion: options.tracksHistory == true ? SQLSchema.featureVersion : SQLSchema.formatVersion)
            guard connection.settings.profile == .postgresql else {
                return try createByParts(schema, connection: connection)
            }
            try connection.transaction { () throws(StoreError) in
                try PostgreSQLStoreLock.takeAlone([location.schema], in: connection)
                if try requireFree(connection) == .missing { try makeSchema(connection) }
                try makeTables(of: schema, connection: connection)
                try fill(schema, connection: connection)
                try PostgreSQLSchemaCheck.record(schema, location: location, on: connection)
            }
        }

        /// Returns the requested profile, or that of the store to replace, or one for the server.
        private func profileForCreating(_ connection: PostgreSQLConnection) throws(StoreError) -> PostgreSQLProfile {
            if let wanted = settings.wantedProfile { return wanted }
            if let found = try PostgreSQLProfile.found(location.publishedSchema, on: connection) { return found }
            return try PostgreSQLProfile.forServer(of: connection)
        }

        /// Creates a store with separate transactions for tables and rows.
        ///
        /// Until its rows exist, the store has a temporary name, which an unpublished store already
        /// has.
        private func createByParts(_ schema: SQLSchema, connection: PostgreSQLConnection) throws(StoreError) {
            let order = try connection.query("SELECT 'B' < 'a' AND 'a' < 'b' AND 'z' < 'é'")
            guard order.text(0, column: 0) == "t" else {
                throw StoreError(
                    .unsupported,
                    "The database of '\(name)' does not compare texts by their bytes, which the profile 'portable' requires. Create a database for the store with createdb --locale=C --template=template0."
                )
            }
            guard !options.isUnpublished else { return try makeByParts(schema, connection: connection) }
            let place = StoreLocation(type: "postgresql", path: location.path(schema: location.temporarySchema()))
            let building = try PostgreSQLOpening(place, options: options)
            let builder = try PostgreSQLConnection(building.location, settings: connection.settings)
            defer { builder.close() }
            do throws(StoreError) {
                try building.makeByParts(schema, connection: builder)
                try PostgreSQLRemoval.replace(location, with: building.location, overwriting: false, on: connection)
            } catch {
                // If this fails, a later program that creates a store of this name removes the
                // rest.
                try? PostgreSQLRemoval.remove(building.location.schema, on: connection)
                throw error
            }
        }

        private func makeByParts(_ schema: SQLSchema, connection: PostgreSQLConnection) throws(StoreError) {
            try connection.transaction { () throws(StoreError) in
                if try requireFree(connection) == .missing { try makeSchema(connection) }
                try makeTables(of: schema, connection: connection)
                try connection.query(PostgreSQLLease.creation)
                try PostgreSQLSchemaCheck.record(schema, location: location, on: connection)
            }
            try connection.retrying { () throws(StoreError) in try fill(schema, connection: connection) }
        }

        private func makeSchema(_ connection: PostgreSQLConnection) throws(StoreError) {
            try connection.query("CREATE SCHEMA \(try connection.identifier(location.schema))", what: "Creating")
        }

        private func makeTables(of schema: SQLSchema, connection: PostgreSQLConnection) throws(StoreError) {
            try SQLMetadata.makeTables(of: schema, on: connection)
            try connection.query(PostgreSQLCommitKey.creation)
        }

        private func fill(_ schema: SQLSchema, connection: PostgreSQLConnection) throws(StoreError) {
            let uuid = options.storeUUID ?? StoreUUID()
            try SQLMetadata.fill(schema, uuid: uuid, userMetadata: options.userMetadata, on: connection)
            if options.tracksHistory == true, let retention = options.historyRetention {
                _ = try SQLHistorySwitch.turnOn(
                    schema, retention: retention, storeName: name, on: connection)
            }
            try connection.query(PostgreSQLCommitKey().insertion)
        }

        @discardableResult
        private func requireFree(_ connection: PostgreSQLConnection) throws(StoreError) -> PostgreSQLCatalog.Kind {
            let kind = try PostgreSQLCatalog.kind(of: location.schema, on: connection)
            switch kind {
            case .missing, .empty: return kind
            case .store: throw StoreError(.alreadyExists, "The store '\(name)' exists already. Open or destroy it.")
            case .foreign:
                throw StoreError(
                    .alreadyExists,
                    "The schema of '\(name)' exists and has tables that are not those of a Roost store; choose another schema."
                )
            }
        }

        /// Removes the stores that crashes have left under temporary names of the new store.
        ///
        /// A store in use is locked and remains. A recent store may be renamed soon, so it remains.
        private func sweep(_ connection: PostgreSQLConnection) {
            // If this fails, a later program that creates the store removes the rest.
            guard let leftovers = try? PostgreSQLCatalog.temporarySchemas(of: location, on: connection) else { return }
            for schema in leftovers {
                try? PostgreSQLRemoval.remove(
                    schema, if: { () throws(StoreError) in try PostgreSQLCatalog.isOld(schema, on: connection) },
                    on: connection)
            }
        }
    }

    extension PostgreSQLConnection {
        func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
            try query(
                "BEGIN ISOLATION LEVEL \(settings.isolation.uppercased()); SET LOCAL lock_timeout = \(settings.lockTimeout)"
            )
            do throws(StoreError) {
                let result = try body()
                try query("COMMIT", what: "Committing to")
                return result
            } catch {
                if isSound { _ = try? query("ROLLBACK") }
                throw error
            }
        }
    }
#endif
