package import RoostCore

/// Content that is not from a store, such as a text or a foreign database.
package protocol MadeContent: Sendable {
    var model: ManagedObjectModel { get }

    /// Sends all records, then all links grouped by relationship.
    ///
    /// Called once, on one of the conversion's threads. Ascending keys load fastest.
    func send(to sink: ContentSink) throws(StoreError)

    /// Returns warnings for the user.
    ///
    /// Called after ``send(to:)``.
    func warnings() -> [String]
}

/// A receiver of the records and links of a new store.
///
/// Only one thread may use a sink.
package final class ContentSink {
    private let channel: BatchChannel
    private let model: ManagedObjectModel
    private let cancellation: ConversionCancellation?
    private(set) var tally: StoreTally

    init(_ channel: BatchChannel, model: ManagedObjectModel, cancellation: ConversionCancellation?) {
        (self.channel, self.model, self.cancellation) = (channel, model, cancellation)
        tally = StoreTally(model: model)
    }

    /// Returns an empty batch, with reused memory if possible.
    package func emptyRecords() -> RecordBatch { channel.spareRecords(model) }

    package func emptyLinks(_ relationship: Int) -> LinkBatch { channel.spareLinks(relationship) }

    /// Sends records of one hierarchy.
    ///
    /// Waits if the channel is full.
    ///
    /// - Throws: `cancelled` after a cancellation, or if the writing thread failed. If that thread
    ///   failed, the conversion throws the thread's own error.
    package func send(_ records: consuming RecordBatch) throws(StoreError) {
        try cancellation?.check()
        tally.add(records)
        guard channel.send(.records(records)) else { throw Self.stopped }
    }

    /// Sends links, with the same waiting and errors as for records.
    package func send(_ links: consuming LinkBatch) throws(StoreError) {
        try cancellation?.check()
        tally.add(links)
        guard channel.send(.links(links)) else { throw Self.stopped }
    }

    private static let stopped = StoreError(.cancelled, "The new store accepts no more content.")
}

private struct MadeContentSource: ContentSource {
    let content: any MadeContent
    let cancellation: ConversionCancellation?
    let storeUUID = StoreUUID()

    var model: ManagedObjectModel { content.model }

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        (storeUUID, [:])
    }

    func read(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        guard channel.send(.begin(lastKeys: [:], objectCount: nil, linkCount: nil)) else { return nil }
        let sink = ContentSink(channel, model: model, cancellation: cancellation)
        do throws(StoreError) { try content.send(to: sink) } catch {
            if channel.isStopped { return nil }
            throw error
        }
        return channel.send(.end) ? CopiedContent(tally: sink.tally) : nil
    }

    func notices() throws(StoreError) -> [String] { content.warnings() }
}

private struct WrittenByFunction: StoreContents {
    let model: ManagedObjectModel
    let write: @Sendable (any PersistentStore) throws(StoreError) -> [String]
    let warnings = Mutex<[String]>([])
    let storeUUID = StoreUUID()

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        (storeUUID, [:])
    }

    func fill(
        _ store: any PersistentStore, by destinationWriter: DestinationWriter, memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent {
        let found = try write(store)
        warnings.withLock { $0 = found }
        memory.sample()
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        guard let recorded = try snapshot.recordedTally() else {
            return CopiedContent(tally: try snapshot.computeTally(), isFlushed: false)
        }
        return CopiedContent(tally: recorded, isFlushed: false)
    }

    func notices() throws(StoreError) -> [String] { warnings.withLock { $0 } }
}

extension MigrationManager {
    /// Fills a new store with `write`, which returns warnings for the user.
    ///
    /// After an error, no part of the new store remains, unless the destination is an open store.
    /// Options for a source store have no effect.
    ///
    /// - Throws: Errors of `write`, and the errors of `convert` for its destination.
    package func make(
        _ destination: ConversionEndpoint, model: ManagedObjectModel, named name: String,
        options: ConversionOptions = ConversionOptions(),
        write: @escaping @Sendable (any PersistentStore) throws(StoreError) -> [String]
    ) throws(StoreError) -> ConversionReport {
        let destinationWriter = DestinationWriter(
            destination: destination, sourceName: name, options: options, registry: registry)
        if let refusal = try destinationWriter.refusals().first { throw refusal }
        if let refusal = try destinationWriter.refusals(for: model).first { throw refusal }
        return try destinationWriter.fill(from: WrittenByFunction(model: model, write: write))
    }

    /// Creates, fills and verifies a new store, as ``convert(from:to:options:)`` does.
    ///
    /// Options for a source store have no effect.
    package func make(
        _ destination: ConversionEndpoint, of content: any MadeContent, named name: String,
        options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        let destinationWriter = DestinationWriter(
            destination: destination, sourceName: name, options: options, registry: registry)
        if let refusal = try destinationWriter.refusals().first { throw refusal }
        if let refusal = try destinationWriter.refusals(for: content.model).first { throw refusal }
        return try destinationWriter.fill(from: MadeContentSource(content: content, cancellation: options.cancellation))
    }
}
