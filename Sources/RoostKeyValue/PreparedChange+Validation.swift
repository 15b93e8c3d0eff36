internal import RoostCore

extension PreparedChange {
    /// Compares the change with what the store holds; throws the first kind of trouble with all its cases, before anything is written.
    func validate(_ reader: any KeyValueReader) throws(StoreError) {
        try requireVersions(reader)
        try requireFreeKeys(reader)
        try requireUniqueValues(reader)
        try requireLinkEnds(reader)
    }

    // MARK: Versions

    private func requireVersions(_ reader: any KeyValueReader) throws(StoreError) {
        var updateConflicts: [(position: Int, conflict: ObjectConflict)] = []
        for index in updateOrder {
            let entity = model.entities[changes.updates.entityNumber(at: index)]
            let key = changes.updates.key(at: index)
            let version = changes.updates.version(at: index)
            if let conflict = try conflict(entity, key, version, reader) { updateConflicts.append((index, conflict)) }
        }
        // As the change set has them.
        var conflicts = updateConflicts.sorted { $0.position < $1.position }.map(\.conflict)
        for reference in changes.deletes + changes.unchanged {
            let entity = try model.requireEntity(reference.id.entity)
            if let conflict = try conflict(entity, reference.id.key, reference.version, reader) {
                conflicts.append(conflict)
            }
        }
        guard let first = conflicts.first else { return try requireCountableVersions() }
        let others = conflicts.count == 1 ? "" : " and \(conflicts.count - 1) more"
        throw StoreError(
            .conflict, "\(first.id)\(others) changed since it was read. Read it again and decide what holds.",
            conflicts: conflicts)
    }

    private func requireCountableVersions() throws(StoreError) {
        for index in 0..<changes.updates.count where changes.updates.version(at: index) == .max {
            throw StoreError(.limitExceeded, "\(changes.updates.id(at: index)) was updated too often to count.")
        }
    }

    /// What stands in the way of a change of an object that was read at `version`; nil if nothing does.
    ///
    /// A change names an object by its own entity; under any other one of its hierarchy there is no such object.
    private func conflict(
        _ entity: ManagedObjectModel.Entity, _ key: Int64, _ version: UInt32, _ reader: any KeyValueReader
    ) throws(StoreError) -> ObjectConflict? {
        var current: Record?
        var isCurrent = false
        try reader.withRecord(key, root: entity.root, model: model) { (record) throws(StoreError) in
            guard let record, record.entityNumber == entity.number else { return }
            isCurrent = record.version == version
            if !isCurrent {
                var batch = RecordBatch(model: model)
                batch.append(record)
                current = batch.record(at: 0)
            }
        }
        return isCurrent
            ? nil : ObjectConflict(id: ObjectID(entity.name, key), expectedVersion: version, current: current)
    }

    // MARK: Keys

    private func requireFreeKeys(_ reader: any KeyValueReader) throws(StoreError) {
        for index in 0..<changes.inserts.count {
            let place = plan.place(of: changes.inserts, at: index)
            guard try !reader.contains(RecordKey(place.key, root: place.root)) else {
                throw StoreError(
                    .duplicateObject,
                    "\(changes.inserts.id(at: index)) cannot be inserted: its key is taken in its hierarchy.")
            }
        }
    }

    // MARK: Unique values

    /// The values an object claims under a constraint.
    private struct Claim: Hashable {
        let constraint: Int
        let values: [UInt8]
    }

    private func requireUniqueValues(_ reader: any KeyValueReader) throws(StoreError) {
        guard !plan.constraints.isEmpty else { return }
        var holders: [Claim: ObjectID] = [:]
        // Objects that keep their values hold them before others that want them.
        for index in 0..<changes.updates.count {
            let place = plan.place(of: changes.updates, at: index)
            let kept = try Set(oldClaims(of: place, reader))
            for claim in claims(changes.updates, index) where kept.contains(claim) {
                holders[claim] = changes.updates.id(at: index)
            }
        }
        var violations: [ConstraintViolation] = []
        for batch in [changes.updates, changes.inserts] {
            for index in 0..<batch.count {
                let id = batch.id(at: index)
                for claim in claims(batch, index) {
                    if let holder = holders[claim] {
                        if holder != id { violations.append(violation(claim, rejected: id, existing: holder)) }
                    } else if let holder = try storedHolder(of: claim, reader) {
                        violations.append(violation(claim, rejected: id, existing: holder))
                    } else {
                        holders[claim] = id
                    }
                }
            }
        }
        if !violations.isEmpty { throw .constraintViolations(violations) }
    }

    private func violation(_ claim: Claim, rejected: ObjectID, existing: ObjectID) -> ConstraintViolation {
        plan.violation(claim.constraint, rejected: rejected, existing: existing)
    }

    private func claims(_ batch: RecordBatch, _ index: Int) -> [Claim] {
        batch.withRecord(at: index) { claims(of: $0) }
    }

    private func claims(of record: RecordReader) -> [Claim] {
        var claims: [Claim] = []
        for constraint in plan.entities[record.entityNumber].constraints {
            var values: [UInt8] = []
            if plan.encode(constraint, of: record, isConstraint: true, into: &values) {
                claims.append(Claim(constraint: constraint.number, values: values))
            }
        }
        return claims
    }

    private func oldClaims(of place: ObjectPlace, _ reader: any KeyValueReader) throws(StoreError) -> [Claim] {
        var claims: [Claim] = []
        try reader.withRecord(place.key, root: place.root, model: model) { (record) throws(StoreError) in
            if let record { claims = self.claims(of: record) }
        }
        return claims
    }

    /// The object in the store that has the values and keeps them; nil if there is none, or the change set frees them.
    private func storedHolder(of claim: Claim, _ reader: any KeyValueReader) throws(StoreError) -> ObjectID? {
        let root = model.entities[plan.constraints[claim.constraint].entity].root
        for key in try plan.holders(constraint: claim.constraint, values: claim.values, reader) {
            let place = ObjectPlace(root: root, key: key)
            if updated[place] != nil || deleted.contains(place) { continue }
            guard let number = try reader.entityNumber(of: key, root: root, model: model) else {
                throw StoreError(
                    .corrupted,
                    "The unique values of '\(model.entities[root].name)' name p\(key), which does not exist.")
            }
            return ObjectID(model.entities[number].name, key)
        }
        return nil
    }

    // MARK: Links

    private func requireLinkEnds(_ reader: any KeyValueReader) throws(StoreError) {
        for batch in addedLinks {
            let relationship = model.relationships[batch.relationship]
            for link in batch.links {
                try requireEnd(link.source, entity: relationship.source, relationship, reader)
                try requireEnd(link.target, entity: relationship.destination, relationship, reader)
            }
        }
    }

    private func requireEnd(
        _ key: Int64, entity: Int, _ relationship: ManagedObjectModel.Relationship, _ reader: any KeyValueReader
    ) throws(StoreError) {
        let entity = model.entities[entity]
        let place = ObjectPlace(root: entity.root, key: key)
        let found: Int?
        if let index = inserted[place] {
            found = changes.inserts.entityNumber(at: index)
        } else if deleted.contains(place) {
            found = nil
        } else {
            found = try reader.entityNumber(of: key, root: entity.root, model: model)
        }
        guard let found, entity.includes(found) else {
            throw StoreError(
                .objectNotFound,
                "A link of '\(relationship.name)' has an end \(entity.name)/p\(key) that does not exist after the change."
            )
        }
    }
}

extension StorePlan {
    func violation(_ constraint: Int, rejected: ObjectID, existing: ObjectID) -> ConstraintViolation {
        let constraint = constraints[constraint]
        return ConstraintViolation(
            entity: model.entities[constraint.entity].name, attributes: constraint.attributes, rejected: rejected,
            existing: existing)
    }

    /// The keys of the stored objects that have these unique values; more than one only in a damaged store.
    ///
    /// Where the values are shortened in the key, the records decide.
    func holders(
        constraint: Int, values: [UInt8], _ reader: any KeyValueReader
    ) throws(StoreError) -> [Int64] {
        var key = StorageKey()
        if IndexKeyEncoding.makeUniqueKey(
            constraint: constraint, values: values, object: 0, limit: keyLimit, into: &key)
        {
            guard let value = try reader.value(of: key, in: .unique) else { return [] }
            guard value.count == 8, let holder = value.littleEndian64(at: 0).map({ Int64(bitPattern: $0) }), holder > 0
            else {
                throw StoreError(.corrupted, "An entry of space 'unique' has the wrong form.")
            }
            return [holder]
        }
        key.truncate(to: key.count - 8)
        var candidates: [Int64] = []
        try reader.forEach(prefix: key, in: .unique) { (key, _) throws(StoreError) in
            if key.count == keyLimit, let candidate = key.lastKey { candidates.append(candidate) }
            return true
        }
        let root = model.entities[constraints[constraint].entity].root
        var found: [Int64] = []
        for candidate in candidates {
            try reader.withRecord(candidate, root: root, model: model) { (record) throws(StoreError) in
                guard let record,
                    let own = entities[record.entityNumber].constraints.first(where: { $0.number == constraint })
                else { return }
                var theirs: [UInt8] = []
                if encode(own, of: record, isConstraint: true, into: &theirs), theirs == values {
                    found.append(candidate)
                }
            }
        }
        return found
    }
}
