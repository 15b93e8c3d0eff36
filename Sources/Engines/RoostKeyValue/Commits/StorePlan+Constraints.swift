internal import RoostCore

extension StorePlan {
    func violation(_ constraint: Int, rejected: ObjectID, existing: ObjectID) -> ConstraintViolation {
        let constraint = constraints[constraint]
        return ConstraintViolation(
            entity: model.entities[constraint.entity].name, attributes: constraint.attributes, rejected: rejected,
            existing: existing)
    }

    /// Returns the keys of the stored objects with the given unique values.
    ///
    /// Several objects have the same unique values only in a damaged store. A shortened storage key
    /// does not contain the whole values, so the records are compared.
    func holders(
        constraint: Int, values: [UInt8], reader: any KeyValueReader
    ) throws(StoreError) -> [Int64] {
        var key = StorageKey()
        if IndexKeyEncoding.makeUniqueKey(
            constraint: constraint, values: values, object: 0, limit: keyLimit, into: &key)
        {
            let holder = try key.withBytes { (key) throws(StoreError) in try self.holder(key, reader: reader) }
            return holder.map { [$0] } ?? []
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

    /// Returns the object key stored under an unshortened storage key, or nil.
    func holder(_ key: UnsafeRawBufferPointer, reader: any KeyValueReader) throws(StoreError) -> Int64? {
        var holder: Int64?
        try reader.withValue(of: key, in: .unique) { (value) throws(StoreError) in
            guard let value else { return }
            guard value.count == 8, let word = value.littleEndian64(at: 0), case let key = Int64(bitPattern: word),
                key > 0
            else { throw StoreError(.corrupted, "An entry of space 'unique' has the wrong form.") }
            holder = key
        }
        return holder
    }
}
