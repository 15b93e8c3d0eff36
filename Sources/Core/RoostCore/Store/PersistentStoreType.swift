/// A type of store, which creates, recognizes, opens and removes the stores of one backend.
///
/// Register your own type with ``StoreRegistry/register(_:)``:
///
/// ```swift
/// StoreRegistry.standard.register(SortedFileStoreType())
/// let store = try StoreRegistry.standard.open(.url("sorted:music.store"))
/// ```
///
/// Types with further abilities conform to protocols such as `CompactingStoreType`.
public protocol PersistentStoreType: Sendable {
    /// The name that precedes the colon in a store URL.
    ///
    /// It is a lower-case ASCII letter, then one or more lower-case ASCII letters, digits or
    /// hyphens.
    var name: String { get }
    /// The capabilities of stores of this type.
    var capabilities: StoreCapabilities { get }

    /// The C libraries of the type, with the versions linked into this process; empty by default.
    var libraries: [StoreLibrary] { get }

    /// The options of this type, in addition to the options of every store; empty by default.
    ///
    /// `requireKnown(_:)` rejects all other type options. A configuration can set only these and
    /// the history's options.
    var optionDescriptions: [StoreOptionDescription] { get }

    /// The suffixes of files beside a store that is open or was not closed; empty by default.
    ///
    /// The path of such a file is the store's path plus a suffix. While one exists, do not move,
    /// copy or replace the store. The lock file, `.lock`, is not included.
    var companionSuffixes: [String] { get }

    /// The approximate costs of an object or a link; by default, the costs of a slow type.
    var estimatedCosts: StoreCosts { get }

    /// Whether the file at `path` starts with the bytes of a store of this type.
    ///
    /// Returns false if the path is not a readable regular file. Never blocks, and changes nothing.
    func recognizes(fileAt path: String) -> Bool

    /// Reads a store's metadata, even if another process has the store open; changes nothing.
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
    ///   `invalidRequest` for invalid options; `readOnly` if the options request a read-only store.
    func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore

    /// Removes a store, if it exists, and all of its files.
    ///
    /// - Throws: `busy` if the store is open anywhere; `notAStore` if the file is not a store of
    ///   this type; `permissionDenied`.
    func destroy(_ location: StoreLocation) throws(StoreError)

    /// Replaces the store at `destination` with the closed store at `source`, in one atomic step.
    ///
    /// At any moment, `destination` has its old content or the new store. Both locations must be in
    /// the same directory. The caller must first sync `source` to disk. On return, the replacement
    /// is durable.
    ///
    /// - Parameters:
    ///   - destination: The location to move the store to.
    ///   - source: The store to move. Afterwards no store exists at this location.
    ///   - overwriting: Whether to replace an existing store; if false, such a store causes
    ///     `alreadyExists`.
    /// - Throws: `busy` if either store is open anywhere; `notAStore` if the existing file is not a
    ///   store of this type; `invalidRequest` if both locations are the same store.
    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)
}

extension PersistentStoreType {
    /// Opens the store read-only, reads its metadata, and closes it.
    public func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        let store = try open(location, options: options.forReading.with { $0.isUnpublished = false })
        return try store.closing { () throws(StoreError) in try store.metadata() }
    }

    /// Returns an empty list.
    public var companionSuffixes: [String] { [] }

    /// Returns an empty list.
    public var libraries: [StoreLibrary] { [] }
}

/// A description, for bug reports, of a library that a type of store uses.
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
    /// The expected model; nil to accept the store's own model.
    public var model: ManagedObjectModel?
    /// The maximum time to wait for a lock before code `busy`, in seconds.
    ///
    /// A negative number or NaN throws `invalidRequest`.
    public var timeoutSeconds: Double
    /// The identity of a new store; nil for a random one.
    public var storeUUID: StoreUUID? = nil
    /// The user's metadata of a new store.
    public var userMetadata: [String: MetadataValue] = [:]
    /// Whether the caller hides a new store from other programs until it publishes the store.
    ///
    /// If true, bulk loading is about twice as fast, but a crash during the load may damage the
    /// store. The caller publishes the store with
    /// ``PersistentStoreType/replace(_:with:overwriting:)`` or destroys it.
    public var isUnpublished: Bool = false
    /// Whether the caller reads each list of records or links at most once, one list at a time.
    ///
    /// This is a hint for read-only stores. A type that normally loads its whole file may then read
    /// it in pieces, and report damage only when it reads the damaged piece.
    public var isReadOnce: Bool = false
    /// Whether a file that has other names (hard links) may be read.
    ///
    /// False by default: each name has its own log, so commits in another name's log would be
    /// missing. Opening such a file for writing always throws `hasOtherNames`.
    public var acceptsLinks: Bool = false
    /// Whether objects that another program changed are accepted.
    ///
    /// False by default: such an object counts as damaged (code `corrupted`). Only stores in SQL
    /// databases can accept changes, which must comply with the format.
    public var acceptsChanges: Bool = false
    /// Whether the store records its changes; nil keeps the store's setting.
    ///
    /// The setting is saved in the store; new stores record nothing by default. Enabling it starts
    /// a history without older changes. Disabling it removes the history. Programs that do not
    /// support histories cannot open a store with a history (code `unsupportedVersion`).
    ///
    /// Opening throws:
    ///
    /// - `unsupported` for a type without the capability ``StoreCapability/history``;
    /// - `readOnly` if the store would have to change and is opened read-only;
    /// - `busy` if an SQLite store would have to change and is open elsewhere.
    public var tracksHistory: Bool? = nil
    /// The limits of the store's history; nil keeps the limits.
    ///
    /// Requires a store that records its changes. New histories have no limits.
    public var historyRetention: HistoryRetention? = nil
    /// The history's clock, in microseconds since 2001-01-01; nil for the system clock.
    package var historyClock: (@Sendable () -> Int64)? = nil
    /// Options of the store's type, by name; an unknown name throws `invalidRequest`.
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
    /// Throws `invalidRequest` if the timeout is negative or not a number.
    public func requireValidTimeout() throws(StoreError) {
        guard timeoutSeconds >= 0 else {
            throw StoreError(.invalidRequest, "A timeout must be 0 seconds or more; it is \(timeoutSeconds).")
        }
    }

    /// These options for a read-only store, without the settings of the history.
    ///
    /// A store that is opened read-only cannot change its history, so these settings could throw
    /// `readOnly`.
    package var forReading: StoreOptions {
        with { ($0.isReadOnly, $0.tracksHistory, $0.historyRetention) = (true, nil, nil) }
    }

    /// Throws `readOnly` if the options request a read-only store; a new one would stay empty.
    public func requireWritable() throws(StoreError) {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "A new store cannot be opened read-only; create it first.")
        }
    }
}
