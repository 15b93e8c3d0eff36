public import RoostCore

/// An object of a context.
///
/// A context has at most one object for each ID, so two objects are equal only if they are the same
/// instance. An object and its context stay in one isolation, because neither is `Sendable`; its
/// ``objectID`` is.
///
/// An object is a *fault* until its values are needed. Then it reads them, together with those of
/// its neighbors. A property that cannot be read is null or zero, and the error waits in the
/// context for the next save, fetch or count.
///
/// ```swift
/// let album = try context.insert("Album")
/// album["title"] = "Blue"
/// try context.save()
/// ```
///
/// Subclasses add computed properties and methods. A stored property of a subclass is neither saved
/// nor discarded by a rollback.
open class ManagedObject {
    /// The address of the object's record for accessors, which must not read an odd address.
    ///
    /// It is 1 for a fault. In an observable context it is the address of the record and 1, so that
    /// each accessor calls a function.
    @usableFromInline @exclusivity(unchecked) final var fastRow: UnsafeRawPointer
    @exclusivity(unchecked) final var extra: Extra?
    // SAFETY: a context that ends, and an object that leaves its context, set this to a core that
    // the object keeps; see `GraphCore.orphan(_:)`.
    @exclusivity(unchecked) unowned(unsafe) final var core: GraphCore
    @exclusivity(unchecked) final var key: Int64
    /// The bytes of the row.
    @exclusivity(unchecked) final var byteCount: UInt32 = 0
    @exclusivity(unchecked) final var entityNumber: UInt16
    /// The facts that decide whether a setter may write directly; see ``State``.
    @usableFromInline @exclusivity(unchecked) final var state: State
    @exclusivity(unchecked) final var flags: Flags = []

    /// The facts that a setter must know.
    @usableFromInline
    struct State: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt8
        @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The object changed in the current event.
        static let touched = State(rawValue: 1)
        /// The row is a private one.
        static let privateRow = State(rawValue: 2)
        /// The object can be observed, so that each setter calls a function.
        static let observed = State(rawValue: 4)
        /// Touched and private, and not observed, so that a setter may write into the row.
        @usableFromInline static let writable = State(rawValue: 3)
    }

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let inserted = Flags(rawValue: 1)
        static let deleted = Flags(rawValue: 2)
        /// The object is in the list of changed objects.
        static let changed = Flags(rawValue: 4)
        /// The row of the store is missing.
        static let inaccessible = Flags(rawValue: 8)
        /// The row is being saved in the background.
        static let inFlight = Flags(rawValue: 16)
        /// The object has left its context.
        static let orphan = Flags(rawValue: 32)
        /// Delete rules were applied to the deleted object.
        static let propagated = Flags(rawValue: 64)
        /// The next save checks the object, even if it is unchanged.
        static let detectsConflicts = Flags(rawValue: 128)
    }

    /// Creates an object.
    ///
    /// Contexts call it; programs insert objects with
    /// ``ManagedObjectContext/insert(_:)-(EntityName)``.
    public required init(place: ObjectSeat) {
        core = place.core
        key = place.key
        fastRow = Self.noRow(or: UnsafeRawPointer(Unmanaged.passUnretained(place.core).toOpaque()))
        entityNumber = place.entity
        state = place.core.newState
    }

    deinit {
        releaseRow()
        if flags.contains(.orphan) {
            Unmanaged.passUnretained(core).release()
        } else {
            core.forget(self)
        }
    }

    /// The object's record, or nil for a fault.
    final var row: UnsafeRawPointer? {
        @inline(__always) get { UnsafeRawPointer(bitPattern: UInt(bitPattern: fastRow) & ~1) }
        @inline(__always) set {
            if state.contains(.observed) { return setObservedRow(newValue) }
            fastRow = newValue ?? Self.noRow(or: fastRow)
        }
    }

    /// The value of ``fastRow`` of a fault.
    ///
    /// The compiler does not know that the address 1 makes a pointer, so it needs another one.
    @inline(__always)
    static func noRow(or other: UnsafeRawPointer) -> UnsafeRawPointer { UnsafeRawPointer(bitPattern: 1) ?? other }

    // MARK: Identity

    final var info: EntityInfo { core.table.info(Int(entityNumber)) }
    final var root: Int { core.table.root(Int(entityNumber)) }
    /// The place of the tail in the object's rows.
    final var tail: RowAccess.TailLayout { core.table.tail(Int(entityNumber)) }

    /// The object's ID.
    ///
    /// Its key is negative until the first save if the store could not reserve one.
    public final var objectID: ObjectID { ObjectID(info.entity.name, key: key) }
    /// The object's own entity.
    public final var entity: ManagedObjectModel.Entity { info.entity }
    /// The context, or nil after the object has left it.
    ///
    /// An object leaves its context by the rollback of its insertion, a saved delete, a reset, and
    /// the end of the context.
    public final var context: ManagedObjectContext? { core.context }

    // MARK: State

    /// Whether the object's values are unread.
    public final var isFault: Bool { row == nil }
    /// Whether the object is new, and will be inserted by the next save.
    public final var isInserted: Bool { flags.contains(.inserted) && !flags.contains(.deleted) }
    /// Whether a property was set since the last save, even to the same value.
    public final var isUpdated: Bool {
        flags.contains(.changed) && flags.isDisjoint(with: [.inserted, .deleted, .inaccessible])
    }
    /// Whether the next save will delete the object, or another context deleted it.
    public final var isDeleted: Bool {
        noteAccess(.deletion)
        return !flags.isDisjoint(with: [.deleted, .inaccessible]) && !flags.contains(.orphan)
    }
    /// Whether the object is inserted, updated or deleted.
    public final var hasChanges: Bool { flags.contains(.changed) }
    /// Whether any stored value or relationship differs from the saved one.
    public final var hasPersistentChangedValues: Bool {
        if extra?.members.contains(where: \.state.hasDifferences) ?? false { return true }
        guard state.contains(.privateRow), let row else { return false }
        guard let committed = PrivateRow.committed(row) else { return true }
        return !RowAccess.haveEqualContent(
            row, leftCount: Int(byteCount), right: committed, rightCount: tail.byteCount(committed))
    }
    /// The number of times the object was written, as of the last read; 0 for a new object.
    public final var version: UInt32 {
        if flags.contains(.inserted) { return 0 }
        let row = firedRow
        return RowAccess.version(committedRow ?? row)
    }

    // MARK: Hooks

    /// Called once after the object was inserted, with the defaults of the model.
    open func awakeFromInsert() {}
    /// Called when the object's values were read.
    ///
    /// What it sets is not a change.
    open func awakeFromFetch() {}
    /// Called after the object got other values than the program gave it.
    ///
    /// Override it to update state that is computed from values. What it sets is not a change.
    open func awake(from events: SnapshotEvents) {}
    /// Called by each call of ``ManagedObjectContext/delete(_:)``, before delete rules apply.
    open func prepareForDeletion() {}
    /// Called before a save, and again for objects that change in it.
    open func willSave() {}
    /// Called after a save that wrote the object.
    open func didSave() {}
    /// Called before the object's values are discarded.
    open func willTurnIntoFault() {}
    /// Called after the object's values were discarded.
    open func didTurnIntoFault() {}
    /// The properties that ``validate(_:for:)`` checks; none by default, so that a save of many
    /// objects costs nothing for it.
    open class var validatedProperties: [String] { [] }
    /// Checks a value of ``validatedProperties``, and may replace it.
    ///
    /// Called before a save, before the rules of the model.
    ///
    /// - Parameters:
    ///   - value: The value of an attribute or the ID of the destination of a to-one relationship.
    ///   - property: The name of the property.
    /// - Throws: The failure, which the save reports with all others. ``validationFailure(_:for:)``
    ///   makes one.
    open func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {}
    /// Returns the failures that keep the object from being inserted.
    open func validateForInsert() -> [ValidationFailure] { [] }
    /// Returns the failures that keep the object from being updated.
    open func validateForUpdate() -> [ValidationFailure] { [] }
    /// Returns the failures that keep the object from being deleted.
    open func validateForDelete() -> [ValidationFailure] { [] }

    /// Returns a failure of the program's own rule.
    ///
    /// - Parameters:
    ///   - reason: The rule, in words, without the value.
    ///   - property: The property that breaks it, or nil for the object as a whole.
    /// - Returns: The failure.
    public final func validationFailure(_ reason: String, for property: String? = nil) -> ValidationFailure {
        ValidationFailure(
            .object(objectID), entity: info.entity.name, property: property, kind: .unsuitable(reason))
    }
}

extension ManagedObject: Hashable {
    /// Whether both are the same instance.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
    /// Hashes the identity of the instance.
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    /// The object's ID and state, without reading.
    public final var description: String {
        let state =
            switch true {
            case flags.contains(.orphan): " (left its context)"
            case isDeleted: " (deleted)"
            case isInserted: " (inserted)"
            case isUpdated: " (updated)"
            case isFault: " (fault)"
            default: ""
            }
        return "\(objectID)\(state)"
    }
}

/// The place of a new object in a context.
///
/// Only contexts make one.
public struct ObjectSeat {
    let core: GraphCore
    let entity: UInt16
    let key: Int64
}
