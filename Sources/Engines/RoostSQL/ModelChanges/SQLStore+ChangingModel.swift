package import RoostCore

extension SQLStore: ModelChangingStore {
    package var changesModels: Bool { (database as? any SQLRebuilding)?.canRebuild ?? false }

    /// Starts to change the model of the store; see ``ModelChangingStore``.
    ///
    /// A table remains if it is equal in both models and its content is kept. It keeps the indexes
    /// that both models have. All other old tables are dropped. All other new tables are created,
    /// and a load into the changed store fills them.
    package func beginModelChange(
        to model: ManagedObjectModel, keeping kept: KeptContent
    ) throws(StoreError) -> (any ModelChange)? {
        try requireWritable()
        guard let rebuilding = database as? any SQLRebuilding, rebuilding.canRebuild else { return nil }
        let new = try SQLSchema(model, dialect: schema.dialect, formatVersion: schema.formatVersion)
        let difference = SQLSchemaDifference(from: schema, to: new, keeping: kept)
        guard let connection = try rebuilding.beginRebuilding(difference) else { return nil }
        do throws(StoreError) {
            for item in difference.newTables { try connection.execute(item.sql) }
            try SQLMetadata.change(to: new, on: connection)
        } catch {
            database.rollBackWriting(connection)
            try? close()
            throw error
        }
        return SQLModelChange(
            self, rebuilding: rebuilding, schema: new, difference: difference, connection: connection)
    }
}
