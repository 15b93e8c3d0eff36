#if PostgreSQL
    internal import CPostgreSQL
    package import RoostCore
    package import RoostSQL

    extension PostgreSQLConnection: SQLConnection {
        private static let mostPrepared = 256

        package func statement(_ sql: String) throws(StoreError) -> any SQLStatement {
            PostgreSQLStatement(self, prepared: try prepare(sql))
        }

        package func rows(_ sql: String) throws(StoreError) -> any SQLStatement {
            try requireText(sql)
            return PostgreSQLCursor(self, sql: sql)
        }

        package func execute(_ sql: String) throws(StoreError) { try query(sql) }

        package func attempting<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
            try query("SAVEPOINT roost")
            do throws(StoreError) {
                let result = try body()
                try query("RELEASE SAVEPOINT roost")
                return result
            } catch {
                // The caller reports the first error. If the rollback fails, the next statement
                // reports that.
                abandonWork()
                // The rollback removes the cursors that `body` declared. Earlier cursors end with
                // the transaction.
                unusedCursors = []
                _ = try? query("ROLLBACK TO SAVEPOINT roost; RELEASE SAVEPOINT roost")
                throw error
            }
        }

        func parameterCount(of sql: String) throws(StoreError) -> Int { try prepare(sql).parameterTypes.count }

        func prepare(_ sql: String) throws(StoreError) -> PostgreSQLPrepared {
            lastNumber += 1
            let text = PostgreSQLStatementText(sql)
            if let known = prepared[text] {
                known.lastUse = lastNumber
                return known
            }
            try requireText(sql)
            if prepared.count >= Self.mostPrepared, let oldest = oldestUnheld() {
                try query("DEALLOCATE \(prepared[oldest].value.name)")
                prepared.remove(at: oldest)
            }
            // The suffix identifies commits in the server's log.
            let name = "roost_\(lastNumber)" + (sql == "COMMIT" ? "_commit" : "")
            try settle()
            let connection = try open()
            guard PQsendPrepare(connection, name, sql, 0, nil) == 1 else { throw lost("Preparing a statement on") }
            _ = try finish("A statement on")
            guard PQsendDescribePrepared(connection, name) == 1 else { throw lost("Preparing a statement on") }
            let description = try finish("A statement on")
            let types = (0..<PQnparams(description.handle)).map { PQparamtype(description.handle, $0) }
            let made = PostgreSQLPrepared(name: name, parameterTypes: types)
            made.lastUse = lastNumber
            prepared[text] = made
            return made
        }

        /// Returns the index of the least recently requested statement to which only `prepared`
        /// refers.
        ///
        /// A snapshot keeps references to its statements, and may run them again at any time.
        private func oldestUnheld() -> [PostgreSQLStatementText: PostgreSQLPrepared].Index? {
            var oldest: [PostgreSQLStatementText: PostgreSQLPrepared].Index?
            // A loop over `prepared.indices` would hold a second reference to the dictionary. Then
            // no statement would be uniquely referenced.
            var index = prepared.startIndex
            while index != prepared.endIndex {
                if isKnownUniquelyReferenced(&prepared.values[index]),
                    oldest.map({ prepared[$0].value.lastUse > prepared[index].value.lastUse }) ?? true
                {
                    oldest = index
                }
                prepared.formIndex(after: &index)
            }
            return oldest
        }

        /// Runs a statement and fetches all its rows, in binary format.
        func run(_ statement: PostgreSQLPrepared, parameters: PostgreSQLParameters) throws(StoreError)
            -> PostgreSQLResult
        {
            try send(parameters) {
                Self.send(statement, on: $0, count: $1, values: $2, lengths: $3, formats: $4)
            }
        }

        /// Runs an unprepared statement.
        func run(
            _ sql: String, parameters: PostgreSQLParameters, isBinary: Bool = true
        ) throws(StoreError) -> PostgreSQLResult {
            try send(parameters) {
                PQsendQueryParams($0, sql, $1, parameters.types, $2, $3, $4, isBinary ? 1 : 0)
            }
        }

        /// Marks a cursor as unneeded, and closes marked cursors from time to time.
        func closeLater(_ cursor: String) {
            unusedCursors.append(cursor)
            view?.newCursors.remove(cursor)
            // The next statement must report the errors of pending work, which closing would hide.
            guard unusedCursors.count >= 16, isInTransaction, !isWorking else { return }
            let sql = unusedCursors.map { "CLOSE \($0)" }.joined(separator: "; ")
            unusedCursors = []
            // An error ends the transaction and its cursors, and the next statement reports it.
            _ = try? withoutChecks { () throws(StoreError) in try query(sql) }
        }
    }
#endif
