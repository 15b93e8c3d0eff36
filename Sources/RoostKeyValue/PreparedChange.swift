internal import RoostCore

/// A change set, looked at by itself: who is touched, and what is wrong with it whatever the store holds.
struct PreparedChange: Sendable {
    /// One object of a change set.
    struct Item: Sendable {
        let place: ObjectPlace
        let entity: Int
        /// Where it stands among the inserts, updates, deletes or unchanged objects.
        let position: Int
    }

    let changes: ChangeSet
    let plan: StorePlan
    /// In the order of their records in the store: what lies together is then reached together.
    let inserts: [Item]
    let updates: [Item]
    let deletes: [Item]
    /// As the change set has them.
    let unchanged: [Item]
    /// All links as they are stored.
    let removedLinks: [LinkBatch]
    let addedLinks: [LinkBatch]

    var model: ManagedObjectModel { plan.model }

    /// The highest key that is inserted in each hierarchy, by number of the root.
    var highestInsertedKeys: [(root: Int, key: Int64)] {
        var highest: [(root: Int, key: Int64)] = []
        for item in inserts {
            if let last = highest.indices.last, highest[last].root == item.place.root {
                highest[last].key = item.place.key
            } else {
                highest.append((item.place.root, item.place.key))
            }
        }
        return highest
    }

    init(_ changes: ChangeSet, _ plan: StorePlan) throws(StoreError) {
        self.changes = changes
        self.plan = plan
        removedLinks = try plan.stored(changes.removedLinks)
        addedLinks = try plan.stored(changes.addedLinks)
        try Self.requireNew(changes.inserts, plan)
        inserts = Self.inOrder(Self.items(changes.inserts, plan))
        updates = Self.inOrder(Self.items(changes.updates, plan))
        deletes = Self.inOrder(try Self.items(changes.deletes, plan))
        unchanged = try Self.items(changes.unchanged, plan)
        try requireUnique()
    }

    private static func items(_ batch: RecordBatch, _ plan: StorePlan) -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(batch.count)
        for index in 0..<batch.count {
            items.append(
                Item(place: plan.place(of: batch, at: index), entity: batch.entityNumber(at: index), position: index))
        }
        return items
    }

    private static func items(
        _ references: [ChangeSet.Reference], _ plan: StorePlan
    ) throws(StoreError) -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(references.count)
        var entity: ManagedObjectModel.Entity?
        for (index, reference) in references.enumerated() {
            // Most are of the entity of the one before.
            let known = entity?.name == reference.id.entity ? entity : nil
            let named = if let known { known } else { try plan.model.requireEntity(reference.id.entity) }
            entity = named
            items.append(
                Item(
                    place: ObjectPlace(root: named.root, key: reference.id.key), entity: named.number, position: index))
        }
        return items
    }

    private static func inOrder(_ items: [Item]) -> [Item] {
        var isInOrder = true
        for index in 1..<max(1, items.count) where items[index].place < items[index - 1].place { isInOrder = false }
        guard !isInOrder else { return items }
        // By the digits of their places: keys that lie anywhere would be compared some seventeen times each.
        var order: [EntryArena.Item] = []
        order.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            let key = UInt64(bitPattern: item.place.key) ^ 1 << 63
            order.append(EntryArena.Item(high: UInt64(UInt(bitPattern: item.place.root)), low: key, offset: index))
        }
        order.sortByPrefix()
        return order.map { items[$0.offset] }
    }

    private static func requireNew(_ inserts: RecordBatch, _ plan: StorePlan) throws(StoreError) {
        try inserts.forEachRecord { (record) throws(StoreError) in
            guard record.version <= 1 else {
                throw StoreError(
                    .invalidRequest, "New object \(record.id) carries a version above 1; is it an update?")
            }
        }
    }

    private func requireUnique() throws(StoreError) {
        if let item = Self.repeated(inserts) {
            throw StoreError(.duplicateObject, "\(changes.inserts.id(at: item.position)) is inserted twice.")
        }
        if let item = Self.repeated(updates) {
            throw StoreError(
                .invalidRequest, "\(changes.updates.id(at: item.position)) is updated twice in one change set.")
        }
        if let item = Self.repeated(deletes) ?? Self.common(deletes, updates) {
            throw StoreError(
                .invalidRequest,
                "\(changes.deletes[item.position].id) is deleted twice, or updated and deleted, in one change set.")
        }
    }

    /// The first item at the place of the one before it.
    private static func repeated(_ items: [Item]) -> Item? {
        for index in 1..<max(1, items.count) where items[index - 1].place == items[index].place { return items[index] }
        return nil
    }

    /// The first item at the place of one of the others; both are in order.
    static func common(_ items: [Item], _ others: [Item]) -> Item? {
        var index = 0
        for item in items {
            while index < others.count, others[index].place < item.place { index += 1 }
            guard index < others.count else { return nil }
            if others[index].place == item.place { return item }
        }
        return nil
    }
}

/// Objects that changed since they were read.
struct Conflicts {
    /// Each with its rank: first the updates, then the deletes, then the unchanged objects, as the change set has them.
    private var found: [(rank: Int, conflict: ObjectConflict)] = []

    var isEmpty: Bool { found.isEmpty }

    mutating func append(_ conflict: ObjectConflict, rank: Int) { found.append((rank, conflict)) }

    /// Notes an object that is not in the store at the version it was read at.
    ///
    /// A change names an object by its own entity; under any other one of its hierarchy there is no such object.
    mutating func append(
        _ item: PreparedChange.Item, version: UInt32, stored: RecordReader?, _ model: ManagedObjectModel, rank: Int
    ) {
        var current: Record?
        if let stored, stored.entityNumber == item.entity {
            var batch = RecordBatch(model: model)
            batch.append(stored)
            current = batch.record(at: 0)
        }
        let id = ObjectID(model.entities[item.entity].name, item.place.key)
        append(ObjectConflict(id: id, expectedVersion: version, current: current), rank: rank)
    }

    mutating func append(_ others: Conflicts) { found += others.found }

    func throwIfAny() throws(StoreError) {
        let conflicts = found.sorted { $0.rank < $1.rank }.map(\.conflict)
        guard let first = conflicts.first else { return }
        let others = conflicts.count == 1 ? "" : " and \(conflicts.count - 1) more"
        throw StoreError(
            .conflict, "\(first.id)\(others) changed since it was read. Read it again and decide what holds.",
            conflicts: conflicts)
    }
}

extension PreparedChange {
    /// The objects that must not have changed, and did.
    func unchangedConflicts(_ reader: any KeyValueReader) throws(StoreError) -> Conflicts {
        var conflicts = Conflicts()
        for item in unchanged {
            let version = changes.unchanged[item.position].version
            try reader.withRecord(item.place.key, root: item.place.root, model: model) { (record) throws(StoreError) in
                if let record, record.entityNumber == item.entity, record.version == version { return }
                conflicts.append(
                    item, version: version, stored: record, model,
                    rank: changes.updates.count + changes.deletes.count + item.position)
            }
        }
        return conflicts
    }

    /// Throws code `conflict` where a place was taken after the last one that was read.
    func requireLastPlaces(_ reader: any KeyValueReader) throws(StoreError) {
        let model = plan.model
        for last in changes.lastPlaces {
            let relationship = try last.requireOrdered(model)
            var spaces: [(space: KeySpace, number: Int)] = []
            switch relationship.storage {
            case .field: continue
            case .derived(let inverse): spaces = [(.references, inverse)]
            case .links(let owner, let isFlipped):
                spaces = [(isFlipped ? .inverseLinks : .links, owner)]
                if relationship.isReflexive { spaces.append((.inverseLinks, owner)) }
            }
            for (space, number) in spaces {
                let prefix = StorageKey(record: last.id.key, root: number)
                var start = prefix
                if let place = last.place {
                    start.append(place: place)
                    start.append(key: .max)
                    start.append(bytes: [0])
                }
                let cursor = try reader.cursor(in: space)
                if try cursor.seek(to: start), cursor.key.begins(with: prefix.bytes) { throw last.conflict }
            }
        }
    }
}
