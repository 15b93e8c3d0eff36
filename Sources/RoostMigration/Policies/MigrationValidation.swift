internal import RoostCore

/// Whether everything that a model demands of every object is there in a finished destination.
struct MigrationValidation {
    private let store: any PersistentStore
    private let suspects: Set<Int>
    private let session: MigrationSession

    /// Validates a store.
    ///
    /// - Parameters:
    ///   - store: The destination, to which everything was written.
    ///   - suspects: The entities of which an object may lack a mandatory value.
    ///   - session: The migration.
    init(_ store: any PersistentStore, suspects: Set<Int>, _ session: MigrationSession) {
        self.store = store
        self.suspects = suspects
        self.session = session
    }

    /// Throws code `migrationFailed` for the first object that is not valid.
    func run() throws(StoreError) {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for number in suspects.sorted() { try requireValues(snapshot.model.entities[number], snapshot) }
        for relationship in snapshot.model.relationships where relationship.isToMany {
            try snapshot.requireCounts(of: relationship)
        }
        for number in session.content.givenByID.sorted() {
            try requireDestinations(snapshot.model.relationships[number], snapshot)
        }
    }

    /// Requires the objects whose IDs policies gave to a relationship.
    private func requireDestinations(
        _ relationship: ManagedObjectModel.Relationship, _ snapshot: any StoreSnapshot
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
                    try session.content.isSetByPolicy(
                        relationship, of: .init(entity: record.entityNumber, key: record.key))
                else { return }
                given.append((record.id, entity, key))
            }
            var entities: [Int64: Int] = [:]
            var found = RecordBatch(model: model)
            let records = try snapshot.records(with: Set(given.map(\.key)).sorted().map { ObjectID(name, $0) })
            while try records.next(into: &found) {
                for index in 0..<found.count { entities[found.key(at: index)] = found.entityNumber(at: index) }
            }
            for (owner, entity, key) in given where entities[key] != entity {
                throw StoreError(
                    .migrationFailed,
                    "'\(relationship.name)' of \(owner) was set to \(ObjectID(model.entities[entity].name, key)), which is no object of the destination; give the ID of one that is made, with its own entity."
                )
            }
        }
    }

    private func requireValues(
        _ entity: ManagedObjectModel.Entity, _ snapshot: any StoreSnapshot
    ) throws(StoreError) {
        let cursor = try snapshot.fetch(FetchRequest(entity.name, includesSubentities: false))
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch) {
            try session.checkCancellation()
            try batch.forEachRecord { (record) throws(StoreError) in
                guard let field = session.content.missing(in: record) else { return }
                throw StoreError(
                    .migrationFailed,
                    "'\(entity.name).\(field.name)' is mandatory in the new model, and \(record.id) has no value for it; give it a default value, make it optional, or give it one in the mapping or its policy."
                )
            }
        }
    }
}

extension StoreSnapshot {
    /// Requires as many destinations as the model says: a relationship that may be empty may be empty, whatever the least number.
    ///
    /// Throws code `migrationFailed` for the first object that has others.
    func requireCounts(of relationship: ManagedObjectModel.Relationship) throws(StoreError) {
        let (name, declaration) = (relationship.name.name, relationship.declaration)
        var wrong: [FetchRequest.Predicate] = []
        if declaration.minCount > 0 {
            let few = FetchRequest.Predicate.less("\(name).@count", .int(Int64(declaration.minCount)))
            wrong.append(declaration.isOptional ? few && .greater("\(name).@count", 0) : few)
        }
        if let maximum = declaration.maxCount {
            wrong.append(.greater("\(name).@count", .int(Int64(maximum))))
        }
        guard !wrong.isEmpty else { return }
        let entity = model.entities[relationship.source]
        let cursor = try fetch(FetchRequest(entity.name, where: .or(wrong), limit: 1))
        var batch = RecordBatch(model: model)
        guard try cursor.next(into: &batch) else { return }
        let most = declaration.maxCount.map { " and at most \($0)" } ?? ""
        throw StoreError(
            .migrationFailed,
            "'\(relationship.name)' must lead to at least \(declaration.minCount)\(most) objects in the new model, and that of \(batch.id(at: 0)) does not; set it in a policy, or change the model."
        )
    }
}
