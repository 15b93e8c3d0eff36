package import RoostCore

/// The history of a store in the space `meta`, as a view or a write transaction shows it.
///
/// The keys of transactions come after all other keys of the space, so that new transactions are
/// appended.
package struct KeyValueHistory: HistoryEntryWriter {
    static let settings = StorageKey("history".utf8)
    private static let prefix = StorageKey("~history/".utf8)
    /// The length of a transaction part's key: the prefix, eight bytes for the position, four for
    /// the part.
    private static let keyByteCount = prefix.bytes.count + 12

    private let reader: any KeyValueReader

    package init(_ reader: any KeyValueReader) { self.reader = reader }

    private func writer() throws(StoreError) -> any KeyValueWriter {
        guard let writer = reader as? any KeyValueWriter else {
            throw StoreError(.internalInconsistency, "A view of a store cannot change its history.")
        }
        return writer
    }

    // MARK: Keys

    private static func key(_ place: HistoryPlace) -> StorageKey {
        var key = prefix
        key.append(place.position)
        key.append(bytes: (0..<4).map { UInt8(truncatingIfNeeded: place.part >> (24 - 8 * UInt32($0))) })
        return key
    }

    /// Returns the place of a key; nil if the key belongs to no history entry.
    private static func place(_ key: UnsafeRawBufferPointer) throws(StoreError) -> HistoryPlace? {
        guard key.begins(with: prefix.bytes) else { return nil }
        guard key.count == keyByteCount else {
            throw StoreError(
                .corrupted, "A key in the store's history belongs to no transaction. Restore the store from a backup.")
        }
        func number(_ range: Range<Int>) -> UInt64 { key[range].reduce(0) { $0 << 8 | UInt64($1) } }
        let start = prefix.bytes.count
        return HistoryPlace(number(start..<start + 8), part: UInt32(number(start + 8..<start + 12)))
    }

    // MARK: Reading

    package func historySettings() throws(StoreError) -> [UInt8]? { try MetaSpace.read(Self.settings, reader: reader) }

    package func historyBytes(at place: HistoryPlace) throws(StoreError) -> [UInt8]? {
        try reader.value(of: Self.key(place), in: .meta)
    }

    package func historyPlace(from place: HistoryPlace) throws(StoreError) -> HistoryPlace? {
        let cursor = try reader.cursor(in: .meta)
        return try cursor.seek(to: Self.key(place)) ? try Self.place(cursor.key) : nil
    }

    package func lastHistoryPosition() throws(StoreError) -> UInt64? {
        let cursor = try reader.cursor(in: .meta)
        return try cursor.seek(before: Self.prefix.bytes.dropLast() + [UInt8(ascii: "/") + 1])
            ? try Self.place(cursor.key)?.position : nil
    }

    // MARK: Writing

    package func setHistorySettings(_ bytes: [UInt8]?) throws(StoreError) {
        let writer = try writer()
        if let bytes { return try MetaSpace.write(bytes, key: Self.settings, writer: writer) }
        try writer.delete(Self.settings, in: .meta)
    }

    package func putHistory(_ bytes: [UInt8], at place: HistoryPlace) throws(StoreError) {
        try writer().put(Self.key(place), bytes, in: .meta)
    }

    /// Removes up to `limit` entries before `place`, but at most 4096; returns their number.
    package func removeHistory(before place: HistoryPlace, limit: Int) throws(StoreError) -> Int {
        let writer = try writer()
        var keys: [StorageKey] = []
        let cursor = try writer.cursor(in: .meta)
        var isFound = try cursor.seek(to: Self.prefix)
        while isFound, keys.count < min(limit, 4096), let found = try Self.place(cursor.key), found < place {
            keys.append(StorageKey(cursor.key))
            isFound = try cursor.next()
        }
        for key in keys { try writer.delete(key, in: .meta) }
        return keys.count
    }
}

extension KeyValueStore: HistoryKeepingStore {
    /// Turns the history on or off, or limits it, according to the options.
    ///
    /// - Throws: `readOnly` if a store that was opened read-only would change.
    func applyHistoryOptions() throws(StoreError) {
        guard options.tracksHistory != nil || options.historyRetention != nil else { return }
        try options.requireHistory(of: type)
        let reader = try read()
        let settings: [UInt8]?
        do {
            defer { reader.close() }
            settings = try KeyValueHistory(reader).historySettings()
        }
        guard try options.changesHistory(settings, of: location) else { return }
        if options.tracksHistory == false { return try endHistory() }
        let (model, retention) = (model, options.historyRetention)
        try write { (writer) throws(StoreError) in
            let generation = try MetaSpace.readTally(model, reader: writer).generation
            try HistoryMaintenance.begin(retention, at: generation, in: KeyValueHistory(writer))
            try MetaSpace.setFeatures([MetaSpace.historyFeature], writer: writer)
        }
    }

    private func endHistory() throws(StoreError) {
        try removeHistory(.everything)
        try write { (writer) throws(StoreError) in
            // Another program may have added transactions since the removal above.
            while try KeyValueHistory(writer).removeHistory(before: HistoryPlace(.max), limit: .max) > 0 {}
            try KeyValueHistory(writer).setHistorySettings(nil)
            try MetaSpace.setFeatures([], writer: writer)
        }
    }

    /// Replaces the store's history and generation with those of another store, in one transaction.
    ///
    /// Does nothing if the other store records no history.
    package func importHistory(_ entries: any HistoryEntries, at generation: Generation) throws(StoreError) {
        try requireWritable()
        guard let settings = try entries.historySettings() else { return }
        try takePartsPlace()
        defer { leavePartsPlace() }
        let write = try storage.beginLongWrite(timeoutSeconds: options.timeoutSeconds)
        do throws(StoreError) {
            try write.perform { [model] (writer) throws(StoreError) in
                let history = KeyValueHistory(writer)
                while try history.removeHistory(before: HistoryPlace(.max), limit: .max) > 0 {}
                try history.setHistorySettings(settings)
                try MetaSpace.setFeatures([MetaSpace.historyFeature], writer: writer)
                var tally = try MetaSpace.readTally(model, reader: writer)
                tally.generation = generation
                try MetaSpace.writeTally(tally, writer: writer)
            }
            try entries.forEachHistoryPart { (parts) throws(StoreError) in
                try write.perform { (writer) throws(StoreError) in
                    for part in parts { try KeyValueHistory(writer).putHistory(part.bytes, at: part.place) }
                }
            }
            try write.commit()
        } catch {
            write.abort()
            throw error
        }
        if options.isUnpublished { try storage.sync() }
    }

    /// Removes the transactions that `bound` selects, in write transactions of limited size.
    package func removeHistory(_ bound: HistoryBound) throws(StoreError) {
        try requireWritable()
        let (model, uuid) = (model, try metadata().storeUUID)
        var isDone = false
        while !isDone {
            isDone = try write { (writer) throws(StoreError) in
                let generation = try MetaSpace.readTally(model, reader: writer).generation
                return try HistoryMaintenance.remove(
                    bound, model: model, storeUUID: uuid, at: generation, in: KeyValueHistory(writer))
            }
        }
    }
}

extension KeyValueStore {
    /// Loads the history from another representation of the same store.
    ///
    /// Call this after the content and the generation are loaded.
    package func loadHistory(
        _ settings: [UInt8], parts: [(place: HistoryPlace, bytes: [UInt8])]
    ) throws(StoreError) {
        try requireWritable()
        try storage.write(timeoutSeconds: options.timeoutSeconds) { (writer) throws(StoreError) in
            let entries = KeyValueHistory(writer)
            for part in parts { try entries.putHistory(part.bytes, at: part.place) }
            try entries.setHistorySettings(settings)
            try MetaSpace.setFeatures([MetaSpace.historyFeature], writer: writer)
        }
    }
}

extension KeyValueSnapshot: HistorySnapshot {
    var canRecordHistory: Bool { store.type.capabilities.contains(.history) }

    func withHistory<Result>(
        _ body: (any HistoryEntries, StoreUUID, Generation) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try requireOpen()
        let uuid = try MetaSpace.readUUID(reader)
        return try body(KeyValueHistory(reader), uuid, try MetaSpace.readTally(model, reader: reader).generation)
    }
}
