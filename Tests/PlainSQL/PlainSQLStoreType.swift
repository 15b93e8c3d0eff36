#if SQLite
    package import RoostCore
    package import RoostFiles
    import RoostSQL
    import RoostSQLite

    /// Stores of the SQL engine on a database with only the required members.
    ///
    /// They show that the engine does not depend on SQLite, and are an example for a new SQL
    /// backend.
    package struct PlainSQLStoreType: NameLockingStoreType {
        /// The application ID in the files' headers.
        private static let applicationID: UInt32 = 0x506C_6E31
        private static let companions = ["-wal", "-shm", "-journal"]

        private let endsWithErrors: Bool

        package init(endsWithErrors: Bool = false) { self.endsWithErrors = endsWithErrors }

        package var name: String { "plainsql" }
        package var capabilities: StoreCapabilities {
            StoreCapabilities(
                .writing, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes, .file)
        }
        package var companionSuffixes: [String] { Self.companions }

        package func recognizes(fileAt path: String) -> Bool {
            guard let head = StoreFile.read(prefix: 72, of: path), head.count == 72,
                head.starts(with: "SQLite format 3\0".utf8)
            else { return false }
            return head[68..<72].reduce(0) { $0 << 8 | UInt32($1) } == Self.applicationID
        }

        package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            try requireKnown(options.typeOptions)
            try options.requireValidTimeout()
            let path = StoreFile.absolutePath(location.path)
            try StoreFile.requireRegularFile(at: location.path, forWriting: !options.isReadOnly)
            try requireStore(path)
            let lock =
                options.isReadOnly
                ? try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: options.timeoutSeconds)
                : try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: options.timeoutSeconds)
            return try open(location, options: options, at: path, under: lock)
        }

        /// Opens a store whose lock is held.
        ///
        /// An error, or closing the store, releases the lock.
        private func open(
            _ location: StoreLocation, options: StoreOptions, at path: String, under lock: StoreLock?
        ) throws(StoreError) -> any PersistentStore {
            let database: PlainDatabase
            do throws(StoreError) {
                try requireStore(path)
                try StoreFile.requireOneName(
                    ofStoreAt: path, forWriting: !options.isReadOnly, acceptsLinks: options.acceptsLinks,
                    companions: Self.companions)
                database = try PlainDatabase(at: path, options: options, endsWithErrors: endsWithErrors, lock: lock)
            } catch {
                lock?.release()
                throw error
            }
            do throws(StoreError) {
                let connection = try database.beginReading()
                defer { database.endReading(connection) }
                let found = try catalog(connection)
                try require(SQLSchema.systemTables(database.dialect), in: found, at: path)
                let (uuid, model) = try SQLMetadata.read(connection, storeName: path)
                let schema = try SQLSchema(model, dialect: database.dialect)
                try require(schema.items, in: found, at: path)
                try SQLMetadata.requireEntities(of: schema, on: connection, storeName: path)
                if let expected = options.model {
                    let metadata = StoreMetadata(
                        type: name, formatVersion: schema.formatVersion, storeUUID: uuid, model: model)
                    guard expected.isCompatible(with: metadata) else {
                        throw StoreError.modelMismatch(path, has: model, expected: expected)
                    }
                }
                return SQLStore(
                    database, schema: schema, storeUUID: uuid, type: self,
                    description: PersistentStoreDescription(location, options: options))
            } catch {
                try? database.close()
                throw error
            }
        }

        /// Opens a store that was just created, under its lock.
        package func open(
            _ location: StoreLocation, options: StoreOptions, under lock: StoreLock
        ) throws(StoreError) -> any PersistentStore {
            do throws(StoreError) {
                try lock.change(to: .shared, timeoutSeconds: options.timeoutSeconds)
            } catch {
                lock.release()
                throw error
            }
            return try open(location, options: options, at: StoreFile.absolutePath(location.path), under: lock)
        }

        /// Creates the tables of a store in an empty file.
        package func writeEmptyStore(
            at path: String, model: ManagedObjectModel, options: StoreOptions
        ) throws(StoreError) {
            let schema = try SQLSchema(model, dialect: PlainDialect())
            let connection = try PlainDatabase.connect(to: path, options: options)
            do throws(StoreError) {
                try connection.execute("PRAGMA application_id = \(Self.applicationID)")
                try connection.execute("PRAGMA journal_mode = WAL")
                try connection.run("BEGIN IMMEDIATE")
                try SQLMetadata.create(
                    schema, uuid: options.storeUUID ?? StoreUUID(), userMetadata: options.userMetadata,
                    on: PlainConnection(connection, endsWithErrors: endsWithErrors))
                try connection.run("COMMIT")
            } catch {
                try? connection.close()
                throw error
            }
            try connection.close()
        }

        // The companion files are those of SQLite's store type.
        package func canBeCompanion(_ file: CompanionFile) -> Bool { SQLiteStoreType().canBeCompanion(file) }

        package func isExpendable(_ file: CompanionFile) -> Bool { SQLiteStoreType().isExpendable(file) }

        /// Moves the log of an unclosed store into its file, and removes companions.
        package func settle(storeAt path: String, under lock: StoreLock) throws(StoreError) {
            if StoreFile.hasEntry(at: path + "-wal") {
                let connection = try PlainDatabase.connect(to: path, options: StoreOptions())
                _ = try? connection.integer("SELECT 1 FROM _roost_metadata LIMIT 1")
                try connection.close()
            }
            try StoreFile.removeCompanions(ofStoreAt: path, type: self)
        }

        /// Returns the statements that created the tables and indexes of a database, by name.
        private func catalog(_ connection: any SQLConnection) throws(StoreError) -> [String: String] {
            try connection.withStatement("SELECT name, sql FROM sqlite_schema") {
                (statement) throws(StoreError) in
                var found: [String: String] = [:]
                while try statement.step() {
                    guard case .text(let name) = try statement.value(at: 0),
                        case .text(let sql) = try statement.value(at: 1)
                    else { continue }
                    found[name] = sql
                }
                return found
            }
        }

        /// Throws `corrupted` unless all tables and indexes are as the engine created them.
        private func require(
            _ items: [SQLSchema.Item], in catalog: [String: String], at path: String
        ) throws(StoreError) {
            for item in items where catalog[item.name] != item.sql {
                throw StoreError(
                    .corrupted,
                    "'\(path)' is damaged: '\(item.name)' is not as it was made. Restore it from a backup.")
            }
        }

        private func requireStore(_ path: String) throws(StoreError) {
            guard recognizes(fileAt: path) else {
                // Throws if the file cannot be read, because its kind is then unknown.
                _ = try StoreFile.contents(of: path)
                throw StoreError(.notAStore, "'\(path)' is not a plain SQL store; it was not touched.")
            }
        }
    }
#endif
