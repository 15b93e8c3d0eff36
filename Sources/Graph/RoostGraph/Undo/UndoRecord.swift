internal import RoostCore

/// The state of objects before one event, so that the event can be taken back.
///
/// A record is its own opposite: applying it exchanges its content and that of the objects. The
/// next time it is read from the other end, so that the last of several notes about one object is
/// right.
///
/// SAFETY: a record counts the rows that it has, and keeps their objects.
final class UndoRecord {
    /// Whether an object is in the context.
    enum Presence: UInt8 {
        /// Not inserted yet, or deleted by a save.
        case absent
        case present
        /// In the context, and the next save deletes it.
        case deleted
    }

    /// The row of an object at the beginning of the event.
    struct RowImage {
        // The first field: see ``forEachRow(_:)``.
        let object: ManagedObject
        var row: UnsafeRawPointer
        var byteCount: UInt32
        /// Whether the row is a private one that nothing else uses.
        var isPrivate: Bool
        /// Whether the object was among the changed ones.
        var wasChanged: Bool
    }

    /// An object whose presence, relationships or transient attributes change.
    struct Note {
        let object: ManagedObject
        /// Nil if the event did not change that.
        var presence: Presence?
        /// Whether the object was among the changed ones.
        var wasChanged: Bool
        /// Whether the event inserted the object.
        var isInsertion = false
    }

    /// One member of a relationship that is kept as links.
    struct LinkImage {
        let owner: ManagedObject
        let relationship: Int
        let key: Int64
        /// Nil if that was not known.
        var wasMember: Bool?
        var difference: Members.Difference
    }

    /// The members of an ordered relationship in their order.
    struct OrderImage {
        let owner: ManagedObject
        let relationship: Int
        var order: Members.Order
    }

    /// Whether the record lacks something that only the store knows until the changes are saved.
    var isUnresolved: Bool {
        links.contains { $0.wasMember == nil } || orders.contains { $0.order.current == nil }
    }

    /// The members of a deleted object, which no store has if the object returns after a save.
    struct Contents {
        let owner: ManagedObject
        let relationship: Int
        let keys: [Int64]
    }

    /// The value of a transient attribute.
    struct TransientImage {
        let object: ManagedObject
        let name: String
        var value: Value?
    }

    /// A number that no other record of the context has.
    let number: Int
    /// The number of commits before the record was made, or applied the last time.
    var commitCount: Int
    /// The number of changes outside of steps, as ``commitCount``.
    var outsideCount: Int
    /// Whether the record was applied an odd number of times.
    var isReversed = false
    @exclusivity(unchecked) var rows: ContiguousArray<RowImage> = []
    var notes: [Note] = []
    var links: [LinkImage] = []
    var orders: [OrderImage] = []
    var contents: [Contents] = []
    var transients: [TransientImage] = []
    /// The objects whose presence is noted.
    private var present: Set<ObjectIdentifier> = []

    init(number: Int, commitCount: Int, outsideCount: Int) {
        (self.number, self.commitCount, self.outsideCount) = (number, commitCount, outsideCount)
    }

    deinit { forEachRow { _, image in RowPage.release(image.pointee.row) } }

    /// Calls `body` for each row, in the order of an exchange, with its object uncounted.
    ///
    /// The record does not have the rows meanwhile.
    func forEachRow(_ body: (ManagedObject, UnsafeMutablePointer<RowImage>) -> Void) {
        var images = rows
        rows = []
        defer { rows = images }
        images.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for position in 0..<buffer.count {
                let image = base + (isReversed ? position : buffer.count - 1 - position)
                // SAFETY: the first field of an image is a reference, which the list keeps; an
                // `Unmanaged` of it has the same representation.
                let object = UnsafeRawPointer(image).assumingMemoryBound(to: Unmanaged<ManagedObject>.self).pointee
                object._withUnsafeGuaranteedRef { body($0, image) }
            }
        }
    }

    var isEmpty: Bool { rows.isEmpty && notes.isEmpty && links.isEmpty && orders.isEmpty && transients.isEmpty }

    /// Whether an object had changes before the event.
    private func hadChanges(_ object: ManagedObject) -> Bool {
        object.flags.contains(.changed) && !object.state.contains(.touched)
    }

    /// Notes whether an object is in the context, if that was not noted yet.
    func note(_ presence: Presence, of object: ManagedObject) {
        guard present.insert(ObjectIdentifier(object)).inserted else { return }
        notes.append(
            Note(
                object: object, presence: presence, wasChanged: hadChanges(object), isInsertion: presence == .absent))
    }

    /// Notes the row of an object; the record takes over one count.
    func note(_ row: UnsafeRawPointer, of object: ManagedObject, isPrivate: Bool) {
        rows.append(
            RowImage(
                object: object, row: row, byteCount: object.byteCount, isPrivate: isPrivate,
                wasChanged: hadChanges(object)))
    }

    /// Notes an object whose relationships or transient attributes change.
    func note(_ object: ManagedObject) {
        notes.append(Note(object: object, presence: nil, wasChanged: hadChanges(object)))
    }

    /// Replaces keys.
    ///
    /// - Parameters:
    ///   - new: The new keys.
    ///   - model: The model.
    ///   - areTemporary: Whether all keys to replace are temporary ones.
    ///   - isOfChild: Whether rows that are not private can have such keys, too.
    func replaceKeys(_ new: [ObjectPlace: Int64], model: ManagedObjectModel, areTemporary: Bool, isOfChild: Bool) {
        for index in links.indices {
            let link = links[index]
            let root = model.entities[model.relationships[link.relationship].destination].root
            guard let key = new[ObjectPlace(root: root, key: link.key)] else { continue }
            links[index] = LinkImage(
                owner: link.owner, relationship: link.relationship, key: key, wasMember: link.wasMember,
                difference: link.difference)
        }
        func replaced(_ keys: [Int64], relationship: Int) -> [Int64] {
            let root = model.entities[model.relationships[relationship].destination].root
            return keys.map { new[ObjectPlace(root: root, key: $0)] ?? $0 }
        }
        for index in orders.indices {
            let relationship = orders[index].relationship
            orders[index].order.current = orders[index].order.current.map { replaced($0, relationship: relationship) }
            orders[index].order.appended = replaced(orders[index].order.appended, relationship: relationship)
        }
        contents = contents.map {
            Contents(
                owner: $0.owner, relationship: $0.relationship, keys: replaced($0.keys, relationship: $0.relationship))
        }
        for image in rows where image.isPrivate || isOfChild {
            image.object.info.replaceKeys(
                new, in: UnsafeMutableRawPointer(mutating: image.row), model: model, areTemporary: areTemporary)
        }
    }
}
