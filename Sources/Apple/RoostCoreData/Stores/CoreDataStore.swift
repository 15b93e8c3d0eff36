#if SQLite
    package import RoostAppleModels
    package import RoostCore
    internal import RoostForeignSQLite

    /// A store that Apple's Core Data wrote, open for reading.
    ///
    /// Keys and versions are the file's own (`Z_PK`, `Z_OPT`). The file is not locked. If another
    /// program changes the file while a snapshot is in use, the snapshot throws `busy`, and the
    /// caller must take a new snapshot.
    package final class CoreDataStore: ReadOnlyPersistentStore, NoticeGivingStore, IntegrityCheckingStore {
        /// The state that the store shares with its snapshots.
        final class State: Sendable {
            private let isClosed = Mutex(false)
            private let path: String

            init(path: String) { self.path = path }

            func close() { isClosed.withLock { $0 = true } }

            func requireOpen() throws(StoreError) {
                guard !isClosed.withLock({ $0 }) else { throw StoreError(.closed, "The store '\(path)' was closed.") }
            }
        }

        package let type: any PersistentStoreType
        package let location: StoreLocation
        package var model: ManagedObjectModel { schema.model }
        package let modelWarnings: [ModelImportWarning]

        let schema: CoreDataSchema
        let source: CoreDataSource
        let state: State
        private let schemaVersion: Int64
        private let identity: CoreDataMetadata

        init(type: CoreDataStoreType, location: StoreLocation, options: StoreOptions) throws(StoreError) {
            try type.requireKnown(options.typeOptions)
            self.type = type
            self.location = location
            source = try CoreDataSource(path: location.path, acceptsLinks: options.acceptsLinks)
            state = State(path: location.path)
            let (database, files) = try source.open()
            let tables = try CoreDataTables(database)
            identity = try CoreDataMetadata(database)
            let (model, warnings) = try Self.model(database, tables: tables, options: options, identity: identity)
            modelWarnings = warnings
            schema = try CoreDataSchema(model, tables: tables, database: database)
            schemaVersion = try Self.schemaVersion(database)
            try files.verify()
        }

        /// Returns the metadata.
        ///
        /// User metadata is every key of `Z_PLIST` except Core Data's own keys (`NS…` and `_NS…`),
        /// because these describe the file, not the data.
        package func metadata() throws(StoreError) -> StoreMetadata {
            try state.requireOpen()
            return StoreMetadata(
                type: type.name, formatVersion: 1, storeUUID: identity.storeUUID, model: model,
                userMetadata: identity.userMetadata)
        }

        /// Apple's version hash of each entity; the bytes can only be compared.
        package var appleVersionHashes: [String: [UInt8]] { identity.versionHashes }

        /// Returns a view of the store's current content.
        ///
        /// Throws `storeReplaced` if the path now refers to another file, or if the tables or the
        /// UUID changed. Also throws it if the store was opened with a rollback journal, and its
        /// files have changed since.
        package func snapshot() throws(StoreError) -> any StoreSnapshot { try makeSnapshot() }

        func makeSnapshot() throws(StoreError) -> CoreDataSnapshot {
            try state.requireOpen()
            let (database, files) = try source.open()
            guard try Self.schemaVersion(database) == schemaVersion,
                try CoreDataMetadata(database).storeUUID == identity.storeUUID
            else {
                throw StoreError(
                    .storeReplaced,
                    "The tables of '\(location.path)' were changed by another program; close the store and open it again."
                )
            }
            return CoreDataSnapshot(
                schema, state: state, metadata: identity.userMetadata, database: database, source: files)
        }

        package func requireOpen() throws(StoreError) { try state.requireOpen() }

        /// Returns the total size of the main file, its log and the files of large values.
        package func byteCount() throws(StoreError) -> Int {
            try state.requireOpen()
            var count: Int64 = 0
            for suffix in ["", "-wal"] { count += try FileStamp(at: location.path + suffix)?.size ?? 0 }
            let (parent, components) = CoreDataSource.supportDirectory(of: location.path)
            var directory = try BundleDirectory.open(at: parent)
            for component in components { directory = try directory?.directory(component) }
            if let directory {
                for name in try directory.names() { count += try FileStamp(at: "\(directory.path)/\(name)")?.size ?? 0 }
            }
            return Int(count)
        }

        /// Closes the store, whose snapshots then throw `closed`.
        package func close() throws(StoreError) { state.close() }

        // MARK: Opening

        /// Returns the model from the first available source: type option `model`,
        /// `StoreOptions.model`, or the file.
        private static func model(
            _ database: ForeignDatabase, tables: CoreDataTables, options: StoreOptions,
            identity: CoreDataMetadata
        ) throws(StoreError) -> (ManagedObjectModel, [ModelImportWarning]) {
            if let path = options.typeOptions["model"] {
                if path.lowercased().hasSuffix(".json") { return (try document(at: path, options: options), []) }
                var version = options.typeOptions["modelVersion"]
                if version == nil {
                    version = try Self.version(in: path, database: database, tables: tables, identity: identity)
                }
                return try CoreDataModelReader.read(at: path, version: version)
            }
            if let model = options.model {
                if let cached = try cachedModel(database, tables: tables), !model.hasSameVersionHashes(as: cached.model)
                {
                    throw StoreError(
                        .modelMismatch,
                        "The model in '\(database.path)' differs from the given model: \(StoreError.differences(of: model, from: cached.model)). Open the store without a model, or give the model that wrote it with option model=<path>."
                    )
                }
                return (model, [])
            }
            if let cached = try cachedModel(database, tables: tables) { return (cached.model, cached.warnings) }
            throw StoreError(
                .invalidRequest,
                "'\(database.path)' contains no model (stores of older systems have none); give the model: --model FILE on the command line, StoreOptions.model in code."
            )
        }

        private static func document(at path: String, options: StoreOptions) throws(StoreError) -> ManagedObjectModel {
            if let version = options.typeOptions["modelVersion"] {
                throw StoreError(
                    .invalidRequest, "'\(path)' is one model and has no versions; leave the version '\(version)' out.")
            }
            let bytes = try BundleDirectory.readFile(at: path, limit: 16 << 20)
            do throws(StoreError) { return try ManagedObjectModel(document: bytes) } catch {
                throw error.located(in: "'\(path)'")
            }
        }

        /// Returns the version of a bundle that matches the store, or nil for a model with one
        /// version.
        ///
        /// If several versions with equal version hashes match, returns the current version, or
        /// else the newest.
        private static func version(
            in path: String, database: ForeignDatabase, tables: CoreDataTables, identity: CoreDataMetadata
        ) throws(StoreError) -> String? {
            let (names, current) = try CoreDataModelReader.versionNames(at: path)
            guard names.count > 1 else { return nil }
            let ordered = [current].compactMap(\.self) + names.reversed().filter { $0 != current }
            let hashes = try CoreDataModelReader.appleVersionHashes(at: path)
            if !identity.versionHashes.isEmpty,
                let name = ordered.first(where: { hashes[$0] == identity.versionHashes })
            {
                return name
            }
            let cached = try cachedModel(database, tables: tables)?.model
            var models: [(name: String, model: ManagedObjectModel)] = []
            for name in ordered {
                let model = try CoreDataModelReader.read(at: path, version: name).model
                if let cached, model.hasSameVersionHashes(as: cached) { return name }
                models.append((name, model))
            }
            var fitting: [(name: String, model: ManagedObjectModel)] = []
            for candidate in models where try fits(candidate.model, database: database, tables: tables) {
                fitting.append(candidate)
            }
            guard let first = fitting.first else {
                throw StoreError(
                    .modelMismatch,
                    "'\(database.path)' was made with none of the versions in '\(path)' (\(names.joined(separator: ", "))); give the model that wrote it."
                )
            }
            guard fitting.allSatisfy({ $0.model.hasSameVersionHashes(as: first.model) }) else {
                let names = fitting.map { "'\($0.name)'" }.joined(separator: ", ")
                throw StoreError(
                    .invalidRequest,
                    "'\(database.path)' can have been made with several versions in '\(path)' (\(names)); say which one: --model-version on the command line, type option modelVersion in code."
                )
            }
            return first.name
        }

        /// Returns whether the file has exactly the tables and columns of a model.
        private static func fits(
            _ model: ManagedObjectModel, database: ForeignDatabase, tables: CoreDataTables
        ) throws(StoreError) -> Bool {
            do throws(StoreError) {
                return try CoreDataSchema(model, tables: tables, database: database).unusedColumns.isEmpty
            } catch {
                guard error.code == .modelMismatch else { throw error }
                return false
            }
        }

        /// Returns the positions of the models with exactly the tables and columns of a file, or
        /// nil if the file contains a model.
        static func fittingModels(
            among models: [ManagedObjectModel], database: ForeignDatabase
        ) throws(StoreError) -> [Int]? {
            let tables = try CoreDataTables(database)
            guard try cachedModel(database, tables: tables) == nil else { return nil }
            var fitting: [Int] = []
            for (position, model) in models.enumerated() where try fits(model, database: database, tables: tables) {
                fitting.append(position)
            }
            return fitting
        }

        /// Returns the model that newer versions of Core Data write into the file.
        private static func cachedModel(
            _ database: ForeignDatabase, tables: CoreDataTables
        ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning])? {
            guard tables.columns["Z_MODELCACHE"] != nil else { return nil }
            let statement = try database.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            guard try statement.step(), statement.storageClass(0) == .blob else { return nil }
            return try ModelCacheReader.read(compressed: try statement.bytes(0), file: database.path)
        }

        private static func schemaVersion(_ database: ForeignDatabase) throws(StoreError) -> Int64 {
            let statement = try database.prepare("PRAGMA schema_version")
            return try statement.step() ? statement.integer(0) : 0
        }
    }

    extension ManagedObjectModel {
        func hasSameVersionHashes(as other: ManagedObjectModel) -> Bool {
            entities.map(\.name) == other.entities.map(\.name)
                && entities.map(\.versionHash) == other.entities.map(\.versionHash)
        }
    }
#endif
