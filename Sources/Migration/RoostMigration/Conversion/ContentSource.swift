internal import RoostCore

/// The content of a new store.
protocol StoreContents: Sendable {
    var model: ManagedObjectModel { get }

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue])

    /// Writes all content into an empty store, and returns counts and digests of the content.
    func fill(
        _ store: any PersistentStore, by destinationWriter: DestinationWriter, memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent

    /// Returns warnings about the source.
    ///
    /// A conversion calls this after writing the content.
    func notices() throws(StoreError) -> [String]

    /// Returns whether the source has a history that can be copied.
    func recordsHistory() throws(StoreError) -> Bool

    /// Copies the source's history to a store with the same content, and returns whether the source
    /// has a history.
    func giveHistory(to store: any PersistentStore) throws(StoreError) -> Bool
}

extension StoreContents {
    /// Returns false, because a history belongs only to an unchanged copy of a store.
    func recordsHistory() throws(StoreError) -> Bool { false }

    func giveHistory(to store: any PersistentStore) throws(StoreError) -> Bool { false }
}

/// Content that one thread reads once, from beginning to end.
protocol ContentSource: StoreContents {
    /// Sends all content, and returns its counts and digests, or nil if the receiver stopped.
    func read(into channel: BatchChannel) throws(StoreError) -> CopiedContent?
}

extension ContentSource {
    func fill(
        _ store: any PersistentStore, by destinationWriter: DestinationWriter, memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent { try destinationWriter.copy(self, to: store, memory: memory) }

    /// Reads all content on another thread, while `receive` receives it from the channel.
    ///
    /// - Throws: The error of `receive`, or else the error of reading; errors from starting a
    ///   thread.
    func readInBackground(_ receive: (BatchChannel) throws(StoreError) -> Void) throws(StoreError) {
        // A few batches in transit are enough to keep both threads busy.
        let channel = BatchChannel(capacity: 4)
        let reader = try WorkerThread("roost-reader") { () throws(StoreError) in
            do throws(StoreError) { return try self.read(into: channel) } catch {
                channel.stop()
                throw error
            }
        }
        do throws(StoreError) {
            try receive(channel)
        } catch {
            channel.stop()
            _ = reader.join()
            throw error
        }
        _ = try reader.join().get()
    }
}

struct StoreContent: ContentSource {
    private let store: any PersistentStore
    private let options: ConversionOptions

    init(_ store: any PersistentStore, options: ConversionOptions) {
        self.store = store
        self.options = options
    }

    var model: ManagedObjectModel { store.model }

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        let metadata = try store.metadata()
        return (metadata.storeUUID, metadata.userMetadata)
    }

    func recordsHistory() throws(StoreError) -> Bool { try store.recordsHistory() }

    func giveHistory(to destination: any PersistentStore) throws(StoreError) -> Bool {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try destination.importHistory(of: snapshot)
    }

    func read(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let model = snapshot.model
        let recorded = try snapshot.recordedTally()
        var found = FoundContent(model)
        var lastKeys: [EntityName: Int64] = [:]
        var objectCount = 0
        for root in model.roots {
            let name = model.entities[root].name
            lastKeys[name] = try snapshot.lastKey(of: name)
            if recorded == nil { objectCount += try snapshot.count(FetchRequest(name)) }
        }
        var copied = CopiedContent(tally: StoreTally(model: model))
        let digest = recorded?.digest
        guard
            channel.send(
                .begin(
                    lastKeys: lastKeys, objectCount: digest?.objectCount ?? objectCount, linkCount: digest?.linkCount))
        else { return nil }
        var skipped = SkippedObjects()
        for root in model.roots {
            _ = found.begins(model.entities[root].selfAndSubentities)
            guard
                try readRecords(
                    of: model.entities[root], snapshot: snapshot, into: channel, tally: &copied.tally, found: &found,
                    skipped: &skipped)
            else { return nil }
        }
        copied.skipped = skipped.ids
        for relationship in model.linkRelationships {
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            _ = found.begins(linksOf: relationship.number)
            while true {
                try options.cancellation?.check()
                var batch = channel.spareLinks(relationship.number)
                guard try cursor.next(into: &batch) else { break }
                copied.tally.add(batch)
                found.add(batch)
                guard channel.send(.links(consume batch)) else { return nil }
            }
        }
        if skipped.isEmpty {
            try found.requireRecorded(recorded, store: store)
        } else {
            copied.warnings = found.warnings(against: recorded, skipped: skipped.ids)
        }
        guard channel.send(.end) else { return nil }
        return copied
    }

    private func readRecords(
        of root: ManagedObjectModel.Entity, snapshot: any StoreSnapshot, into channel: BatchChannel,
        tally: inout StoreTally, found: inout FoundContent, skipped: inout SkippedObjects
    ) throws(StoreError) -> Bool {
        let cursor = try snapshot.records(of: root.name, after: nil)
        while true {
            try options.cancellation?.check()
            var batch = channel.spareRecords(snapshot.model)
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return true }
            } catch  where options.skipsDamaged && error.code == .corrupted {
                // A cursor that reports the same record twice makes no progress.
                if let damaged = error.damagedObject, damaged == skipped.ids.last { throw error }
                try skipped.note(error)
                continue
            }
            batch.forEachRecord { tally.entities[$0.entityNumber].add($0.computedContentHash) }
            found.add(batch)
            guard channel.send(.records(consume batch)) else { return false }
        }
    }

    func notices() throws(StoreError) -> [String] {
        do throws(StoreError) { return try store.notices() } catch {
            guard options.skipsDamaged, error.code == .corrupted else { throw error }
            return ["Cannot find out what else is missing in the source: \(error.message)"]
        }
    }
}
