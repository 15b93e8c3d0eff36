public import RoostCore

/// Brings data from one store into another.
///
/// It knows stores only by the contract of ``PersistentStore``, so any registered type converts
/// into any other.
///
/// ```swift
/// let report = try MigrationManager().migrate(
///     from: .location(.sqlite("music.sqlite")), to: .location(.lmdb("music.lmdb")), model: model)
/// print(report)
/// ```
public struct MigrationManager: Sendable {
    /// The types of store that URLs may name.
    public let registry: StoreRegistry

    /// Makes a manager for the store types of `registry`.
    public init(registry: StoreRegistry) { self.registry = registry }

    /// Copies everything of one store into another of any type, verified, all or nothing.
    ///
    /// Streams batches with bounded memory; reading and writing overlap on two threads of their
    /// own, and the caller's thread waits. Object IDs, versions, links with their places, the
    /// store's UUID, the user's metadata and the keys that count as used are carried over. While
    /// reading, an order-independent digest of every record and link is computed; the finished
    /// destination is read again and must have the same. Only then does it get its name,
    /// atomically. After an error or a cancellation nothing is left of it, and an old store that
    /// was to be replaced is unchanged. The source is opened read-only.
    ///
    /// An open, empty store as the destination has its name already: after a failed verification it
    /// keeps the content.
    /// - Throws: `alreadyExists` (without ``ConversionOptions/overwrites``), `invalidRequest` when
    ///   both ends are the same store, `noSpace`, `permissionDenied`, `missingDirectory`,
    ///   `unknownStoreType`, `notAStore`, `corrupted` naming the damaged record,
    ///   `verificationFailed`, `cancelled`, and whatever else the two stores throw.
    public func convert(
        from source: ConversionEndpoint, to destination: ConversionEndpoint,
        options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        try StoreConversion(from: source, to: destination, options: options, registry: registry).run()
    }

    /// Plans ``convert(from:to:options:)`` without writing anything.
    ///
    /// - Throws: Whatever keeps the source from being opened, and `unknownStoreType`. Everything
    ///   else becomes a refusal in the plan.
    public func plan(
        from source: ConversionEndpoint, to destination: ConversionEndpoint,
        options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionPlan {
        try StoreConversion(from: source, to: destination, options: options, registry: registry).plan()
    }
}
