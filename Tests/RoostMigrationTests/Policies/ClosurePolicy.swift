import Foundation
import Roost
import RoostMigration
import Testing

final class ClosurePolicy: EntityMigrationPolicy {
    var onBegin: ((MigrationSession) throws -> Void)?
    var onCreate: ((SourceObject, MigrationSession, () throws -> Void) throws -> Void)?
    var onEndCreation: ((MigrationSession) throws -> Void)?
    var onRelate: ((DestinationObject, MigrationSession, () throws -> Void) throws -> Void)?
    var onEndRelating: ((MigrationSession) throws -> Void)?
    var onValidate: ((MigrationSession) throws -> Void)?
    var onEnd: ((MigrationSession) throws -> Void)?

    init(_ setUp: (ClosurePolicy) -> Void) {
        super.init()
        setUp(self)
    }

    override func begin(_ mapping: EntityMapping, in session: MigrationSession) throws { try onBegin?(session) }
    override func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        func standard() throws { try super.createDestinationInstances(for: source, by: mapping, in: session) }
        if let onCreate { try onCreate(source, session, standard) } else { try standard() }
    }
    override func endInstanceCreation(for mapping: EntityMapping, in session: MigrationSession) throws {
        try onEndCreation?(session)
    }
    override func createRelationships(
        for destination: DestinationObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        func standard() throws { try super.createRelationships(for: destination, by: mapping, in: session) }
        if let onRelate { try onRelate(destination, session, standard) } else { try standard() }
    }
    override func endRelationshipCreation(for mapping: EntityMapping, in session: MigrationSession) throws {
        try onEndRelating?(session)
    }
    override func performCustomValidation(for mapping: EntityMapping, in session: MigrationSession) throws {
        try onValidate?(session)
    }
    override func end(_ mapping: EntityMapping, in session: MigrationSession) throws { try onEnd?(session) }
}

enum PolicySample {
    /// Returns the sample's inferred mapping, with a policy for each entity mapping.
    static func mapping(_ policy: String = "P") throws -> MappingModel {
        let model = try Sample.model()
        var mapping = try MappingModel.inferred(from: model, to: model)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = policy }
        return mapping
    }

    static func migrate(
        _ source: any PersistentStore, to destination: ConversionEndpoint, mapping: MappingModel,
        model: ManagedObjectModel? = nil, options: ConversionOptions = ConversionOptions(),
        policies: [String: @Sendable () -> EntityMigrationPolicy]
    ) throws -> MigrationReport {
        try MigrationManager(registry: .standard).migrate(
            from: .store(source), to: destination, model: model ?? source.model,
            options: MigrationOptions(conversion: options, mapping: mapping, policies: policies, allowsLoss: true))
    }

    struct Pair: Hashable {
        var source: ObjectID
        var target: ObjectID
        var order: Int64
    }

    /// Returns all links of the sample's relationships, with the entities of their ends.
    static func links(_ store: any PersistentStore) throws -> Set<Pair> {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var ids: [Int: [Int64: ObjectID]] = [:]
        for root in store.model.roots {
            for object in try Scenario.objects(store.model.entities[root].name, in: store) {
                ids[root, default: [:]][object.id.key] = object.id
            }
        }
        var pairs: Set<Pair> = []
        for relationship in store.model.linkRelationships {
            let ends = (
                store.model.entities[relationship.source].root, store.model.entities[relationship.destination].root
            )
            var batch = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while try cursor.next(into: &batch) {
                for link in batch.links {
                    let source = try #require(ids[ends.0]?[link.source])
                    let target = try #require(ids[ends.1]?[link.target])
                    pairs.insert(Pair(source: source, target: target, order: link.order + link.inverseOrder))
                }
            }
        }
        return pairs
    }
}
