internal import RoostCore

/// Writes a validated change inside one write transaction.
struct ChangeApplication {
    private let change: PreparedChange
    private let plan: StorePlan
    private let writer: any KeyValueWriter
    private var tally: StoreTally
    private var hasChanged = false
    /// Entries that are put after all that go are gone: one object may take over what another gives up.
    private var pending: [(entry: RecordEntries.Entry, object: Int64)] = []

    init(_ change: PreparedChange, _ writer: any KeyValueWriter) throws(StoreError) {
        self.change = change
        self.plan = change.plan
        self.writer = writer
        tally = try MetaSpace.readTally(change.model, writer)
    }

    /// Writes everything.
    ///
    /// Returns the generation after it.
    mutating func run() throws(StoreError) -> UInt64 {
        try writeUpdates()
        try writeDeletes()
        try writeInserts()
        for (entry, object) in pending {
            try writer.put(entry.key, RecordEntries.value(in: entry.space, object: object), in: entry.space)
        }
        for batch in change.removedLinks {
            for link in batch.links { try remove(link, batch.relationship) }
        }
        for batch in change.addedLinks {
            for link in batch.links { try add(link, batch.relationship) }
        }
        try writeUserMetadata()
        try raiseLastKeys()
        guard hasChanged else { return tally.generation }
        tally.generation &+= 1
        try MetaSpace.writeTally(tally, writer)
        return tally.generation
    }

    // MARK: Records

    private mutating func writeUpdates() throws(StoreError) {
        let updates = change.changes.updates
        var scratch = RecordBatch(model: updates.model)
        for index in change.updateOrder {
            let place = plan.place(of: updates, at: index)
            scratch.removeAll()
            scratch.append(updates, at: index)
            scratch.setVersionOfLast(updates.version(at: index) &+ 1)
            // Most updates leave alone what entries are made of.
            let old = try takeOut(place, updates.id(at: index), unlessAgreeing: scratch)
            if let old {
                let new = scratch.withRecord(at: 0) { RecordEntries.all(of: $0, plan) }
                let (oldSet, newSet) = (Set(old), Set(new))
                for entry in old where !newSet.contains(entry) { try writer.delete(entry.key, in: entry.space) }
                for entry in new where !oldSet.contains(entry) { pending.append((entry, place.key)) }
            }
            try write(scratch, place)
        }
    }

    private mutating func writeInserts() throws(StoreError) {
        let inserts = change.changes.inserts
        var scratch = RecordBatch(model: inserts.model)
        for index in 0..<inserts.count {
            let place = plan.place(of: inserts, at: index)
            scratch.removeAll()
            scratch.append(inserts, at: index)
            scratch.setVersionOfLast(1)
            for entry in scratch.withRecord(at: 0, { RecordEntries.all(of: $0, plan) }) {
                pending.append((entry, place.key))
            }
            try write(scratch, place)
        }
    }

    /// Writes the one record of a batch and counts it in.
    private mutating func write(_ batch: RecordBatch, _ place: ObjectPlace) throws(StoreError) {
        hasChanged = true
        try batch.withRecord(at: 0) { (record) throws(StoreError) in
            try RecordKey(place.key, root: place.root).withBytes { (key) throws(StoreError) in
                try writer.put(key, record.bytes, in: .records)
            }
            tally.entities[record.entityNumber].add(record.storedContentHash)
        }
    }

    /// Counts a stored record out.
    ///
    /// Returns its entries; nil when the one record of `successor` has the same.
    private mutating func takeOut(
        _ place: ObjectPlace, _ id: @autoclosure () -> ObjectID, unlessAgreeing successor: RecordBatch? = nil
    ) throws(StoreError) -> [RecordEntries.Entry]? {
        var entries: [RecordEntries.Entry]?
        var isThere = false
        try writer.withRecord(place.key, root: place.root, model: change.model) { (record) throws(StoreError) in
            guard let record else { return }
            isThere = true
            tally.entities[record.entityNumber].remove(record.storedContentHash)
            if let successor, successor.withRecord(at: 0, { RecordEntries.agree(record, $0, plan) }) { return }
            entries = RecordEntries.all(of: record, plan)
        }
        guard isThere else {
            throw StoreError(.internalInconsistency, "\(id()) disappeared while it was changed.")
        }
        return entries
    }

    private mutating func writeDeletes() throws(StoreError) {
        for reference in change.changes.deletes {
            let root = try change.model.requireEntity(reference.id.entity).root
            let place = ObjectPlace(root: root, key: reference.id.key)
            let number = try writer.entityNumber(of: place.key, root: root, model: change.model)
            for entry in try takeOut(place, reference.id) ?? [] { try writer.delete(entry.key, in: entry.space) }
            try writer.delete(StorageKey(record: place.key, root: root), in: .records)
            if let number { try removeLinks(of: place.key, plan.entities[number]) }
            hasChanged = true
        }
    }

    // MARK: Links

    /// Removes every link that begins or ends at an object.
    private mutating func removeLinks(of key: Int64, _ entity: StorePlan.Entity) throws(StoreError) {
        for (space, relationships) in [(KeySpace.links, entity.linksAsSource), (.inverseLinks, entity.linksAsTarget)] {
            for relationship in relationships {
                var links: [Link] = []
                try writer.forEach(prefix: StorageKey(record: key, root: relationship), in: space) {
                    (key, value) throws(StoreError) in
                    let link = try LinkStream.link(key, value, space)
                    links.append(space == .links ? link : link.flipped)
                    return true
                }
                for link in links { try removeStored(link, relationship) }
            }
        }
    }

    private mutating func remove(_ link: Link, _ relationship: Int) throws(StoreError) {
        if let stored = try writer.storedLink(link, relationship, change.model) {
            try removeStored(stored, relationship)
        }
    }

    private mutating func removeStored(_ link: Link, _ relationship: Int) throws(StoreError) {
        try writer.removeStoredLink(link, relationship, change.model, &tally)
        hasChanged = true
    }

    private mutating func add(_ link: Link, _ relationship: Int) throws(StoreError) {
        if try writer.addLink(link, relationship, change.model, &tally) { hasChanged = true }
    }

    // MARK: Metadata

    private mutating func writeUserMetadata() throws(StoreError) {
        guard !change.changes.userMetadata.isEmpty else { return }
        let old = try MetadataDocument.decode(try MetaSpace.require(MetaSpace.userMetadata, writer))
        var new = old
        for (name, value) in change.changes.userMetadata { new[name] = value }
        guard new != old else { return }
        try MetaSpace.write(try MetadataDocument.encode(new), MetaSpace.userMetadata, writer)
        hasChanged = true
    }

    private func raiseLastKeys() throws(StoreError) {
        // In order, so that equal commits write equal bytes.
        let highest = change.highestInsertedKeys.sorted { $0.key < $1.key }
        for (root, key) in highest where try MetaSpace.readLastKey(root: root, writer) < key {
            try MetaSpace.writeLastKey(key, root: root, writer)
        }
    }
}
