public import RoostCore
internal import RoostMigration
internal import RoostQuery

/// A store as a whole: whole sets of objects are read, written, checked and moved here.
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
/// Everything that writes follows the rules of the program's model: defaults, validation, delete
/// rules and derived attributes. A change that breaks a rule writes nothing. Its error lists all
/// violations (``StoreError/failures``).
///
/// Methods block the calling thread. Each one that reads or writes objects has an `async` form with
/// the same name, which runs on a thread of Roost's own. A store can be used from any number of
/// threads and tasks at once: readers never wait, writers wait for each other up to the timeout.
public final class Store: Sendable {
    /// The store that the types of all backends implement.
    package let persistentStore: any PersistentStore
    /// The rules of the program's model.
    package let rules: ModelRules
    /// The types that other locations can have, for copies and conversions.
    let registry: StoreRegistry

    /// Creates a `Store` for a store that is open already.
    ///
    /// - Parameters:
    ///   - store: The open store. Closing this store closes it.
    ///   - model: The program's model, whose rules hold; nil for the store's own.
    ///   - registry: The types of the locations that ``backUp(to:options:)`` and
    ///     ``convert(to:options:)`` write to.
    /// - Throws: `modelMismatch` for a model that is not compatible with the store's;
    ///   `invalidModel` for a model whose rules cannot be followed.
    public init(
        _ store: any PersistentStore, model: ManagedObjectModel? = nil, registry: StoreRegistry
    ) throws(StoreError) {
        rules = try ModelRules(try store.batchModel(model))
        persistentStore = store
        self.registry = registry
    }

    /// The place of the store.
    public var location: StoreLocation { persistentStore.location }
    /// The program's model.
    public var model: ManagedObjectModel { rules.model }
    /// Whether every change throws code `readOnly`.
    public var isReadOnly: Bool { persistentStore.isReadOnly }

    /// Whether the generations are sums; see ``Generation/highestSum``.
    package var addsGenerations: Bool {
        (persistentStore as? any CommitReportingStore)?.commitFeed.addsGenerations ?? false
    }

    /// Returns the metadata, as the last commit left them.
    ///
    /// - Throws: `closed`, and what reading the store throws.
    public func metadata() throws(StoreError) -> StoreMetadata { try persistentStore.metadata() }

    /// Returns the number of objects and links and the sum of their hashes.
    ///
    /// Two stores with equal digests have the same content. O(1) in stores that keep it.
    ///
    /// - Throws: `closed`, and what reading the store throws.
    public func digest() throws(StoreError) -> StoreDigest {
        let snapshot = try persistentStore.snapshot()
        defer { snapshot.close() }
        if let recorded = try snapshot.recordedTally() { return recorded.digest }
        return try snapshot.computeTally().digest
    }

    /// Finishes running work, and releases the store's locks and files.
    ///
    /// Calling it again does nothing. Every later call of another method throws code `closed`. What
    /// listens to the store ends.
    ///
    /// - Throws: What finishing throws; the store is closed then too.
    public func close() throws(StoreError) {
        CommitWatcher.shared.end(persistentStore)
        try persistentStore.close()
    }
}
