#if SQLite
    internal import RoostFiles
    package import RoostCore
    internal import RoostForeignSQLite

    /// A store type for reading SQLite files that Apple's Core Data wrote.
    ///
    /// Creating, changing, replacing or removing a store throws `unsupported`. The file and its
    /// directory are never changed, even if the latest data is still in the write-ahead log.
    ///
    /// The model comes from the first of these sources:
    /// - Type option `model`: the path of a `.xcdatamodeld` or `.momd` bundle, a `.xcdatamodel`, a
    ///   `.mom`, or a model document `*.json`. Option `modelVersion` names the version in a bundle
    ///   (default: the version that matches the file).
    /// - `StoreOptions/model`, which must have the same version hashes as a model in the file.
    /// - The model that newer versions of Core Data store in the file.
    package struct CoreDataStoreType: ReadOnlyPersistentStoreType, ModelMatchingStoreType {
        package init() {}

        package var name: String { "coredata" }

        package var capabilities: StoreCapabilities { StoreCapabilities(.persistence, .file) }

        package var optionDescriptions: [StoreOptionDescription] {
            [
                StoreOptionDescription(
                    "model", values: .path, standard: "the model in the file",
                    summary:
                        "The model that wrote the store: a bundle (.xcdatamodeld, .momd), a .xcdatamodel, a .mom or a model document."
                ),
                StoreOptionDescription(
                    "modelVersion", values: .text, standard: "the version that fits the store",
                    summary: "The version in the bundle that option model names."),
            ]
        }

        /// The costs, measured with `make bench`.
        package var estimatedCosts: StoreCosts {
            StoreCosts(readingMicroseconds: 3.2, writingMicroseconds: 0)
        }

        /// Returns whether the file at `path` is an SQLite database with the tables of Core Data.
        package func recognizes(fileAt path: String) -> Bool {
            guard let head = StoreFile.read(prefix: 16, of: path), head == Array("SQLite format 3\0".utf8) else {
                return false
            }
            do throws(StoreError) {
                let (database, _) = try CoreDataSource(path: path, acceptsLinks: true).open()
                let statement = try database.prepare(
                    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY')"
                )
                return try statement.step() && statement.integer(0) == 2
            } catch {
                return false
            }
        }

        /// Opens a store for reading.
        ///
        /// Throws `modelMismatch` if the model does not match the file. Throws `invalidRequest` for
        /// an unknown type option, for a store without any model, or if several versions match.
        package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            try CoreDataStore(type: self, location: location, options: options)
        }

        /// Returns the positions of the models with exactly the tables and columns of the file, or
        /// nil if the file contains a model or the type option `model` is set.
        ///
        /// Several models can match, because columns do not show the size of integers.
        package func fittingModels(
            among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
        ) throws(StoreError) -> [Int]? {
            guard options.typeOptions["model"] == nil else { return nil }
            let (database, files) = try CoreDataSource(path: location.path, acceptsLinks: options.acceptsLinks).open()
            let fitting = try CoreDataStore.fittingModels(among: models, database: database)
            try files.verify()
            return fitting
        }
    }
#endif
