internal import RoostCore
internal import RoostPredicates

/// A validation of a finished destination's objects against the model.
struct MigrationValidation {
    private let store: any PersistentStore
    private let suspects: Set<Int>
    private let session: MigrationSession

    /// Creates a validation of a completely written destination.
    ///
    /// `suspects` identifies the entities whose objects may lack a mandatory value.
    init(_ store: any PersistentStore, suspects: Set<Int>, session: MigrationSession) {
        self.store = store
        self.suspects = suspects
        self.session = session
    }

    /// Throws `migrationFailed` for the first invalid object.
    func run() throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for number in suspects.sorted() { try requireValues(snapshot.model.entities[number], snapshot: snapshot) }
        for relationship in snapshot.model.relationships where relationship.isToMany {
            try snapshot.requireCounts(of: relationship) { (object) throws(StoreError) in
                let place = AssociationTable.Object(entity: object.entity, key: object.key)
                return try !isDemanded(relationship, of: place, count: object.count)
            }
        }
        for number in session.content.policies.givenByID.sorted() {
            try requireDestinations(snapshot.model.relationships[number], snapshot: snapshot)
        }
    }

    /// Checks that each ID that a policy gave for a relationship identifies an existing object.
    private func requireDestinations(
        _ relationship: ManagedObjectModel.Relationship, snapshot: any StoreSnapshot
    ) throws(StoreError) {
        let model = snapshot.model
        let fields = model.entities.map { $0.layout.field(relationship.name.name) }
        let name = model.entities[relationship.destination].name
        let cursor = try snapshot.records(of: model.entities[relationship.source].name, after: nil)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            try session.checkCancellation()
            var given: [(owner: ObjectID, entity: Int, key: Int64)] = []
            try batch.forEachRecord { (record) throws(StoreError) in
                guard let field = fields[record.entityNumber], let (entity, key) = record.reference(field),
                    try session.content.policies.includes(
                        relationship, of: .init(entity: record.entityNumber, key: record.key))
                else { return }
                given.append((record.id, entity, key))
            }
            var entities: [Int64: Int] = [:]
            var found = RecordBatch(model: model)
            let records = try snapshot.records(with: Set(given.map(\.key)).sorted().map { ObjectID(name, key: $0) })
            while try records.next(into: &found) {
                for index in 0..<found.count { entities[found.key(at: index)] = found.entityNumber(at: index) }
            }
            for (owner, entity, key) in given where entities[key] != entity {
                throw StoreError(
                    .migrationFailed,
                    "'\(relationship.name)' of \(owner) was set to \(ObjectID(model.entities[entity].name, key: key)), which does not exist in the destination; give an existing object's ID, with its exact entity."
                )
            }
        }
    }

    // MARK: Mandatory values

    private func requireValues(
        _ entity: ManagedObjectModel.Entity, snapshot: any StoreSnapshot
    ) throws(StoreError) {
        let cursor = try snapshot.fetch(FetchRequest(entity.name).with { $0.includesSubentities = false })
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch) {
            try session.checkCancellation()
            try batch.forEachRecord { (record) throws(StoreError) in
                for field in session.content.missing(in: record) where try isDemanded(field, of: record) {
                    throw StoreError(
                        .migrationFailed,
                        "'\(entity.name).\(field.name)' is mandatory in the new model, and \(record.id) has no value for it; give it a default value, make it optional, or set it in the mapping or in a policy."
                    )
                }
            }
        }
    }

    /// Returns whether an object without a value for a mandatory property is invalid.
    ///
    /// A relationship needs no value if neither the mapping nor the inverse sets it. A relationship
    /// that is mandatory but empty in the source may stay empty.
    private func isDemanded(_ field: RecordLayout.Field, of record: RecordReader) throws(StoreError) -> Bool {
        let place = AssociationTable.Object(entity: record.entityNumber, key: record.key)
        if let number = field.relationship,
            try session.content.policies.includes(session.destinationModel.relationships[number], of: place)
        {
            return true
        }
        return try isDemanded(of: place) { (mapping, source) throws(StoreError) in
            guard let number = field.relationship else { return mapping.demands(field) }
            guard let rule = mapping.rule(of: number) else {
                return session.plan.isGivenByReferences(number, of: mapping)
            }
            guard case .related(let related, _) = rule.origin, !related.declaration.isOptional else { return true }
            return try destinationCount(of: related, from: source) > 0
        }
    }

    /// Returns whether the migration, not the source, caused an object's wrong number of
    /// destinations.
    private func isDemanded(
        _ relationship: ManagedObjectModel.Relationship, of place: AssociationTable.Object, count: Int
    ) throws(StoreError) -> Bool {
        try isDemanded(of: place) { (mapping, source) throws(StoreError) in
            guard let rule = mapping.rule(of: relationship.number) else { return count > 0 }
            guard case .related(let related, _) = rule.origin, !relationship.isNarrower(than: related) else {
                return true
            }
            return try destinationCount(of: related, from: source) != count
        }
    }

    private func destinationCount(
        of relationship: ManagedObjectModel.Relationship, from place: AssociationTable.Object
    ) throws(StoreError) -> Int {
        let id = ObjectID(session.sourceModel.entities[place.entity].name, key: place.key)
        guard let source = try session.sourceObject(id) else { return 0 }
        return try session.source.destinationIDs(of: relationship.name.name, from: source).count
    }

    /// Returns whether a requirement applies to an object.
    ///
    /// A requirement always applies if no mapping, or a mapping with a policy, created the object.
    /// Otherwise it applies if `body` returns true for one of the object's mappings and sources.
    private func isDemanded(
        of place: AssociationTable.Object,
        _ body: (PolicyMapping, AssociationTable.Object) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var isKnown = false
        var sources: [AssociationTable.Object] = []
        for mapping in session.plan.mappings where mapping.destination?.number == place.entity {
            sources.removeAll(keepingCapacity: true)
            try session.associations.appendSources(of: place, in: mapping.number, to: &sources)
            for source in sources {
                if mapping.policy != nil { return true }
                if try body(mapping, source) { return true }
                isKnown = true
            }
        }
        return !isKnown
    }
}

extension ManagedObjectModel.Relationship {
    func isNarrower(than origin: Self) -> Bool {
        let (new, old) = (declaration, origin.declaration)
        return old.minCount < new.minCount || (old.isOptional && !new.isOptional)
            || (new.maxCount ?? .max) < (old.maxCount ?? .max)
    }
}

extension StoreSnapshot {
    /// Checks that each object's number of destinations is within the model's limits.
    ///
    /// An optional relationship may be empty despite its minimum. Throws `migrationFailed` for the
    /// first violation that `isExcused` does not accept.
    func requireCounts(
        of relationship: ManagedObjectModel.Relationship,
        excusing isExcused: ((entity: Int, key: Int64, count: Int)) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (name, declaration) = (relationship.name.name, relationship.declaration)
        var wrong: [FetchRequest.Predicate] = []
        if declaration.minCount > 0 {
            let few = FetchRequest.Predicate.less("\(name).@count", than: .int(Int64(declaration.minCount)))
            wrong.append(declaration.isOptional ? few && .greater("\(name).@count", than: 0) : few)
        }
        if let maximum = declaration.maxCount {
            wrong.append(.greater("\(name).@count", than: .int(Int64(maximum))))
        }
        guard !wrong.isEmpty else { return }
        let entity = model.entities[relationship.source]
        let cursor = try fetch(FetchRequest(entity.name, where: .or(wrong)))
        let graph = objectGraph()
        var batch = RecordBatch(model: model)
        var keys: [Int64] = []
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                keys.removeAll(keepingCapacity: true)
                try graph.appendDestinations(of: relationship, from: batch.key(at: index), to: &keys)
                guard try !isExcused((batch.entityNumber(at: index), batch.key(at: index), keys.count)) else {
                    continue
                }
                throw StoreError.wrongCount(of: relationship, object: batch.id(at: index))
            }
        }
    }
}
