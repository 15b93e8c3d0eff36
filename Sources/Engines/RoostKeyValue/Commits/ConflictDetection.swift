internal import RoostCore

/// The optimistic detection of conflicts between a change set and a store.
///
/// A missing object, or an object with another version or entity than the caller read, is a
/// conflict.
struct ConflictDetection {
    let change: PreparedChange
    let reader: any KeyValueReader

    private var model: ManagedObjectModel { change.model }

    /// Returns the stored record if its entity and version are right; otherwise appends a conflict.
    ///
    /// `rank` is the object's position in the change set; see ``ChangeConflicts``.
    @inline(__always)
    func record(
        _ stored: RecordReader?, of item: PreparedChange.Item, at version: UInt32, rank: Int,
        conflicts: inout ChangeConflicts
    ) -> RecordReader? {
        if let stored, stored.entityNumber == item.entity, stored.version == version { return stored }
        conflicts.append(item, version: version, stored: stored, in: change, rank: rank)
        return nil
    }

    /// Returns the conflicts of objects that must be unchanged.
    func unchangedConflicts() throws(StoreError) -> ChangeConflicts {
        var conflicts = ChangeConflicts()
        for item in change.unchanged {
            let version = change.changes.unchanged[item.position].version
            try reader.withRecord(item.place.key, root: item.place.root, model: model) { (record) throws(StoreError) in
                let rank = change.rank(ofUnchanged: item)
                _ = self.record(record, of: item, at: version, rank: rank, conflicts: &conflicts)
            }
        }
        return conflicts
    }

    /// Throws `conflict` if an ordered relationship contains an object after the last place that
    /// the caller read.
    func requireLastPlaces() throws(StoreError) {
        for last in change.lastPlaces {
            var spaces: [(space: KeySpace, number: Int)] = []
            switch last.relationship.storage {
            case .field: continue
            case .derived(let inverse): spaces = [(.references, inverse)]
            case .links(let owner, let isFlipped):
                spaces = [(isFlipped ? .inverseLinks : .links, owner)]
                if last.relationship.isReflexive { spaces.append((.inverseLinks, owner)) }
            }
            for (space, number) in spaces {
                let prefix = StorageKey(record: last.expected.id.key, root: number)
                var start = prefix
                if let place = last.expected.place {
                    start.append(place: place)
                    start.append(key: .max)
                    start.append(bytes: [0])
                }
                let cursor = try reader.cursor(in: space)
                if try cursor.seek(to: start), cursor.key.begins(with: prefix.bytes) { throw last.expected.conflict }
            }
        }
    }

    /// Throws `objectNotFound` if a required object or an end of an added link is missing or has
    /// the wrong entity.
    ///
    /// Call this after all records of the change are written or deleted.
    func requireObjects() throws(StoreError) {
        var missing = MissingObjects()
        for item in change.existing {
            let found = try reader.entityNumber(of: item.place.key, root: item.place.root, model: model)
            if found != item.entity { missing.append(change.id(item)) }
        }
        for batch in change.addedLinks {
            let relationship = model.relationships[batch.relationship]
            for link in batch.links {
                try find(link.source, at: relationship.source, of: relationship, missing: &missing)
                try find(link.target, at: relationship.destination, of: relationship, missing: &missing)
            }
        }
        try missing.throwIfAny()
    }

    private func find(
        _ key: Int64, at entity: Int, of relationship: ManagedObjectModel.Relationship,
        missing: inout MissingObjects
    ) throws(StoreError) {
        let entity = model.entities[entity]
        let found = try reader.entityNumber(of: key, root: entity.root, model: model)
        guard let found, entity.includes(found) else {
            return missing.append(endOf: relationship, entity: entity, key: key)
        }
    }

    /// Finds remaining to-one references to deleted objects, at most one for each deleted object
    /// and relationship.
    ///
    /// Call this after all records and entries of the change are written or deleted.
    func findReferences(_ denials: inout DeleteDenials) throws(StoreError) {
        var known: (entity: Int, relationships: [ManagedObjectModel.Relationship])?
        for item in change.deletes {
            if known?.entity != item.entity { known = (item.entity, model.references(to: item.entity)) }
            for relationship in known?.relationships ?? [] {
                try reader.forEach(
                    prefix: StorageKey(record: item.place.key, root: relationship.number), in: .references
                ) { (key, _) throws(StoreError) in
                    guard let entry = LinkKey(key) else {
                        throw StoreError(.corrupted, "An entry of space '\(KeySpace.references)' has the wrong form.")
                    }
                    guard let remaining = try id(entry.to, in: relationship.source) else { return true }
                    denials.append(item, relationship: relationship, remaining: remaining, in: change)
                    return false
                }
            }
        }
    }

    /// Returns the ID of an object, with its actual entity; nil if the hierarchy of `entity` lacks
    /// the key.
    func id(_ key: Int64, in entity: Int) throws(StoreError) -> ObjectID? {
        let root = model.entities[entity].root
        let found = try reader.entityNumber(of: key, root: root, model: model)
        return found.map { ObjectID(model.entities[$0].name, key: key) }
    }
}
