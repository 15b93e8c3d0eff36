internal import Dispatch

extension PersistentStore {
    /// Starts a load that writes on its own thread while the caller creates the next records.
    ///
    /// The loader has all guarantees of ``bulkLoader(_:)`` except for two points:
    ///
    /// - `append` copies its argument and may return before the data is written. The error of a
    ///   write is thrown by a later call, at the latest by ``BulkLoader/finish()``.
    /// - `options.checkCancellation` is called on the thread that writes.
    ///
    /// Use this loader if creating the records takes much of the time and a second processor is
    /// available. The loader's memory is limited to seven full batches of records (256 KiB each)
    /// and seven of links (128 KiB each).
    public func concurrentBulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try ConcurrentBulkLoader(self, options: options)
    }
}

/// A loader that passes batches to the store's own loader, which runs on another thread.
final class ConcurrentBulkLoader: BulkLoader {
    /// The maximum number of full batches that wait to be written.
    private static let channelCapacity = 4

    private let location: StoreLocation
    private let model: ManagedObjectModel
    private let channel = BatchChannel(capacity: channelCapacity)
    private let writer: WorkerThread<StoreTally?>
    /// The data that was appended but not sent yet.
    private var records: RecordBatch
    private var links = LinkBatch(relationship: 0)
    private var isOver = false

    /// Creates a loader; returns when the store has started the load.
    init(_ store: any PersistentStore, options: BulkLoadOptions) throws(StoreError) {
        (location, model) = (store.location, store.model)
        records = RecordBatch(model: store.model)
        let channel = channel
        let begun = DispatchSemaphore(value: 0)
        writer = try WorkerThread("roost-loader") { () throws(StoreError) in
            do throws(StoreError) {
                let loader = try store.bulkLoader(options)
                begun.signal()
                return try Self.write(from: channel, loader: loader)
            } catch {
                channel.stop()
                begun.signal()
                throw error
            }
        }
        begun.wait()
        if channel.isStopped { throw failure() }
    }

    deinit { abandon() }

    /// Loads the batches from the channel; returns nil if the load was abandoned.
    private static func write(
        from channel: BatchChannel, loader: any BulkLoader
    ) throws(StoreError) -> StoreTally? {
        while true {
            switch channel.receive() {
            case nil, .begin:
                loader.abandon()
                return nil
            case .records(let batch):
                try loader.append(batch)
                channel.recycle(batch)
            case .links(let batch):
                try loader.append(batch)
                channel.recycle(batch)
            case .end:
                return try loader.finish()
            }
        }
    }

    func append(_ records: RecordBatch) throws(StoreError) {
        try requireUsable()
        do throws(StoreError) {
            try records.requireStorable(in: location, of: model)
        } catch {
            abandon()
            throw error
        }
        // Full batches are sent at once. Small batches are combined.
        if records.isFull { try sendRecords() }
        self.records.append(contentsOf: records)
        if self.records.isFull { try sendRecords() }
    }

    func append(_ links: LinkBatch) throws(StoreError) {
        try requireUsable()
        if links.isFull || links.relationship != self.links.relationship { try sendLinks() }
        self.links.relationship = links.relationship
        self.links.links += links.links
        if self.links.isFull { try sendLinks() }
    }

    func finish() throws(StoreError) -> StoreTally {
        try requireUsable()
        try sendRecords()
        try sendLinks()
        try send(.end)
        isOver = true
        guard let tally = try writer.join().get() else {
            throw StoreError(.internalInconsistency, "The load into '\(location)' ended before everything was written.")
        }
        return tally
    }

    func abandon() {
        guard !isOver else { return }
        isOver = true
        channel.stop()
        _ = writer.join()
    }

    // MARK: Sending

    private func sendRecords() throws(StoreError) {
        guard !records.isEmpty else { return }
        var next = channel.spareRecords(model)
        swap(&records, &next)
        try send(.records(next))
    }

    private func sendLinks() throws(StoreError) {
        guard !links.isEmpty else { return }
        var next = channel.spareLinks(links.relationship)
        swap(&links, &next)
        try send(.links(next))
    }

    private func send(_ message: BatchChannel.Message) throws(StoreError) {
        guard !channel.send(message) else { return }
        throw failure()
    }

    /// Returns the error that stopped the writing thread.
    private func failure() -> StoreError {
        isOver = true
        switch writer.join() {
        case .failure(let error): return error
        case .success:
            return StoreError(
                .internalInconsistency, "The load into '\(location)' ended before everything was written.")
        }
    }

    private func requireUsable() throws(StoreError) {
        guard !isOver else { throw .loadIsOver(location) }
    }
}
