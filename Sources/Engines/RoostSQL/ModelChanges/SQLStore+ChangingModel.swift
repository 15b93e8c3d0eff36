package import RoostCore

extension SQLStore: ModelChangingStore {
    /// Begins to give the store another model in one transaction; see ``ModelChangingStore``.
    ///
    /// Tables that the new model declares alike, and whose content is kept, stay with all their
    /// rows; so do their indexes. All others are dropped, and made and filled anew.
    package func beginModelChange(
        to model: ManagedObjectModel, keeping kept: KeptContent
    ) throws(StoreError) -> (any ModelChange)? {
        try requireWritable()
        guard let rebuilding = database as? any SQLRebuilding else { return nil }
        let new = try SQLSchema(model, dialect: schema.dialect, formatVersion: schema.formatVersion)
        let difference = SQLSchemaDifference(from: schema, to: new, keeping: kept)
        guard let connection = try rebuilding.beginRebuilding(difference) else { return nil }
        do throws(StoreError) {
            for item in difference.droppedIndexes + difference.droppedTables {
                try connection.execute(
                    item.isIndex
                        ? schema.dialect.dropIndex(item.name) : "DROP TABLE \(schema.dialect.quote(item.name))")
            }
            for item in difference.newTables { try connection.execute(item.sql) }
            try SQLMetadata.change(to: new, on: connection)
        } catch {
            database.rollBackWriting(connection)
            try? close()
            throw error
        }
        return SQLModelChange(self, schema: new, difference: difference, connection: connection)
    }
}
