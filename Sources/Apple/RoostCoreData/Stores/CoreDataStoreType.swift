#if SQLite
    internal import RoostFiles
    package import RoostCore
    internal import RoostForeignSQLite

    /// SQLite files that Apple's Core Data wrote, read as they are.
    ///
    /// The type cannot write: everything that would create, change, replace or remove a store
    /// throws code `unsupported`. Neither the file nor anything beside it is changed, also when its
    /// latest data are still in the write-ahead log.
    ///
    /// The model is the first of these:
    /// - Type option `model`: the path of a `.xcdatamodeld` or `.momd` bundle, a `.xcdatamodel`, a
    ///   `.mom`, or a model document `*.json`. Option `modelVersion` names the version in a bundle
    ///   (default: the version that fits the file).
    /// - `StoreOptions/model`, which must be compatible with the model that newer versions of Core
    ///   Data keep in the file.
    /// - The model in the file.
    package struct CoreDataStoreType: ReadOnlyPersistentStoreType, ModelMatchingStoreType {
        /// Makes the type.
        package init() {}

        /// The name of the type, `coredata`.
        package var name: String { "coredata" }

        /// Stores are files and outlive the process; nothing can be written.
        package var capabilities: StoreCapabilities { StoreCapabilities(.persistence, .file) }

        /// `model` and `modelVersion`.
        package var optionDescriptions: [StoreOptionDescription] {
            [
                StoreOptionDescription(
                    "model", values: .path, standard: "the model in the file",
                    summary:
                        "The model that wrote the store: a bundle (.xcdatamodeld, .momd), a .xcdatamodel, a .mom or a model document."
                ),
                StoreOptionDescription(
                    "modelVersion", values: .text, standard: "the version that fits the store",
                    summary: "The version in the bundle that model names."),
            ]
        }

        /// Measured with `make bench`.
        package var estimatedCosts: StoreCosts {
            StoreCosts(readingMicroseconds: 3.2, writingMicroseconds: 0)
        }

        /// Returns whether the file at `path` is an SQLite database with the tables of Core Data.
        ///
        /// A first look at 16 bytes, then one at the schema; the file is not changed.
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
                // Whatever cannot be read is not recognized.
                return false
            }
        }

        /// Opens a store for reading; see ``PersistentStoreType/open(_:options:)``.
        ///
        /// - Throws: `notFound`, `notAStore`, `corrupted`, `permissionDenied`; `modelMismatch` when
        ///   the model does not fit the file; `invalidRequest` when the file holds no model and
        ///   none is given, or for an unknown type option.
        package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            try CoreDataStore(type: self, location: location, options: options)
        }

        /// Returns the positions of the models whose tables and columns are exactly those of the
        /// file.
        ///
        /// The result is nil if the file contains a model or an option names one.
        ///
        /// Versions that differ in what no column shows, as the size of integers, fit alike.
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
