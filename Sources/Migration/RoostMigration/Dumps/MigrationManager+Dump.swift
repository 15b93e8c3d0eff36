public import RoostCore

extension MigrationManager {
    /// Writes the content of a store as JSON Lines, from one snapshot.
    ///
    /// DUMP-FORMAT.md describes the format. The text has the exact value of every property. Stores
    /// with equal models, content, versions, UUID, metadata and last keys give equal text. Before
    /// the last line is written, the content read is compared with the tally of the last commit.
    /// Memory is bounded, except for the list of keys of a partial dump. After an error, the last
    /// line is missing or incomplete, so `load` refuses the text.
    ///
    /// - Parameters:
    ///   - store: The store. Other writers may change it during the dump.
    ///   - entities: The entities to dump, including subentities; nil for all content. A link is
    ///     written if either of its objects is written.
    ///   - cancellation: An object that can cancel the dump.
    ///   - sink: Receives the next bytes of the text.
    /// - Returns: The digest of the written content. For a complete dump, it equals the store's
    ///   digest.
    /// - Throws: `unknownEntity`, suggesting the nearest name; `corrupted`, naming the damaged
    ///   record or the content that differs from the tally of the last commit; `cancelled`; errors
    ///   of `sink`.
    @discardableResult
    public func dump(
        _ store: any PersistentStore, entities: [EntityName]? = nil, cancellation: ConversionCancellation? = nil,
        to sink: @escaping ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreDigest {
        var chosen: [ManagedObjectModel.Entity]?
        if let entities {
            var resolved: [ManagedObjectModel.Entity] = []
            for name in entities { resolved.append(try store.model.requireEntity(name)) }
            chosen = resolved
        }
        // Objects and metadata must come from the same commit.
        let frozen = try FrozenStore(store)
        defer { try? frozen.close() }
        let (metadata, snapshot) = (try frozen.metadata(), try frozen.snapshot())
        var writer = DumpWriter(
            snapshot, of: store, scope: DumpScope(store.model, entities: chosen), cancellation: cancellation, to: sink)
        return try writer.write(metadata)
    }

    /// Loads a dump into a new store, and verifies the store.
    ///
    /// An error leaves no new store, unless the destination is an open store. A complete dump gives
    /// a store with the same content, object IDs, versions, metadata and used keys. An open
    /// destination keeps its own UUID; otherwise the UUIDs are equal. As in
    /// ``convert(from:to:options:)``, the finished destination is read again before it is
    /// published. The content of the dump is compared with its last line. Memory is bounded, except
    /// for the list of keys of a partial dump.
    ///
    /// - Parameters:
    ///   - destination: The new store.
    ///   - name: The name of the text for messages and the report: a path, or `standard input`.
    ///   - allowsDangling: Whether to leave out and report references and links to objects outside
    ///     a partial dump, instead of refusing the dump.
    ///   - options: The options. Options for a source store have no effect.
    ///   - source: Copies the dump's next bytes into a buffer, and returns their number. It is
    ///     called on the caller's thread, then on a thread of the load, and is not called again
    ///     after it returned 0.
    /// - Returns: The report.
    /// - Throws: `notAStore` if the text is not a dump; `unsupportedVersion`; `corrupted` with line
    ///   and column if the text is damaged, truncated, or contradicts its last line;
    ///   `invalidModel`; `objectNotFound` for references to objects outside a partial dump;
    ///   errors of ``convert(from:to:options:)`` for its destination; errors of `source`.
    public func load(
        into destination: ConversionEndpoint, from name: String, allowsDangling: Bool = false,
        options: ConversionOptions = ConversionOptions(),
        source: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int
    ) throws(StoreError) -> ConversionReport {
        let destinationWriter = DestinationWriter(
            destination: destination, sourceName: name, options: options, registry: registry)
        if let refusal = try destinationWriter.refusals().first { throw refusal }
        let content = try DumpContent(
            name: name, allowsDangling: allowsDangling, cancellation: options.cancellation, source: source)
        if let refusal = try destinationWriter.refusals(for: content.model).first { throw refusal }
        return try destinationWriter.fill(from: content)
    }
}
