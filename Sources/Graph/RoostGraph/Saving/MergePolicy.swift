public import RoostCore

/// A rule for resolving the conflicts of a save.
///
/// A conflict is an object that another context also changed, or a unique value that another object
/// already has.
///
/// | policy | property that both changed | deleted by another context | deleted by this context |
/// |---|---|---|---|
/// | `error` | the save fails | the save fails | the save fails |
/// | `mergeByPropertyStoreTrump` | the store's value | leaves the context | is restored |
/// | `mergeByPropertyObjectTrump` | this context's value | is inserted again | is deleted |
/// | `overwrite` | this context's object | is inserted again | is deleted |
/// | `rollback` | the store's object | leaves the context | is restored |
///
/// To-many relationships merge as sets under every policy: additions and removals of both sides
/// apply.
///
/// If a new object has a stored object's unique value, `error` makes the save fail. The other
/// built-in policies drop the new object. Before that, `mergeByPropertyObjectTrump` and `overwrite`
/// copy the new object's values, except null, to the stored object.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// ```
public struct MergePolicy: Sendable {
    enum Kind: Sendable {
        case error, storeTrump, objectTrump, overwrite, rollback
        case custom(
            @Sendable (MergeConflict) throws(StoreError) -> MergeResolution,
            @Sendable (ConstraintConflict) throws(StoreError) -> ConstraintResolution)
    }

    let kind: Kind
    /// The name of the policy.
    public let name: String

    private init(_ name: String, kind: Kind) { (self.name, self.kind) = (name, kind) }

    /// The save fails, and the error lists all conflicts; this is the default.
    public static let error = MergePolicy("error", kind: .error)
    /// Objects are merged by property; the store's value wins if both sides changed a property.
    public static let mergeByPropertyStoreTrump = MergePolicy("mergeByPropertyStoreTrump", kind: .storeTrump)
    /// Objects are merged by property; this context's value wins if both sides changed a property.
    public static let mergeByPropertyObjectTrump = MergePolicy("mergeByPropertyObjectTrump", kind: .objectTrump)
    /// This context's objects replace the store's objects.
    public static let overwrite = MergePolicy("overwrite", kind: .overwrite)
    /// The store's objects replace this context's objects.
    public static let rollback = MergePolicy("rollback", kind: .rollback)

    /// Creates a custom policy.
    ///
    /// - Parameters:
    ///   - name: A name for messages.
    ///   - resolve: Returns the resolution for an object that this context and another context
    ///     changed.
    ///   - resolveConstraint: Returns the resolution for a new object with a unique value that a
    ///     stored object already has.
    public init(
        _ name: String, resolve: @escaping @Sendable (MergeConflict) throws(StoreError) -> MergeResolution,
        resolveConstraint: @escaping @Sendable (ConstraintConflict) throws(StoreError) -> ConstraintResolution = {
            _ in .fail
        }
    ) {
        self.init(name, kind: .custom(resolve, resolveConstraint))
    }
}

/// The values of an object that this context and another context changed.
public struct MergeConflict: Sendable {
    /// The object.
    public let id: ObjectID
    /// The values as this context read them.
    public let base: [String: Value]
    /// The values to save, or nil if this context deleted the object.
    public let mine: [String: Value]?
    /// The values in the store, or nil if another context deleted the object.
    public let theirs: [String: Value]?

    /// The properties that this context changed.
    public var changedHere: Set<String> { Self.differences(mine ?? [:], base) }
    /// The properties that were changed in the store.
    public var changedThere: Set<String> { Self.differences(theirs ?? [:], base) }

    private static func differences(_ left: [String: Value], _ right: [String: Value]) -> Set<String> {
        Set(left.keys).union(right.keys).filter { left[$0] ?? .null != right[$0] ?? .null }
    }
}

/// The result of resolving a conflict.
public enum MergeResolution: Sendable {
    /// The object gets the given values.
    ///
    /// Missing properties become null. If this context deleted the object, the object is kept. If
    /// another context deleted the object, it is inserted again with this context's values, and the
    /// given values are ignored.
    case keep([String: Value])
    /// The state in the store is accepted, even if another context deleted the object.
    case acceptTheirs
    /// The object is deleted.
    case delete
    /// The save fails.
    case fail
}

/// A new object of this context and a stored object with the same unique values.
public struct ConstraintConflict: Sendable {
    /// The attributes of the constraint.
    public let attributes: [String]
    /// The object of this context.
    public let pendingID: ObjectID
    /// The values of the object of this context.
    public let pending: [String: Value]
    /// The stored object.
    public let storedID: ObjectID
    /// The values of the stored object.
    public let stored: [String: Value]
}

/// The result of resolving two objects with equal unique values.
public enum ConstraintResolution: Sendable {
    /// The stored object gets the given values, and keeps its other values.
    ///
    /// The object of this context is dropped.
    case keep([String: Value])
    /// The stored object is unchanged.
    ///
    /// The object of this context is dropped.
    case keepStored
    /// The save fails.
    case fail
}
