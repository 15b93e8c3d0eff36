public import RoostCore
public import RoostMigration

extension Store {
    /// Examines the whole store and returns everything that is wrong with it.
    ///
    /// Damage, violations of the model's rules, and references without an answer are found; nothing
    /// is changed.
    ///
    /// - Parameter limit: The most findings of one kind and property that are listed one by one.
    /// - Returns: The findings, damage first; empty for a sound store.
    /// - Throws: What keeps the check from being made: `closed`, `ioFailure`, `busy`.
    public func check(limit: Int = 100) throws(StoreError) -> [StoreFinding] {
        try checkStore(persistentStore, limit: limit)
    }

    /// Copies the store into a new one of the same type, as it is now, while others read and write
    /// it.
    ///
    /// The copy is read again and compared before it gets its name. After an error nothing is left
    /// of it. Needs the space of one more copy.
    ///
    /// ```swift
    /// try store.backUp(to: .sqlite("monday.sqlite"))
    /// ```
    ///
    /// - Parameters:
    ///   - destination: The place of the copy.
    ///   - options: Whether a copy that exists is replaced, progress and cancellation.
    /// - Returns: A report of the copy.
    /// - Throws: `unsupported` for a type whose stores are not files; `invalidRequest` for a
    ///   destination of another type; `alreadyExists`, `noSpace`, `corrupted`, `cancelled`.
    @discardableResult
    public func backUp(
        to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        try StoreMaintenance(registry: registry).backUp(.store(persistentStore), to: destination, options: options)
    }

    /// Copies the store into a new one of any type, as it is now, while others read and write it.
    ///
    /// Objects keep their IDs. The copy is read again and compared before it gets its name. After
    /// an error nothing is left of it. Memory is bounded.
    ///
    /// - Parameters:
    ///   - destination: The place of the copy.
    ///   - options: Whether a copy that exists is replaced, progress and cancellation.
    /// - Returns: A report of the copy.
    /// - Throws: `alreadyExists`, `unsupported`, `noSpace`, `corrupted`, `cancelled`.
    @discardableResult
    public func convert(
        to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        try MigrationManager(registry: registry).convert(
            from: .store(persistentStore), to: .location(destination), options: options)
    }

    /// Rewrites the store's file so that it takes as little space as a new copy.
    ///
    /// A crash leaves the store as it was or compacted.
    ///
    /// - Parameter options: Timeout, cancellation and progress.
    /// - Returns: The space before and after.
    /// - Throws: `busy` for a type that cannot be compacted while it is open: close the store, and
    ///   use ``StoreMaintenance/compact(_:options:)``; `unsupported` for a type whose stores are
    ///   not files; `noSpace`, `corrupted`, `cancelled`, `closed`.
    @discardableResult
    public func compact(options: ConversionOptions = ConversionOptions()) throws(StoreError) -> CompactionReport {
        // The file could be compacted without the store, but a closed store does nothing.
        _ = try metadata()
        return try StoreMaintenance(registry: registry).compact(location, options: options)
    }

    /// Writes everything in the store as JSON Lines, as it is now.
    ///
    /// - Parameters:
    ///   - entities: The entities whose objects are written; nil for everything.
    ///   - sink: Receives the next bytes of the text.
    /// - Returns: The digest of what was written.
    /// - Throws: `unknownEntity`, `corrupted`, `cancelled`, and what `sink` throws. The text then
    ///   has no last line, so that it cannot be taken for a whole one.
    @discardableResult
    public func dump(
        entities: [EntityName]? = nil, to sink: @escaping ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreDigest {
        try MigrationManager(registry: registry).dump(persistentStore, entities: entities, to: sink)
    }
}
