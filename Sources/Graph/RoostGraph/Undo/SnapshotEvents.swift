/// The reasons why an object got other values than the program gave it.
///
/// ``ManagedObject/awake(from:)`` gets them.
public struct SnapshotEvents: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An insertion was taken back or repeated.
    public static let undoInsertion = SnapshotEvents(rawValue: 2)
    /// A deletion was taken back or repeated.
    public static let undoDeletion = SnapshotEvents(rawValue: 4)
    /// A change of values or relationships was taken back or repeated.
    public static let undoUpdate = SnapshotEvents(rawValue: 8)
    /// Changes were discarded by ``ManagedObjectContext/rollback()``.
    public static let rollback = SnapshotEvents(rawValue: 16)
    /// The object was refreshed, or another context's save was merged.
    public static let refresh = SnapshotEvents(rawValue: 32)
    /// A merge policy decided about the object.
    public static let mergePolicy = SnapshotEvents(rawValue: 64)
}
