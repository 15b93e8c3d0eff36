#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    extension PostgreSQLDatabase: SQLRebuilding {
        private static let tallies = "_roost_tallies"

        /// Whether the profile allows rebuilding tables.
        ///
        /// A transaction of the portable profile cannot change both tables and rows.
        var canRebuild: Bool { settings.profile == .postgresql }

        /// Begins a transaction in which new tables are created in another schema.
        ///
        /// Until the transaction ends, this store's snapshots could not read a dropped or renamed
        /// table. So the old tables remain until ``finishRebuilding(_:to:on:)``. The table of
        /// tallies is replaced too, so that a program that has lost its lock notices the change.
        ///
        /// Returns nil if a needed name is in use or too long, or if the server's table of locks is
        /// too small.
        func beginRebuilding(_ difference: SQLSchemaDifference) throws(StoreError) -> (any SQLConnection)? {
            guard
                let connection = try beginWritingAlone(if: { (connection) throws(StoreError) in
                    guard try areFree(difference, on: connection) else { return false }
                    return try hasLocks(for: difference, on: connection)
                })
            else { return nil }
            do throws(StoreError) {
                // Without this, a program that has lost its store lock could lock a row. Then the
                // table could not be dropped.
                try connection.query("LOCK TABLE \(Self.tallies) IN EXCLUSIVE MODE")
                // Fails early if objects of other programs depend on the old tables.
                try connection.query("SAVEPOINT dropping")
                try drop(difference, on: connection)
                try connection.query("ROLLBACK TO SAVEPOINT dropping; RELEASE SAVEPOINT dropping")
                let own = try connection.identifier(location.schema)
                let new = try connection.identifier(location.temporarySchema())
                var statements = ["CREATE SCHEMA \(new)", "SET LOCAL search_path = \(new), \(own)"]
                // Frees the names of dropped indexes for new indexes.
                for (number, index) in difference.droppedIndexes.enumerated() {
                    statements.append(
                        "ALTER INDEX \(own).\(dialect.quote(index.name)) RENAME TO \(droppedIndex(number))")
                }
                statements += [
                    "CREATE TABLE \(new).\(Self.tallies) (LIKE \(own).\(Self.tallies) INCLUDING ALL)",
                    "INSERT INTO \(new).\(Self.tallies) SELECT * FROM \(own).\(Self.tallies) WHERE kind = 'generation'",
                ]
                try connection.query(statements.joined(separator: "; "), what: "Changing the tables of")
            } catch {
                rollBackWriting(connection)
                // The rollback ended the store's lock. Without a lock, the store must not stay open.
                try? close()
                throw error
            }
            return connection
        }

        /// Drops the old tables and moves the new ones to the store's schema.
        func finishRebuilding(
            _ difference: SQLSchemaDifference, to schema: SQLSchema, on connection: any SQLConnection
        ) throws(StoreError) {
            guard let connection = connection as? PostgreSQLConnection,
                let name = try connection.query("SELECT current_schema()").text(0, column: 0),
                name != location.schema
            else {
                throw StoreError(.internalInconsistency, "The tables of '\(self.name)' are not being changed.")
            }
            let (own, new) = (try connection.identifier(location.schema), try connection.identifier(name))
            try connection.query("SET LOCAL search_path = \(own)")
            try drop(difference, renamesIndexes: true, on: connection)
            var moves = (difference.newTables.map(\.name) + [Self.tallies]).map {
                "ALTER TABLE \(new).\(dialect.quote($0)) SET SCHEMA \(own)"
            }
            moves.append("DROP SCHEMA \(new) RESTRICT")
            try connection.query(moves.joined(separator: "; "), what: "Changing the tables of")
            try PostgreSQLSchemaCheck.record(schema, location: location, on: connection)
        }

        /// Drops the old tables and indexes, and the table of tallies.
        ///
        /// If `renamesIndexes` is true, the indexes have the names of ``droppedIndex(_:)``.
        ///
        /// - Throws: `notAStore` if an object of another program depends on a table or an index.
        private func drop(
            _ difference: SQLSchemaDifference, renamesIndexes: Bool = false, on connection: PostgreSQLConnection
        ) throws(StoreError) {
            var change = PostgreSQLSchemaChange()
            let schema = location.schema
            let own = try connection.identifier(schema)
            func list(_ names: [String]) -> String { names.map { "\(own).\($0)" }.joined(separator: ", ") }
            let indexes = difference.droppedIndexes.enumerated().map {
                renamesIndexes ? droppedIndex($0.offset) : dialect.quote($0.element.name)
            }
            if !indexes.isEmpty { change.drop("DROP INDEX \(list(indexes)) RESTRICT", of: schema) }
            let tables = difference.droppedTables.map { dialect.quote($0.name) } + [Self.tallies]
            change.drop("DROP TABLE \(list(tables)) RESTRICT", of: schema)
            try change.run(on: connection)
        }

        /// Returns the temporary name of an index that is dropped before the commit.
        private func droppedIndex(_ number: Int) -> String { "_roost_dropped_\(number)" }

        /// Returns whether the needed names will be free and the temporary schema name is short
        /// enough.
        private func areFree(
            _ difference: SQLSchemaDifference, on connection: PostgreSQLConnection
        ) throws(StoreError) -> Bool {
            let dropped = Set((difference.droppedTables + difference.droppedIndexes).map(\.name))
            // PostgreSQL names the array type of a table with an underscore in front.
            let needed = Set(
                (difference.newTables + difference.newIndexes).map(\.name) + difference.newTables.map { "_" + $0.name })
            // The indexes and types of dropped tables are dropped with the tables.
            let used = Set(
                try PostgreSQLCatalog.usedNames(
                    of: location.schema, without: difference.droppedTables.map(\.name), on: connection))
            return needed.isDisjoint(with: used.subtracting(dropped))
                && location.temporarySchema().utf8.count <= dialect.maximumIdentifierByteCount
        }

        /// Returns whether the server's table of locks has space for the change.
        ///
        /// Creating, dropping and moving a table took 13 locks on PostgreSQL 15.
        private func hasLocks(
            for difference: SQLSchemaDifference, on connection: PostgreSQLConnection
        ) throws(StoreError) -> Bool {
            let count = difference.newTables.count + difference.droppedTables.count + difference.newIndexes.count
            let limit = try connection.query(
                "SELECT current_setting('max_locks_per_transaction')::bigint * current_setting('max_connections')::bigint"
            )
            guard let limit = limit.text(0, column: 0).flatMap({ Int($0) }) else { return false }
            return 14 * count <= limit / 2
        }
    }
#endif
