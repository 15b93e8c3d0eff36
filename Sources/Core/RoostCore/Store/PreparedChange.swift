/// A checked change set, resolved against its store's model.
///
/// All engines commit this form, so they reject the same change sets with the same messages. The
/// type is a class, because copying so many arrays costs as much as writing a small record.
package final class PreparedChange: Sendable {
    package struct Item: Sendable {
        package let place: ObjectPlace
        /// The number of the entity that the change set names.
        package let entity: Int
        /// The object's index in its list of the change set.
        package let position: Int
    }

    package struct LastPlace: Sendable {
        package let expected: ChangeSet.LastPlace
        package let relationship: ManagedObjectModel.Relationship
    }

    package let changes: ChangeSet
    package let model: ManagedObjectModel
    /// The inserts, sorted by `Item.place`.
    package let inserts: [Item]
    /// The updates, sorted by `Item.place`.
    package let updates: [Item]
    /// The deletes, sorted by `Item.place`.
    package let deletes: [Item]
    package let unchanged: [Item]
    package let existing: [Item]
    package let lastPlaces: [LastPlace]
    /// The links to remove, in stored form.
    package let removedLinks: [LinkBatch]
    /// The links to add, in stored form.
    package let addedLinks: [LinkBatch]

    /// Checks and resolves a change set.
    ///
    /// - Throws: `modelMismatch`, `unknownEntity`, `unknownProperty`, `invalidRequest`,
    ///   `duplicateObject`.
    package init(_ changes: ChangeSet, model: ManagedObjectModel, location: StoreLocation) throws(StoreError) {
        try changes.requireStorable(in: location, of: model)
        self.changes = changes
        self.model = model
        try Self.requireNew(changes.inserts)
        removedLinks = try Self.stored(changes.removedLinks, model: model)
        addedLinks = try Self.stored(changes.addedLinks, model: model)
        inserts = Self.inOrder(Self.items(changes.inserts, model: model))
        updates = Self.inOrder(Self.items(changes.updates, model: model))
        deletes = Self.inOrder(try Self.items(changes.deletes.lazy.map(\.id), model: model))
        unchanged = try Self.items(changes.unchanged.lazy.map(\.id), model: model)
        existing = try Self.items(changes.existing, model: model)
        var lastPlaces: [LastPlace] = []
        for expected in changes.lastPlaces {
            lastPlaces.append(LastPlace(expected: expected, relationship: try expected.requireOrdered(model)))
        }
        self.lastPlaces = lastPlaces
        try requireUnique()
    }

    /// Whether the change set changes nothing; it may still have requirements.
    package var isEmpty: Bool { changes.isEmpty }

    /// The highest inserted key of each hierarchy, in the order of the root entities.
    package var highestInsertedKeys: [(root: Int, key: Int64)] {
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

    package func id(_ item: Item) -> ObjectID { ObjectID(model.entities[item.entity].name, key: item.place.key) }

    /// Returns the item at a place; `items` must be sorted by `Item.place`.
    package static func item(at place: ObjectPlace, in items: [Item]) -> Item? {
        var (start, end) = (0, items.count)
        while start < end {
            let middle = (start + end) / 2
            if items[middle].place < place { start = middle + 1 } else { end = middle }
        }
        return start < items.count && items[start].place == place ? items[start] : nil
    }

    // MARK: Resolving

    private static func items(_ batch: RecordBatch, model: ManagedObjectModel) -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(batch.count)
        for index in 0..<batch.count {
            items.append(
                Item(place: model.place(of: batch, at: index), entity: batch.entityNumber(at: index), position: index))
        }
        return items
    }

    private static func items(
        _ ids: some Collection<ObjectID>, model: ManagedObjectModel
    ) throws(StoreError) -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(ids.count)
        var entity: ManagedObjectModel.Entity?
        for id in ids {
            // Most objects have the same entity as the previous object.
            let known = entity?.name == id.entity ? entity : nil
            let named = if let known { known } else { try model.requireEntity(id.entity) }
            entity = named
            items.append(
                Item(place: ObjectPlace(root: named.root, key: id.key), entity: named.number, position: items.count))
        }
        return items
    }

    /// Sorts items by their places, so that neighboring records are accessed together.
    private static func inOrder(_ items: [Item]) -> [Item] {
        var isInOrder = true
        for index in 1..<max(1, items.count) where items[index].place < items[index - 1].place { isInOrder = false }
        guard !isInOrder else { return items }
        // A radix sort is faster: a comparison sort of a large list needs about 17 comparisons per item.
        var order: [EntryArena.Item] = []
        order.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            let key = UInt64(bitPattern: item.place.key) ^ 1 << 63
            order.append(EntryArena.Item(high: UInt64(UInt(bitPattern: item.place.root)), low: key, offset: index))
        }
        order.sortByPrefix()
        return order.map { items[$0.offset] }
    }

    private static func stored(_ batches: [LinkBatch], model: ManagedObjectModel) throws(StoreError) -> [LinkBatch] {
        var stored: [LinkBatch] = []
        for batch in batches where !batch.isEmpty { stored.append(try batch.stored(in: model)) }
        return stored
    }

    // MARK: Checking

    private static func requireNew(_ inserts: RecordBatch) throws(StoreError) {
        try inserts.forEachRecord { (record) throws(StoreError) in
            guard record.version <= 1 else {
                throw StoreError(
                    .invalidRequest,
                    "New object \(record.id) has a version above 1; nothing was written. Use an update for an object that exists."
                )
            }
        }
    }

    private func requireUnique() throws(StoreError) {
        if let item = Self.repeated(inserts) ?? Self.common(inserts, others: updates)
            ?? Self.common(inserts, others: deletes)
        {
            throw .takenKey(id(item))
        }
        if let item = Self.repeated(updates) ?? Self.repeated(deletes) ?? Self.common(deletes, others: updates) {
            throw StoreError(
                .invalidRequest, "The change set changes \(id(item)) more than once; nothing was written.")
        }
    }

    private static func repeated(_ items: [Item]) -> Item? {
        for index in 1..<max(1, items.count) where items[index - 1].place == items[index].place { return items[index] }
        return nil
    }

    /// Returns the first item whose place is in `others`; both must be sorted by `Item.place`.
    private static func common(_ items: [Item], others: [Item]) -> Item? {
        var index = 0
        for item in items {
            while index < others.count, others[index].place < item.place { index += 1 }
            guard index < others.count else { return nil }
            if others[index].place == item.place { return item }
        }
        return nil
    }
}

extension LinkBatch {
    /// Returns the batch with all links in stored form.
    ///
    /// - Throws: `invalidRequest` for a relationship that owns no links, and for a key below 1.
    package func stored(in model: ManagedObjectModel) throws(StoreError) -> LinkBatch {
        guard model.relationships.indices.contains(relationship), model.relationships[relationship].ownsLinks else {
            throw StoreError(
                .invalidRequest,
                "The relationship with number \(relationship) has no links of its own.")
        }
        try requirePositiveKeys(model)
        let owner = model.relationships[relationship]
        // Most batches already have this form, so they are not copied.
        guard !links.allSatisfy({ owner.normalized($0) == $0 }) else { return self }
        return LinkBatch(relationship: relationship, links: links.map { owner.normalized($0) })
    }
}
