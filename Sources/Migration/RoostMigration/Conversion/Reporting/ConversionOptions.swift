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
    /// It stays as it is until the new one is complete.
    public var overwrites: Bool
    /// Whether damaged records are left out and reported, rather than ending the conversion.
    public var skipsDamaged: Bool
    /// Whether objects of the source that another program changed are taken as they are, rather
    /// than ending the conversion.
    ///
    /// Concerns a source that the conversion opens; see ``StoreOptions/acceptsChanges``. The
    /// report's warnings list what was taken.
    public var acceptsChanges: Bool = false
    /// Whether the finished destination is read again and compared with what was read from the
    /// source.
    public var verifies: Bool = true
    /// The model of the source; nil for the one it embeds.
    ///
    /// Stores that embed none need it.
    public var sourceModel: ManagedObjectModel? = nil
    /// Whether the file of the source may have other names (hard links); see
    /// ``StoreOptions/acceptsLinks``.
    public var acceptsLinks: Bool = false
    /// Options for opening the source, by name; see ``StoreOptions/typeOptions``.
    public var sourceTypeOptions: [String: String] = [:]
    /// Whether the destination gets the history of the source, if that has one.
    ///
    /// Off by default: the history has values of deleted objects; see
    /// ``AttributeDescription/preservesValueInHistoryOnDeletion``. Tokens of the source are good in
    /// the destination too, because both have one identity. Backups and compaction always keep the
    /// history; dumps and migrations never do.
    public var keepsHistory: Bool = false
    /// Options for creating the destination, by name; see ``StoreOptions/typeOptions``.
    public var destinationTypeOptions: [String: String] = [:]
    /// The time to wait for a store that is in use before throwing `busy`, in seconds.
    ///
    /// Each wait may take as long: for the source, for another conversion into the destination, and
    /// for programs that have the store open that is to be replaced or compacted. ``cancellation``
    /// ends the last two.
    public var timeoutSeconds: Double
    /// The bytes of disk space that must stay free beside the estimate for the destination.
    public var reservedBytes: Int = 4 << 20
    /// An object that can cancel the conversion.
    public var cancellation: ConversionCancellation?
    /// Called after each batch and each change of phase, on a thread of the conversion.
    ///
    /// It must be quick.
    public var onProgress: (@Sendable (ConversionProgress) -> Void)?

    /// Makes options.
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
///
/// ```swift
/// let source = try StoreRegistry.standard.open(.sqlite("music.sqlite"))
/// let report = try MigrationManager().convert(
///     from: .store(source), to: .location(.lmdb("music.lmdb")))
/// try source.close()
/// ```
public enum ConversionEndpoint: Sendable {
    /// A store that the conversion opens (the source, read-only) or creates (the destination).
    case location(StoreLocation)
    /// An open store.
    ///
    /// As a destination it must be empty and have the source's model; the conversion does not close
    /// it.
    case store(any PersistentStore)

    /// The location of the store.
    public var location: StoreLocation {
        switch self {
        case .location(let location): location
        case .store(let store): store.location
        }
    }

    /// Returns the type of the store; throws `unknownStoreType`.
    func type(in registry: StoreRegistry) throws(StoreError) -> any PersistentStoreType {
        switch self {
        case .location(let location): try registry.type(named: location.type)
        case .store(let store): store.type
        }
    }
}
