/// A type of store, which creates, finds, opens and removes the stores of one backend.
///
/// Register your own type with ``StoreRegistry/register(_:)``:
///
/// ```swift
/// StoreRegistry.standard.register(SortedFileStoreType())
/// let store = try StoreRegistry.standard.open(.url("sorted:music.store"))
/// ```
///
/// A type with further abilities conforms to additional protocols, such as `CompactingStoreType`.
public protocol PersistentStoreType: Sendable {
    /// The name that precedes the colon in a store URL.
    ///
    /// It starts with a lower-case ASCII letter. One or more lower-case ASCII letters, digits or
    /// hyphens follow.
    var name: String { get }
    /// The capabilities of stores of this type.
    var capabilities: StoreCapabilities { get }

    /// The C libraries that the type uses, with the versions linked into this process.
    ///
    /// Empty by default.
    var libraries: [StoreLibrary] { get }

    /// The options of this type, in addition to the options of every store.
    ///
    /// `requireKnown(_:)` rejects options that are not described here, and a configuration can
    /// set only described options. Empty by default.
    var optionDescriptions: [StoreOptionDescription] { get }

    /// The suffixes of the files that exist beside a store while it is open; empty by default.
    ///
    /// The path of such a file is the store's path and a suffix. A closed store has none of these
    /// files. If such a file exists, do not move, copy or replace the store. The lock file,
    /// `.lock`, is not included.
    var companionSuffixes: [String] { get }

    /// The approximate costs of an object or a link in stores of this type.
    ///
    /// By default, the costs of a slow type.
    var estimatedCosts: StoreCosts { get }

    /// Whether the file at `path` starts with the bytes of a store of this type.
    ///
    /// Returns false if the path is not a readable regular file. Never blocks, and changes nothing.
    func recognizes(fileAt path: String) -> Bool

    /// Reads the metadata of a store, even if another process has the store open.
    ///
    /// Changes nothing. The default implementation opens the store read-only and closes it again.
    func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata

    /// Opens an existing store.
    ///
    /// Recovers a store after a crash. Changes nothing if the store is damaged or does not have the
    /// expected model.
    ///
    /// - Throws: `notFound`, `notAStore`, `unsupportedVersion`, `modelMismatch` if
    ///   ``StoreOptions/model`` is not compatible, `corrupted`, `busy`, `permissionDenied`,
    ///   `readOnly`, `hasOtherNames`, `unsupported`, `invalidRequest` for invalid options.
    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore

    /// Creates an empty store and opens it.
    ///
    /// After a crash, either the complete empty store or nothing exists at the location.
    ///
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`, `unsupported`;
    ///   `invalidRequest` for invalid options; `readOnly` if the options request a read-only store,
    ///   which would stay empty.
    func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore

    /// Removes a store and all of its files.
    ///
    /// Does nothing if the store does not exist.
    ///
    /// - Throws: `busy` if the store is open anywhere; `notAStore` if the file is not a store of
    ///   this type; `permissionDenied`.
    func destroy(_ location: StoreLocation) throws(StoreError)

    /// Replaces the store at `destination` with the closed store at `source`, in one atomic step.
    ///
    /// At any moment, one of the two stores exists at `destination`. Both locations must be in the
    /// same directory. The caller must first sync `source` to disk. On return the replacement is
    /// durable.
    ///
    /// - Parameters:
    ///   - destination: The location to move the store to.
    ///   - source: The store to move. Afterwards no store exists at this location.
    ///   - overwriting: Whether an existing store may be replaced. If false and a store exists at
    ///     `destination`, the call throws `alreadyExists`.
    /// - Throws: `busy` if either store is open anywhere; `notAStore` if the existing file is not a
    ///   store of this type; `invalidRequest` if both locations are the same store.
    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)
}

extension PersistentStoreType {
    /// Opens the store read-only, reads its metadata, and closes it.
    public func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        var options = options
        options.isReadOnly = true
        options.isUnpublished = false
        let store = try open(location, options: options)
        return try store.closing { () throws(StoreError) in try store.metadata() }
    }

    /// Returns an empty list.
    public var companionSuffixes: [String] { [] }

    /// Returns an empty list.
    public var libraries: [StoreLibrary] { [] }
}

/// A library that a type of store uses, with the information that a bug report needs.
public struct StoreLibrary: Sendable, Hashable, Codable {
    /// The library's name, as its authors write it.
    public let name: String
    /// The version that is linked into this process.
    public let version: String
    /// A known problem of this version and its remedy, in one sentence; or nil.
    public let warning: String?

    /// Creates a description of a library.
    public init(name: String, version: String, warning: String? = nil) {
        (self.name, self.version, self.warning) = (name, version, warning)
    }
}

/// The options for opening or creating a store.
///
/// ```swift
/// let options = StoreOptions(isReadOnly: true).with { $0.acceptsLinks = true }
/// let store = try StoreRegistry.standard.open(.sqlite("music.sqlite"), options: options)
/// ```
public struct StoreOptions: Sendable, Adjustable {
    /// Whether the store rejects changes.
    public var isReadOnly: Bool
    /// The model that the caller expects; nil to accept the model that the store contains.
    public var model: ManagedObjectModel?
    /// The maximum time to wait for a lock before code `busy`, in seconds.
    ///
    /// A negative number or NaN throws `invalidRequest`.
    public var timeoutSeconds: Double
    /// The identity of a new store; nil for a random one.
    public var storeUUID: StoreUUID? = nil
    /// The user's metadata of a new store.
    public var userMetadata: [String: MetadataValue] = [:]
    /// Whether a new store is hidden from other programs until the caller publishes it.
    ///
    /// If true, bulk loading is about twice as fast, but a crash during the load may damage the
    /// store. The caller publishes the store with
    /// ``PersistentStoreType/replace(_:with:overwriting:)`` or destroys it.
    public var isUnpublished: Bool = false
    /// Whether the caller reads the store only once, and reads each list of records or links to its
    /// end before the next list.
    ///
    /// This is a hint for a store that is opened read-only. A type that normally reads its whole
    /// file on opening may then read the file in pieces, and report damage only on reading the
    /// damaged piece.
    public var isReadOnce: Bool = false
    /// Whether a file that has other names (hard links) may be read.
    ///
    /// False by default, because each name has its own log, and commits in the log of another name
    /// would be missing. Opening such a file for writing always throws `hasOtherNames`.
    public var acceptsLinks: Bool = false
    /// Whether objects that another program changed are accepted.
    ///
    /// False by default: such an object counts as damaged (code `corrupted`). Only changes that
    /// comply with the format can be accepted, and only by stores in SQL databases.
    public var acceptsChanges: Bool = false
    /// Whether the store records its changes; nil does not change the store's setting.
    ///
    /// New stores record nothing unless this is true. The setting is saved in the store, so it need
    /// not be repeated on opening. If you enable it, a history without older changes starts. If you
    /// disable it, the recorded history is removed. Programs that do not support histories cannot
    /// open a store that has a history (code `unsupportedVersion`).
    ///
    /// ```swift
    /// let options = StoreOptions().with { $0.tracksHistory = true }
    /// let store = try Store.open(.sqlite("music.sqlite"), model: model, options: options)
    /// ```
    ///
    /// Opening throws:
    ///
    /// - `unsupported` for a type without the capability ``StoreCapability/history``;
    /// - `readOnly` if the store would have to change and is opened read-only;
    /// - `busy` if an SQLite store would have to change and is open elsewhere.
    public var tracksHistory: Bool? = nil
    /// The limits of the store's history; nil does not change the limits.
    ///
    /// Requires a store that records its changes. New histories have no limits.
    public var historyRetention: HistoryRetention? = nil
    /// The clock for the times in the history, in microseconds since 2001-01-01; nil for the system
    /// clock.
    package var historyClock: (@Sendable () -> Int64)? = nil
    /// Options of the store's type, by name.
    ///
    /// An unknown option throws `invalidRequest`.
    public var typeOptions: [String: String]

    /// Creates options.
    public init(
        isReadOnly: Bool = false, model: ManagedObjectModel? = nil, timeoutSeconds: Double = 10,
        typeOptions: [String: String] = [:]
    ) {
        self.isReadOnly = isReadOnly
        self.model = model
        self.timeoutSeconds = timeoutSeconds
        self.typeOptions = typeOptions
    }
}

extension StoreOptions {
    /// Throws if the timeout is negative or not a number.
    ///
    /// - Throws: `invalidRequest`.
    public func requireValidTimeout() throws(StoreError) {
        guard timeoutSeconds >= 0 else {
            throw StoreError(.invalidRequest, "A timeout must be 0 seconds or more; it is \(timeoutSeconds).")
        }
    }

    /// Throws if the options request a read-only store, because a new store could not be filled.
    ///
    /// - Throws: `readOnly`.
    public func requireWritable() throws(StoreError) {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "A new store cannot be opened read-only; create it first.")
        }
    }
}
