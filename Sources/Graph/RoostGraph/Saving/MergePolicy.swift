public import RoostCore

/// The rule for resolving the conflicts of a save.
///
/// A conflict is an object that another context changed, or a unique value that another object has.
///
/// | policy | property that both changed | deleted there | deleted here |
/// |---|---|---|---|
/// | `error` | the save fails | the save fails | the save fails |
/// | `mergeByPropertyStoreTrump` | the store's value | leaves the context | is restored |
/// | `mergeByPropertyObjectTrump` | this context's value | is inserted again | is deleted |
/// | `overwrite` | this context's object | is inserted again | is deleted |
/// | `rollback` | the store's object | leaves the context | is restored |
///
/// To-many relationships merge as sets under every policy: additions and removals of both sides
/// hold.
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

    /// The save fails, and the error has every conflict.
    ///
    /// The default.
    public static let error = MergePolicy("error", kind: .error)
    /// Property by property; where both sides changed one, the store's value holds.
    public static let mergeByPropertyStoreTrump = MergePolicy("mergeByPropertyStoreTrump", kind: .storeTrump)
    /// Property by property; where both sides changed one, this context's value holds.
    public static let mergeByPropertyObjectTrump = MergePolicy("mergeByPropertyObjectTrump", kind: .objectTrump)
    /// This context's objects hold as a whole.
    public static let overwrite = MergePolicy("overwrite", kind: .overwrite)
    /// The store's objects hold as a whole.
    public static let rollback = MergePolicy("rollback", kind: .rollback)

    /// Creates a policy of the program.
    ///
    /// - Parameters:
    ///   - name: A name, for messages.
    ///   - resolve: Returns what becomes of an object that this context and another one changed.
    ///   - resolveConstraint: Returns what becomes of new objects whose unique values another
    ///     object has.
    public init(
        _ name: String, resolve: @escaping @Sendable (MergeConflict) throws(StoreError) -> MergeResolution,
        resolveConstraint: @escaping @Sendable (ConstraintConflict) throws(StoreError) -> ConstraintResolution = {
            _ in .fail
        }
    ) {
        self.init(name, kind: .custom(resolve, resolveConstraint))
    }
}

/// An object that this context and another one changed, as values.
public struct MergeConflict: Sendable {
    /// The object.
    public let id: ObjectID
    /// The values as this context read them.
    public let base: [String: Value]
    /// The values to save, or nil if this context deleted the object.
    public let mine: [String: Value]?
    /// The values in the store, or nil if the object was deleted there.
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
    /// The object gets these values; a property that is not named becomes null.
    case keep([String: Value])
    /// The store's object holds, or its deletion.
    case acceptTheirs
    /// The object is deleted.
    case delete
    /// The save fails.
    case fail
}

/// An object of this context whose unique values an object of the store has.
public struct ConstraintConflict: Sendable {
    /// The attributes of the constraint.
    public let attributes: [String]
    /// The object of this context.
    public let pendingID: ObjectID
    /// The values of the object of this context.
    public let pending: [String: Value]
    /// The object of the store.
    public let storedID: ObjectID
    /// The values of the object of the store.
    public let stored: [String: Value]
}

/// The result of resolving two objects with equal unique values.
public enum ConstraintResolution: Sendable {
    /// The stored object gets these values, and the object of this context is dropped.
    case keep([String: Value])
    /// The stored object stays as it is, and the object of this context is dropped.
    case keepStored
    /// The save fails.
    case fail
}
