/// The interface that every storage backend implements.
///
/// ```swift
/// var changes = ChangeSet(model: store.model)
/// try changes.insert(id, values: ["name": "Ada"])
/// let receipt = try store.commit(changes)
/// ```
///
/// - All calls block. Call them from your own threads, not from the cooperative pool.
/// - A store can be used from any number of threads at once. Snapshots never wait for a writer;
///   writers may wait for each other.
/// - After ``close()``, every other call throws `closed`.
/// - Opening a store leaves the stored objects unchanged. So does a call that fails, except with
///   code `outcomeUnknown`.
///
/// A store with further abilities conforms to additional protocols, such as
/// `IntegrityCheckingStore`. Programs need not know these protocols: they call extensions of
/// `PersistentStore`, which work for every store.
///
/// The checks of `RoostConformance` define this contract in full.
public protocol PersistentStore: AnyObject, Sendable {
    /// The type of the store.
    var type: any PersistentStoreType { get }
    /// The location of the store.
    var location: StoreLocation { get }
    /// The model that is stored in the store.
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
    /// No other caller in any process gets the same keys. Keys that are not used leave gaps.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` if `count` is below 1; `limitExceeded` if no
    ///   keys are left; `readOnly`, `busy`.
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64>

    /// Writes a change set, all or nothing.
    ///
    /// If the store's type is persistent, the change set is durable on return. After an error other
    /// than `outcomeUnknown`, the store is unchanged. The most important errors are:
    ///
    /// - `conflict`: lists every object that does not exist, has another version, or has another
    ///   entity than its ID.
    /// - `constraintViolation`: lists rejected objects, up to a limit, once for each violated
    ///   constraint. Each is listed with another object that has the same unique values. The other
    ///   object is a stored object if one keeps these values. Otherwise it is the first object of
    ///   the change set with these values; updates come before inserts.
    /// - `duplicateObject`: an insert whose key is taken in its hierarchy.
    /// - `objectNotFound`, with ``StoreError/missingObjects``: added links with an end that would
    ///   not exist after the change, and missing objects of ``ChangeSet/existing``.
    /// - `deleteDenied`, with ``StoreError/denials``: see ``ChangeSet/requiresUnreferencedDeletes``
    ///   and ``ChangeSet/requiresUnlinkedDeletes``.
    /// - `corrupted`, with ``StoreError/damagedObject``: an update or a delete of an object whose
    ///   stored record does not match its checksum.
    /// - `busy`: another writer did not finish before the timeout.
    ///
    /// - Returns: The generation, and the objects that were changed.
    /// - Throws: The errors above; `invalidRequest` and `modelMismatch` as described by
    ///   ``ChangeSet``; `readOnly`, `noSpace`, `limitExceeded`.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt

    /// Starts to load many objects.
    ///
    /// The objects become visible together, when ``BulkLoader/finish()`` returns. The load blocks
    /// other writers until then; readers are unaffected.
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader

    /// Returns the size of the store in bytes: on disk, or in memory for an in-memory store.
    func byteCount() throws(StoreError) -> Int

    /// Waits for running calls, and releases locks and files.
    ///
    /// If snapshots are open, the file stays open until they are closed. Closing again does
    /// nothing.
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
        /// The store is sound, but its data violates a rule of its model.
        ///
        /// Commits do not check these rules, so a store can contain such data.
        case violation
        /// Data was damaged, or changed by another program.
        case damage
    }

    /// The rules of a model that ``checkStore(_:limit:)`` checks.
    ///
    /// The ``StoreFinding/kind`` of a violation is the name of a rule.
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

    /// The severity.
    public let severity: Severity
    /// The finding's kind, for programs: a `Rule` for a violation, otherwise the affected part of
    /// the store.
    public let kind: String
    /// The affected object; nil if the finding is not about a single object.
    public let object: ObjectID?
    /// The affected property, as `Entity.property`; nil if the finding is not about a single
    /// property.
    public let property: String?
    /// The problem and its location in one line, without stored values.
    public let message: String
    /// The number of cases; more than 1 for a finding that summarizes several cases.
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
