/// Loads many records and links into a store; nothing shows before ``finish()``.
///
/// Use it from one thread, which waits during writes; ``PersistentStore/concurrentBulkLoader(_:)``
/// gives one that writes on another thread. An error, ``abandon()`` or deallocation abandons the
/// load without a trace. Other writers can then start, and later calls throw `closed`.
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
    /// Adds records, with the versions they carry.
    ///
    /// Ascending keys within a hierarchy, one hierarchy after the other, load fastest.
    ///
    /// - Throws: `duplicateObject`, `constraintViolation` (here or in ``finish()``),
    ///   `modelMismatch`, `invalidRequest` for a key below 1 or an abstract entity, `noSpace`.
    func append(_ records: RecordBatch) throws(StoreError)

    /// Adds links.
    ///
    /// Any order will do; a store that sorts them does so outside of memory.
    ///
    /// There is at most one link between two objects: one that is loaded twice, or that is in the
    /// store, is refused, even with the same places.
    ///
    /// The existence of both ends is not checked; ``checkStore(_:limit:)`` reports dangling links.
    ///
    /// - Throws: `duplicateObject` (here or in ``finish()``), `invalidRequest` for a relationship
    ///   without links of its own or a key below 1, `noSpace`.
    func append(_ links: LinkBatch) throws(StoreError)

    /// Builds indexes, makes everything durable and then visible at once.
    ///
    /// A load that added a record or a link adds one to the generation, any other none.
    /// - Returns: The tally of the whole store, computed from what was written.
    func finish() throws(StoreError) -> StoreTally

    /// Gives up.
    ///
    /// Nothing of the load remains.
    func abandon()
}

extension StoreError {
    /// An error about records that are laid out after another model than the store's.
    package static func recordsOfOtherModel(than location: StoreLocation) -> StoreError {
        StoreError(
            .modelMismatch,
            "The records follow another model than the one the store '\(location)' was created with; migrate the store first."
        )
    }

    /// An error about a call of a loader that takes nothing more.
    package static func loadIsOver(_ location: StoreLocation) -> StoreError {
        StoreError(.closed, "The loader of '\(location)' was finished or abandoned before.")
    }

    /// An error about a store in which an abandoned load could not be undone.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - error: Why not.
    /// - Returns: The error, of code `corrupted`.
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
    /// The keys that count as used, by root entity, beyond those of the loaded objects: a copied
    /// store never reuses a deleted object's key.
    public var lastKeys: [EntityName: Int64]
    /// Called now and then by ``BulkLoader/finish()``, which may sort and write as much as all
    /// calls before it; an error that it throws ends the load.
    public var checkCancellation: (@Sendable () throws(StoreError) -> Void)?

    /// The author of the load, for the store's history.
    public var author: String?

    /// Makes options.
    public init(
        lastKeys: [EntityName: Int64] = [:], checkCancellation: (@Sendable () throws(StoreError) -> Void)? = nil
    ) {
        (self.lastKeys, self.checkCancellation) = (lastKeys, checkCancellation)
    }
}
