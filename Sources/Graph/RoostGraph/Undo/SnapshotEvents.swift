/// The reasons why an object's values changed without a setter.
///
/// ``ManagedObject/awake(from:)`` receives these reasons.
public struct SnapshotEvents: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An insertion was undone or redone.
    public static let undoInsertion = SnapshotEvents(rawValue: 2)
    /// A deletion was undone or redone.
    public static let undoDeletion = SnapshotEvents(rawValue: 4)
    /// A change of values or relationships was undone or redone.
    public static let undoUpdate = SnapshotEvents(rawValue: 8)
    /// Changes were discarded by ``ManagedObjectContext/rollback()``.
    public static let rollback = SnapshotEvents(rawValue: 16)
    /// The object was refreshed, or another context's save was merged.
    public static let refresh = SnapshotEvents(rawValue: 32)
    /// A merge policy changed the object.
    public static let mergePolicy = SnapshotEvents(rawValue: 64)
}
