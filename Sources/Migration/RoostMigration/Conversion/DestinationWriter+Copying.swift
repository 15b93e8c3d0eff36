internal import RoostCore

/// A summary of the written content.
struct CopiedContent: Sendable {
    /// Counts and digests of the content that the destination must have.
    var tally: StoreTally
    var skipped: [ObjectID] = []
    /// The IDs that the skipped objects would have in the destination; nil if equal to `skipped`.
    var skippedThere: [ObjectID]?
    /// The number of references and links that were left out, by relationship.
    var dangling: [RelationshipCount] = []
    var warnings: [String] = []
    /// Whether all content is durable, as after a bulk load.
    var isFlushed = true
}

extension DestinationWriter {
    private static let channelCapacity = 6

    /// Streams all content from `source` into `destination`, on two threads, and finishes the load.
    ///
    /// - Throws: The source's error, or else the destination's error; `verificationFailed` if the
    ///   tallies of the reader and the loader differ; errors from starting a thread.
    func copy(
        _ source: any ContentSource, to destination: any PersistentStore, memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent {
        let channel = BatchChannel(capacity: Self.channelCapacity)
        let reader = try WorkerThread("roost-reader") { () throws(StoreError) in
            do throws(StoreError) { return try source.read(into: channel) } catch {
                channel.stop()
                throw error
            }
        }
        let writer: WorkerThread<StoreTally?>
        do throws(StoreError) {
            writer = try WorkerThread("roost-writer") { () throws(StoreError) in
                do throws(StoreError) { return try write(from: channel, to: destination, memory: memory) } catch {
                    channel.stop()
                    throw error
                }
            }
        } catch {
            channel.stop()
            _ = reader.join()
            throw error
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
        try Self.compare(copied.tally, found: written, model: destination.model, location: self.destination.location)
        return copied
    }

    // MARK: Writing

    /// Loads the batches of a channel, and returns their tally, or nil if the sender stopped.
    func write(
        from channel: BatchChannel, to store: any PersistentStore, memory: PrivateMemory
    ) throws(StoreError) -> StoreTally? {
        guard case .begin(let lastKeys, let totalObjects, let totalLinks)? = channel.receive() else { return nil }
        let clock = ContinuousClock()
        let start = clock.now
        let cancellation = options.cancellation
        let loader = try store.bulkLoader(
            BulkLoadOptions(
                lastKeys: lastKeys, checkCancellation: { () throws(StoreError) in try cancellation?.check() }))
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
                    .copying, current: current, objects: objects, links: links, totalObjects: totalObjects,
                    totalLinks: totalLinks,
                    seconds: (clock.now - start).inSeconds)
            }
        } catch {
            loader.abandon()
            throw error
        }
    }
}
