internal import RoostCore
internal import RoostMigration

/// An open sample and its expected content.
struct OpenSample {
    let bench: Workbench
    let sample: StoreSample
    let store: any PersistentStore
    let anyObject: StoredObject
    /// The objects by the number of the root entity, with their values and entity numbers.
    private let objects: [Int: [(object: StoredObject, values: [String: Value], entity: Int)]]
    private let contents: StoreContents

    init(_ bench: Workbench, isReadOnly: Bool) throws {
        self.bench = bench
        sample = try bench.makeSample()
        contents = sample.content.contents
        anyObject = try require(contents.objects.values.lazy.flatMap { $0 }.first, "a sample with at least one object")
        let model = sample.content.model
        objects = try contents.objects.mapValues { objects in
            try objects.map { ($0, $0.values, try model.requireEntity($0.id.entity).number) }
        }
        store = try bench.open(sample) { if isReadOnly { $0.isReadOnly = true } }
    }

    var content: ReferenceStore { sample.content }
    var model: ManagedObjectModel { sample.content.model }

    func view(_ body: (any StoreSnapshot) throws -> Void) throws { try store.view(body) }

    // MARK: Content

    func entity(of object: StoredObject) throws -> ManagedObjectModel.Entity {
        try model.requireEntity(object.id.entity)
    }

    private func entries(
        of entity: ManagedObjectModel.Entity
    ) -> [(object: StoredObject, values: [String: Value], entity: Int)] {
        (objects[entity.root] ?? []).filter { entity.includes($0.entity) }
    }

    /// Returns the objects of an entity and its subentities, in the order of keys.
    func objects(of entity: ManagedObjectModel.Entity) -> [StoredObject] { entries(of: entity).map(\.object) }

    /// Returns the stored links of a relationship, sorted by source, place and target.
    func links(of relationship: ManagedObjectModel.Relationship) -> [Link] {
        guard case .links(let owner, let isFlipped) = relationship.storage else { return [] }
        return (contents.links[owner] ?? []).map { isFlipped ? $0.flipped : $0 }
            .sorted { ($0.source, $0.order, $0.target) < ($1.source, $1.order, $1.target) }
    }

    func largestEntity() throws -> EntityName {
        try require(model.entities.max { objects(of: $0).count < objects(of: $1).count }, "an entity").name
    }

    /// The stored attributes that have values and that fetches can compare, each with the entity
    /// that declares it.
    var attributes: [(entity: ManagedObjectModel.Entity, attribute: AttributeDescription)] {
        model.entities.flatMap { entity in
            entity.declaration.attributes
                .filter { $0.isStored && !operators(for: $0.type).isEmpty && !values(of: $0.name, in: entity).isEmpty }
                .map { (entity, $0) }
        }
    }

    /// Returns the non-null values of a property, in the order of the objects.
    func values(of property: String, in entity: ManagedObjectModel.Entity) -> [Value] {
        entries(of: entity).compactMap { $0.values[property] }.filter { !$0.isNull }
    }

    func operators(for type: AttributeType) -> [FetchRequest.Comparison.Operator] {
        let orders: [FetchRequest.Comparison.Operator] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn,
        ]
        return switch type {
        case .string, .uri: orders + [.beginsWith]
        case .transformable, .objectID: [.equal, .notEqual, .isIn]
        case .composite, .undefined: []
        default: orders
        }
    }

    // MARK: Comparing

    /// Fails unless a fetch and a count agree with ``PlainPredicate``.
    func compare(_ request: FetchRequest, snapshot: any StoreSnapshot) throws {
        let entity = try model.requireEntity(request.entity)
        let entries = entries(of: entity).filter { request.includesSubentities || $0.entity == entity.number }
        let expected = try PlainPredicate.keys(
            request, among: entries.map { ($0.object.id, $0.values) }, in: model)
        try expectEqual(try snapshot.keys(request), expected, "the answer to \(request)")
        try expectEqual(try snapshot.count(request), expected.count, "the count for \(request)")
    }
}
