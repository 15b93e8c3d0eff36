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
    /// All of them are read from one view of the store. A transaction of many changes comes in
    /// several values; see ``HistoryTransaction/isComplete``. If `body` ends the pass by throwing,
    /// continue after the token of the last value.
    ///
    /// - Parameters:
    ///   - request: The token to continue after, and filters.
    ///   - body: Receives each transaction, the oldest first.
    /// - Throws: `historyExpired` if not everything after the token is kept: read everything again
    ///   in one view, and continue after ``StoreView/historyToken()`` of that view.
    ///   `invalidRequest` for a token of another store, and for a store that records no history.
    ///   `unsupported` for a type without the capability. `unknownEntity`, `corrupted`, and what
    ///   `body` throws.
    /// - Complexity: O(*n*) in the changes after the token.
    public func forEachTransaction(_ request: HistoryRequest, _ body: (HistoryTransaction) throws -> Void) throws {
        try read { view in try view.forEachTransaction(request, body) }
    }

    /// Returns the transactions of the store's history after a token, the oldest first.
    ///
    /// All of them are in memory, each as one value; ``forEachTransaction(_:_:)`` reads any number.
    ///
    /// - Parameter token: The token; nil for everything that the store has.
    /// - Returns: The transactions.
    /// - Throws: As ``forEachTransaction(_:_:)``.
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
    /// To read everything and then follow the changes without a gap, take the token from the same
    /// view: ``StoreView/historyToken()``.
    ///
    /// - Throws: `invalidRequest` for a store that records no history, `unsupported`, `closed`.
    public func historyToken() throws(StoreError) -> HistoryToken {
        try reading { (view) throws(StoreError) in try view.historyToken() }
    }

    /// Removes the transactions up to a token, that of the token included.
    ///
    /// Afterwards ``history(after:)`` takes the token, and throws `historyExpired` for older
    /// tokens. Values of deleted objects are removed from the store. Their bytes can stay in unused
    /// parts of its file until they are overwritten, or until ``compact(options:)``.
    ///
    /// - Throws: `invalidRequest`, `historyExpired` as ``forEachTransaction(_:_:)``; `readOnly`;
    ///   `busy`.
    /// - Complexity: O(*n*) in removed transactions, in write transactions of bounded size.
    public func deleteHistory(before token: HistoryToken) throws(StoreError) {
        try persistentStore.removeHistory(.token(token))
    }

    /// Removes the transactions before a date, as ``deleteHistory(before:)-(HistoryToken)`` does.
    ///
    /// - Throws: `invalidRequest` for a store that records no history; `readOnly`, `busy`.
    public func deleteHistory(before date: Date) throws(StoreError) {
        try persistentStore.removeHistory(.date(date))
    }

    // MARK: Asynchronous forms

    /// Returns the transactions of the store's history after a token; the asynchronous form.
    public func history(after token: HistoryToken? = nil) async throws(StoreError) -> [HistoryTransaction] {
        try await StoreThreads.run { () throws(StoreError) in try self.history(after: token) }
    }

    /// Returns the token of the last transaction; the asynchronous form.
    public func historyToken() async throws(StoreError) -> HistoryToken {
        try await StoreThreads.run { () throws(StoreError) in try self.historyToken() }
    }

    /// Removes the transactions up to a token; the asynchronous form.
    public func deleteHistory(before token: HistoryToken) async throws(StoreError) {
        try await StoreThreads.run { () throws(StoreError) in try self.deleteHistory(before: token) }
    }

    /// Removes the transactions before a date; the asynchronous form.
    public func deleteHistory(before date: Date) async throws(StoreError) {
        try await StoreThreads.run { () throws(StoreError) in try self.deleteHistory(before: date) }
    }
}

extension StoreView {
    /// Returns the token of the last transaction that the view shows.
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

    /// Calls `body` for each transaction of the history that a request selects, of those
    /// that the view shows.
    ///
    /// - Throws: As ``Store/forEachTransaction(_:_:)``.
    public func forEachTransaction(_ request: HistoryRequest, _ body: (HistoryTransaction) throws -> Void) throws {
        let cursor = try snapshot.historyCursor(request)
        while let transaction = try cursor.next() { try body(transaction) }
    }
}
