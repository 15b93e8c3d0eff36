package import RoostCore

/// A database whose file may have tables and indexes of other programs.
package protocol ForeignContentDatabase: SQLDatabase {
    /// Returns the tables that are not in `schema`, and other programs' indexes on its tables.
    func foreignContent(besides schema: SQLSchema) throws(StoreError) -> ForeignContent
}

extension SQLStore: ForeignContentStore {
    package func foreignContent() throws(StoreError) -> ForeignContent {
        try (database as? any ForeignContentDatabase)?.foreignContent(besides: schema) ?? ForeignContent()
    }
}
