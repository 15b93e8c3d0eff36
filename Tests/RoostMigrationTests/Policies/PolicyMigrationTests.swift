import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Migration policies")
struct PolicyMigrationTests {
    // MARK: The standard behavior

    @Test(
        "policies with standard behavior copy all content between any two types", arguments: Scenario.types,
        Scenario.types)
    func standardIsIdentity(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(source, at: directory.file("old"), people: 300)
        let location = StoreLocation(type: destination, path: directory.file("new"))
        let report = try PolicySample.migrate(
            old, to: .location(location), mapping: PolicySample.mapping(), policies: ["P": { EntityMigrationPolicy() }])
        #expect(report.path == .threePasses)
        let new = try StoreRegistry.standard.open(location)
        #expect(try StoreComparison.diff(old, new) == [])
        #expect(report.destinationDigest == (try Scenario.digest(old)).description)
        #expect(try new.metadata().storeUUID == old.metadata().storeUUID)
        #expect(try new.metadata().userMetadata == old.metadata().userMetadata)
        #expect(report.mappings.map(\.made) == report.mappings.map { $0.read ?? -1 })
        #expect(try checkStore(new) == [])
        try new.close()
        try old.close()
    }

    @Test(
        "record versions are kept unless a policy reads the destination",
        arguments: [true, false])
    func versions(looks: Bool) throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [EntityDescription("Item", attributes: [.string("name")])])
        let old = try Scenario.store(
            "memory", at: "", model: model,
            objects: [.init("Item", key: 1, values: ["name": "a"]), .init("Item", key: 2, values: ["name": "b"])])
        for version in 1...2 as ClosedRange<UInt32> {
            var changes = ChangeSet(model: model)
            try changes.update(ObjectID("Item", key: 1), version: version, values: ["name": .string("a\(version)")])
            _ = try old.commit(changes)
        }
        var mapping = try MappingModel.inferred(from: model, to: model)
        mapping.entityMappings[0].policyName = "P"
        let location = StoreLocation(type: "sqlite", path: directory.file("new"))
        _ = try PolicySample.migrate(
            old, to: .location(location), mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onBegin = { session in if looks { _ = try session.destinationCount(FetchRequest("Item")) } }
                    }
                }
            ])
        let new = try StoreRegistry.standard.open(location)
        let snapshot = try new.snapshot()
        var batch = RecordBatch(model: model)
        #expect(try snapshot.records(of: "Item", after: nil).next(into: &batch))
        #expect((0..<batch.count).map { batch.version(at: $0) } == (looks ? [1, 1] : [3, 1]))
        snapshot.close()
        try new.close()
    }

    @Test("objects that a policy drops are removed with all references to them", arguments: Scenario.types, 0..<3)
    func dropsObjects(type: String, seed: Int) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, at: directory.file("old"), people: 120)
        let stays: @Sendable (ObjectID) -> Bool = { id in
            (id.key &* 2_654_435_761 &+ Int64(id.entity.text.utf8.count) &+ Int64(seed)) % 3 != 0
        }
        let location = StoreLocation(type: Scenario.types[(seed + 1) % 4], path: directory.file("new"))
        _ = try PolicySample.migrate(
            old, to: .location(location), mapping: PolicySample.mapping(),
            policies: [
                "P": {
                    ClosurePolicy { $0.onCreate = { source, _, standard in if stays(source.id) { try standard() } } }
                }
            ])
        let new = try StoreRegistry.standard.open(location)
        for entity: EntityName in ["Person", "Book", "Shelf"] {
            let expected = try Scenario.objects(entity, in: old).filter { stays($0.id) }.map { object in
                var values = object.values
                if case .objectID(let author)? = values["author"], !stays(author) {
                    values["author"] = nil
                    values[RecordLayout.orderFieldName(of: "author")] = nil
                }
                return values
            }
            #expect(try Scenario.objects(entity, in: new).map(\.values) == expected)
        }
        #expect(try PolicySample.links(new) == PolicySample.links(old).filter { stays($0.source) && stays($0.target) })
        #expect(try checkStore(new) == [])
        try new.close()
        try old.close()
    }

    @Test(
        "predicates split an entity, and a second copy of an object gets a new key", arguments: Scenario.types
    )
    func splitsByPredicate(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Scenario.store(
            type, at: directory.file("old"),
            model: try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [.string("kind"), .string("name")])
            ]),
            objects: [
                .init("Item", key: 1, values: ["kind": "a", "name": "one"]),
                .init("Item", key: 2, values: ["kind": "b", "name": "two"]),
                .init("Item", key: 3, values: ["kind": "a", "name": "three"]),
                .init("Item", key: 4, values: ["name": "four"]),
            ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Thing", attributes: [.string("name")]).with { $0.isAbstract = true },
            EntityDescription("A", superentity: "Thing"), EntityDescription("B", superentity: "Thing"),
            EntityDescription("Log", attributes: [.string("name")]),
        ])
        let name = [PropertyMapping("name", expression: .source("name"))]
        let mapping = MappingModel([
            EntityMapping("A", type: .transform, from: "Item", to: "A", attributes: name).with {
                $0.sourcePredicate = .equal("kind", to: "a")
            },
            EntityMapping("B", type: .transform, from: "Item", to: "B", attributes: name).with {
                $0.sourcePredicate = .equal("kind", to: "b")
            },
            EntityMapping("All", type: .transform, from: "Item", to: "B", attributes: name).with {
                $0.policyName = "P"
            },
            EntityMapping("Log", type: .transform, from: "Item", to: "Log", attributes: name),
        ])
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: model, mapping: mapping,
            policies: ["P": { EntityMigrationPolicy() }])
        let things = try Scenario.objects("Thing", in: new)
        // In each hierarchy, the first copy of a source object keeps the key, and later copies get new keys.
        #expect(
            things.map { "\($0.id) \($0.values["name"] ?? .null)" } == [
                #"A/p1 "one""#, #"B/p2 "two""#, #"A/p3 "three""#, #"B/p4 "four""#, #"B/p5 "one""#, #"B/p6 "two""#,
                #"B/p7 "three""#,
            ])
        #expect(try Scenario.objects("Log", in: new).map(\.id.key) == [1, 2, 3, 4])
        try new.close()
        try old.close()
    }

    @Test(
        "objects of two merged hierarchies get new keys, and references follow",
        arguments: Scenario.types, Scenario.types)
    func mergesHierarchies(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let old = try PetFixture.store(source, at: directory.file("old"))
        let new = try Scenario.migrate(
            old, to: destination, at: directory.file("new"), model: PetFixture.mergedModel(),
            mapping: PetFixture.mapping(),
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onRelate = { home, session, standard in
                            try standard()
                            let sources = try session.sourceInstances(
                                forEntityMapping: "Homes", destinationObjects: [home])
                            let dogs = try sources.first?.objects("dogs") ?? []
                            let pets = try session.destinationInstances(
                                forEntityMapping: "DogToPet", sourceObjects: dogs)
                            try home.setObject(pets.last, for: "favorite")
                        }
                    }
                }
            ])
        let found = try Scenario.objects("Pet", in: new)
        #expect(found.map { $0.values["name"] } == ["cat1", "cat2", "dog1", "dog9"])
        #expect(found.map(\.id.key) == [1, 2, 3, 4])
        #expect(found.map { $0.values["home"] != nil } == [true, false, true, true])
        #expect(
            try found.map { try Scenario.names("tags", of: $0.id, attribute: "name", in: new) } == [
                ["t2"], [], ["t1", "t2"], ["t2"],
            ])
        #expect(
            try Scenario.names("pets", of: ObjectID("Home", key: 1), attribute: "name", in: new) == [
                "cat1", "dog1", "dog9",
            ])
        let homes = try Scenario.objects("Home", in: new)
        #expect(homes.first?.values["favorite"] == .objectID(ObjectID("Pet", key: 4)))
        try new.close()
        try old.close()
    }

    @Test("a policy's fetches see the objects and changes that the policy made before", arguments: Scenario.types)
    func fetchesSeeEverything(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, at: directory.file("old"), people: 20)
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: old.model, mapping: PolicySample.mapping(),
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onCreate = { source, session, standard in
                            try standard()
                            guard source.entity == "Person", source.id.key == 10 else { return }
                            let request = FetchRequest("Person", where: .equal("code", to: 10))
                            let found = try #require(try session.destinationObjects(request).first)
                            #expect(found.string("name") == "Person 10")
                            found["name"] = "changed"
                            found["code"] = 1000
                            #expect(try session.destinationCount(request) == 0)
                            // Associations are available at once, from both sides.
                            let mapping = try #require(session.currentEntityMapping).name
                            #expect(
                                try session.destinationInstances(forEntityMapping: mapping, sourceObjects: [source])
                                    == [found])
                            let back = try session.sourceInstances(
                                forEntityMapping: mapping, destinationObjects: [found])
                            #expect(back.map(\.id) == [source.id])
                            let all = try session.destinationInstances(forEntityMapping: mapping, sourceObjects: nil)
                            #expect(all.last == found && all.first?.string("name") == "Person 1")
                        }
                        $0.onEndCreation = { session in
                            let made = try session.insert("Shelf")
                            made["label"] = .uri("made:\(session.currentEntityMapping?.name ?? "")")
                        }
                    }
                }
            ])
        let people = try Scenario.objects("Person", in: new)
        #expect(people.first { $0.id.key == 10 }?.values["name"] == "changed")
        #expect(people.count == 20)
        let shelves = try Scenario.objects("Shelf", in: new)
        #expect(shelves.count == 9)
        // The last key of the source's shelves is 77, so the keys of new shelves begin at 78.
        #expect(shelves.filter { $0.id.key > 5 }.map(\.id.key) == [78, 79, 80, 81])
        try new.close()
        try old.close()
    }

    @Test("a policy's objects and session throw when used after the migration")
    func nothingLivesOn() throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", at: directory.file("old"), people: 9)
        final class Kept: @unchecked Sendable {
            // Proof of Sendable: written on the thread of the migration, read after its end.
            var session: MigrationSession?
            var object: DestinationObject?
            var source: SourceObject?
        }
        let kept = Kept()
        _ = try PolicySample.migrate(
            old, to: .location(StoreLocation(type: "memory", path: directory.file("new"))),
            mapping: PolicySample.mapping(),
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onCreate = { source, session, standard in
                            try standard()
                            kept.session = session
                            kept.source = source
                            kept.object = try session.insert("Shelf")
                        }
                    }
                }
            ])
        #expect(kept.source?.id.entity == "Shelf")
        #expect(throws: StoreError.self) { try kept.source?.objects("books") }
        #expect(throws: StoreError.self) { try kept.session?.insert("Shelf") }
        #expect(throws: StoreError.self) { try kept.session?.destinationObjects(FetchRequest("Shelf")) }
        #expect(throws: StoreError.self) { try kept.object?.setObjects([], for: "books") }
        kept.object?["label"] = .uri("x")
        #expect(kept.object?["label"] == .null)
    }

    // MARK: Models and data at their limits

    @Test("a migration with policies refuses objects of an entity that becomes abstract", arguments: Scenario.types)
    func becomesAbstract(type: String) throws {
        let directory = try TemporaryDirectory()
        func model(isAbstract: Bool) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription("Item", attributes: [.string("name")]).with { $0.isAbstract = isAbstract },
                EntityDescription("Book", superentity: "Item"),
                EntityDescription("Other", attributes: [.string("name")]),
            ])
        }
        let old = try Scenario.store(
            type, at: directory.file("old"), model: try model(isAbstract: false),
            objects: [
                .init("Book", key: 1, values: [:]), .init("Item", key: 2, values: [:]),
                .init("Other", key: 1, values: [:]),
            ])
        let new = try model(isAbstract: true)
        var mapping = try MappingModel.inferred(from: old.model, to: new)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntity == "Other" {
            mapping.entityMappings[index].policyName = "P"
        }
        let error = try #require(throws: StoreError.self) {
            _ = try Scenario.migrate(
                old, to: type, at: directory.file("new"), model: new, mapping: mapping,
                policies: ["P": { EntityMigrationPolicy() }])
        }
        #expect(error.code == .migrationFailed && error.message.contains("Item/p2"))
        try old.close()
    }

    @Test("a damaged object that two mappings read is reported as skipped once")
    func damagedTwice() throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [EntityDescription("Item", attributes: [.string("name")])])
        let new = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [.string("name")]),
            EntityDescription("B", attributes: [.string("name")]),
        ])
        let base = try Scenario.store(
            "memory", at: directory.file("old"), model: model,
            objects: (1...9).map { .init("Item", key: $0, values: ["name": "n"]) })
        let old = FaultyStore(base, faults: Faults(damaged: [ObjectID("Item", key: 3), ObjectID("Item", key: 5)]))
        let name = [PropertyMapping("name", expression: .source("name"))]
        let mapping = MappingModel([
            EntityMapping("A", type: .transform, from: "Item", to: "A", attributes: name).with { $0.policyName = "P" },
            EntityMapping("B", type: .transform, from: "Item", to: "B", attributes: name).with { $0.policyName = "P" },
        ])
        let report = try PolicySample.migrate(
            old, to: .location(StoreLocation(type: "sqlite", path: directory.file("new"))), mapping: mapping,
            model: new,
            options: ConversionOptions(skipsDamaged: true), policies: ["P": { EntityMigrationPolicy() }])
        #expect(report.skipped == ["Item/p3", "Item/p5"])
        #expect(report.mappings.map(\.made) == [7, 7])
    }

    @Test("a migration with policies keeps the maximum key and the maximum place", arguments: Scenario.types)
    func greatestKeys(type: String) throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [.string("name")], relationships: [.toMany("bs", to: "B", inverse: "as")]),
            EntityDescription(
                "B", attributes: [.string("name")],
                relationships: [.toMany("as", to: "A", inverse: "bs", isOrdered: true)]),
        ])
        let old = try Scenario.store(
            type, at: directory.file("old"), model: model,
            objects: [
                .init("A", key: .max, values: ["name": "a"]), .init("A", key: .max - 1, values: ["name": "b"]),
                .init("B", key: .max, values: ["name": "c"]),
            ],
            links: [(RelationshipName("A", name: "bs"), Link(.max, .max, inverseOrder: .max))])
        var mapping = try MappingModel.inferred(from: model, to: model)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: model, mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onEndRelating = { session in
                            guard session.currentEntityMapping?.destinationEntity == "B" else { return }
                            let bs = try session.destinationObjects(FetchRequest("B"))
                            let second = try #require(
                                try session.destinationObjects(FetchRequest("A", where: .equal("name", to: "b"))).first)
                            try second.setObjects(bs, for: "bs")
                            #expect(throws: StoreError.self) { try session.insert("A") }
                        }
                    }
                }
            ])
        #expect(try Scenario.objects("A", in: new).map(\.id.key) == [.max - 1, .max])
        #expect(try Set(Scenario.names("as", of: ObjectID("B", key: .max), attribute: "name", in: new)) == ["a", "b"])
        try new.close()
        try old.close()
    }

    @Test(
        "object IDs in attributes follow objects to new keys, or become null if the objects are dropped",
        arguments: Scenario.types)
    func namesObjects(type: String) throws {
        let directory = try TemporaryDirectory()
        let target = AttributeDescription("target", type: .objectID)
        let old = try Scenario.store(
            type, at: directory.file("old"),
            model: try ManagedObjectModel(entities: [
                EntityDescription("A", attributes: [.string("name")]),
                EntityDescription("B", attributes: [.string("name")]),
                EntityDescription("X", attributes: [target]),
            ]),
            objects: [
                .init("A", key: 1, values: [:]), .init("B", key: 1, values: [:]),
                .init("B", key: 2, values: ["name": "left out"]),
                .init("X", key: 1, values: ["target": .objectID(ObjectID("A", key: 1))]),
                .init("X", key: 2, values: ["target": .objectID(ObjectID("B", key: 1))]),
                .init("X", key: 3, values: ["target": .objectID(ObjectID("B", key: 2))]),
                .init("X", key: 4, values: [:]),
                .init("X", key: 5, values: ["target": .objectID(ObjectID("A", key: 1))]),
            ])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("C", attributes: [.string("name")]), EntityDescription("X", attributes: [target]),
        ])
        let mapping = MappingModel([
            EntityMapping("A", type: .transform, from: "A", to: "C"),
            EntityMapping("B", type: .transform, from: "B", to: "C").with { $0.sourcePredicate = .isNull("name") },
            EntityMapping(
                "X", type: .transform, from: "X", to: "X",
                attributes: [PropertyMapping("target", expression: .source("target"))]
            ).with { $0.policyName = "P" },
        ])
        let location = StoreLocation(type: type, path: directory.file("new"))
        let report = try PolicySample.migrate(
            old, to: .location(location), mapping: mapping, model: model,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onCreate = { source, session, standard in
                            try standard()
                            guard source.id.key == 5 else { return }
                            let made = try session.destinationInstances(
                                forEntityMapping: "X", sourceObjects: [source])
                            let object = try #require(made.first)
                            object["target"] = .objectID(ObjectID("C", key: 2))
                        }
                    }
                }
            ])
        let new = try StoreRegistry.standard.open(location)
        let named = try Scenario.objects("X", in: new).map { $0.values["target"] }
        let (first, second) = (Value.objectID(ObjectID("C", key: 1)), Value.objectID(ObjectID("C", key: 2)))
        #expect(try Scenario.objects("C", in: new).map(\.id.key) == [1, 2])
        #expect(named == [first, second, nil, nil, second])
        #expect(report.losses.contains { $0.hasPrefix("X: IDs that became null in 'target': 1;") }, "\(report.losses)")
        try new.close()
        try old.close()
    }

    @Test("a report counts objects that a policy made, not their associations")
    func countsObjects() throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [EntityDescription("Item", attributes: [.string("name")])])
        let old = try Scenario.store(
            "memory", at: directory.file("old"), model: model,
            objects: (1...9).map { .init("Item", key: $0, values: ["name": "same"]) })
        let report = try PolicySample.migrate(
            old, to: .location(StoreLocation(type: "sqlite", path: directory.file("new"))),
            mapping: MappingModel([
                EntityMapping("Item", type: .custom, from: "Item", to: "Item").with { $0.policyName = "P" }
            ]),
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onCreate = { source, session, _ in
                            let known = try session.destinationObjects(FetchRequest("Item", limit: 1)).first
                            try session.associate(source, with: try known ?? session.insert("Item"), for: "Item")
                        }
                    }
                }
            ])
        #expect(report.objects == 1)
        #expect(report.mappings.map(\.read) == [9] && report.mappings.map(\.made) == [1])
    }
}
