public import RoostCore
internal import RoostMigration
internal import RoostQuery

/// A store with methods to read, write, check, copy and convert its objects.
///
/// The same program works with every type of store:
///
/// ```swift
/// let store = try Store.open(.sqlite("music.sqlite"), model: model)
/// try store.insert("Track", rows: [["title": "Blue", "plays": 3], ["title": "Carey"]])
/// try store.update("Track", set: "plays = plays + 1", where: "title BEGINSWITH \(prefix)")
/// let titles = try store.read { view in
///     try view.fetch("Track", sortedBy: ["title"]).map { $0["title"] }
/// }
/// ```
///
/// All writing methods enforce the rules of the program's model: defaults, validation, delete rules
/// and derived attributes. A change that breaks a rule writes nothing, and its error lists all
/// ``StoreError/failures``.
///
/// Methods block the calling thread. Most methods that read or write objects have an `async` form
/// with the same name, which runs on a thread of Roost's own. A store can be used from any number
/// of threads and tasks concurrently. Readers do not wait for writers, and writers wait for each
/// other up to the timeout.
public final class Store: Sendable {
    package let persistentStore: any PersistentStore
    package let rules: ModelRules
    let registry: StoreRegistry

    /// Creates a `Store` for a persistent store that is already open.
    ///
    /// - Parameters:
    ///   - store: The open persistent store. Closing the new instance also closes this store.
    ///   - model: The program's model with the rules, or nil for the store's own model.
    ///   - registry: The store types that `backUp(to:options:)` and `convert(to:options:)` can copy
    ///     to.
    /// - Throws: `modelMismatch` for a model that is not compatible with the store's model;
    ///   `invalidModel` for a model with rules that cannot be enforced.
    public init(
        _ store: any PersistentStore, model: ManagedObjectModel? = nil, registry: StoreRegistry
    ) throws(StoreError) {
        rules = try ModelRules(try store.batchModel(model))
        persistentStore = store
        self.registry = registry
    }

    /// The location of the store.
    public var location: StoreLocation { persistentStore.location }
    /// The program's model.
    public var model: ManagedObjectModel { rules.model }
    /// Whether the store rejects changes.
    ///
    /// The error is `unsupported` if the store's type cannot write, otherwise `readOnly`.
    public var isReadOnly: Bool { persistentStore.isReadOnly }

    /// Whether the store's generations are sums; see ``Generation/highestSum``.
    package var addsGenerations: Bool {
        (persistentStore as? any CommitReportingStore)?.commitFeed.addsGenerations ?? false
    }

    /// Returns the metadata as of the last commit.
    ///
    /// - Throws: `closed`; errors of reading the store.
    public func metadata() throws(StoreError) -> StoreMetadata { try persistentStore.metadata() }

    /// Returns the numbers of objects and links, and the sum of their hashes.
    ///
    /// Two stores with equal digests have the same content. The complexity is O(1) in stores that
    /// record the digest.
    ///
    /// - Throws: `closed`; errors of reading the store.
    public func digest() throws(StoreError) -> StoreDigest {
        let snapshot = try persistentStore.snapshot()
        defer { snapshot.close() }
        if let recorded = try snapshot.recordedTally() { return recorded.digest }
        return try snapshot.computeTally().digest
    }

    /// Waits for running calls, and releases the store's locks and files.
    ///
    /// Calling this method again does nothing. Later calls of other methods throw `closed`. The
    /// sequences from `changes` end.
    ///
    /// - Throws: Errors of closing the store, which is closed nevertheless.
    public func close() throws(StoreError) {
        CommitWatcher.shared.end(persistentStore)
        try persistentStore.close()
    }
}
