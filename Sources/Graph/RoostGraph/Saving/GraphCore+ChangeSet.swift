package import RoostCore
internal import RoostStores

/// The pending changes of a context for one store.
struct PendingChanges {
    var changes: ChangeSet
    /// The changed objects; this list keeps the objects of the other lists alive.
    let changed: [ManagedObject]
    /// The objects of `changes.inserts`, in the same order.
    var inserted = UncountedObjects()
    /// The objects of `changes.updates`, in the same order.
    var updated = UncountedObjects()
    /// The objects of `changes.deletes`, in the same order.
    var deleted = UncountedObjects()
    /// The changed objects whose rows are unchanged, but whose to-many relationships may differ.
    var unwritten = UncountedObjects()
    /// Whether any changed object that is not deleted has an ``Extra``.
    var hasExtras = false

    var isEmpty: Bool { changes.isEmpty && changes.unchanged.isEmpty }

    mutating func reserveCapacity(_ survey: SaveSurvey) {
        changes.inserts.reserveCapacity(survey.inserts.count, byteCount: survey.inserts.bytes)
        changes.updates.reserveCapacity(survey.updates.count, byteCount: survey.updates.bytes)
        inserted.reserveCapacity(survey.inserts.count)
        updated.reserveCapacity(survey.updates.count)
    }
}

extension ManagedObjectContext {
    /// Returns the change set of a save to the first store, for benchmarks.
    package func pendingChangeSet() throws(StoreError) -> ChangeSet {
        core.survey = SaveSurvey()
        core.changed.forEachUncounted { core.survey.note($0, flags: $0.flags, state: $0.state) }
        return try core.pendingChanges(store: 0).changes
    }
}

extension GraphCore {
    /// Returns the pending changes for one store.
    ///
    /// If `reach` is nil, the changes are for a commit, and include expectations about the store.
    /// Otherwise, they include only changes that can affect the request, without checksums.
    func pendingChanges(store: Int, in reach: RequestReach? = nil) throws(StoreError) -> PendingChanges {
        let forCommit = reach == nil
        let isWholeStore = stores?.stores.count == 1
        let objects = changed
        var pending = PendingChanges(changes: ChangeSet(model: model), changed: objects)
        if forCommit, isWholeStore { pending.reserveCapacity(survey) }
        var newReferences: Set<ObjectID> = []
        var links = LinkChanges(self, isForCommit: forCommit)
        // Neighboring records usually have the same entity, so its ranges are kept for the next record.
        var (known, ranges) = (-1, [Range<Int>]())
        let gone: ManagedObject.Flags = [.deleted, .inaccessible]
        try objects.forEachUncounted { (object) throws(StoreError) in
            guard isWholeStore || stores?.storeOfEntity[Int(object.entityNumber)] == store,
                forCommit || reach?.includes(object.root) ?? true
            else { return }
            let flags = object.flags
            guard flags.isDisjoint(with: gone) else { return try collectDelete(of: object, pending: &pending) }
            if object.extra != nil {
                pending.hasExtras = true
                try links.collect(object)
            }
            guard object.state.contains(.privateRow), let row = object.row else {
                return collectUnwritten(object, isForCommit: forCommit, pending: &pending)
            }
            let count = Int(object.byteCount)
            let writable = UnsafeMutableRawPointer(mutating: row)
            let bytes = UnsafeRawBufferPointer(start: row, count: count)
            let committed = PrivateRow.committed(row)
            if flags.contains(.inserted) {
                if forCommit { RowAccess.seal(writable, byteCount: count, key: object.key, version: 1) }
                pending.changes.inserts.append(built: bytes, key: object.key, entity: Int(object.entityNumber))
                pending.inserted.append(object)
            } else {
                guard let committed,
                    isPlanted(.writesEqualRows)
                        || !RowAccess.haveEqualContent(
                            row, leftCount: count, right: committed, rightCount: object.tail.byteCount(committed))
                else {
                    return collectUnwritten(object, isForCommit: forCommit, pending: &pending)
                }
                if forCommit {
                    RowAccess.seal(writable, byteCount: count, key: object.key, version: RowAccess.version(committed))
                }
                pending.changes.updates.append(built: bytes, key: object.key, entity: Int(object.entityNumber))
                pending.updated.append(object)
            }
            guard forCommit else { return }
            let entity = Int(object.entityNumber)
            if known != entity { (known, ranges) = (entity, object.info.referenceRanges) }
            guard !ranges.isEmpty else { return }
            if let committed, RowAccess.haveEqualReferences(row, right: committed, in: ranges) { return }
            collectNewReferences(object, row: row, info: object.info, found: &newReferences)
        }
        pending.changes.addedLinks = links.added
        pending.changes.removedLinks = links.removed
        if forCommit { addExpectations(to: &pending, destinations: newReferences, store: store) }
        return pending
    }

    private func collectUnwritten(_ object: ManagedObject, isForCommit: Bool, pending: inout PendingChanges) {
        if object.flags.contains(.detectsConflicts), isForCommit { requireUnchanged(object, pending: &pending) }
        pending.unwritten.append(object)
    }

    private func collectDelete(of object: ManagedObject, pending: inout PendingChanges) throws(StoreError) {
        guard !object.flags.contains(.inaccessible) else { return }
        let row = object.committedRow ?? object.firedRow
        // Reading the row may show that the object no longer exists.
        guard !object.flags.contains(.inaccessible) else { return }
        // If the object is still a fault, reading its row failed, and its version is unknown.
        if object.isFault { try throwLatched() }
        pending.changes.delete(object.objectID, version: RowAccess.version(row))
        pending.deleted.append(object)
    }

    /// Adds checks of new destinations, references to deleted objects, and last places.
    ///
    /// References to deleted objects are not checked if a delete rule of any deleted object allows
    /// them.
    private func addExpectations(to pending: inout PendingChanges, destinations: Set<ObjectID>, store: Int) {
        let isWholeStore = stores?.stores.count == 1
        pending.changes.existing = isPlanted(.trustsDestinations) ? [] : Array(destinations)
        pending.changes.requiresUnreferencedDeletes =
            !pending.deleted.isEmpty && !pending.deleted.all.contains(where: leavesReferences)
        pending.changes.lastPlaces = expectedPlaces.filter { place in
            isWholeStore || model.entity(place.id.entity).map { stores?.storeOfEntity[$0.number] == store } ?? false
        }
    }

    /// Returns whether a save would insert, update or delete the record of an object.
    func hasPendingRow(_ object: ManagedObject) -> Bool {
        if !object.flags.isDisjoint(with: [.inserted, .deleted]) { return true }
        guard object.state.contains(.privateRow), let row = object.row else { return false }
        guard let committed = PrivateRow.committed(row) else { return true }
        return !RowAccess.haveEqualContent(
            row, leftCount: Int(object.byteCount), right: committed, rightCount: object.tail.byteCount(committed))
    }

    /// Returns whether a delete rule allows other objects to refer to the deleted object.
    private func leavesReferences(_ object: ManagedObject) -> Bool {
        object.info.relationships.contains { $0.declaration.deleteRule == .noAction && $0.inverse != nil }
    }

    private func requireUnchanged(_ object: ManagedObject, pending: inout PendingChanges) {
        guard let row = object.committedRow, !isPlanted(.detectsNothing) else { return }
        pending.changes.unchanged.append(
            ChangeSet.Reference(object.objectID, version: RowAccess.version(row)))
    }

    /// Collects the destinations of references that differ from the committed row.
    private func collectNewReferences(
        _ object: ManagedObject, row: UnsafeRawPointer, info: EntityInfo, found: inout Set<ObjectID>
    ) {
        let committed = PrivateRow.committed(row)
        for (index, range) in info.referenceRanges.enumerated() {
            if let committed, RowAccess.haveEqualBytes(row, right: committed, in: range) { continue }
            let field = info.referenceFields[index]
            guard let (entity, key) = RowAccess.reference(row, field: field), key > 0 else { continue }
            if let committed, RowAccess.reference(committed, field: field)?.key == key { continue }
            let root = table.root(entity)
            if let destination = registry.find(root, key: key) {
                // The commit inserts new objects itself, but must fail for a deleted destination.
                if destination.flags.contains(.inserted) { continue }
                found.insert(destination.objectID)
            } else if table.info(entity).entity.selfAndSubentities.count == 1 {
                found.insert(ObjectID(model.entities[entity].name, key: key))
            }
        }
    }
}

/// A collector of the added and removed links of changed relationships.
private struct LinkChanges {
    private let core: GraphCore
    private let isForCommit: Bool
    private let model: ManagedObjectModel
    private var seenAdded: [Int: [Link.Ends: Int]] = [:]
    private var seenRemoved: [Int: Set<Link.Ends>] = [:]
    private(set) var added: [LinkBatch] = []
    private(set) var removed: [LinkBatch] = []

    init(_ core: GraphCore, isForCommit: Bool) {
        self.core = core
        self.isForCommit = isForCommit
        model = core.model
    }

    mutating func collect(_ object: ManagedObject) throws(StoreError) {
        guard let extra = object.extra else { return }
        for (number, members) in extra.members where members.hasDifferences {
            let relationship = model.relationships[number]
            guard case .links(let owner, let isFlipped) = relationship.storage else { continue }
            let root = model.entities[relationship.destination].root
            for key in members.removed where !isRemoved(root, key: key) {
                remove(Link(object.key, key), owner: owner, isFlipped: isFlipped)
            }
            guard relationship.isOrdered else {
                // An ordered inverse adds the link together with the position.
                if let inverse = relationship.inverse, model.relationships[inverse].isOrdered { continue }
                for key in members.added where !isRemoved(root, key: key) {
                    add(Link(object.key, key), owner: owner, isFlipped: isFlipped, setsOrder: false)
                }
                continue
            }
            for link in try core.placedLinks(of: object, relationship: relationship, isForCommit: isForCommit)
            where !isRemoved(root, key: link.target) {
                add(link, owner: owner, isFlipped: isFlipped, setsOrder: true)
            }
        }
    }

    private func isRemoved(_ root: Int, key: Int64) -> Bool {
        core.registered(root, key: key)?.flags.contains(.deleted) ?? false
    }

    private mutating func remove(_ link: Link, owner: Int, isFlipped: Bool) {
        let link = model.relationships[owner].normalized(isFlipped ? link.flipped : link)
        guard seenRemoved[owner, default: []].insert(Link.Ends(link)).inserted else { return }
        append(link, owner: owner, batches: &removed)
    }

    private mutating func add(_ link: Link, owner: Int, isFlipped: Bool, setsOrder: Bool) {
        let link = model.relationships[owner].normalized(isFlipped ? link.flipped : link)
        let ends = Link.Ends(link)
        if let index = seenAdded[owner]?[ends], let batch = added.firstIndex(where: { $0.relationship == owner }) {
            // The link was already added. Only an ordered end also sets a position.
            guard setsOrder else { return }
            if isFlipped {
                added[batch].links[index].inverseOrder = link.inverseOrder
            } else {
                added[batch].links[index].order = link.order
            }
            return
        }
        append(link, owner: owner, batches: &added)
        let count = added.first { $0.relationship == owner }?.links.count ?? 1
        seenAdded[owner, default: [:]][ends] = count - 1
    }

    private func append(_ link: Link, owner: Int, batches: inout [LinkBatch]) {
        if let index = batches.firstIndex(where: { $0.relationship == owner }) {
            batches[index].links.append(link)
        } else {
            batches.append(LinkBatch(relationship: owner, links: [link]))
        }
    }
}

extension Link {
    /// A link without its positions.
    fileprivate struct Ends: Hashable {
        let source: Int64
        let target: Int64

        init(_ link: Link) { (source, target) = (link.source, link.target) }
    }
}
