#if PostgreSQL
    internal import RoostCore

    /// The state that lets the transaction of a snapshot continue after a cancelled statement.
    ///
    /// A cancellation, like every error, makes the transaction unusable. A rollback to a savepoint
    /// makes it usable again, with the same view of the data. But the rollback closes the cursors
    /// that were opened after the savepoint was set.
    struct PostgreSQLView {
        static let setSavepoint = "SAVEPOINT roost_view"
        static let releaseSavepoint = "RELEASE SAVEPOINT roost_view"
        static let rollBack = "ROLLBACK TO SAVEPOINT roost_view"

        var hasSavepoint: Bool
        /// The cursors in use that were opened after the savepoint was set.
        var newCursors: Set<String> = []
    }

    extension PostgreSQLConnection {
        /// Returns whether a cancelled statement would end the view or a cursor other than
        /// `cursor`.
        func needsSavepoint(besides cursor: String?) -> Bool {
            guard let view else { return false }
            return !view.hasSavepoint || view.newCursors.contains { $0 != cursor }
        }

        /// Sets a savepoint if a cancelled statement would otherwise end the view, or a cursor
        /// other than `cursor`.
        ///
        /// For most statements, the savepoint from the beginning of the transaction suffices.
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

        func releaseSavepoint() throws(StoreError) {
            guard view?.hasSavepoint == true else { return }
            view = PostgreSQLView(hasSavepoint: false)
            try query(PostgreSQLView.releaseSavepoint)
        }
    }
#endif
