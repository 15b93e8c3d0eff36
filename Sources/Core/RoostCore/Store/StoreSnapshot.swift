/// A consistent view of one store, as it was when ``PersistentStore/snapshot()`` returned.
///
/// Later commits, by this process or another, do not show in it and do not wait for it. It keeps
/// disk pages alive: hold it for the length of a task, not of a program. Every record that a cursor
/// gives was compared with its checksum; links have none, and are compared with ``recordedTally()``
/// by the operation that copies them. Use it from one thread at a time. After ``close()``, or the
/// store's, every call throws code `closed`; its cursors too.
///
/// A snapshot that can do more conforms to protocols of its own: ``LookupSnapshot``,
/// ``GroupedLinkSnapshot``, ``GraphProvidingSnapshot``, and those of RoostQuery. Programs call
/// extensions of this protocol, which work for every snapshot.
public protocol StoreSnapshot: AnyObject {
    /// The model of the store.
    var model: ManagedObjectModel { get }

    /// Counts and digests by entity and relationship, and the generation, as the last commit recorded them.
    ///
    /// Nil for a store without capability `digest`; see ``computeTally()``. O(1) in the number of objects.
    func recordedTally() throws(StoreError) -> StoreTally?

    /// The user's metadata, as the last commit that the snapshot sees left them.
    func userMetadata() throws(StoreError) -> [String: MetadataValue]

    /// The highest key ever used or reserved in the hierarchy of `entity`; 0 if none was.
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64

    /// Reads the records of `entity` and its subentities in ascending key order, behind `id` if given.
    ///
    /// `id` need not exist, but must be of the entity's hierarchy. An entity without objects gives an empty cursor.
    ///
    /// - Throws: `unknownEntity` for an entity that the model lacks, the one of `id` too; `invalidRequest` for an `id` of another
    ///   hierarchy.
    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor

    /// Reads the records with these IDs, in this order.
    ///
    /// IDs of objects that do not exist are left out.
    ///
    /// An ID matches by key and hierarchy: the record found may be of a subentity of the ID's entity, never of another one.
    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor

    /// Reads all links of a to-many relationship that has no to-one inverse, behind `link` if given.
    ///
    /// They come in ascending order of source, then place, then target; of a relationship that is its own inverse, each pair once.
    /// `link` need not exist: it is first made what it would be in the store, as ``ManagedObjectModel/Relationship/normalized(_:)``
    /// does, and its numbers compare as signed ones, whatever they are.
    /// - Throws: `unknownProperty` where there is no such relationship, `invalidRequest` for one without links.
    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor

    /// Reads where the to-many `relationship` leads from one object, in its order (place, then key), or in key order.
    ///
    /// Works for every to-many relationship, also one that is derived from its to-one inverse; the links' source is always
    /// `id`. An object that does not exist has no links.
    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor

    /// Replaces the contents of `batch` with the record of an ID; returns false, with an empty
    /// batch, if it does not exist.
    ///
    /// Has a default that reads ``records(with:)``, and another for a ``LookupSnapshot``. It is a
    /// requirement so that no look-up has to search for conformances.
    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool

    /// Reads the records that a request asks for, in its order.
    ///
    /// Ties, and requests without order, go by ascending key. In a task that is cancelled the stores of this package end a fetch, a count
    /// and rows with code `cancelled`, within some milliseconds of scanning, following relationships and sorting; others
    /// may. Nobody else's fetch is touched, and the snapshot stays as it is.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`, before the first record.
    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor

    /// How many records ``fetch(_:)`` would give, limit and offset included.
    func count(_ request: FetchRequest) throws(StoreError) -> Int

    /// Ends the view.
    ///
    /// Calling it again does nothing; so does the end of the object's life.
    func close()
}

/// A single pass over records.
///
/// One call fills one batch, so that its dynamic dispatch costs nothing per record.
public protocol RecordCursor: AnyObject {
    /// Replaces the contents of `batch` by the next records.
    ///
    /// Returns false, with an empty batch, at the end and ever after.
    ///
    /// - Throws: `modelMismatch` when the batch was made for another model than the snapshot's, which changes neither batch nor
    ///   cursor; `corrupted`. If the error names an object (``StoreError/damagedObject``), only that record is lost: all records
    ///   before it were delivered, and the next call goes on behind it. After any other error the cursor is at its end.
    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool
}

/// A single pass over links.
///
/// One call fills one batch.
public protocol LinkCursor: AnyObject {
    /// Replaces the links of `batch` by the next ones.
    ///
    /// Returns false, with an empty batch, at the end and ever after.
    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool
}
