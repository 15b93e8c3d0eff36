internal import RoostCore
internal import RoostSystem

/// The state of objects before one event.
///
/// Applying a record exchanges its content with the state of the objects, so the same record serves
/// for redo. Undo applies the notes from last to first, and redo from first to last, because
/// several notes can concern the same object.
///
/// SAFETY: a record counts as one use of each of its rows, and keeps their objects alive.
final class UndoRecord {
    /// Whether an object is in the context.
    enum Presence: UInt8 {
        /// Not inserted yet, or deleted by a save.
        case absent
        case present
        /// In the context, and to be deleted by the next save.
        case deleted
    }

    /// The row of an object at the beginning of the event.
    struct RowImage {
        // The object must be the first field; see `object(of:)`.
        let object: ManagedObject
        var row: UnsafeRawPointer
        var byteCount: UInt32
        /// Whether the row is a private one that nothing else uses.
        var isPrivate: Bool
        /// Whether the object was in the list of changed objects.
        var wasChanged: Bool
        /// Whether the last exchange removed the object from the list of changed objects.
        var wasRemoved = false
    }

    /// An object whose presence, relationships or transient attributes change.
    struct Note {
        let object: ManagedObject
        /// The former presence, or nil if the event did not change it.
        var presence: Presence?
        var wasChanged: Bool
        var isInsertion = false
    }

    /// A changed membership in a relationship that is stored as links.
    struct LinkImage {
        let owner: ManagedObject
        let relationship: Int
        let key: Int64
        /// Whether the key was a member, or nil if unknown.
        var wasMember: Bool?
        var difference: Members.Difference
    }

    struct OrderImage {
        let owner: ManagedObject
        let relationship: Int
        var order: Members.Order
    }

    /// Whether the record needs former members or orders that the next save overwrites.
    var isUnresolved: Bool {
        links.contains { $0.wasMember == nil } || orders.contains { $0.order.current == nil }
    }

    /// The members of a deleted object, which the store loses at the next save.
    struct Contents {
        let owner: ManagedObject
        let relationship: Int
        let keys: [Int64]
    }

    struct TransientImage {
        let object: ManagedObject
        let name: String
        var value: Value?
    }

    /// A number that is unique in the context.
    let number: Int
    /// The number of the context's commits when the record was created or last applied.
    var commitCount: Int
    /// The value of ``GraphCore/outsideCount`` when ``commitCount`` was recorded.
    var outsideCount: Int
    /// Whether the record was applied an odd number of times.
    var isReversed = false
    @exclusivity(unchecked) var rows: ContiguousArray<RowImage> = []
    /// The list of changed objects before the last exchange, if the exchange removed all of them.
    ///
    /// The opposite exchange reuses the list, because appending each object again would count
    /// references.
    var formerChanged: [ManagedObject] = []
    var notes: [Note] = []
    var links: [LinkImage] = []
    var orders: [OrderImage] = []
    var contents: [Contents] = []
    var transients: [TransientImage] = []
    /// The objects whose presence is recorded.
    private var present: Set<ObjectIdentifier> = []

    init(number: Int, commitCount: Int, outsideCount: Int) {
        (self.number, self.commitCount, self.outsideCount) = (number, commitCount, outsideCount)
    }

    deinit { forEachRow { _, image in RowPage.release(image.pointee.row) } }

    /// Calls `body` for each row, in the order of an exchange, without counting references.
    ///
    /// While this method runs, ``rows`` is empty. Set `readsRows` if `body` reads the former and
    /// the present row of most objects.
    func forEachRow(
        readsRows: Bool = false, _ body: (ManagedObject, UnsafeMutablePointer<RowImage>) -> Void
    ) {
        var images = rows
        rows = []
        defer { rows = images }
        images.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for position in 0..<buffer.count {
                let index = isReversed ? position : buffer.count - 1 - position
                let image = base + index
                prefetch(buffer, around: index, readsRows: readsRows)
                Self.object(of: image)._withUnsafeGuaranteedRef { body($0, image) }
            }
        }
    }

    @inline(__always)
    private static func object(of image: UnsafeMutablePointer<RowImage>) -> Unmanaged<ManagedObject> {
        // SAFETY: the first field of an image is a reference, which the list keeps; an `Unmanaged`
        // of it has the same representation.
        UnsafeRawPointer(image).assumingMemoryBound(to: Unmanaged<ManagedObject>.self).pointee
    }

    /// Prefetches the objects and rows of the next images.
    @inline(__always)
    private func prefetch(
        _ images: UnsafeMutableBufferPointer<RowImage>, around index: Int, readsRows: Bool
    ) {
        let (near, far) = isReversed ? (index + 6, index + 12) : (index - 6, index - 12)
        guard let base = images.baseAddress, images.indices.contains(far) else { return }
        let object = UnsafeRawPointer(Self.object(of: base + far).toOpaque())
        croost_prefetch(object)
        croost_prefetch(object + 48)
        guard readsRows else { return }
        // The object was prefetched six rounds earlier.
        Self.object(of: base + near)._withUnsafeGuaranteedRef { object in
            let former = base[near].row
            croost_prefetch(former - PrivateRow.prefixByteCount)
            croost_prefetch(former + 56)
            guard let present = object.row else { return }
            croost_prefetch(present - PrivateRow.prefixByteCount)
            croost_prefetch(present + 56)
        }
    }

    var isEmpty: Bool { rows.isEmpty && notes.isEmpty && links.isEmpty && orders.isEmpty && transients.isEmpty }

    private func hadChanges(_ object: ManagedObject) -> Bool {
        object.flags.contains(.changed) && !object.state.contains(.touched)
    }

    func note(_ presence: Presence, of object: ManagedObject) {
        guard present.insert(ObjectIdentifier(object)).inserted else { return }
        notes.append(
            Note(
                object: object, presence: presence, wasChanged: hadChanges(object), isInsertion: presence == .absent))
    }

    /// Records the row of an object, and takes over one use of the row from the caller.
    func note(_ row: UnsafeRawPointer, of object: ManagedObject, isPrivate: Bool) {
        rows.append(
            RowImage(
                object: object, row: row, byteCount: object.byteCount, isPrivate: isPrivate,
                wasChanged: hadChanges(object)))
    }

    func note(_ object: ManagedObject) {
        notes.append(Note(object: object, presence: nil, wasChanged: hadChanges(object)))
    }

    /// Replaces keys in the recorded state.
    ///
    /// In a child context, rows that are not private can contain temporary keys, too.
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
