public import RoostCore

extension MigrationManager {
    /// Writes what a store holds as JSON Lines, from one snapshot.
    ///
    /// The text has a first line with format, model and metadata, one line for each object, lines
    /// of links, and a last line with counts, digest and checksum; DUMP-FORMAT.md describes it.
    /// The text has the exact value of every property, and the same content gives the same text.
    /// Before the last line, the dump compares what it wrote with the tally of the last commit.
    /// Memory is bounded, whatever the size of the store. After an error the text has no last line,
    /// so a reader recognizes it as incomplete.
    ///
    /// - Parameters:
    ///   - store: The store; others may write meanwhile.
    ///   - entities: The entities whose objects are written, those of subentities included; nil for
    ///     everything. Links are written where an object at either end is.
    ///   - cancellation: An object that can cancel the dump.
    ///   - sink: Takes the next bytes of the text; the call rethrows its errors.
    /// - Returns: The digest of what was written, which is the store's when everything was.
    /// - Throws: `unknownEntity`, naming the nearest one; `corrupted`, naming the damaged record,
    ///   or what is not as the last commit recorded it; `cancelled`; what `sink` throws.
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
        // Objects and metadata of one commit, whatever others commit meanwhile.
        let frozen = try FrozenStore(store)
        defer { try? frozen.close() }
        let (metadata, snapshot) = (try frozen.metadata(), try frozen.snapshot())
        var writer = DumpWriter(
            snapshot, of: store, scope: DumpScope(store.model, entities: chosen), cancellation: cancellation, to: sink)
        return try writer.write(metadata)
    }

    /// Reads a dump into a new store, verified, all or nothing.
    ///
    /// What ``dump(_:entities:cancellation:to:)`` wrote of a whole store becomes a store with the
    /// same content, object IDs, versions, UUID, metadata and used keys. The dump is compared with
    /// its last line, and the finished destination is read again, before it gets its name, as in
    /// ``convert(from:to:options:)``. After an error or a cancellation nothing is left of it.
    /// Memory is bounded whatever the size of the dump.
    /// - Parameters:
    ///   - destination: The new store.
    ///   - name: The name of the text in messages and in the report: a path, or `standard input`.
    ///   - allowsDangling: Whether references and links to objects that a dump of some entities
    ///     does not hold are left out, and counted in the report, rather than refused.
    ///   - options: The options; those about a source store have no effect.
    ///   - source: Gives the dump's bytes, on a thread of the load; it is not called again after it
    ///     gave none.
    /// - Returns: What was loaded.
    /// - Throws: `notAStore` for a text that is not a dump; `unsupportedVersion`; `corrupted` with
    ///   line and column for a text that is damaged, cut off, or not what its last line says;
    ///   `invalidModel`; `objectNotFound` for references out of a dump of some entities; what
    ///   ``convert(from:to:options:)`` throws about its destination; what `source` throws.
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
