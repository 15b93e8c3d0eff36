public import RoostCore

/// A manager that copies and migrates data from one store to another.
///
/// A store of any registered type can be converted to any registered type that supports writing.
///
/// ```swift
/// let report = try MigrationManager().migrate(
///     from: .location(.sqlite("music.sqlite")), to: .location(.lmdb("music.lmdb")), model: model)
/// print(report)
/// ```
public struct MigrationManager: Sendable {
    /// The registry of the store types that locations can name.
    public let registry: StoreRegistry

    /// Creates a manager for the store types of `registry`.
    public init(registry: StoreRegistry) { self.registry = registry }

    /// Copies all content of one store into another of any type, and verifies the copy.
    ///
    /// Streams batches with bounded memory. Reading and writing overlap on two threads. Preserves
    /// object IDs, versions, links with their positions, the store's UUID, the user metadata and
    /// the last used keys. Unless ``ConversionOptions/verifies`` is false, reads the finished
    /// destination again, and compares order-independent digests of all records and links. Then
    /// publishes the destination atomically. After an error or a cancellation, no part of the new
    /// store remains, and an existing store at its path is unchanged. A source given by location is
    /// opened read-only.
    ///
    /// A destination that is an open, empty store is already published and keeps its own UUID. If
    /// an error follows the load, such as a failed verification, this store keeps the new content.
    ///
    /// - Throws: `alreadyExists` (without ``ConversionOptions/overwrites``), `unsupported` if the
    ///   destination's type is read-only, `invalidRequest` if both ends are the same store or an
    ///   open destination is not empty, `modelMismatch` if an open destination has another model,
    ///   `noSpace`, `permissionDenied`, `missingDirectory`, `unknownStoreType`, `notAStore`,
    ///   `corrupted` naming the damaged record, `verificationFailed`, `cancelled`, and other errors
    ///   of the two stores.
    public func convert(
        from source: ConversionEndpoint, to destination: ConversionEndpoint,
        options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        try StoreConversion(from: source, to: destination, options: options, registry: registry).run()
    }

    /// Plans ``convert(from:to:options:)`` without writing anything.
    ///
    /// - Throws: `unknownStoreType`; errors from opening and reading the source. The reasons to
    ///   refuse the conversion are in the plan.
    public func plan(
        from source: ConversionEndpoint, to destination: ConversionEndpoint,
        options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionPlan {
        try StoreConversion(from: source, to: destination, options: options, registry: registry).plan()
    }
}
