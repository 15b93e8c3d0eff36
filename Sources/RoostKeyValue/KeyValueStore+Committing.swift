public import RoostCore

extension KeyValueStore {
    /// Writes a change set, all or nothing; see ``PersistentStore/commit(_:)``.
    ///
    /// Everything is validated in the write transaction before the first byte changes. A change set that turns out to change
    /// nothing, such as the removal of a link that is not there, leaves the generation as it is.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try requireWritable()
        try requireCompatible(changes.model)
        let change = try PreparedChange(changes, plan)
        if changes.isEmpty {
            let reader = try read()
            defer { reader.close() }
            try change.validate(reader)
            return CommitReceipt(generation: try MetaSpace.readTally(model, reader).generation)
        }
        let generation = try storage.write(timeoutSeconds: options.timeoutSeconds) { (writer) throws(StoreError) in
            try change.validate(writer)
            var application = try ChangeApplication(change, writer)
            return try application.run()
        }
        noteUsedKeys(change.highestInsertedKeys)
        return CommitReceipt(generation: generation)
    }
}

/// An object's place: the root of its hierarchy and its key.
struct ObjectPlace: Hashable, Sendable {
    let root: Int
    let key: Int64
}

/// A change set, looked at by itself: who is touched, and what is wrong with it whatever the store holds.
struct PreparedChange: Sendable {
    let changes: ChangeSet
    let plan: StorePlan
    /// Positions in the batches by place.
    private(set) var inserted: [ObjectPlace: Int] = [:]
    private(set) var updated: [ObjectPlace: Int] = [:]
    private(set) var deleted: Set<ObjectPlace> = []
    /// The positions of the updates in the order of their records in the store.
    let updateOrder: [Int]
    /// By number of the hierarchy's root.
    private(set) var highestInsertedKeys: [Int: Int64] = [:]
    /// All links as they are stored.
    let removedLinks: [LinkBatch]
    let addedLinks: [LinkBatch]

    var model: ManagedObjectModel { plan.model }

    init(_ changes: ChangeSet, _ plan: StorePlan) throws(StoreError) {
        self.changes = changes
        self.plan = plan
        removedLinks = try plan.stored(changes.removedLinks)
        addedLinks = try plan.stored(changes.addedLinks)
        updateOrder = changes.updates.positionsByKey(in: plan.entities.map(\.root))
        try requireCompleteAndUnique()
    }

    private mutating func requireCompleteAndUnique() throws(StoreError) {
        let (inserts, updates) = (changes.inserts, changes.updates)
        inserted.reserveCapacity(inserts.count)
        updated.reserveCapacity(updates.count)
        for index in 0..<inserts.count {
            let place = plan.place(of: inserts, at: index)
            guard inserts.version(at: index) <= 1 else {
                throw StoreError(
                    .invalidRequest, "New object \(inserts.id(at: index)) carries a version above 1; is it an update?")
            }
            try plan.requireKey(place.key, inserts.id(at: index))
            guard inserted.updateValue(index, forKey: place) == nil else {
                throw StoreError(.duplicateObject, "\(inserts.id(at: index)) is inserted twice.")
            }
            highestInsertedKeys[place.root] = max(place.key, highestInsertedKeys[place.root] ?? 0)
        }
        for index in 0..<updates.count {
            guard updated.updateValue(index, forKey: plan.place(of: updates, at: index)) == nil else {
                throw StoreError(.invalidRequest, "\(updates.id(at: index)) is updated twice in one change set.")
            }
        }
        for reference in changes.deletes {
            let place = ObjectPlace(root: try model.requireEntity(reference.id.entity).root, key: reference.id.key)
            guard deleted.insert(place).inserted, updated[place] == nil else {
                throw StoreError(
                    .invalidRequest, "\(reference.id) is deleted twice, or updated and deleted, in one change set.")
            }
        }
        for reference in changes.unchanged { _ = try model.requireEntity(reference.id.entity) }
    }
}

extension StorePlan {
    /// The place of a record of a batch.
    func place(of batch: RecordBatch, at index: Int) -> ObjectPlace {
        ObjectPlace(root: entities[batch.entityNumber(at: index)].root, key: batch.key(at: index))
    }

    /// Throws code `invalidRequest` for a key that no object can have.
    func requireKey(_ key: Int64, _ id: @autoclosure () -> ObjectID) throws(StoreError) {
        if key < 1 {
            throw StoreError(.invalidRequest, "The key of \(id()) is not positive; reserve keys from the store.")
        }
    }

    /// The batches under the relationships that own the links, every link normalised.
    ///
    /// - Throws: `invalidRequest` for a number of no relationship, or one without links of its own.
    func stored(_ batches: [LinkBatch]) throws(StoreError) -> [LinkBatch] {
        var stored: [LinkBatch] = []
        for batch in batches where !batch.isEmpty {
            guard model.relationships.indices.contains(batch.relationship),
                model.relationships[batch.relationship].ownsLinks
            else {
                throw StoreError(
                    .invalidRequest,
                    "There is no relationship with number \(batch.relationship) that has links of its own.")
            }
            let relationship = model.relationships[batch.relationship]
            let normalised = LinkBatch(
                relationship: batch.relationship, links: batch.links.map { relationship.normalised($0) })
            try normalised.requirePositiveKeys(model)
            stored.append(normalised)
        }
        return stored
    }
}
