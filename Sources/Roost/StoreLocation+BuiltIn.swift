public import RoostCore

extension StoreLocation {
    /// Returns the location of an SQLite store.
    public static func sqlite(_ path: String) -> StoreLocation { StoreLocation(type: "sqlite", path: path) }

    #if PostgreSQL
        /// Returns the location of a store in a PostgreSQL database.
        ///
        /// A store is a schema of a database.
        ///
        /// ```swift
        /// let location = StoreLocation.postgresql("host=db.example.org dbname=app", schema: "music")
        /// ```
        ///
        /// - Parameters:
        ///   - connection: The parameters of the connection as libpq has them, without a password.
        ///     The others come from the environment: `PGHOST`, `PGPASSWORD`, `~/.pgpass`,
        ///     `PGSERVICE`.
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

    /// A store in memory without a name, which nothing else can open.
    public static let memory = StoreLocation(type: "memory", path: "")

    /// Returns the location of a store in memory, which the whole process can open by its name.
    public static func memory(_ name: String) -> StoreLocation { StoreLocation(type: "memory", path: name) }

    /// Returns the location of a Core Data store (SQLite), which is read.
    public static func coreData(_ path: String) -> StoreLocation { StoreLocation(type: "coredata", path: path) }
}
