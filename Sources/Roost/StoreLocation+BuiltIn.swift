public import RoostCore

extension StoreLocation {
    /// Returns the location of an SQLite store.
    public static func sqlite(_ path: String) -> StoreLocation { StoreLocation(type: "sqlite", path: path) }

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
