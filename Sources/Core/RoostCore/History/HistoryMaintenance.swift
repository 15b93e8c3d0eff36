package import Foundation

/// Operations on a whole history, in write transactions of its store.
package enum HistoryMaintenance {
    package static let entriesPerTransaction = 4096

    /// Begins a history, or changes its limits.
    ///
    /// A nil `retention` keeps the limits of an existing history.
    package static func begin(
        _ retention: HistoryRetention?, at generation: Generation, in entries: any HistoryEntryWriter
    ) throws(StoreError) {
        try retention?.requireValid()
        guard let bytes = try entries.historySettings() else {
            let settings = HistorySettings(after: generation, retention: retention ?? HistoryRetention())
            return try entries.setHistorySettings(try settings.bytes)
        }
        guard let retention else { return }
        var settings = try HistorySettings(bytes)
        settings.retention = retention
        try entries.setHistorySettings(try settings.bytes)
    }

    /// Replaces the history, if any, with a new history that begins after `generation`.
    package static func beginAnew(at generation: Generation, in entries: any HistoryEntryWriter) throws(StoreError) {
        guard let bytes = try entries.historySettings() else { return }
        let old = try HistorySettings(bytes)
        var time = old.startTime
        if let last = try entries.lastHistoryPosition(), last > old.start {
            time = try entries.firstHistoryPart(last).header.time
        }
        while try entries.removeHistory(before: HistoryPlace(.max), limit: .max) > 0 {}
        let settings = HistorySettings(after: generation, time: time, retention: old.retention)
        try entries.setHistorySettings(try settings.bytes)
    }

    /// Removes at most ``entriesPerTransaction`` entries of the transactions that `bound` selects.
    ///
    /// Returns whether all entries of these transactions are removed. If not, call this method
    /// again in another write transaction.
    package static func remove(
        _ bound: HistoryBound, model: ManagedObjectModel, storeUUID: StoreUUID, at generation: Generation,
        in entries: any HistoryEntryWriter
    ) throws(StoreError) -> Bool {
        let reader = try HistoryReader(entries, model: model, storeUUID: storeUUID, generation: generation)
        guard let bytes = try entries.historySettings() else { throw .recordsNoHistory }
        var settings = try HistorySettings(bytes)
        let position: UInt64
        switch bound {
        case .token(let token):
            // A token before the start selects only transactions that are already removed.
            guard token.storeUUID == storeUUID, token.position < settings.start else {
                try reader.require(token)
                position = token.position
                break
            }
            position = settings.start
        case .date(let date):
            guard try !reader.hasGap() else { throw .historyExpired }
            let time = HistoryClock.microseconds(date)
            position = try reader.lastPosition { $0.time < time } ?? settings.start
        case .everything:
            if try reader.hasGap() {
                // The last commits are not in the history, so the history begins anew.
                settings = HistorySettings(
                    after: generation, time: settings.startTime, retention: settings.retention)
                try entries.setHistorySettings(try settings.bytes)
            }
            position = generation.number
        }
        if position > settings.start {
            try settings.moveStart(to: position, in: entries)
            try entries.setHistorySettings(try settings.bytes)
        }
        let first = HistoryPlace(settings.start &+ 1)
        _ = try entries.removeHistory(before: first, limit: entriesPerTransaction)
        return try entries.historyPlace(from: HistoryPlace(0)).map { $0 >= first } ?? true
    }
}

/// The transactions to remove from a history.
package enum HistoryBound: Sendable {
    /// All transactions up to and including the transaction of a token.
    case token(HistoryToken)
    case date(Date)
    case everything
}
