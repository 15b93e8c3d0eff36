public import RoostCore

extension KeyValueStore {
    /// Starts a bulk load; see ``PersistentStore/bulkLoader(_:)``.
    ///
    /// An empty store with ``StoreOptions/isUnpublished`` is loaded in bounded transactions. Until
    /// the load ends, snapshots that this program takes of it are empty. Any other store is loaded
    /// in one long transaction. If such a store has ``StoreOptions/isUnpublished`` and cannot be
    /// flushed afterwards, ``BulkLoader/finish()`` throws `outcomeUnknown`.
    ///
    /// The load sorts entries in about 16 MiB of memory; if the store is in memory, it sorts all
    /// entries in memory. During one long transaction, the storage also holds the changed pages in
    /// memory. LMDB holds up to 512 MiB, and writes further pages to its file.
    public func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try requireWritable()
        var lastKeys: [Int: Int64] = [:]
        for (name, key) in options.lastKeys {
            let root = try model.requireEntity(name).root
            lastKeys[root] = max(lastKeys[root] ?? 0, key)
        }
        return try KeyValueBulkLoader(self, lastKeys: lastKeys, options: options)
    }
}

final class KeyValueBulkLoader: BulkLoader {
    /// The number of bytes after which a load in parts commits a part.
    private static let partByteCount = 16 << 20

    private let store: KeyValueStore
    private let plan: StorePlan
    private let startedEmpty: Bool
    private let commitsInParts: Bool
    private let sorter: ExternalSorter
    private let checkCancellation: (@Sendable () throws(StoreError) -> Void)?
    private var write: (any KeyValueLongWrite)?
    private var writtenByteCount = 0
    private var hasCommittedParts = false
    private let initialTally: StoreTally
    private var tally: StoreTally
    private var highestKeys: [Int: Int64]
    /// The highest place of a written record; records after this place can be appended.
    private var lastPlace = ObjectPlace(root: -1, key: 0)
    private var hasLoaded = false
    private var values: [UInt8] = []
    private var key = StorageKey()
    /// The recorder of the load; nil if the store records no history.
    private var recorder: HistoryRecorder?

    init(
        _ store: KeyValueStore, lastKeys: [Int: Int64], options: BulkLoadOptions
    ) throws(StoreError) {
        self.store = store
        checkCancellation = options.checkCancellation
        plan = store.plan
        highestKeys = lastKeys
        // A storage in memory holds the entries anyway, so they are also sorted there.
        sorter =
            store.storage.holdsCheckedMemory
            ? ExternalSorter(memoryByteCount: .max, directories: [])
            : ExternalSorter(directories: store.spillDirectories)
        try store.takePartsPlace()
        let write: any KeyValueLongWrite
        do throws(StoreError) {
            write = try store.storage.beginLongWrite(timeoutSeconds: store.options.timeoutSeconds)
        } catch {
            store.leavePartsPlace()
            throw error
        }
        let model = store.model
        let isRecorded: Bool
        do throws(StoreError) {
            (tally, startedEmpty, isRecorded) = try write.perform { (writer) throws(StoreError) in
                var isEmpty = true
                for space in KeySpace.allCases where space != .meta {
                    if try writer.cursor(in: space).next() { isEmpty = false }
                }
                let settings = try KeyValueHistory(writer).historySettings()
                return (try MetaSpace.readTally(model, reader: writer), isEmpty, settings != nil)
            }
        } catch {
            write.abort()
            store.leavePartsPlace()
            throw error
        }
        initialTally = tally
        self.write = write
        if isRecorded {
            recorder = HistoryRecorder(
                startedEmpty ? .wholeLoad : .load, model: model, author: options.author,
                contextName: nil, clock: store.options.historyClock)
        }
        commitsInParts = store.options.isUnpublished && startedEmpty
        let load = KeyValueStore.Load(loader: ObjectIdentifier(self), isInParts: commitsInParts)
        store.state.withLock { $0.load = load }
    }

    deinit { abandon() }

    // MARK: Loading

    func append(_ records: RecordBatch) throws(StoreError) {
        let write = try requireUsable()
        do throws(StoreError) {
            try records.requireStorable(in: store.location, of: store.model)
            guard !records.isEmpty else { return }
            try write.perform { [plan, lastPlace, startedEmpty] (writer) throws(StoreError) in
                try Self.write(records, plan: plan, after: startedEmpty ? lastPlace : nil, writer: writer)
            }
            try note(records)
            if !startedEmpty { try record(records) }
            try written(records.byteCount)
        } catch {
            abandon()
            throw error
        }
    }

    /// Appends records whose places are after `last`, and inserts all others; if `last` is nil,
    /// inserts all.
    private static func write(
        _ records: RecordBatch, plan: StorePlan, after last: ObjectPlace?, writer: any KeyValueWriter
    ) throws(StoreError) {
        var last = last
        try records.forEachRecord { (record) throws(StoreError) in
            let place = ObjectPlace(root: plan.entities[record.entityNumber].root, key: record.key)
            let isBehind = last.map { ($0.root, $0.key) < (place.root, place.key) } ?? false
            let isNew = try ShortKey(record: place.key, root: place.root).withBytes { (key) throws(StoreError) in
                guard isBehind else { return try writer.insert(key, record.bytes, in: .records) }
                try writer.append(key, record.bytes, in: .records)
                return true
            }
            guard isNew else {
                throw StoreError(
                    .duplicateObject, "\(record.id) cannot be loaded: an object of its hierarchy already has this key.")
            }
            if isBehind { last = place }
        }
    }

    /// Adds records to the tally, and collects their references, unique values and index entries.
    private func note(_ records: RecordBatch) throws(StoreError) {
        hasLoaded = true
        tally.add(records)
        // Most batches are one run of records in one hierarchy, so only the highest place of each run is noted.
        var highest = ObjectPlace(root: -1, key: 0)
        for index in 0..<records.count {
            let place = plan.model.place(of: records, at: index)
            if place.root != highest.root {
                note(highest)
                highest = place
            } else if place.key > highest.key {
                highest = place
            }
        }
        note(highest)
        let (sorter, plan) = (sorter, plan)
        var (values, key) = (self.values, self.key)
        try records.forEachRecord { (record) throws(StoreError) in
            try RecordEntries.visit(record, plan: plan, values: &values, key: &key) { (space, key) throws(StoreError) in
                if space == .unique {
                    try sorter.append(key, number: record.key, in: space)
                } else {
                    try sorter.append(key, in: space)
                }
            }
        }
        (self.values, self.key) = (values, key)
    }

    private func record(_ records: RecordBatch) throws(StoreError) {
        guard recorder != nil else { return }
        for index in 0..<records.count {
            recorder?.insert(records.key(at: index), entity: records.entityNumber(at: index))
        }
        try writeFullHistory()
    }

    /// Writes the full parts of the recorded history, so that the recorder's memory is bounded.
    private func writeFullHistory() throws(StoreError) {
        guard let recorder, recorder.hasFullParts else { return }
        self.recorder = try requireUsable().perform { [initialTally] (writer) throws(StoreError) in
            var recorder = recorder
            try recorder.writeFullParts(after: initialTally.generation, in: KeyValueHistory(writer))
            return recorder
        }
    }

    private func note(_ place: ObjectPlace) {
        guard place.root >= 0 else { return }
        if (lastPlace.root, lastPlace.key) < (place.root, place.key) { lastPlace = place }
        highestKeys[place.root] = max(highestKeys[place.root] ?? 0, place.key)
    }

    func append(_ links: LinkBatch) throws(StoreError) {
        let write = try requireUsable()
        do throws(StoreError) {
            for batch in links.isEmpty ? [] : [try links.stored(in: plan.model)] {
                hasLoaded = true
                if startedEmpty {
                    let relationship = plan.model.relationships[batch.relationship]
                    let isOrderedTwice = relationship.isOrdered && relationship.inverseIsOrdered
                    for link in batch.links {
                        LinkKeys.fill(&key, link: link, relationship: batch.relationship)
                        try sorter.append(key, number: link.inverseOrder, in: .links)
                        LinkKeys.fill(&key, link: link.flipped, relationship: batch.relationship)
                        try sorter.append(key, number: link.order, in: .inverseLinks)
                        if isOrderedTwice {
                            try sorter.append(pairOf: link, relationship: batch.relationship, key: &key)
                        }
                    }
                } else {
                    // A look-up of each link finds links that existed before the load or occur twice in it.
                    tally = try write.perform { [tally, plan] (writer) throws(StoreError) in
                        var tally = tally
                        for link in batch.links {
                            guard try writer.storedLink(link, number: batch.relationship, model: plan.model) == nil
                            else {
                                throw .repeatedLink(
                                    "\(plan.model.relationships[batch.relationship].name), p\(link.source) and p\(link.target)"
                                )
                            }
                            try writer.insertLink(link, relationship: batch.relationship, tally: &tally)
                        }
                        return tally
                    }
                    guard recorder != nil else { continue }
                    for link in batch.links { recorder?.link(link, of: batch.relationship, isAdded: true) }
                    try writeFullHistory()
                }
            }
        } catch {
            abandon()
            throw error
        }
    }

    // MARK: Finishing

    func finish() throws(StoreError) -> StoreTally {
        _ = try requireUsable()
        let previous = tally.generation
        return try store.reportingAll { () throws(StoreError) in
            let tally = try commit()
            return (previous, tally.generation, tally)
        }
    }

    private func commit() throws(StoreError) -> StoreTally {
        do throws(StoreError) {
            var entries = SortedEntryWriter(plan: plan, startedEmpty: startedEmpty, tally: tally)
            try sorter.drain { (sorted) throws(StoreError) in
                try checkCancellation?()
                entries = try requireUsable().perform { [entries] (writer) throws(StoreError) in
                    var entries = entries
                    try entries.write(sorted, writer: writer)
                    return entries
                }
                try written(sorted.byteCount)
            }
            try entries.requireUnique()
            tally = entries.tally
            if hasLoaded { try tally.countCommit() }
            let write = try requireUsable()
            try write.perform { [tally, initialTally, highestKeys, recorder] (writer) throws(StoreError) in
                for (root, key) in highestKeys where try MetaSpace.readLastKey(root: root, reader: writer) < key {
                    try MetaSpace.writeLastKey(key, root: root, writer: writer)
                }
                try MetaSpace.writeTally(tally, writer: writer)
                guard tally.generation != initialTally.generation, var recorder,
                    let settings = try KeyValueHistory(writer).historySettings()
                else { return }
                try recorder.finish(
                    settings, from: initialTally.generation, to: tally.generation, in: KeyValueHistory(writer))
            }
            store.noteUsedKeys(highestKeys.map { ($0.key, $0.value) })
            try write.commit()
            hasCommittedParts = true
            if store.options.isUnpublished { try flush() }
            self.write = nil
            endLoad()
            store.leavePartsPlace()
            return tally
        } catch {
            abandon()
            throw error
        }
    }

    /// Makes the committed load durable.
    ///
    /// If this fails, only a load in parts can still be removed. Any other load remains, but may
    /// not be on the disk, so the error is `outcomeUnknown`.
    private func flush() throws(StoreError) {
        do throws(StoreError) { try store.storage.sync() } catch {
            guard !commitsInParts else { throw error }
            throw StoreError(
                .outcomeUnknown,
                "A load into '\(store.location)' was committed, but may not be on the disk: \(error.message)",
                underlying: error)
        }
    }

    func abandon() {
        guard let write else { return }
        write.abort()
        self.write = nil
        defer { store.leavePartsPlace() }
        guard commitsInParts else { return endLoad() }
        do throws(StoreError) {
            if hasCommittedParts { try clear() }
            endLoad()
        } catch {
            // This method cannot throw. A part of the load may remain, so later reads and writes throw `corrupted`.
            store.state.withLock { $0.failure = error }
        }
    }

    /// Marks the load as ended, unless another load has begun since.
    private func endLoad() {
        let loader = ObjectIdentifier(self)
        store.state.withLock { if $0.load?.loader == loader { $0.load = nil } }
    }

    private func requireUsable() throws(StoreError) -> any KeyValueLongWrite {
        do throws(StoreError) {
            try store.requireOpen()
        } catch {
            abandon()
            throw error
        }
        guard let write else { throw .loadIsOver(store.location) }
        return write
    }

    /// Counts written bytes, and commits the current part once it is large enough.
    private func written(_ byteCount: Int) throws(StoreError) {
        writtenByteCount += byteCount
        guard commitsInParts, writtenByteCount >= Self.partByteCount, let write else { return }
        writtenByteCount = 0
        hasCommittedParts = true
        try write.commit()
        self.write = try store.storage.beginLongWrite(timeoutSeconds: store.options.timeoutSeconds)
    }

    /// Removes the loaded records and entries in bounded transactions, and restores the tally.
    private func clear() throws(StoreError) {
        for space in KeySpace.allCases where space != .meta {
            var isEmpty = false
            while !isEmpty {
                isEmpty = try store.storage.write(timeoutSeconds: store.options.timeoutSeconds) {
                    (writer) throws(StoreError) in
                    var keys: [StorageKey] = []
                    let cursor = try writer.cursor(in: space)
                    while keys.count < 4096, try cursor.next() { keys.append(StorageKey(cursor.key)) }
                    for key in keys { try writer.delete(key, in: space) }
                    return keys.isEmpty
                }
            }
        }
        try store.storage.write(timeoutSeconds: store.options.timeoutSeconds) {
            [initialTally] (writer) throws(StoreError) in
            try MetaSpace.writeTally(initialTally, writer: writer)
        }
    }
}
