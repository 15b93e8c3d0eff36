package import RoostCore

/// Content that is made of something other than a store, such as a text or a foreign database.
package protocol MadeContent: Sendable {
    /// The model of the new store.
    var model: ManagedObjectModel { get }

    /// Sends all records and links, once, on a thread of the call.
    ///
    /// The links of a relationship follow the records. Ascending keys load fastest.
    ///
    /// - Throws: Errors of what is read, and the errors of `sink`.
    func send(to sink: ContentSink) throws(StoreError)

    /// Returns what the user should know; called after ``send(to:)``.
    func warnings() -> [String]
}

/// Takes the records and links of a new store.
///
/// One thread uses it.
package final class ContentSink {
    private let channel: BatchChannel
    private let model: ManagedObjectModel
    private let cancellation: ConversionCancellation?
    private(set) var tally: StoreTally

    init(_ channel: BatchChannel, model: ManagedObjectModel, cancellation: ConversionCancellation?) {
        (self.channel, self.model, self.cancellation) = (channel, model, cancellation)
        tally = StoreTally(model: model)
    }

    /// Returns an empty batch, whose memory was used before if possible.
    package func emptyRecords() -> RecordBatch { channel.spareRecords(model) }

    /// Returns an empty batch for the links of a relationship, given by its number.
    package func emptyLinks(_ relationship: Int) -> LinkBatch { channel.spareLinks(relationship) }

    /// Sends records of one hierarchy, waiting for room.
    ///
    /// - Throws: `cancelled`, also if the other thread has failed; its error then counts.
    package func send(_ records: consuming RecordBatch) throws(StoreError) {
        try cancellation?.check()
        tally.add(records)
        guard channel.send(.records(records)) else { throw Self.stopped }
    }

    /// Sends links, waiting for room.
    ///
    /// - Throws: `cancelled`, also if the other thread has failed; its error then counts.
    package func send(_ links: consuming LinkBatch) throws(StoreError) {
        try cancellation?.check()
        tally.add(links)
        guard channel.send(.links(links)) else { throw Self.stopped }
    }

    private static let stopped = StoreError(.cancelled, "The new store accepts no more content.")
}

/// Made content, read as any other.
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

/// Content that a function writes into the new store.
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
    /// Makes a new store that a function writes into, verified, all or nothing.
    ///
    /// - Parameters:
    ///   - destination: The new store.
    ///   - model: Its model.
    ///   - name: The name of the source, for messages and the report.
    ///   - options: How; the options of a source store have no effect.
    ///   - write: Writes into the store, and returns what the user should know.
    /// - Returns: What was made.
    /// - Throws: Errors of `write`, and the errors of `convert` about its destination.
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

    /// Makes a new store of content, verified, all or nothing, as ``convert(from:to:options:)``
    /// does.
    ///
    /// - Parameters:
    ///   - destination: The new store.
    ///   - content: The content.
    ///   - name: The name of its source, for messages and the report.
    ///   - options: How; the options of a source store have no effect.
    /// - Returns: What was made.
    /// - Throws: Errors of the content, and the errors of `convert` about its destination.
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
