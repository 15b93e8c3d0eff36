/// A consistent view of one store at the time when ``PersistentStore/snapshot()`` returned.
///
/// ```swift
/// let snapshot = try store.snapshot()
/// defer { snapshot.close() }
/// let count = try snapshot.count(FetchRequest("Album"))
/// ```
///
/// - Later commits of any process do not appear in the snapshot and are not blocked by it.
/// - An open snapshot keeps disk pages from being reused. Close it as soon as possible.
/// - A cursor verifies the checksum of every record that it returns. Links have no checksums. An
///   operation that copies links compares their tally with ``recordedTally()``.
/// - Use a snapshot and its cursors from one thread at a time.
/// - After the snapshot or the store is closed, every call of the snapshot and its cursors throws
///   `closed`.
///
/// Snapshots with further abilities conform to protocols such as `GroupedLinkSnapshot`. Programs
/// call extensions of `StoreSnapshot` instead, which work for every snapshot.
public protocol StoreSnapshot: AnyObject {
    /// The model of the store.
    var model: ManagedObjectModel { get }

    /// Returns the tally that the last commit before the snapshot recorded.
    ///
    /// Returns nil for a store without the capability `digest`; `computeTally()` works for every
    /// store.
    ///
    /// - Complexity: O(1) in the number of objects.
    func recordedTally() throws(StoreError) -> StoreTally?

    /// Returns the user's metadata as of the snapshot.
    func userMetadata() throws(StoreError) -> [String: MetadataValue]

    /// Returns the highest key that was ever used or reserved in the hierarchy of `entity`, or 0.
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64

    /// Reads the records of `entity` and its subentities in ascending key order.
    ///
    /// If `id` is not nil, the cursor starts after the key of `id`. `id` must belong to the
    /// entity's hierarchy, but its object need not exist.
    ///
    /// - Throws: `unknownEntity` if the model lacks `entity` or the entity of `id`;
    ///   `invalidRequest` for an `id` of another hierarchy.
    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor

    /// Reads the records with these IDs, in this order.
    ///
    /// IDs of missing objects are skipped. An ID may have the object's own entity or a superentity.
    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor

    /// Reads all links of a to-many relationship without a to-one inverse.
    ///
    /// The links are in ascending order of source, then place, then target. If `link` is not nil,
    /// the cursor starts after it. `link` need not exist, and is normalized first (see
    /// `ManagedObjectModel.Relationship.normalized(_:)`). If the relationship is its own inverse,
    /// each pair appears once. Keys and places are compared as signed integers.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for any other relationship.
    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor

    /// Reads the links of a to-many relationship from one object.
    ///
    /// The links of an ordered relationship are sorted by place, then by key; other links are
    /// sorted by key. The relationship may have a to-one inverse. The source of each link is the
    /// key of `id`. A missing object has no links.
    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor

    /// Replaces the contents of `batch` with the record of one object.
    ///
    /// Returns false, with an empty batch, if the object does not exist. The default implementation
    /// calls ``records(with:)``.
    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool

    /// Reads the records that match a request, in the requested order.
    ///
    /// Records with equal sort values, and all records of a request without an order, are in
    /// ascending key order.
    ///
    /// If the current task is cancelled, a fetch, a count or a request for rows throws `cancelled`
    /// within some milliseconds. Stores of other packages need not support this. The snapshot and
    /// the fetches of other tasks are unaffected.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`; all before the first record
    ///   is returned.
    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor

    /// Returns the number of records that ``fetch(_:)`` returns, with limit and offset applied.
    func count(_ request: FetchRequest) throws(StoreError) -> Int

    /// Closes the snapshot.
    ///
    /// Closing again does nothing. Deallocating the snapshot closes it too.
    func close()
}

/// A single pass over records.
///
/// ```swift
/// var batch = RecordBatch(model: snapshot.model)
/// while try cursor.next(into: &batch) {
///     for index in 0..<batch.count { print(batch.id(at: index)) }
/// }
/// ```
///
/// One call fills one batch, so dynamic dispatch happens once per batch, not once per record.
public protocol RecordCursor: AnyObject {
    /// Replaces the contents of `batch` with the next records.
    ///
    /// Returns false, with an empty batch, at the end and in every later call.
    ///
    /// If an error has a ``StoreError/damagedObject``, only that object's record is lost. All
    /// earlier records were returned, and the next call continues after the lost record. Any other
    /// error ends the cursor.
    ///
    /// - Throws: `corrupted`; `modelMismatch` if the batch has another model. After
    ///   `modelMismatch`, the batch and the cursor are unchanged.
    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool
}

/// A single pass over links, one batch per call.
public protocol LinkCursor: AnyObject {
    /// Replaces the contents of `batch` with the next links.
    ///
    /// Returns false, with an empty batch, at the end and in every later call.
    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool
}
