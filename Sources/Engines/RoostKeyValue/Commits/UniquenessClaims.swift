internal import RoostCore

/// Unique values that a change gives to objects, compared with the store during the write.
struct UniquenessClaims {
    private struct Claim {
        let entity: Int
        let object: Int64
    }

    private var claims: [Claim] = []
    /// The keys of the claims, in the same order.
    ///
    /// If two objects of a change claim the same values, the first gets them.
    private var keys = EntryArena()

    mutating func append(_ key: StorageKey, entity: Int, object: Int64) {
        claims.append(Claim(entity: entity, object: object))
        keys.append(key, .none, in: .unique)
    }

    /// Writes all claims.
    ///
    /// Call this after all records are written and all old values are removed.
    ///
    /// - Throws: `constraintViolation` with all claims of values that another object has;
    ///   `corrupted`.
    func put(_ writer: any KeyValueWriter, plan: StorePlan) throws(StoreError) {
        var violations: [ConstraintViolation] = []
        var index = 0
        try keys.forEachKey { (_, key) throws(StoreError) in
            let claim = claims[index]
            index += 1
            guard let holder = try Self.put(key, claim: claim, writer: writer, plan: plan), holder != claim.object
            else { return }
            guard let constraint = key.keyNumber, plan.constraints.indices.contains(constraint) else { return }
            let root = plan.entities[claim.entity].root
            guard let number = try writer.entityNumber(of: holder, root: root, model: plan.model) else {
                throw StoreError(
                    .corrupted,
                    "A unique value of '\(plan.model.entities[root].name)' refers to p\(holder), which does not exist.")
            }
            violations.append(
                plan.violation(
                    constraint, rejected: ObjectID(plan.model.entities[claim.entity].name, key: claim.object),
                    existing: ObjectID(plan.model.entities[number].name, key: holder)))
        }
        if !violations.isEmpty { throw .constraintViolations(violations) }
    }

    /// Writes a claim, or returns the object that already has the values.
    private static func put(
        _ key: UnsafeRawBufferPointer, claim: Claim, writer: any KeyValueWriter, plan: StorePlan
    ) throws(StoreError) -> Int64? {
        if key.count < plan.keyLimit {
            return try writer.insert(key, number: claim.object, in: .unique)
                ? nil : try plan.holder(key, reader: writer)
        }
        // The key is shortened, so the records must be compared.
        var holder: Int64?
        let root = plan.entities[claim.entity].root
        try writer.withRecord(claim.object, root: root, model: plan.model) { (record) throws(StoreError) in
            guard let record, let number = key.keyNumber,
                let constraint = plan.entities[record.entityNumber].constraints.first(where: { $0.number == number })
            else { return }
            var values: [UInt8] = []
            guard plan.encode(constraint, of: record, isConstraint: true, into: &values) else { return }
            holder = try plan.holders(constraint: number, values: values, reader: writer).first { $0 != claim.object }
        }
        if holder == nil { _ = try writer.insert(key, number: claim.object, in: .unique) }
        return holder
    }
}
