/// Access to the entries of a history, in an engine's transaction or snapshot.
///
/// To store histories, an engine implements this protocol and ``HistoryEntryWriter``.
package protocol HistoryEntries {
    /// Returns the settings; nil if the store records no history.
    func historySettings() throws(StoreError) -> [UInt8]?
    func historyBytes(at place: HistoryPlace) throws(StoreError) -> [UInt8]?
    /// Returns the place of the first entry at or after `place`, or nil.
    func historyPlace(from place: HistoryPlace) throws(StoreError) -> HistoryPlace?
    func lastHistoryPosition() throws(StoreError) -> UInt64?
}

extension HistoryEntries {
    package func historyPlace(after place: HistoryPlace) throws(StoreError) -> HistoryPlace? {
        if place.part < .max {
            return try historyPlace(from: HistoryPlace(place.position, part: place.part + 1))
        }
        // Only a damaged history has a part with the highest number.
        guard place.position < .max else { return nil }
        return try historyPlace(from: HistoryPlace(place.position + 1))
    }

    /// Calls `body` with all entries in order, several at a time.
    package func forEachHistoryPart(
        _ body: ([(place: HistoryPlace, bytes: [UInt8])]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var (parts, byteCount) = ([(place: HistoryPlace, bytes: [UInt8])](), 0)
        var next = try historyPlace(from: HistoryPlace(0))
        while let place = next {
            guard let bytes = try historyBytes(at: place) else {
                throw HistoryBytesReader.damaged("a part of a transaction is missing")
            }
            // Throws if the entry is damaged.
            _ = try HistoryPart(bytes, at: place)
            parts.append((place, bytes))
            byteCount += bytes.count
            if byteCount > 1 << 20 {
                try body(parts)
                (parts, byteCount) = ([], 0)
            }
            next = try historyPlace(after: place)
        }
        if !parts.isEmpty { try body(parts) }
    }
}

/// Access to the entries of a history, in a write transaction.
package protocol HistoryEntryWriter: HistoryEntries {
    func setHistorySettings(_ bytes: [UInt8]?) throws(StoreError)
    /// Adds or replaces the entry at a place.
    func putHistory(_ bytes: [UInt8], at place: HistoryPlace) throws(StoreError)
    /// Removes at most `limit` entries before `place`, and returns their number.
    func removeHistory(before place: HistoryPlace, limit: Int) throws(StoreError) -> Int
}

/// The entries of a store that records no history.
package struct NoHistory: HistoryEntries {
    package init() {}
    package func historySettings() throws(StoreError) -> [UInt8]? { nil }
    package func historyBytes(at place: HistoryPlace) throws(StoreError) -> [UInt8]? { nil }
    package func historyPlace(from place: HistoryPlace) throws(StoreError) -> HistoryPlace? { nil }
    package func lastHistoryPosition() throws(StoreError) -> UInt64? { nil }
}
