package import RoostCore

/// A database whose file may have tables and indexes of other programs.
package protocol ForeignContentDatabase: SQLDatabase {
    /// Returns the tables that `schema` does not contain, and the additional indexes on the tables
    /// that it contains.
    func foreignContent(besides schema: SQLSchema) throws(StoreError) -> ForeignContent
}

extension SQLStore: ForeignContentStore {
    package func foreignContent() throws(StoreError) -> ForeignContent {
        try (database as? any ForeignContentDatabase)?.foreignContent(besides: schema) ?? ForeignContent()
    }
}
