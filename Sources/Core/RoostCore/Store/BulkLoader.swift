/// A load of many records and links into a store; nothing is visible before ``finish()``.
///
/// Use a loader from one thread. Calls block while the loader writes; the loader of
/// `PersistentStore.concurrentBulkLoader(_:)` writes on another thread. An error, ``abandon()`` or
/// deallocation rolls the load back. Other writers can then start, and later calls throw `closed`.
///
/// ```swift
/// let keys = try store.reserveKeys(titles.count, for: "Track")
/// let loader = try store.bulkLoader(BulkLoadOptions())
/// var batch = RecordBatch(model: store.model)
/// for (key, title) in zip(keys, titles) {
///     try batch.append(ObjectID("Track", key: key), values: ["title": .string(title)])
/// }
/// try loader.append(batch)
/// let tally = try loader.finish()
/// ```
public protocol BulkLoader: AnyObject {
    /// Adds records, and keeps their version numbers.
    ///
    /// Loading is fastest if the caller adds one hierarchy after the other, each in ascending order
    /// of keys.
    ///
    /// - Throws: `duplicateObject`, `constraintViolation` (here or in ``finish()``),
    ///   `modelMismatch`, `invalidRequest` for a key below 1 or an abstract entity, `noSpace`.
    func append(_ records: RecordBatch) throws(StoreError)

    /// Adds links.
    ///
    /// Links may come in any order. A store that sorts many of them uses temporary files. A second
    /// link of a relationship between the same objects is refused, even an exact copy.
    ///
    /// The loader does not check whether the linked objects exist; ``checkStore(_:limit:)`` reports
    /// dangling links.
    ///
    /// - Throws: `duplicateObject` (here or in ``finish()``), `invalidRequest` for a relationship
    ///   without links of its own or a key below 1, `noSpace`.
    func append(_ links: LinkBatch) throws(StoreError)

    /// Builds indexes, makes the load durable, and then makes all of it visible at once.
    ///
    /// A load advances the generation by one commit; an empty load leaves it unchanged.
    ///
    /// - Returns: The tally of the whole store, including the loaded content.
    /// - Throws: The errors of the append methods, after a rollback; `outcomeUnknown` if the load
    ///   may be in the store.
    func finish() throws(StoreError) -> StoreTally

    /// Ends the load and removes everything that it wrote.
    func abandon()
}

extension StoreError {
    package static func recordsOfOtherModel(than location: StoreLocation) -> StoreError {
        StoreError(
            .modelMismatch,
            "The records have another model than the store '\(location)'; migrate the store first."
        )
    }

    package static func loadIsOver(_ location: StoreLocation) -> StoreError {
        StoreError(.closed, "The loader of '\(location)' was finished or abandoned before.")
    }

    package static func abandonedLoadRemains(in location: StoreLocation, after error: StoreError) -> StoreError {
        StoreError(
            .corrupted,
            "A load into '\(location)' was abandoned and could not be undone: \(error.message); delete the store.",
            underlying: error)
    }
}

/// The options of a bulk load.
///
/// ```swift
/// let snapshot = try original.snapshot()
/// defer { snapshot.close() }
/// let options = BulkLoadOptions(lastKeys: ["Track": try snapshot.lastKey(of: "Track")])
/// let loader = try copy.bulkLoader(options)
/// ```
public struct BulkLoadOptions: Sendable {
    /// The highest key that counts as used, by root entity.
    ///
    /// New keys are higher than this key and than the keys of all loaded objects. For a copy of a
    /// store, pass the original's last keys, so that the copy never reuses the keys of deleted
    /// objects.
    public var lastKeys: [EntityName: Int64]
    /// A function that ``BulkLoader/finish()`` calls repeatedly; an error that it throws ends the
    /// load.
    public var checkCancellation: (@Sendable () throws(StoreError) -> Void)?

    /// The author of the load, for the store's history.
    public var author: String?

    /// Creates options.
    public init(
        lastKeys: [EntityName: Int64] = [:], checkCancellation: (@Sendable () throws(StoreError) -> Void)? = nil
    ) {
        (self.lastKeys, self.checkCancellation) = (lastKeys, checkCancellation)
    }
}
