internal import RoostCore

/// The state of objects before one event, so that the event can be taken back.
///
/// A record is its own opposite: to apply it exchanges what it has and what the objects have. It is
/// then read from the other end, so that of several notes about one thing the right one is last.
///
/// SAFETY: a record counts the rows that it has, and keeps their objects.
final class UndoRecord {
    /// Whether an object is in the context.
    enum Presence: UInt8 {
        /// It is not: not inserted yet, or deleted and saved.
        case absent
        case present
        /// The next save deletes it.
        case deleted
    }

    /// An object at the beginning of the event.
    struct Image {
        let object: ManagedObject
        /// The row; nil if the event did not change it.
        var row: UnsafeRawPointer?
        var byteCount: UInt32 = 0
        /// Whether the row is a private one that nothing else uses.
        var isPrivate = false
        /// Whether the object was among the changed ones.
        var wasChanged: Bool
        /// Nil if the event did not change that.
        var presence: Presence?
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
    var images: ContiguousArray<Image> = []
    var links: [LinkImage] = []
    var orders: [OrderImage] = []
    var contents: [Contents] = []
    var transients: [TransientImage] = []
    /// The objects whose presence is noted.
    private var present: Set<ObjectIdentifier> = []

    init(number: Int, commitCount: Int, outsideCount: Int) {
        (self.number, self.commitCount, self.outsideCount) = (number, commitCount, outsideCount)
    }

    deinit { for image in images { if let row = image.row { RowPage.release(row) } } }

    var isEmpty: Bool { images.isEmpty && links.isEmpty && orders.isEmpty && transients.isEmpty }

    /// Notes whether an object is in the context, if that was not noted yet.
    func note(_ presence: Presence, of object: ManagedObject) {
        guard present.insert(ObjectIdentifier(object)).inserted else { return }
        images.append(
            Image(
                object: object, wasChanged: object.flags.contains(.changed), presence: presence,
                isInsertion: presence == .absent))
    }

    /// Notes the row of an object; the record takes over one count.
    func note(_ row: UnsafeRawPointer, of object: ManagedObject, isPrivate: Bool) {
        images.append(
            Image(
                object: object, row: row, byteCount: object.byteCount, isPrivate: isPrivate,
                wasChanged: object.flags.contains(.changed)))
    }

    /// Notes an object whose relationships or transient attributes change.
    func note(_ object: ManagedObject) {
        images.append(Image(object: object, wasChanged: object.flags.contains(.changed)))
    }

    /// Replaces keys.
    ///
    /// - Parameters:
    ///   - new: The new keys.
    ///   - model: The model.
    ///   - areTemporary: Whether all keys to replace are temporary ones.
    ///   - isOfChild: Whether rows that are not private can have such keys, too.
    func replaceKeys(_ new: [ObjectPlace: Int64], _ model: ManagedObjectModel, areTemporary: Bool, isOfChild: Bool) {
        for index in links.indices {
            let link = links[index]
            let root = model.entities[model.relationships[link.relationship].destination].root
            guard let key = new[ObjectPlace(root: root, key: link.key)] else { continue }
            links[index] = LinkImage(
                owner: link.owner, relationship: link.relationship, key: key, wasMember: link.wasMember,
                difference: link.difference)
        }
        func replaced(_ keys: [Int64], _ relationship: Int) -> [Int64] {
            let root = model.entities[model.relationships[relationship].destination].root
            return keys.map { new[ObjectPlace(root: root, key: $0)] ?? $0 }
        }
        for index in orders.indices {
            let relationship = orders[index].relationship
            orders[index].order.current = orders[index].order.current.map { replaced($0, relationship) }
            orders[index].order.appended = replaced(orders[index].order.appended, relationship)
        }
        contents = contents.map {
            Contents(owner: $0.owner, relationship: $0.relationship, keys: replaced($0.keys, $0.relationship))
        }
        for image in images where image.isPrivate || isOfChild {
            guard let row = image.row else { continue }
            image.object.info.replaceKeys(
                new, in: UnsafeMutableRawPointer(mutating: row), model, areTemporary: areTemporary)
        }
    }
}
