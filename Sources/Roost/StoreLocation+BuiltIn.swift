public import RoostCore

extension StoreLocation {
    /// Returns the location of an SQLite store.
    public static func sqlite(_ path: String) -> StoreLocation { StoreLocation(type: "sqlite", path: path) }

    #if PostgreSQL
        /// Returns the location of a store in a PostgreSQL database.
        ///
        /// Each store is a schema of a database.
        ///
        /// ```swift
        /// let location = StoreLocation.postgresql("host=db.example.org dbname=app", schema: "music")
        /// ```
        ///
        /// - Parameters:
        ///   - connection: Connection parameters of libpq, without a password. Other parameters
        ///     come from `PGHOST`, `PGPASSWORD`, `~/.pgpass`, `PGSERVICE` and so on.
        ///   - schema: The name of the schema.
        /// - Returns: The location.
        public static func postgresql(_ connection: String, schema: String) -> StoreLocation {
            let name = schema.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            return StoreLocation(type: "postgresql", path: "\(connection) schema='\(name)'")
        }
    #endif

    /// Returns the location of an LMDB store.
    public static func lmdb(_ path: String) -> StoreLocation { StoreLocation(type: "lmdb", path: path) }

    /// Returns the location of a JSON store.
    public static func json(_ path: String) -> StoreLocation { StoreLocation(type: "json", path: path) }

    /// The location of a new, unnamed store in memory, which cannot be opened again.
    public static let memory = StoreLocation(type: "memory", path: "")

    /// Returns the location of a named store in memory, which the whole process can open.
    public static func memory(_ name: String) -> StoreLocation { StoreLocation(type: "memory", path: name) }

    /// Returns the location of Core Data's SQLite file, which Roost opens only for reading.
    public static func coreData(_ path: String) -> StoreLocation { StoreLocation(type: "coredata", path: path) }
}
