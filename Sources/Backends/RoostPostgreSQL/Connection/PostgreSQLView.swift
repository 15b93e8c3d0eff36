#if PostgreSQL
    internal import RoostCore

    /// The transaction of a snapshot, which continues after a cancelled statement.
    ///
    /// The server ends a transaction with each error, also with the cancellation of a statement. A
    /// rollback to a savepoint makes the transaction usable again, with the same view. The rollback
    /// closes all cursors that were opened after the savepoint was set.
    struct PostgreSQLView {
        static let setSavepoint = "SAVEPOINT roost_view"
        static let releaseSavepoint = "RELEASE SAVEPOINT roost_view"
        static let rollBack = "ROLLBACK TO SAVEPOINT roost_view"

        /// Whether the transaction has a savepoint.
        var hasSavepoint: Bool
        /// The cursors in use that were opened after the savepoint was set.
        var newCursors: Set<String> = []
    }

    extension PostgreSQLConnection {
        /// Sets a savepoint if a cancellation of the next statement would otherwise end the view or
        /// the cursors of other statements.
        ///
        /// Most statements need no further savepoint than that of the transaction's beginning.
        ///
        /// - Parameter cursor: The cursor that the statement reads, which ends with the statement.
        /// - Throws: Errors of the server.
        func renewSavepoint(besides cursor: String? = nil) throws(StoreError) {
            guard canBeCancelled, let view else { return }
            guard !view.hasSavepoint || view.newCursors.contains(where: { $0 != cursor }) else { return }
            var statements = unusedCursors.map { "CLOSE \($0)" }
            if view.hasSavepoint { statements.append(PostgreSQLView.releaseSavepoint) }
            statements.append(PostgreSQLView.setSavepoint)
            unusedCursors = []
            self.view = PostgreSQLView(hasSavepoint: true)
            _ = try withoutChecks { () throws(StoreError) in try query(statements.joined(separator: "; ")) }
        }

        /// Returns to the savepoint if a cancellation ended the transaction.
        func returnToSavepoint() throws(StoreError) {
            guard view?.hasSavepoint == true, hasFailedTransaction else { return }
            // The rollback closes these cursors.
            unusedCursors = []
            view?.newCursors = []
            try query(PostgreSQLView.rollBack)
        }

        /// Releases the savepoint, if any.
        func releaseSavepoint() throws(StoreError) {
            guard view?.hasSavepoint == true else { return }
            view = PostgreSQLView(hasSavepoint: false)
            try query(PostgreSQLView.releaseSavepoint)
        }
    }
#endif
