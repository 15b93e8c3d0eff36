internal import RoostCore

/// What was read from a source and written to a destination.
struct CopiedContent: Sendable {
    /// Counts and digests of what was read.
    var tally: StoreTally
    /// The damaged objects that were left out.
    var skipped: [ObjectID] = []
    /// What should be known about the source.
    var warnings: [String] = []
}

extension StoreConversion {
    /// How many batches are under way between the two threads.
    private static let channelCapacity = 6
    /// The damaged objects after which a source counts as lost.
    private static let skippedLimit = 100_000

    /// Streams everything from `source` into `destination`, on two threads, and finishes the load.
    ///
    /// - Throws: What either side throws; the source's error first, since the destination's then only follows from it.
    func copy(
        _ source: any PersistentStore, to destination: any PersistentStore, _ memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent {
        let channel = BatchChannel(capacity: Self.channelCapacity)
        let reader = WorkerThread("roost-reader") { () throws(StoreError) in
            do throws(StoreError) { return try read(source, into: channel) } catch {
                channel.stop()
                throw error
            }
        }
        let writer = WorkerThread("roost-writer") { () throws(StoreError) in
            do throws(StoreError) { return try write(from: channel, to: destination, memory) } catch {
                channel.stop()
                throw error
            }
        }
        let (wasRead, wasWritten) = (reader.join(), writer.join())
        let copied: CopiedContent?
        switch wasRead {
        case .success(let content): copied = content
        case .failure(let error): throw error
        }
        guard let written = try wasWritten.get(), let copied else {
            throw StoreError(.internalInconsistency, "The conversion ended before everything was written.")
        }
        try Self.compare(copied.tally, written, destination.model, self.destination.url)
        return copied
    }

    // MARK: Reading

    /// Sends everything in the source.
    ///
    /// Nil when the writer stopped, whose error says why.
    private func read(_ source: any PersistentStore, into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        let snapshot = try source.snapshot()
        defer { snapshot.close() }
        let model = snapshot.model
        let recorded = try snapshot.recordedTally()
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
        for root in model.roots {
            guard try readRecords(of: model.entities[root], snapshot, into: channel, &copied) else { return nil }
        }
        for relationship in model.linkRelationships {
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while true {
                try options.cancellation?.check()
                var batch = channel.spareLinks(relationship.number)
                guard try cursor.next(into: &batch) else { break }
                copied.tally.add(batch)
                guard channel.send(.links(consume batch)) else { return nil }
            }
        }
        if let recorded { copied.warnings = Self.warnings(copied, recorded, model) }
        guard channel.send(.end) else { return nil }
        return copied
    }

    private func readRecords(
        of root: ManagedObjectModel.Entity, _ snapshot: any StoreSnapshot, into channel: BatchChannel,
        _ copied: inout CopiedContent
    ) throws(StoreError) -> Bool {
        let cursor = try snapshot.records(of: root.name, after: nil)
        while true {
            try options.cancellation?.check()
            var batch = channel.spareRecords(snapshot.model)
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return true }
            } catch  where options.skipsDamaged && error.code == .corrupted {
                // Only an error that names an object promises that the cursor goes on behind it.
                guard let damaged = error.damagedObject, damaged != copied.skipped.last else { throw error }
                guard copied.skipped.count < Self.skippedLimit else {
                    throw StoreError(
                        .corrupted,
                        "More than \(Self.skippedLimit) records of '\(source.url.path)' are damaged; restore a backup.",
                        underlying: error)
                }
                copied.skipped.append(damaged)
                continue
            }
            batch.forEachRecord { copied.tally.entities[$0.entityNumber].add($0.computedContentHash) }
            guard channel.send(.records(consume batch)) else { return false }
        }
    }

    /// What the source's own record of its content says against what was read.
    private static func warnings(
        _ copied: CopiedContent, _ recorded: StoreTally, _ model: ManagedObjectModel
    ) -> [String] {
        guard copied.skipped.isEmpty else { return [] }
        let entities = zip(model.entities, zip(copied.tally.entities, recorded.entities)).filter { $1.0 != $1.1 }
            .map { "entity '\($0.0.name)'" }
        let relationships = zip(model.relationships, zip(copied.tally.relationships, recorded.relationships))
            .filter { $1.0 != $1.1 }.map { "relationship '\($0.0.name)'" }
        let changed = entities + relationships
        guard !changed.isEmpty else { return [] }
        return [
            "The source's content is not what its last commit recorded (\(changed.joined(separator: ", "))): another program changed it, or it was damaged. It was copied as it is; 'roost check' says more."
        ]
    }

    // MARK: Writing

    /// Loads everything that arrives.
    ///
    /// Nil when the reader stopped, whose error says why.
    private func write(
        from channel: BatchChannel, to store: any PersistentStore, _ memory: PrivateMemory
    ) throws(StoreError) -> StoreTally? {
        guard case .begin(let lastKeys, let totalObjects, let totalLinks)? = channel.receive() else { return nil }
        let clock = ContinuousClock()
        let start = clock.now
        let loader = try store.bulkLoader(BulkLoadOptions(lastKeys: lastKeys))
        var (objects, links, batches) = (0, 0, 0)
        do throws(StoreError) {
            while true {
                try options.cancellation?.check()
                let current: String?
                switch channel.receive() {
                case nil, .begin:
                    loader.abandon()
                    return nil
                case .records(let batch):
                    try loader.append(batch)
                    objects += batch.count
                    current = batch.isEmpty ? nil : store.model.entities[batch.entityNumber(at: 0)].name.text
                    channel.recycle(batch)
                case .links(let batch):
                    try loader.append(batch)
                    links += batch.count
                    current = store.model.relationships[batch.relationship].name.description
                    channel.recycle(batch)
                case .end:
                    report(.finishing, objects: objects, links: links, totalObjects: objects, totalLinks: links)
                    memory.sample()
                    let tally = try loader.finish()
                    memory.sample()
                    return tally
                }
                batches += 1
                if batches % 8 == 0 { memory.sample() }
                report(
                    .copying, current, objects: objects, links: links, totalObjects: totalObjects,
                    totalLinks: totalLinks,
                    seconds: (clock.now - start).inSeconds)
            }
        } catch {
            loader.abandon()
            throw error
        }
    }
}
