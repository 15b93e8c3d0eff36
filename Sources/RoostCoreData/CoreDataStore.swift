#if SQLite
    public import RoostCore

    /// A store that Apple's Core Data wrote, open for reading.
    ///
    /// Keys and versions are those of the file (`Z_PK`, `Z_OPT`). The file is not locked: when another program changes it while a
    /// snapshot is in use, that snapshot throws code `busy`, and a new one has to be taken.
    public final class CoreDataStore: ReadOnlyPersistentStore {
        /// Whether the store is still open; shared with its snapshots.
        final class State: Sendable {
            private let isClosed = Mutex(false)
            private let path: String

            init(path: String) { self.path = path }

            func close() { isClosed.withLock { $0 = true } }

            func requireOpen() throws(StoreError) {
                guard !isClosed.withLock({ $0 }) else { throw StoreError(.closed, "The store '\(path)' was closed.") }
            }
        }

        /// The type the store is registered under.
        public let type: any PersistentStoreType
        /// Where the store is.
        public let url: StoreURL
        /// The model the store was made with, as given or as kept in the file.
        public var model: ManagedObjectModel { schema.model }
        /// What could not be taken over from the model file or the model in the store.
        public let modelWarnings: [ModelImportWarning]

        let schema: CoreDataSchema
        let source: CoreDataSource
        let state: State
        private let schemaVersion: Int64
        private let identity: CoreDataMetadata

        /// Opens the store at `url`; see ``CoreDataStoreType/open(_:options:)``.
        init(type: CoreDataStoreType, url: StoreURL, options: StoreOptions) throws(StoreError) {
            try type.requireKnown(options.typeOptions)
            self.type = type
            self.url = url
            source = try CoreDataSource(path: url.path, acceptsLinks: options.acceptsLinks)
            state = State(path: url.path)
            let (database, files) = try source.open()
            let tables = try CoreDataTables(database)
            identity = try CoreDataMetadata(database)
            let (model, warnings) = try Self.model(database, tables, options)
            modelWarnings = warnings
            schema = try CoreDataSchema(model, tables, database)
            schemaVersion = try Self.schemaVersion(database)
            try files.verify()
        }

        /// The metadata: `Z_UUID` is the store's identity, the keys of `Z_PLIST` that are not Core Data's own are the user's.
        ///
        /// Core Data's own keys (`NS…` and `_NS…`: version hashes, framework version, vacuum level) describe the file, not the
        /// data, and are left out.
        public func metadata() throws(StoreError) -> StoreMetadata {
            try state.requireOpen()
            return StoreMetadata(
                type: type.name, formatVersion: 1, storeUUID: identity.storeUUID, model: model,
                userMetadata: identity.userMetadata)
        }

        /// Apple's own version hash of each entity, as the store records it: opaque bytes, good for comparison only.
        public var appleVersionHashes: [String: [UInt8]] { identity.versionHashes }

        /// A view of the store as it is now.
        ///
        /// - Throws: `storeReplaced` when another file, or one with other tables, stands under the name; `closed`.
        public func snapshot() throws(StoreError) -> any StoreSnapshot { try makeSnapshot() }

        func makeSnapshot() throws(StoreError) -> CoreDataSnapshot {
            try state.requireOpen()
            let (database, files) = try source.open()
            guard try Self.schemaVersion(database) == schemaVersion,
                try CoreDataMetadata(database).storeUUID == identity.storeUUID
            else {
                throw StoreError(
                    .storeReplaced,
                    "The tables of '\(url.path)' were changed by another program; close the store and open it again.")
            }
            return CoreDataSnapshot(schema, state, identity.userMetadata, database, files)
        }

        /// Throws code `closed` after ``close()``.
        public func requireOpen() throws(StoreError) { try state.requireOpen() }

        /// The bytes of the main file, its log and the files of large values.
        public func byteCount() throws(StoreError) -> Int {
            try state.requireOpen()
            var count: Int64 = 0
            for suffix in ["", "-wal"] { count += try FileStamp(at: url.path + suffix)?.size ?? 0 }
            let (parent, components) = CoreDataSource.supportDirectory(of: url.path)
            var directory = try BundleDirectory.open(at: parent)
            for component in components { directory = try directory?.directory(component) }
            if let directory {
                for name in try directory.names() { count += try FileStamp(at: "\(directory.path)/\(name)")?.size ?? 0 }
            }
            return Int(count)
        }

        /// Ends the use of the store.
        ///
        /// Calling it again does nothing; snapshots throw code `closed` from then on.
        public func close() throws(StoreError) { state.close() }

        // MARK: Opening

        /// The model, from the first source that there is.
        private static func model(
            _ database: ReadOnlyDatabase, _ tables: CoreDataTables, _ options: StoreOptions
        ) throws(StoreError) -> (ManagedObjectModel, [ModelImportWarning]) {
            if let path = options.typeOptions["model"] {
                return try CoreDataModelReader.read(at: path, version: options.typeOptions["modelVersion"])
            }
            if let model = options.model {
                if let cached = try cachedModel(database, tables), !model.hasSameVersionHashes(as: cached.model) {
                    throw StoreError(
                        .modelMismatch,
                        "The model in '\(database.path)' is another than the one given: \(StoreError.differences(of: model, from: cached.model)). Open it without a model, or give its own with option model=<path>."
                    )
                }
                return (model, [])
            }
            if let cached = try cachedModel(database, tables) { return (cached.model, cached.warnings) }
            throw StoreError(
                .invalidRequest,
                "'\(database.path)' holds no model, as stores of older systems do not; give it: --model FILE on the command line, StoreOptions.model in code."
            )
        }

        /// The positions of the models that leave nothing of a file over and miss nothing in it; nil when it holds a model.
        static func fittingModels(
            among models: [ManagedObjectModel], _ database: ReadOnlyDatabase
        ) throws(StoreError) -> [Int]? {
            let tables = try CoreDataTables(database)
            guard try cachedModel(database, tables) == nil else { return nil }
            var fitting: [Int] = []
            for (position, model) in models.enumerated() {
                do throws(StoreError) {
                    if try CoreDataSchema(model, tables, database).unusedColumns.isEmpty { fitting.append(position) }
                } catch {
                    guard error.code == .modelMismatch else { throw error }
                }
            }
            return fitting
        }

        /// The model that newer versions of Core Data keep in the file; nil where there is none.
        private static func cachedModel(
            _ database: ReadOnlyDatabase, _ tables: CoreDataTables
        ) throws(StoreError) -> (model: ManagedObjectModel, warnings: [ModelImportWarning])? {
            guard tables.columns["Z_MODELCACHE"] != nil else { return nil }
            let statement = try database.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            guard try statement.step(), statement.storageClass(0) == .blob else { return nil }
            return try ModelCacheReader.read(compressed: try statement.bytes(0), file: database.path)
        }

        private static func schemaVersion(_ database: ReadOnlyDatabase) throws(StoreError) -> Int64 {
            let statement = try database.prepare("PRAGMA schema_version")
            return try statement.step() ? statement.integer(0) : 0
        }
    }

    extension ManagedObjectModel {
        /// Whether both models have the same entities with the same version hashes.
        func hasSameVersionHashes(as other: ManagedObjectModel) -> Bool {
            entities.map(\.name) == other.entities.map(\.name)
                && entities.map(\.versionHash) == other.entities.map(\.versionHash)
        }
    }
#endif
