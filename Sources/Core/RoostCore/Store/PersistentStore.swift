/// A store of records and links: the contract between everything above and every backend below.
///
/// All calls block; call them from threads of your own, never from the cooperative pool. A store may be used from any number
/// of threads at once: snapshots read side by side and never wait for a writer; writers queue. After ``close()`` every call
/// throws code `closed`. Opening and every failed call leave the stored data as it was.
///
/// A store that can do more conforms to protocols of its own, such as ``IntegrityCheckingStore``,
/// ``BatchExecutingStore`` and ``ModelChangingStore``. Programs call extensions of this protocol,
/// which work for every store.
///
/// A backend promises exactly what the checks of `RoostConformance` check.
public protocol PersistentStore: AnyObject, Sendable {
    /// The type the store is registered under.
    var type: any PersistentStoreType { get }
    /// Where the store is.
    var location: StoreLocation { get }
    /// The model the store was created with.
    ///
    /// Compatible models number and lay out alike; see ``ManagedObjectModel``.
    var model: ManagedObjectModel { get }
    /// Whether every change throws code `readOnly`.
    var isReadOnly: Bool { get }

    /// The store's metadata, as the latest commit left it.
    func metadata() throws(StoreError) -> StoreMetadata

    /// A consistent view of the store as it is now.
    ///
    /// Never waits for a writer.
    func snapshot() throws(StoreError) -> any StoreSnapshot

    /// Sets keys aside for new objects of the hierarchy that `entity` belongs to; no other caller, in any process, gets them again.
    ///
    /// Keys that are never used leave gaps.
    /// - Throws: `unknownEntity`; `invalidRequest` when `count` is below 1; `limitExceeded` when the keys run out.
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64>

    /// Writes a change set, all or nothing.
    ///
    /// On return it is durable, as far as the store's type is persistent.
    ///
    /// - Throws: `conflict` with every object whose version is stale, or that does not exist under
    ///   its own entity; `constraintViolation` with every object that is rejected, under each
    ///   constraint once, beside the object that holds the values: one that holds them in the store
    ///   and keeps them, or else the first of the change set to claim them, updates before inserts;
    ///   `duplicateObject` for an insert whose key is taken in its hierarchy; `objectNotFound`,
    ///   with ``StoreError/missingObjects``, for links whose ends do not exist after the change and
    ///   for missing objects of ``ChangeSet/existing``; `deleteDenied`, with
    ///   ``StoreError/denials``, as ``ChangeSet/requiresUnreferencedDeletes`` says; `corrupted`, with
    ///   ``StoreError/damagedObject``, for an update or a delete of an object whose stored record
    ///   does not match its checksum; `busy` when another writer holds on longer than the timeout.
    ///   Nothing is written in any of these cases.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt

    /// Starts to load many objects, none of which shows before ``BulkLoader/finish()``.
    ///
    /// Holds the writer's place until then: commits of others wait, snapshots do not.
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader

    /// The bytes the store takes on disk, or in memory for a store that is kept there.
    func byteCount() throws(StoreError) -> Int

    /// Finishes what is under way, releases locks and files.
    ///
    /// Calling it again does nothing.
    ///
    /// Open snapshots keep the file until they are closed too.
    func close() throws(StoreError)
}

/// Something a check found.
public struct StoreFinding: Adjustable, Sendable, Hashable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable, CaseIterable {
        /// The store is sound, but its data may surprise.
        case warning
        /// The store is sound, but its data break a rule of its model.
        ///
        /// Commits do not compare data with these rules, so a store can hold such data.
        case violation
        /// Data were damaged or changed behind the store's back.
        case damage
    }

    /// The rules of a model that ``checkStore(_:limit:)`` compares the data with: the
    /// ``StoreFinding/kind`` of a violation.
    package enum Rule: String, Sendable, CaseIterable {
        /// A mandatory attribute or relationship has no value.
        case mandatory
        /// A number or date is less than its minimum.
        case minimum
        /// A number or date is greater than its maximum.
        case maximum
        /// A string is shorter than its minimum length.
        case minimumLength
        /// A string is longer than its maximum length.
        case maximumLength
        /// A string does not match its regular expression.
        case pattern
        /// A relationship has fewer objects than its minimum count.
        case minimumCount
        /// A relationship has more objects than its maximum count.
        case maximumCount
        /// A reference or a link refers to an object that does not exist.
        case dangling
        /// A reference or a link refers to an object of an entity that the relationship does not
        /// allow.
        case destination
    }

    /// How bad it is.
    public let severity: Severity
    /// The finding's kind, for programs: a ``Rule`` for a violation, otherwise the part of the
    /// store that it concerns.
    public let kind: String
    /// The object concerned, if it is one.
    public let object: ObjectID?
    /// The property concerned, as `Entity.property`, if it is one.
    public let property: String?
    /// What was found and where, one line, without stored values.
    public let message: String
    /// The number of cases; more than 1 for a finding that summarizes further cases.
    public var count = 1

    /// Creates a finding.
    public init(
        _ severity: Severity, message: String, kind: String = "store", object: ObjectID? = nil,
        property: String? = nil
    ) {
        self.severity = severity
        self.message = message
        self.kind = kind
        self.object = object
        self.property = property
    }

    /// The severity and the message.
    public var description: String { "\(severity.rawValue): \(message)" }
}
