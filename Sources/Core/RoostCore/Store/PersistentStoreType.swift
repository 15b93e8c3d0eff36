/// A type of store: what makes, finds, opens and removes stores of one backend.
///
/// Third parties register theirs with ``StoreRegistry/register(_:)``.
public protocol PersistentStoreType: Sendable {
    /// The name that stands before the colon of a store URL: lower-case ASCII letters, digits and hyphens.
    var name: String { get }
    /// What stores of this type can do.
    var capabilities: StoreCapabilities { get }

    /// The libraries that keep the stores of this type, as they are linked into this process; empty without any.
    var libraries: [StoreLibrary] { get }

    /// The options that stores of this type have besides those of every store; none unless the type says so.
    ///
    /// A configuration can set only options that are described here, and ``requireKnown(_:)`` refuses all others.
    var optionDescriptions: [StoreOptionDescription] { get }

    /// The suffixes of the files that the type keeps beside a store while it is open; empty by
    /// default.
    ///
    /// A file's path is the store's path and a suffix. A closed store has none of these files, so a
    /// program that moves, copies or replaces a store looks for them first. The lock file, `.lock`,
    /// is not among them.
    var companionSuffixes: [String] { get }

    /// The approximate cost of an object in stores of this type; those of a slow type by default.
    var estimatedCosts: StoreCosts { get }

    /// Whether the file at `path` looks like a store of this type, by its first bytes.
    ///
    /// Never throws and never blocks: whatever is not a readable regular file is not recognized. Changes nothing.
    func recognizes(fileAt path: String) -> Bool

    /// Reads the metadata of a closed or open store without opening it for longer.
    ///
    /// Changes nothing.
    func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata

    /// Opens an existing store.
    ///
    /// Changes nothing unless the store is sound and matches; a store that was left behind by a crash is recovered.
    /// - Throws: `notFound`, `notAStore`, `unsupportedVersion`, `modelMismatch` (when ``StoreOptions/model`` is given and not
    ///   compatible), `corrupted`, `busy`, `permissionDenied`, `readOnly`, `hasOtherNames`.
    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore

    /// Creates an empty store and opens it.
    ///
    /// A crash leaves the whole empty store or nothing under its name.
    /// ``ManagedObjectModel/remarks`` lists what the model declares and the store does not act on.
    ///
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`, `unsupported`; `readOnly` when the options ask for a
    ///   store that cannot be changed, which would stay empty.
    func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore

    /// Removes a store and everything beside it that belongs to it.
    ///
    /// A store that does not exist is no error.
    ///
    /// - Throws: `busy` when the store is open anywhere; `notAStore` when the file is something else; `permissionDenied`.
    func destroy(_ location: StoreLocation) throws(StoreError)

    /// Puts the closed store at `source` in the place of `destination`, atomically: at any instant the old one or the new one is there.
    ///
    /// Both must be in the same directory. `source` must be synced already; on return the new name is durable.
    /// - Parameters:
    ///   - destination: The name the store gets.
    ///   - source: The store that moves; it is gone under this name afterwards.
    ///   - overwriting: Whether an existing store may be replaced; if not and there is one, throws `alreadyExists`.
    /// - Throws: `busy` when either store is open anywhere; `notAStore` when the file to be replaced is something else; `invalidRequest` when both are the same store.
    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError)

    /// Makes a store's file as small as the type can while others have the store open, in one atomic step.
    ///
    /// Others go on reading; writers wait. Whatever happens, also to the process, the store holds what it held. Content and
    /// identity stay, the generation too.
    /// - Parameters:
    ///   - location: The store.
    ///   - options: How to open it for that.
    ///   - isCancelled: Asked now and then from the calling thread; true ends it with code `cancelled`, the store as it was.
    /// - Returns: Whether the file is small already; false when readers of the old state keep the space until they end.
    /// - Throws: `busy` where a type cannot do that while somebody else has the store open, or a writer does not end in time;
    ///   `noSpace`; `verificationFailed` when the content is not what it was, which a damaged disk can do.
    func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool

    /// Which of some models can be the one that a store was made with that holds none.
    ///
    /// The default gives nil, for types whose stores hold their models. Changes nothing.
    ///
    /// - Parameters:
    ///   - models: The models, as the versions of one.
    ///   - location: The store.
    ///   - options: How to open it; their ``StoreOptions/model`` is not used.
    /// - Returns: The positions of those that everything in the store belongs to, and nothing is missing of; nil when the store holds a
    ///   model, or the options name one.
    /// - Throws: What keeps the store from being opened.
    func fittingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]?
}

extension PersistentStoreType {
    /// Opens the store read-only, asks it, and closes it: costs what opening costs.
    public func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        var options = options
        options.isReadOnly = true
        options.isUnpublished = false
        let store = try open(location, options: options)
        return try store.closing { () throws(StoreError) in try store.metadata() }
    }

    /// Nil: the stores of the type hold their models.
    public func fittingModels(
        among models: [ManagedObjectModel], storeAt location: StoreLocation, options: StoreOptions
    ) throws(StoreError) -> [Int]? { nil }

    /// The default for types whose stores are always one file.
    public var companionSuffixes: [String] { [] }

    /// None: a type whose stores need no library of their own.
    public var libraries: [StoreLibrary] { [] }

    /// Throws code `busy`: a type that cannot do it.
    public func compactWhileOpen(
        _ location: StoreLocation, options: StoreOptions, isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> Bool {
        throw StoreError(
            .busy,
            "'\(location.path)' is open in another program, or elsewhere in this one; a store of type '\(name)' can be compacted only while nobody has it open. Close it there and try again."
        )
    }
}

/// A library that a type of store relies on, for bug reports and for known bugs.
public struct StoreLibrary: Sendable, Hashable, Codable {
    /// The library's name, as its authors write it.
    public let name: String
    /// The version that is linked into this process.
    public let version: String
    /// What its user should know about this version, one sentence with the remedy; nil when there is nothing.
    public let warning: String?

    /// Makes a description of a library.
    public init(name: String, version: String, warning: String? = nil) {
        (self.name, self.version, self.warning) = (name, version, warning)
    }
}

/// How to open or create a store.
public struct StoreOptions: Sendable, Adjustable {
    /// Whether changes are refused.
    public var isReadOnly: Bool
    /// The model the caller expects; nil takes whatever the store embeds.
    public var model: ManagedObjectModel?
    /// How long a writer waits for another process or thread before code `busy`, in seconds; `invalidRequest` if negative or not a number.
    public var timeoutSeconds: Double
    /// The identity of a new store; nil for a random one.
    public var storeUUID: StoreUUID? = nil
    /// The user's metadata of a new store.
    public var userMetadata: [String: MetadataValue] = [:]
    /// Whether the new store's name is known to nobody, so that a crash before the bulk loader finished may leave it damaged.
    ///
    /// Makes bulk loading about twice as fast. The caller publishes the store with
    /// ``PersistentStoreType/replace(_:with:overwriting:)`` or destroys it.
    public var isUnpublished: Bool = false
    /// Whether all of the store is going to be read once, list by list, as a conversion does, and nothing else.
    ///
    /// Only a hint, and only for a store that is opened read-only: a type that reads its whole file when it opens it may read it while it is
    /// asked for instead. What is wrong with the file can then show when it is read.
    public var isReadOnce: Bool = false
    /// Whether a file that has other names (hard links) may be read.
    ///
    /// Off by default, because commits that another name's log still holds are not seen. Has no
    /// effect on writing, which is always refused with code `hasOtherNames`.
    public var acceptsLinks: Bool = false
    /// Whether objects that another program changed are taken as they are.
    ///
    /// Off by default: such an object is damaged (code `corrupted`). Only changes that break no
    /// rule of the format can be accepted, and only by store types whose files other programs can
    /// edit.
    public var acceptsChanges: Bool = false
    /// Options of the store's type, by name; unknown ones are refused with code `invalidRequest`.
    public var typeOptions: [String: String]

    /// Makes options.
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
    /// Refuses a timeout that is no length of time.
    ///
    /// - Throws: `invalidRequest`.
    public func requireValidTimeout() throws(StoreError) {
        guard timeoutSeconds >= 0 else {
            throw StoreError(.invalidRequest, "A timeout must be 0 seconds or more; it is \(timeoutSeconds).")
        }
    }

    /// Refuses to make a store that nobody could fill.
    ///
    /// - Throws: `readOnly`.
    public func requireWritable() throws(StoreError) {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "A new store cannot be opened read-only; create it first.")
        }
    }
}
