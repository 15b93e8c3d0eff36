public import RoostCore
public import RoostMigration

extension Store {
    /// Checks the whole store, and returns the problems found.
    ///
    /// The check finds damage, violations of the model's rules, and one-to-one references without a
    /// reference back. It changes nothing.
    ///
    /// - Parameter limit: The maximum number of findings for each kind and property.
    /// - Returns: The findings, damage first.
    /// - Throws: The error that prevents the check: `closed`, `ioFailure`, `busy`.
    public func check(limit: Int = 100) throws(StoreError) -> [StoreFinding] {
        try checkStore(persistentStore, limit: limit)
    }

    /// Copies the store's current state to a new store of the same type.
    ///
    /// Other programs may read and write the store during the copy. The copy is read again and
    /// compared with the source before it is published. After an error, the copy is removed. The
    /// copy needs as much space as the source.
    ///
    /// ```swift
    /// try store.backUp(to: .sqlite("monday.sqlite"))
    /// ```
    ///
    /// - Parameters:
    ///   - destination: The location of the copy.
    ///   - options: The options. Options for opening the source have no effect.
    /// - Returns: A report of the copy.
    /// - Throws: `unsupported` for a type whose stores are not files; `invalidRequest` for a
    ///   destination of another type; `alreadyExists`, `noSpace`, `corrupted`, `cancelled`.
    @discardableResult
    public func backUp(
        to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        try StoreMaintenance(registry: registry).backUp(.store(persistentStore), to: destination, options: options)
    }

    /// Copies the store's current state to a new store of any type.
    ///
    /// Other programs may read and write the store during the copy. Objects keep their IDs. By
    /// default, the copy is read again and compared with the source before it is published. After
    /// an error, the copy is removed. Memory is bounded.
    ///
    /// - Parameters:
    ///   - destination: The location of the copy.
    ///   - options: The options. Options for opening the source have no effect.
    /// - Returns: A report of the copy.
    /// - Throws: `alreadyExists`, `unsupported`, `noSpace`, `corrupted`, `cancelled`.
    @discardableResult
    public func convert(
        to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        try MigrationManager(registry: registry).convert(
            from: .store(persistentStore), to: .location(destination), options: options)
    }

    /// Rewrites the store's file so that it is as small as a new copy.
    ///
    /// A crash leaves the store either unchanged or compacted.
    ///
    /// - Parameter options: See ``StoreMaintenance/compact(_:options:)``.
    /// - Returns: A report with the sizes before and after.
    /// - Throws: `busy` for a type that cannot compact an open store: close the store, and use
    ///   ``StoreMaintenance/compact(_:options:)``; `unsupported` for a type whose stores are not
    ///   files; `noSpace`, `corrupted`, `cancelled`, `closed`.
    @discardableResult
    public func compact(options: ConversionOptions = ConversionOptions()) throws(StoreError) -> CompactionReport {
        // This call throws if the store is closed.
        _ = try metadata()
        return try StoreMaintenance(registry: registry).compact(location, options: options)
    }

    /// Writes the store's current content as JSON Lines.
    ///
    /// - Parameters:
    ///   - entities: The entities to write, or nil for the whole content.
    ///   - sink: A closure that receives the next bytes of the text.
    /// - Returns: The digest of the written content.
    /// - Throws: `unknownEntity`, `corrupted`, and the errors of `sink`. After an error, the text
    ///   lacks its last line.
    @discardableResult
    public func dump(
        entities: [EntityName]? = nil, to sink: @escaping ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreDigest {
        try MigrationManager(registry: registry).dump(persistentStore, entities: entities, to: sink)
    }
}
