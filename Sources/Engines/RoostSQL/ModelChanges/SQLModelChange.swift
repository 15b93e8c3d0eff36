internal import RoostCore

/// A change of the model of a store in one transaction.
final class SQLModelChange: ModelChange {
    private let base: SQLStore
    private let rebuilding: any SQLRebuilding
    private let difference: SQLSchemaDifference
    private let transaction: SQLTransactionDatabase
    private let changed: SQLStore
    private var isActive = true

    var store: any PersistentStore { changed }

    /// Takes ownership of a transaction in which the tables were changed.
    init(
        _ base: SQLStore, rebuilding: any SQLRebuilding, schema: SQLSchema, difference: SQLSchemaDifference,
        connection: any SQLConnection
    ) {
        (self.base, self.rebuilding, self.difference) = (base, rebuilding, difference)
        transaction = SQLTransactionDatabase(base.database, connection: connection)
        changed = SQLStore(
            transaction, schema: schema, storeUUID: base.storeUUID, type: base.type,
            description: PersistentStoreDescription(base.location), difference: difference)
    }

    deinit { abandon() }

    func commit() throws(StoreError) {
        guard isActive else {
            throw StoreError(.closed, "The change of the model of '\(base.location)' was ended before.")
        }
        let connection: any SQLConnection
        do throws(StoreError) {
            connection = try transaction.requireSound()
            // Beginning to read checks that the store's path still refers to the same file.
            base.database.endReading(try base.database.beginReading())
            try rebuilding.finishRebuilding(difference, to: changed.schema, on: connection)
        } catch {
            abandon()
            throw error
        }
        isActive = false
        try? changed.close()
        do throws(StoreError) {
            try base.database.commitWriting(connection)
        } catch {
            try? base.close()
            throw error
        }
        // The store has the new model. If closing fails, the next open recovers the store.
        try? base.close()
    }

    func abandon() {
        guard isActive else { return }
        isActive = false
        try? changed.close()
        if let connection = transaction.connection { base.database.rollBackWriting(connection) }
        // The caller reports the first error. If closing fails, the next open recovers the store.
        try? base.close()
    }
}
