public import RoostCore

/// A report of one save: the IDs of what it changed.
///
/// It is `Sendable`, so that it can go to other contexts; see
/// ``ManagedObjectContext/mergeChanges(_:)``.
public struct SaveNotice: Sendable {
    /// The store that was saved to.
    public let store: StoreLocation
    /// The generation of the store after the save.
    public let generation: Generation
    /// The generation of the store before the save.
    public let previousGeneration: Generation
    /// The author of the context that saved.
    public let author: String?
    /// The name of the context that saved; nil for a batch request.
    public let contextName: String?
    /// The objects that were inserted.
    public let inserted: [ObjectID]
    /// The objects whose values or relationships changed.
    public let updated: [ObjectID]
    /// The objects that were deleted.
    public let deleted: [ObjectID]

    /// Whether the save changed nothing.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
