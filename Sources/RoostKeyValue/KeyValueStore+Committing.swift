public import RoostCore

extension KeyValueStore {
    /// Writes a change set, all or nothing; see ``PersistentStore/commit(_:)``.
    ///
    /// It is compared with what the store holds while it is written, in one transaction that is given up when anything is wrong. A
    /// change set that turns out to change nothing, such as the removal of a link that is not there, leaves the generation as it is.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try requireWritable()
        try changes.requireStorable(in: url, of: model)
        let change = try PreparedChange(changes, plan)
        if changes.isEmpty {
            let reader = try read()
            defer { reader.close() }
            try change.unchangedConflicts(reader).throwIfAny()
            try change.requireLastPlaces(reader)
            return CommitReceipt(generation: try MetaSpace.readTally(model, reader).generation)
        }
        let generation = try write { (writer) throws(StoreError) in
            var application = try ChangeApplication(change, writer)
            return try application.run()
        }
        noteUsedKeys(change.highestInsertedKeys)
        return CommitReceipt(generation: generation)
    }
}

/// An object's place: the root of its hierarchy and its key.
struct ObjectPlace: Hashable, Comparable, Sendable {
    let root: Int
    let key: Int64

    /// In the order of the records in a store.
    static func < (left: Self, right: Self) -> Bool {
        left.root != right.root ? left.root < right.root : left.key < right.key
    }
}

extension StorePlan {
    /// The place of a record of a batch.
    func place(of batch: RecordBatch, at index: Int) -> ObjectPlace {
        ObjectPlace(root: entities[batch.entityNumber(at: index)].root, key: batch.key(at: index))
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
