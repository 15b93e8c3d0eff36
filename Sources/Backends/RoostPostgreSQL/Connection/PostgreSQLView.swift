#if PostgreSQL
    internal import RoostCore

    /// The state that lets the transaction of a snapshot continue after a cancelled statement.
    ///
    /// Every error makes a transaction unusable, and so does the cancellation of a statement. A
    /// rollback to a savepoint makes the transaction usable again, with the same view of the data.
    /// The rollback closes all cursors that were opened after the savepoint was set.
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
        /// Returns whether a cancelled statement would end the view or the cursors of other
        /// statements.
        ///
        /// The statement may read `cursor`, which its cancellation may end.
        func needsSavepoint(besides cursor: String?) -> Bool {
            guard let view else { return false }
            return !view.hasSavepoint || view.newCursors.contains { $0 != cursor }
        }

        /// Sets a savepoint if a cancellation of the next statement would otherwise end the view or
        /// the cursors of other statements.
        ///
        /// For most statements, the savepoint from the beginning of the transaction suffices.
        ///
        /// - Parameter cursor: The cursor that the next statement reads, if any. If that statement
        ///   is cancelled, this cursor may end.
        /// - Throws: Errors of the server.
        func renewSavepoint(besides cursor: String? = nil) throws(StoreError) {
            guard canBeCancelled, needsSavepoint(besides: cursor) else { return }
            var statements = unusedCursors.map { "CLOSE \($0)" }
            if view?.hasSavepoint == true { statements.append(PostgreSQLView.releaseSavepoint) }
            statements.append(PostgreSQLView.setSavepoint)
            unusedCursors = []
            view = PostgreSQLView(hasSavepoint: true)
            _ = try withoutChecks { () throws(StoreError) in try query(statements.joined(separator: "; ")) }
        }

        /// Rolls back to the savepoint if a cancellation made the transaction unusable.
        func returnToSavepoint() throws(StoreError) {
            guard view?.hasSavepoint == true, hasFailedTransaction else { return }
            // The rollback closes the cursors that were opened after the savepoint. Older unused
            // cursors end with the transaction.
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
