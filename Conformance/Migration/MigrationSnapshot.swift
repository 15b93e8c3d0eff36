public import RoostCore
import RoostStores

/// The expected content of a store after a migration.
///
/// Nil counts, a nil digest, and omitted objects, values and targets are not checked.
public struct MigrationSnapshot: Sendable {
    /// An object that must exist.
    public struct ExpectedObject: Sendable {
        /// The entity of the object, or a superentity.
        package var entity: EntityName
        /// The condition that only this object meets; nil if it is the only object of its entity.
        package var predicate: FetchRequest.Predicate?
        /// The values by property: attributes, and to-one relationships as object IDs.
        package var values: [String: Value]
        /// The keys of the destinations of each to-many relationship, in order if the relationship
        /// is ordered, otherwise ascending.
        package var targets: [String: [Int64]]

        /// Creates an expectation.
        public init(
            _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil, values: [String: Value] = [:],
            targets: [String: [Int64]] = [:]
        ) {
            self.entity = entity
            self.predicate = predicate
            self.values = values
            self.targets = targets
        }
    }

    /// The model that the store must be compatible with.
    package var model: ManagedObjectModel
    /// The number of objects of each entity, without subentities; an entity that is left out must
    /// have none.
    package var counts: [String: Int]?
    /// The digest in the text form of ``StoreDigest``.
    ///
    /// The digest detects a change of any content, listed or not. To find the right digest, run the
    /// test with any text here: the reported difference shows the digest of the store.
    package var digest: String?
    package var objects: [ExpectedObject]

    /// Creates an expectation.
    public init(
        model: ManagedObjectModel, counts: [String: Int]? = nil, digest: String? = nil, objects: [ExpectedObject] = []
    ) {
        self.model = model
        self.counts = counts
        self.digest = digest
        self.objects = objects
    }

    /// Returns the differences of a store, one sentence for each; empty if it matches.
    ///
    /// Also requires that ``checkStore(_:limit:)`` has no findings: the store is sound, and its
    /// data follow the rules of its model.
    /// - Throws: Any error of reading the store; `unknownEntity` or `unknownProperty` for an unknown
    ///   name in the expectation. The name of a value that is expected to be null is not checked.
    package func differences(in store: any PersistentStore) throws(StoreError) -> [String] {
        guard model.isCompatible(with: try store.metadata()) else {
            let changes = model.difference(from: store.model).filter(\.changesVersionHash)
            return ["The store does not have the model: " + changes.map(\.description).joined(separator: "; ")]
        }
        var differences = try checkStore(store).map { "The store is not sound: \($0)." }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.computeTally()
        if let counts {
            for (entity, found) in zip(snapshot.model.entities, tally.entities) {
                let expected = counts[entity.name.text] ?? 0
                guard found.count != expected else { continue }
                differences.append("There are \(found.count) objects of '\(entity.name)', not \(expected).")
            }
            for name in counts.keys.sorted() { _ = try snapshot.model.requireEntity(EntityName(name)) }
        }
        if let digest, tally.digest.description != digest {
            differences.append("The digest is \(tally.digest), not \(digest).")
        }
        for object in objects { differences += try object.differences(in: snapshot) }
        return differences
    }
}

extension MigrationSnapshot.ExpectedObject {
    fileprivate func differences(in snapshot: any StoreSnapshot) throws(StoreError) -> [String] {
        let entity = try snapshot.model.requireEntity(entity)
        let what = "'\(entity.name)'\(predicate.map { " where \($0)" } ?? "")"
        let found = try snapshot.objects(FetchRequest(entity.name, where: predicate, limit: 2))
        guard let object = found.first, found.count == 1 else {
            return ["There is \(found.isEmpty ? "no" : "more than one") object of \(what)."]
        }
        var differences: [String] = []
        let stored = object.values
        for (name, expected) in values.sorted(by: { $0.key < $1.key }) {
            let value = stored[name] ?? .null
            guard value != expected else { continue }
            // The object may be of a subentity, which has more properties.
            let own = try snapshot.model.requireEntity(object.id.entity)
            guard own.layout.fields.contains(where: { $0.name == name }) else {
                throw StoreError(
                    .unknownProperty, "Entity '\(own.name)' has no attribute or to-one relationship '\(name)'.")
            }
            differences.append("Of \(what), '\(name)' is \(value), not \(expected).")
        }
        for (name, expected) in targets.sorted(by: { $0.key < $1.key }) {
            let keys = try snapshot.drain(
                snapshot.links(of: RelationshipName(entity.name, name: name), from: object.id)
            ).map(\.target)
            guard keys != expected else { continue }
            differences.append("Of \(what), '\(name)' has the members \(keys), not \(expected).")
        }
        return differences
    }
}
