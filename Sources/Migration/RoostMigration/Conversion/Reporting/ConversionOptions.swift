public import RoostCore

/// Options for a conversion.
///
/// ```swift
/// let options = ConversionOptions(
///     overwrites: true, timeoutSeconds: 30, onProgress: { print($0.phase, $0.objects) })
/// let report = try store.convert(to: .lmdb("music.lmdb"), options: options)
/// ```
public struct ConversionOptions: Sendable, Adjustable {
    /// Whether an existing store of the destination's type is replaced.
    ///
    /// The existing store is unchanged until the new one is complete.
    public var overwrites: Bool
    /// Whether to skip and report damaged records, instead of failing the conversion.
    public var skipsDamaged: Bool
    /// Whether to accept objects of the source that another program changed, instead of failing the
    /// conversion.
    ///
    /// Applies only to a source that the conversion opens. See ``StoreOptions/acceptsChanges``. The
    /// report's warnings list the accepted changes.
    public var acceptsChanges: Bool = false
    /// Whether the finished destination is read again and compared with the content read from the
    /// source.
    public var verifies: Bool = true
    /// The model of the source, or nil for the model embedded in the source.
    ///
    /// Required for stores without an embedded model.
    public var sourceModel: ManagedObjectModel? = nil
    /// Whether the source file may have other hard links.
    ///
    /// See ``StoreOptions/acceptsLinks``.
    public var acceptsLinks: Bool = false
    /// Options for opening the source, by name.
    ///
    /// See ``StoreOptions/typeOptions``.
    public var sourceTypeOptions: [String: String] = [:]
    /// Whether the source's history is copied to a destination that the conversion creates.
    ///
    /// Off by default, because the history can contain values of deleted objects. See
    /// ``AttributeDescription/preservesValueInHistoryOnDeletion``. A destination with the history
    /// accepts the source's history tokens, because both stores have the same UUID. Backups and
    /// compaction always copy the history. Dumps and migrations never do.
    public var keepsHistory: Bool = false
    /// Options for creating the destination, by name.
    ///
    /// See ``StoreOptions/typeOptions``.
    public var destinationTypeOptions: [String: String] = [:]
    /// The time in seconds to wait for a store that is in use; then the conversion throws `busy`.
    ///
    /// The limit applies to each wait separately: for the source, for another conversion into the
    /// destination, and for other users of a store that is replaced or compacted.
    /// ``cancellation`` ends the last two waits.
    public var timeoutSeconds: Double
    /// The disk space that must stay free in addition to the estimate for the destination, in
    /// bytes.
    public var reservedBytes: Int = 4 << 20
    /// An object that can cancel the conversion.
    public var cancellation: ConversionCancellation?
    /// A closure that is called after each batch and before each phase without batches, on any
    /// thread.
    ///
    /// It must return quickly.
    public var onProgress: (@Sendable (ConversionProgress) -> Void)?

    /// Creates options.
    public init(
        overwrites: Bool = false, skipsDamaged: Bool = false, timeoutSeconds: Double = 10,
        cancellation: ConversionCancellation? = nil, onProgress: (@Sendable (ConversionProgress) -> Void)? = nil
    ) {
        self.overwrites = overwrites
        self.skipsDamaged = skipsDamaged
        self.timeoutSeconds = timeoutSeconds
        self.cancellation = cancellation
        self.onProgress = onProgress
    }
}

/// One end of a conversion.
public enum ConversionEndpoint: Sendable {
    /// A store that the conversion opens (the source, read-only) or creates (the destination).
    case location(StoreLocation)
    /// An open store.
    ///
    /// An open destination must be empty and have the model of the new content. The conversion does
    /// not close the store.
    case store(any PersistentStore)

    /// The location of the store.
    public var location: StoreLocation {
        switch self {
        case .location(let location): location
        case .store(let store): store.location
        }
    }

    func type(in registry: StoreRegistry) throws(StoreError) -> any PersistentStoreType {
        switch self {
        case .location(let location): try registry.type(named: location.type)
        case .store(let store): store.type
        }
    }
}
