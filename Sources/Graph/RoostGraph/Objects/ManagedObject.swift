public import RoostCore

/// An object of a context.
///
/// A context has at most one object for each ID, so two objects are equal only if they are the same
/// instance. An object and its context stay in one isolation, because neither is `Sendable`. Pass
/// the ``objectID`` to other isolations.
///
/// A stored object whose values are not in memory is a *fault*. The first access to a value reads
/// the object, often together with other faults. If a property cannot be read, its value is null,
/// zero or empty, and the next save, fetch or count of the context throws the error.
///
/// ```swift
/// let album = try context.insert("Album")
/// album["title"] = "Blue"
/// try context.save()
/// ```
///
/// Subclasses add computed properties and methods. A stored Swift property of a subclass is not
/// saved, and a rollback does not reset it.
open class ManagedObject {
    /// The record's address, or an odd value that makes accessors take the slow path.
    ///
    /// The odd value is 1 for a fault. In an observable context, it is the record's address plus 1.
    @usableFromInline @exclusivity(unchecked) final var fastRow: UnsafeRawPointer
    @exclusivity(unchecked) final var extra: Extra?
    // SAFETY: when the context is deallocated or the object leaves it, this property is set to a
    // core that the object retains; see `GraphCore.orphan(_:orphanage:)`.
    @exclusivity(unchecked) unowned(unsafe) final var core: GraphCore
    @exclusivity(unchecked) final var key: Int64
    /// The number of bytes of the row.
    @exclusivity(unchecked) final var byteCount: UInt32 = 0
    @exclusivity(unchecked) final var entityNumber: UInt16
    @usableFromInline @exclusivity(unchecked) final var state: State
    @exclusivity(unchecked) final var flags: Flags = []

    /// The conditions that determine how a setter writes.
    @usableFromInline
    struct State: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt8
        @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The object changed in the current event.
        static let touched = State(rawValue: 1)
        /// The row is private; see ``PrivateRow``.
        static let privateRow = State(rawValue: 2)
        /// The object can be observed, so each setter takes the slow path.
        static let observed = State(rawValue: 4)
        /// The object is touched, has a private row, and is not observed, so a setter may write
        /// into the row.
        @usableFromInline static let writable = State(rawValue: 3)
    }

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let inserted = Flags(rawValue: 1)
        static let deleted = Flags(rawValue: 2)
        /// The object is in the context's list of changed objects.
        static let changed = Flags(rawValue: 4)
        /// The object's row is missing in the store.
        static let inaccessible = Flags(rawValue: 8)
        /// A background save is saving the object, or a save is finishing its deletion.
        static let inFlight = Flags(rawValue: 16)
        /// The object has left its context.
        static let orphan = Flags(rawValue: 32)
        /// Delete rules were applied to the deleted object.
        static let propagated = Flags(rawValue: 64)
        /// The next save checks the object for conflicts, even if it is unchanged.
        static let detectsConflicts = Flags(rawValue: 128)
    }

    /// Creates an object.
    ///
    /// Only contexts call this initializer.
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

    /// The value of ``fastRow`` for a fault.
    ///
    /// `UnsafeRawPointer(bitPattern:)` returns an optional, so the compiler requires a fallback.
    @inline(__always)
    static func noRow(or other: UnsafeRawPointer) -> UnsafeRawPointer { UnsafeRawPointer(bitPattern: 1) ?? other }

    // MARK: Identity

    final var info: EntityInfo { core.table.info(Int(entityNumber)) }
    final var root: Int { core.table.root(Int(entityNumber)) }
    /// The location of the variable-length fields in the object's rows.
    final var tail: RowAccess.TailLayout { core.table.tail(Int(entityNumber)) }

    /// The object's ID.
    ///
    /// The key is negative until the first save if the store could not reserve a key.
    public final var objectID: ObjectID { ObjectID(info.entity.name, key: key) }
    /// The object's actual entity.
    public final var entity: ManagedObjectModel.Entity { info.entity }
    /// The context, or nil after the object has left it.
    ///
    /// An object leaves its context if its insertion is discarded, it is deleted before its first
    /// save, its deletion is saved, or the context is reset or deallocated. Then, values that were
    /// read remain readable. ``setValue(_:for:)`` and ``setObject(_:for:)`` throw `closed`.
    /// Properties ignore new values.
    public final var context: ManagedObjectContext? { core.context }

    // MARK: State

    /// Whether the object's values are not in memory.
    public final var isFault: Bool { row == nil }
    /// Whether the next save will insert the object.
    public final var isInserted: Bool { flags.contains(.inserted) && !flags.contains(.deleted) }
    /// Whether the object changed since the last save, even if its values equal the saved values.
    ///
    /// False for new and deleted objects.
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
    /// Whether any stored value or relationship differs from the saved state.
    public final var hasPersistentChangedValues: Bool {
        if extra?.members.contains(where: \.state.hasDifferences) ?? false { return true }
        guard state.contains(.privateRow), let row else { return false }
        guard let committed = PrivateRow.committed(row) else { return true }
        return !RowAccess.haveEqualContent(
            row, leftCount: Int(byteCount), right: committed, rightCount: tail.byteCount(committed))
    }
    /// The number of saves that wrote the object, up to the context's last read or save of it.
    ///
    /// 0 for a new object.
    public final var version: UInt32 {
        if flags.contains(.inserted) { return 0 }
        let row = firedRow
        return RowAccess.version(committedRow ?? row)
    }

    // MARK: Hooks

    /// Called once after the object was inserted and has the model's defaults.
    open func awakeFromInsert() {}
    /// Called after the object's values were read.
    ///
    /// Values that the method sets do not count as changes.
    open func awakeFromFetch() {}
    /// Called after the object's values were changed by something other than a setter, such as undo
    /// or a refresh.
    ///
    /// Values that the method sets do not count as changes.
    open func awake(from events: SnapshotEvents) {}
    /// Called before ``ManagedObjectContext/delete(_:)`` or a cascading delete rule marks the
    /// object as deleted.
    open func prepareForDeletion() {}
    /// Called before a save for each changed object, and again if any call of `willSave` changes
    /// the object.
    open func willSave() {}
    /// Called after a save that wrote the object.
    open func didSave() {}
    /// Called before the object's values are discarded.
    open func willTurnIntoFault() {}
    /// Called after the object's values were discarded.
    open func didTurnIntoFault() {}
    /// The properties that ``validate(_:for:)`` checks.
    ///
    /// None by default, because validation slows down saves of many objects.
    open class var validatedProperties: [String] { [] }
    /// Checks the value of one of the ``validatedProperties``, and can replace it.
    ///
    /// Called before a save checks the rules of the model.
    ///
    /// - Parameters:
    ///   - value: The value of an attribute or the ID of the destination of a to-one relationship.
    ///   - property: The name of the property.
    /// - Throws: A failure, created with ``validationFailure(_:for:)``. The save reports it
    ///   together with all other failures.
    open func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {}
    /// Returns the failures that prevent the insertion of the object.
    open func validateForInsert() -> [ValidationFailure] { [] }
    /// Returns the failures that prevent the update of the object.
    open func validateForUpdate() -> [ValidationFailure] { [] }
    /// Returns the failures that prevent the deletion of the object.
    open func validateForDelete() -> [ValidationFailure] { [] }

    /// Returns a failure for a custom rule.
    ///
    /// - Parameters:
    ///   - reason: A description of the rule, without the value.
    ///   - property: The property that breaks the rule, or nil for the object as a whole.
    /// - Returns: The failure.
    public final func validationFailure(_ reason: String, for property: String? = nil) -> ValidationFailure {
        ValidationFailure(
            .object(objectID), entity: info.entity.name, property: property, kind: .unsuitable(reason))
    }
}

extension ManagedObject: Hashable {
    /// Returns whether both objects are the same instance.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
    /// Hashes the identity of the instance.
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    /// The object's ID and state.
    ///
    /// Does not read the object.
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

/// The data that a context passes to the initializer of an object.
public struct ObjectSeat {
    let core: GraphCore
    let entity: UInt16
    let key: Int64
}
