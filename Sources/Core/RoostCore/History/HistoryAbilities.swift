/// A store that can record its changes.
///
/// The type of a store can lack ``StoreCapability/history``, so callers use the extensions of
/// ``PersistentStore``.
package protocol HistoryKeepingStore: PersistentStore {
    /// Removes transactions from the history, in one or more write transactions.
    func removeHistory(_ bound: HistoryBound) throws(StoreError)

    /// Replaces the store's history and generation with those of a store that has the same content.
    ///
    /// This store must already record its changes.
    func importHistory(_ entries: any HistoryEntries, at generation: Generation) throws(StoreError)
}

package protocol HistorySnapshot: StoreSnapshot {
    /// Whether the store's type has ``StoreCapability/history``.
    var canRecordHistory: Bool { get }

    func withHistory<Result>(
        _ body: (any HistoryEntries, StoreUUID, Generation) throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    func makeHistoryToken() throws(StoreError) -> HistoryToken

    func makeHistoryCursor(_ request: HistoryRequest) throws(StoreError) -> any HistoryCursor
}

extension HistorySnapshot {
    package func makeHistoryToken() throws(StoreError) -> HistoryToken {
        try reading { (reader) throws(StoreError) in try reader.currentToken() }
    }

    package func makeHistoryCursor(_ request: HistoryRequest) throws(StoreError) -> any HistoryCursor {
        try reading { (reader) throws(StoreError) in try reader.cursor(request) }
    }

    private func reading<Result>(
        _ body: (HistoryReader) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withHistory { (entries, uuid, generation) throws(StoreError) in
            try body(try HistoryReader(entries, model: model, storeUUID: uuid, generation: generation))
        }
    }
}

extension StoreSnapshot {
    /// Returns the token of the last transaction that the snapshot includes.
    ///
    /// To see every change, read the content of this snapshot, then the transactions after this
    /// token.
    ///
    /// - Throws: `unsupported` for a store without ``StoreCapability/history``; `invalidRequest`
    ///   for a store that records no history; `closed`, `corrupted`.
    package func historyToken() throws(StoreError) -> HistoryToken {
        try recording().makeHistoryToken()
    }

    /// Returns a cursor over the snapshot's transactions that match a request.
    ///
    /// - Throws: The errors of ``historyToken()``; `historyExpired`; `unknownEntity`;
    ///   `invalidRequest` for a token of another store.
    package func historyCursor(_ request: HistoryRequest) throws(StoreError) -> any HistoryCursor {
        try recording().makeHistoryCursor(request)
    }

    /// Returns whether the store records its changes.
    package func hasHistory() throws(StoreError) -> Bool {
        guard let snapshot = self as? any HistorySnapshot else { return false }
        return try snapshot.withHistory { (entries, _, _) throws(StoreError) in
            try entries.historySettings() != nil
        }
    }

    private func recording() throws(StoreError) -> any HistorySnapshot {
        if let snapshot = self as? any HistorySnapshot, snapshot.canRecordHistory { return snapshot }
        _ = try userMetadata()
        throw StoreError(.unsupported, "Stores of this type cannot record a history.")
    }
}

extension PersistentStore {
    /// Imports the history of another store; returns false if that store has no history.
    package func importHistory(of snapshot: any StoreSnapshot) throws(StoreError) -> Bool {
        guard try snapshot.hasHistory(), let source = snapshot as? any HistorySnapshot else { return false }
        guard let store = self as? any HistoryKeepingStore else {
            throw StoreError(.unsupported, "Stores of type '\(type.name)' cannot record a history.")
        }
        try source.withHistory { (entries, _, generation) throws(StoreError) in
            try store.importHistory(entries, at: generation)
        }
        return true
    }

    package func recordsHistory() throws(StoreError) -> Bool {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try snapshot.hasHistory()
    }

    /// Returns the limits of the store's history; nil if the store records no history.
    package func historyRetention() throws(StoreError) -> HistoryRetention? {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        guard let snapshot = snapshot as? any HistorySnapshot else { return nil }
        return try snapshot.withHistory { (entries, _, _) throws(StoreError) in
            try entries.historySettings().map { (bytes) throws(StoreError) in try HistorySettings(bytes).retention }
        }
    }

    package func removeHistory(_ bound: HistoryBound) throws(StoreError) {
        guard let store = self as? any HistoryKeepingStore, type.capabilities.contains(.history) else {
            _ = try metadata()
            throw StoreError(.unsupported, "Stores of type '\(type.name)' cannot record a history.")
        }
        try store.removeHistory(bound)
    }
}
