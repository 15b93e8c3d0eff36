internal import RoostCore
internal import RoostFiles
internal import RoostSQL

extension SQLiteDatabase {
    var canRebuild: Bool { true }

    /// Makes the store's lock exclusive, and begins a transaction that may drop tables.
    ///
    /// Returns nil if another table or index has a needed name.
    func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)? {
        guard let lock else {
            throw StoreError(
                .internalInconsistency, "'\(path)' is open for writing without a lock; please report this.")
        }
        try lock.change(to: .exclusive, timeoutSeconds: settings.timeoutSeconds)
        do throws(StoreError) {
            guard let connection = try beginDropping(difference) else {
                try lock.change(to: .shared, timeoutSeconds: 0)
                return nil
            }
            return connection
        } catch {
            // If the lock cannot become shared again, closing the store releases it.
            try? lock.change(to: .shared, timeoutSeconds: 0)
            throw error
        }
    }

    private func beginDropping(_ difference: SQLSchemaDifference) throws(StoreError) -> SQLiteConnection? {
        let connection = try beginWriting()
        do throws(StoreError) {
            guard let writer = connection as? SQLiteConnection, try areFree(difference, connection: writer) else {
                rollBackWriting(connection)
                return nil
            }
            try writer.allow(.dropping)
            // Dropping tables and building indexes take long without producing a row.
            writer.clock.pointee.limit = nil
            try difference.dropOld(on: writer, dialect: dialect)
            return writer
        } catch {
            rollBackWriting(connection)
            throw error
        }
    }

    /// Does nothing, because `beginRebuilding` has already dropped the old tables.
    func finishRebuilding(
        _ difference: SQLSchemaDifference, to schema: SQLSchema, on connection: any SQLConnection
    ) throws(StoreError) {}

    /// Returns whether every needed name is free, or will be after the drops.
    private func areFree(_ difference: SQLSchemaDifference, connection: SQLiteConnection) throws(StoreError) -> Bool {
        let dropped = Set((difference.droppedTables + difference.droppedIndexes).map { $0.name.lowercased() })
        let needed = Set((difference.newTables + difference.newIndexes).map { $0.name.lowercased() })
        return try connection.withStatement("SELECT name, tbl_name FROM sqlite_schema") {
            (statement) throws(StoreError) in
            while try statement.step() {
                guard case .text(let name) = try statement.value(at: 0),
                    case .text(let table) = try statement.value(at: 1)
                else { continue }
                if needed.contains(name.lowercased()), !dropped.contains(name.lowercased()),
                    !dropped.contains(table.lowercased())
                {
                    return false
                }
            }
            return true
        }
    }
}
