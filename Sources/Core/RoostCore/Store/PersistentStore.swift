/// The interface that every storage backend implements.
///
/// ```swift
/// var changes = ChangeSet(model: store.model)
/// try changes.insert(id, values: ["name": "Ada"])
/// let receipt = try store.commit(changes)
/// ```
///
/// - All calls block. Call them from your own threads, not from the cooperative pool.
/// - Any number of threads may use a store at once. Snapshots never wait for a writer; writers may
///   wait for each other.
/// - After ``close()``, every other call throws `closed`.
/// - Opening a store changes no stored object. A failed call changes none either, unless its
///   code is `outcomeUnknown`.
///
/// Stores with further abilities conform to protocols such as `IntegrityCheckingStore`. Programs
/// call extensions of `PersistentStore` instead, which work for every store.
///
/// The checks of `RoostConformance` define this contract in full.
public protocol PersistentStore: AnyObject, Sendable {
    /// The type of the store.
    var type: any PersistentStoreType { get }
    /// The location of the store.
    var location: StoreLocation { get }
    /// The model in the store.
    var model: ManagedObjectModel { get }
    /// Whether every change throws `readOnly`, or `unsupported` if the store's type cannot write.
    var isReadOnly: Bool { get }

    /// Returns the store's metadata as of the latest commit.
    func metadata() throws(StoreError) -> StoreMetadata

    /// Returns a consistent view of the store's current content.
    ///
    /// Never waits for a writer.
    func snapshot() throws(StoreError) -> any StoreSnapshot

    /// Reserves keys for new objects in the hierarchy of `entity`.
    ///
    /// No other caller in any process gets these keys. Unused keys leave gaps.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` if `count` is below 1; `limitExceeded` if no
    ///   keys are left; `readOnly`, `busy`.
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64>

    /// Writes a change set, all or nothing.
    ///
    /// In a persistent store, the changes are durable on return. After an error other than
    /// `outcomeUnknown`, the store is unchanged. The main errors are:
    ///
    /// - `conflict`: lists every object that does not exist, has another version, or has another
    ///   entity than its ID.
    /// - `constraintViolation`: lists rejected objects, up to a limit, once for each violated
    ///   constraint. Each is listed with another object that has the same unique values: a stored
    ///   object that keeps these values, else the first such update, else the first such insert.
    /// - `duplicateObject`: an insert whose key is taken in its hierarchy.
    /// - `objectNotFound`, with ``StoreError/missingObjects``: added links with an end that would
    ///   not exist after the change, and missing objects of ``ChangeSet/existing``.
    /// - `deleteDenied`, with ``StoreError/denials``: see ``ChangeSet/requiresUnreferencedDeletes``
    ///   and ``ChangeSet/requiresUnlinkedDeletes``.
    /// - `corrupted`, with ``StoreError/damagedObject``: an update or a delete of an object whose
    ///   stored record does not match its checksum.
    /// - `busy`: another writer did not finish before the timeout.
    ///
    /// - Returns: The generation, and the changed objects.
    /// - Throws: The errors above; `invalidRequest` and `modelMismatch` as described by
    ///   ``ChangeSet``; `readOnly`, `noSpace`, `limitExceeded`.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt

    /// Starts to load many objects.
    ///
    /// The objects become visible together, when ``BulkLoader/finish()`` returns. Until then, the
    /// load blocks other writers, but not readers.
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader

    /// Returns the size of the store in bytes: on disk, or in memory for an in-memory store.
    func byteCount() throws(StoreError) -> Int

    /// Waits for running calls, and releases locks and files.
    ///
    /// Files that snapshots use are released when the snapshots close. Closing again does nothing.
    func close() throws(StoreError)
}

/// A problem that a check found.
///
/// ```swift
/// let findings = try store.check()
/// for finding in findings where finding.severity == .damage {
///     print(finding.message)
/// }
/// ```
public struct StoreFinding: Adjustable, Sendable, Hashable, CustomStringConvertible {
    /// The severity of a finding.
    public enum Severity: String, Sendable, CaseIterable {
        /// The store is sound, but its data may be unexpected.
        case warning
        /// The store is sound, but its data violates a rule of its model that commits do not check.
        case violation
        /// Data was damaged, or changed by another program.
        case damage
    }

    /// The rules of a model that ``checkStore(_:limit:)`` checks.
    package enum Rule: String, Sendable, CaseIterable {
        case mandatory
        case minimum
        case maximum
        case minimumLength
        case maximumLength
        case pattern
        case minimumCount
        case maximumCount
        /// A reference or a link refers to an object that does not exist.
        case dangling
        /// A reference or a link refers to an object of a wrong entity.
        case destination
    }

    /// The severity.
    public let severity: Severity
    /// The kind, for use by programs: a violated `Rule`, or the affected part of the store.
    public let kind: String
    /// The affected object; nil unless the finding is about one object.
    public let object: ObjectID?
    /// The affected property as `Entity.property`; nil unless the finding is about one property.
    public let property: String?
    /// The problem and its location in one line, without stored values.
    public let message: String
    /// The number of cases that the finding summarizes.
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
