public import Foundation
public import RoostCore

extension Store {
    /// Calls `body` for each transaction of the history that a request selects, in bounded memory.
    ///
    /// ```swift
    /// try store.forEachTransaction(HistoryRequest(after: token)) { transaction in
    ///     for change in transaction.changes { index.update(change.id) }
    ///     token = transaction.token
    /// }
    /// ```
    ///
    /// All transactions are read from one view of the store. A transaction with many changes is
    /// passed in several parts; see ``HistoryTransaction/isComplete``. An error of `body` ends the
    /// pass. To continue later, use the token of the last part that `body` processed.
    ///
    /// - Parameters:
    ///   - request: The token after which to continue, and filters.
    ///   - body: A closure that receives each transaction, oldest first.
    /// - Throws: `historyExpired` if transactions after the token were removed: read everything
    ///   again in one view, and continue after ``StoreView/historyToken()`` of this view.
    ///   `invalidRequest` for a token of another store, and for a store that records no history.
    ///   `unsupported` for a store type without histories. `unknownEntity`, `corrupted`, and the
    ///   errors of `body`.
    /// - Complexity: O(*n*) in the changes after the token.
    public func forEachTransaction(_ request: HistoryRequest, _ body: (HistoryTransaction) throws -> Void) throws {
        try read { view in try view.forEachTransaction(request, body) }
    }

    /// Returns the transactions of the store's history after a token, oldest first.
    ///
    /// Each transaction is one value, even with many changes.
    ///
    /// - Parameter token: The token, or nil for the whole history in the store.
    /// - Returns: The transactions, all in memory at once. ``forEachTransaction(_:_:)`` uses bounded
    ///   memory.
    /// - Throws: The errors of ``forEachTransaction(_:_:)``.
    public func history(after token: HistoryToken? = nil) throws(StoreError) -> [HistoryTransaction] {
        try reading { (view) throws(StoreError) in
            let cursor = try view.snapshot.historyCursor(HistoryRequest(after: token))
            var transactions: [HistoryTransaction] = []
            while let transaction = try cursor.nextWhole() { transactions.append(transaction) }
            return transactions
        }
    }

    /// Returns the token of the last transaction.
    ///
    /// To read everything and follow the changes without a gap, use ``StoreView/historyToken()`` of
    /// the view that you read.
    ///
    /// - Throws: `invalidRequest` for a store that records no history, `unsupported`, `closed`.
    public func historyToken() throws(StoreError) -> HistoryToken {
        try reading { (view) throws(StoreError) in try view.historyToken() }
    }

    /// Removes the transactions up to a token, including the token's own transaction.
    ///
    /// Afterwards, ``history(after:)`` accepts the token, but throws `historyExpired` for older
    /// tokens. Values of deleted objects in the removed transactions are removed too, but their
    /// bytes may remain in unused parts of the file until ``compact(options:)`` is called.
    ///
    /// - Throws: `invalidRequest` and `historyExpired` as in ``forEachTransaction(_:_:)``;
    ///   `readOnly`; `busy`.
    /// - Complexity: O(*n*) in removed transactions, in steps of bounded size.
    public func deleteHistory(before token: HistoryToken) throws(StoreError) {
        try persistentStore.removeHistory(.token(token))
    }

    /// Removes the transactions before a date, like ``deleteHistory(before:)-(HistoryToken)``.
    ///
    /// - Throws: `invalidRequest` for a store that records no history; `historyExpired` if a
    ///   program without support for histories made the last commits; `readOnly`, `busy`.
    public func deleteHistory(before date: Date) throws(StoreError) {
        try persistentStore.removeHistory(.date(date))
    }

    // MARK: Asynchronous forms

    /// Returns the transactions of the store's history after a token, asynchronously.
    public func history(after token: HistoryToken? = nil) async throws(StoreError) -> [HistoryTransaction] {
        try await StoreThreads.run { () throws(StoreError) in try self.history(after: token) }
    }

    /// Returns the token of the last transaction, asynchronously.
    public func historyToken() async throws(StoreError) -> HistoryToken {
        try await StoreThreads.run { () throws(StoreError) in try self.historyToken() }
    }

    /// Removes the transactions up to a token, asynchronously.
    public func deleteHistory(before token: HistoryToken) async throws(StoreError) {
        try await StoreThreads.run { () throws(StoreError) in try self.deleteHistory(before: token) }
    }

    /// Removes the transactions before a date, asynchronously.
    public func deleteHistory(before date: Date) async throws(StoreError) {
        try await StoreThreads.run { () throws(StoreError) in try self.deleteHistory(before: date) }
    }
}

extension StoreView {
    /// Returns the token of the last transaction in the view.
    ///
    /// ```swift
    /// let token = try store.read { view in
    ///     try view.forEach(FetchRequest("Track")) { index.add($0) }
    ///     return try view.historyToken()
    /// }
    /// // Later: everything that changed since.
    /// for transaction in try store.history(after: token) { apply(transaction) }
    /// ```
    ///
    /// - Throws: `invalidRequest` for a store that records no history, `unsupported`, `closed`.
    public func historyToken() throws(StoreError) -> HistoryToken { try snapshot.historyToken() }

    /// Calls `body` for each transaction in the view that a request selects.
    ///
    /// - Throws: The errors of ``Store/forEachTransaction(_:_:)``.
    public func forEachTransaction(_ request: HistoryRequest, _ body: (HistoryTransaction) throws -> Void) throws {
        let cursor = try snapshot.historyCursor(request)
        while let transaction = try cursor.next() { try body(transaction) }
    }
}
