import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import Testing

// Relationships that get or become a to-one inverse.
extension RelationshipChangeTests {
    @Test(
        "a to-one relationship becomes its own inverse if no object is in two pairs",
        arguments: [
            ([1: 2, 3: 3], [1: 2, 2: 1, 3: 3]), ([2: 1, 4: 3, 3: 4], [1: 2, 2: 1, 3: 4, 4: 3]),
            ([1: 2, 2: 3], nil), ([2: 3, 1: 2], nil), ([2: 3, 3: 3], nil), ([1: 3, 2: 3], nil), ([3: 1, 2: 3], nil),
        ] as [([Int64: Int64], [Int64: Int64]?)])
    func becomesOwnOneToOne(before: [Int64: Int64], after: [Int64: Int64]?) throws {
        let (old, new) = (try Self.nodes(.toOne("s", to: "A")), try Self.nodes(.toOne("s", to: "A", inverse: "s")))
        let source = try Self.store(old, s: before)
        let plan = try Self.manager().planMigration(
            from: .store(source), to: .location(StoreLocation(type: "memory", path: "")), model: new,
            options: MigrationOptions(allowsLoss: true))
        #expect(plan.losses.contains { $0.contains("A.s") && $0.contains("its own inverse") })
        #expect(plan.warnings.contains { $0.contains("A.s") && $0.contains("two partners") })
        guard let after else {
            let error = #expect(throws: StoreError.self) { try Self.migrate(source, to: new, path: .threePasses) }
            #expect(error?.code == .migrationFailed)
            #expect(error?.message.contains("'A.s' of A/p") ?? false)
            return
        }
        #expect(
            try Self.references("A", named: "s", in: Self.migrate(source, to: new, path: .threePasses).store) == after)
    }

    @Test(
        "a new to-one inverse is filled, or the migration refused if two objects share a partner",
        arguments: [true, false], [true, false])
    func newToOneInverse(hasRoom: Bool, hasPolicy: Bool) throws {
        let old = try Self.two(.toOne("b", to: "B"), nil)
        let new = try Self.two(.toOne("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
        let source = try Self.twoStore(old, b: [1: 2, 3: hasRoom ? 1 : 2])
        let options = hasPolicy ? try Self.withPolicy(old, new) : MigrationOptions(allowsLoss: true)
        let path = hasPolicy ? MigrationPath.threePasses : .onePass
        let plan = try Self.manager().planMigration(
            from: .store(source), to: .location(StoreLocation(type: "memory", path: "")), model: new, options: options)
        let refusal =
            "'A.b' of A/p3 would refer to B/p2, but A/p1 does already, and 'B.a' is to-one; select the pair to keep in a policy, or make the inverse to-many."
        #expect(plan.refusals == (hasRoom || hasPolicy ? [] : [refusal]))
        #expect(plan.warnings.contains { $0.contains("'B.a', is to-one") } == !hasPolicy)
        guard hasRoom else {
            let error = #expect(throws: StoreError.self) {
                try Self.migrate(source, to: new, path: path, options: options)
            }
            #expect(error?.code == .migrationFailed)
            #expect(error?.message == refusal)
            return
        }
        let (store, _) = try Self.migrate(source, to: new, path: path, options: options)
        #expect(try Self.references("A", named: "b", in: store) == [1: 2, 3: 1])
        #expect(try Self.references("B", named: "a", in: store) == [2: 1, 1: 3])
    }

    @Test("a to-many relationship gets a to-one inverse if no object is in two lists", arguments: [true, false])
    func newToOneInverseOfToMany(hasRoom: Bool) throws {
        let old = try Self.two(.toMany("bs", to: "B", isOrdered: true), nil)
        let new = try Self.two(
            .toMany("bs", to: "B", inverse: "a", isOrdered: true), .toOne("a", to: "A", inverse: "bs"))
        let source = try Scenario.store(
            "memory", at: "", model: old,
            objects: (1...3).flatMap {
                [Scenario.Object("A", key: $0, values: [:]), Scenario.Object("B", key: $0, values: [:])]
            },
            links: [Link(1, 3, order: 1), Link(1, 1, order: 2), Link(2, hasRoom ? 2 : 3)]
                .map { (RelationshipName("A", name: "bs"), $0) })
        guard hasRoom else {
            let error = #expect(throws: StoreError.self) { try Self.migrate(source, to: new, path: .threePasses) }
            #expect(error?.code == .migrationFailed)
            #expect(error?.message.contains("'A.bs' of A/p2 would refer to B/p3, but A/p1 does") ?? false)
            return
        }
        let (store, report) = try Self.migrate(source, to: new, path: .threePasses)
        #expect(try Self.references("B", named: "a", in: store) == [1: 1, 2: 2, 3: 1])
        let snapshot = try store.snapshot()
        #expect(try snapshot.targets(of: RelationshipName("A", name: "bs"), from: ObjectID("A", key: 1)) == [3, 1])
        #expect(report.losses == [])
    }

    @Test("a mapping model that gives two objects the same partner ends the migration", arguments: [true, false])
    func explicitMapping(isToMany: Bool) throws {
        let old = try Self.two(.toOne("b", to: "B", inverse: "as"), .toMany("as", to: "A", inverse: "b"))
        let new = try Self.two(.toOne("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
        let mapping = MappingModel([
            EntityMapping(
                "A", type: .transform, from: "A", to: "A"
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping("b", expression: .relatedInstances(ofSourceRelationship: "b"))
                ]
            },
            EntityMapping("B", type: .transform, from: "B", to: "B"),
        ])
        #expect(mapping.remarks(from: old, to: new).contains { $0.kind == .demand && $0.property == "b" })
        let options = MigrationOptions(mapping: mapping, allowsLoss: true)
        let (store, _) = try Self.migrate(
            try Self.twoStore(old, b: [1: 3, 2: 1]), to: new, path: .onePass, options: options)
        #expect(try Self.references("B", named: "a", in: store) == [3: 1, 1: 2])
        let error = #expect(throws: StoreError.self) {
            try Self.migrate(try Self.twoStore(old, b: [1: 3, 2: 1, 3: 3]), to: new, path: .onePass, options: options)
        }
        #expect(error?.code == .migrationFailed)
    }

    /// Returns two models of `A.b`: one with the to-many inverse `before`, one with the to-one
    /// inverse `after`.
    private static func narrowing(from before: String, to after: String) throws -> (
        old: ManagedObjectModel, new: ManagedObjectModel
    ) {
        (
            try two(.toOne("b", to: "B", inverse: before), .toMany(before, to: "A", inverse: "b")),
            try two(.toOne("b", to: "B", inverse: after), .toOne(after, to: "A", inverse: "b"))
        )
    }

    @Test(
        "an inverse that becomes to-one is filled from the kept end, in every store",
        arguments: Sample.writingTypes, ["members", "member"])
    func narrowedInverse(type: String, before: String) throws {
        let (old, new) = try Self.narrowing(from: before, to: "member")
        let directory = try TemporaryDirectory()
        let (source, location) = (
            try Self.twoStore(old, b: [1: 2, 3: 1], type: type, at: directory.file("old")),
            StoreLocation(type: type, path: type == "memory" ? "" : directory.file("old"))
        )
        let (store, report) = try Self.migrate(source, to: new, path: .onePass)
        #expect(try Self.references("A", named: "b", in: store) == [1: 2, 3: 1])
        #expect(try Self.references("B", named: "member", in: store) == [2: 1, 1: 3])
        #expect(report.losses == [])
        try source.close()
        guard type != "memory" else { return }
        let inPlace = try Self.manager().migrateInPlace(location, model: new)
        #expect(inPlace.destinationDigest == report.destinationDigest)
        let migrated = try StoreRegistry.standard.open(location)
        defer { try? migrated.close() }
        #expect(try Self.references("B", named: "member", in: migrated) == [2: 1, 1: 3])
        #expect(try checkStore(migrated) == [])
    }

    @Test(
        "a migration that gives two objects the same to-one partner fails and changes nothing",
        arguments: Sample.writingTypes, [true, false])
    func crowdedInverse(type: String, hasPolicy: Bool) throws {
        let (old, new) = try Self.narrowing(from: "members", to: "member")
        let directory = try TemporaryDirectory()
        let source = try Self.twoStore(old, b: [1: 2, 2: 3, 3: 2], type: type, at: directory.file("old"))
        let options = hasPolicy ? try Self.withPolicy(old, new) : MigrationOptions()
        let error = #expect(throws: StoreError.self) {
            try Self.migrate(source, to: new, path: hasPolicy ? .threePasses : .onePass, options: options)
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("'A.b' of A/p3 would refer to B/p2, but A/p1 does already") ?? false)
        let digest = try source.snapshot().computeTally().digest
        try source.close()
        guard type != "memory" else { return }
        let location = StoreLocation(type: type, path: directory.file("old"))
        let refused = #expect(throws: StoreError.self) {
            try Self.manager().migrateInPlace(location, model: new, options: options)
        }
        #expect(refused?.code == .migrationFailed && refused?.message == error?.message)
        let kept = try StoreRegistry.standard.open(location, options: StoreOptions(model: old))
        defer { try? kept.close() }
        #expect(try kept.snapshot().computeTally().digest == digest)
    }

    @Test("an inverse that becomes to-one is filled in one transaction in SQLite")
    func narrowedInverseInOneTransaction() throws {
        // The inverse keeps its name, so A, which has most of the content, is the same in both models.
        let (old, new) = try Self.narrowing(from: "member", to: "member")
        #expect(old.entity("A")?.versionHash == new.entity("A")?.versionHash)
        func migrate(_ b: [Int64: Int64]) throws -> [Int64: Int64] {
            let directory = try TemporaryDirectory()
            let location = StoreLocation(type: "sqlite", path: directory.file("old"))
            var objects = (1...40).map { key in
                Scenario.Object("A", key: key, values: b[key].map { ["b": .objectID(ObjectID("B", key: $0))] } ?? [:])
            }
            objects += (1...4).map { Scenario.Object("B", key: $0, values: [:]) }
            let source = try Scenario.store(location.type, at: location.path, model: old, objects: objects)
            try source.close()
            let report = try Self.manager().migrateInPlace(location, model: new)
            #expect(report.path == .oneTransaction)
            let store = try StoreRegistry.standard.open(location)
            defer { try? store.close() }
            #expect(try checkStore(store) == [])
            #expect(try Self.references("A", named: "b", in: store) == b)
            return try Self.references("B", named: "member", in: store)
        }
        #expect(try migrate([7: 2, 40: 1]) == [2: 7, 1: 40])
        let error = #expect(throws: StoreError.self) { _ = try migrate([7: 2, 9: 2]) }
        #expect(error?.message.contains("'A.b' of A/p9 would refer to B/p2, but A/p7 does already") ?? false)
    }

    @Test("an inverse that becomes to-one is filled across subentities and predicates")
    func narrowedInverseOfHierarchies() throws {
        func model(_ back: R) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "A", attributes: [AttributeDescription("n", type: .integer64)],
                    relationships: [.toOne("b", to: "B", inverse: back.name)]),
                EntityDescription("A2", superentity: "A"), EntityDescription("A3", superentity: "A2"),
                EntityDescription("B", relationships: [back]), EntityDescription("B2", superentity: "B"),
            ])
        }
        let (old, new) = (
            try model(.toMany("as", to: "A", inverse: "b")), try model(.toOne("a", to: "A", inverse: "b"))
        )
        func object(_ entity: EntityName, key: Int64, b: ObjectID?) -> Scenario.Object {
            Scenario.Object(
                entity, key: key, values: ["n": .int(key)].merging(b.map { ["b": .objectID($0)] } ?? [:]) { $1 })
        }
        let source = try Scenario.store(
            "memory", at: "", model: old,
            objects: [
                object("A", key: 1, b: ObjectID("B2", key: 12)), object("A2", key: 2, b: ObjectID("B", key: 11)),
                object("A3", key: 3, b: ObjectID("B2", key: 13)),
                object("A3", key: 4, b: ObjectID("B2", key: 13)), Scenario.Object("B", key: 11, values: [:]),
                Scenario.Object("B2", key: 12, values: [:]),
                Scenario.Object("B2", key: 13, values: [:]), Scenario.Object("B", key: 14, values: [:]),
            ])
        var mapping = try MappingModel.inferred(from: old, to: new)
        #expect(throws: StoreError.self) { try Self.migrate(source, to: new, path: .onePass) }
        // Without one of the two objects that refer to B2 13, the to-one inverse has room.
        let index = try #require(mapping.entityMappings.firstIndex { $0.sourceEntity == "A3" })
        mapping.entityMappings[index].sourcePredicate = .notEqual("n", to: 3)
        let (store, _) = try Self.migrate(
            source, to: new, path: .onePass, options: MigrationOptions(mapping: mapping, allowsLoss: true))
        var found: [ObjectID: ObjectID] = [:]
        for entity: EntityName in ["B", "B2"] {
            for object in try Scenario.objects(entity, in: store) where object.id.entity == entity {
                if case .objectID(let id)? = object.values["a"] { found[object.id] = id }
            }
        }
        #expect(
            found == [
                ObjectID("B", key: 11): ObjectID("A2", key: 2), ObjectID("B2", key: 12): ObjectID("A", key: 1),
                ObjectID("B2", key: 13): ObjectID("A3", key: 4),
            ])
    }

    @Test(
        "a relationship within one entity gets a to-one inverse or is refused",
        arguments: [true, false])
    func narrowedInverseOfItself(hasRoom: Bool) throws {
        let old = try Self.nodes(.toOne("s", to: "A", inverse: "ts"), .toMany("ts", to: "A", inverse: "s"))
        let new = try Self.nodes(.toOne("s", to: "A", inverse: "t"), .toOne("t", to: "A", inverse: "s"))
        let source = try Self.store(old, s: [1: 3, 2: 2, 3: hasRoom ? 4 : 3])
        guard hasRoom else {
            let error = #expect(throws: StoreError.self) { try Self.migrate(source, to: new, path: .onePass) }
            #expect(error?.message.contains("'A.s' of A/p3 would refer to A/p3, but A/p1 does already") ?? false)
            return
        }
        let plan = try Self.manager().planMigration(
            from: .store(source), to: .location(StoreLocation(type: "memory", path: "")), model: new)
        #expect(plan.mappings.first?.steps.contains("'t' is taken from the other end, 'A.s'.") == true)
        let (store, _) = try Self.migrate(source, to: new, path: .onePass)
        #expect(try Self.references("A", named: "s", in: store) == [1: 3, 2: 2, 3: 4])
        #expect(try Self.references("A", named: "t", in: store) == [3: 1, 2: 2, 4: 3])
    }

    @Test("a narrowed inverse finds 30,000 partners whatever the order of their keys")
    func manyPartners() throws {
        let (old, new) = try Self.narrowing(from: "members", to: "member")
        let count: Int64 = 30_000
        var objects: [Scenario.Object] = []
        for key in 1...count {
            // A permutation without runs: 7,919 and the count are coprime.
            let target = key * 7_919 % count + 1
            objects.append(Scenario.Object("A", key: key, values: ["b": .objectID(ObjectID("B", key: target))]))
            objects.append(Scenario.Object("B", key: key, values: [:]))
        }
        let source = try Scenario.store("memory", at: "", model: old, objects: objects)
        let (store, _) = try Self.migrate(source, to: new, path: .onePass)
        let found = try Self.references("B", named: "member", in: store)
        #expect(found.count == Int(count))
        #expect(found.allSatisfy { target, key in key * 7_919 % count + 1 == target })
    }

    @Test("a policy may replace the to-one partner that the mapping set before")
    func policiesTakePartners() throws {
        let old = try Self.two(.toOne("b", to: "B"), nil)
        let new = try Self.two(.toOne("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
        var mapping = try MappingModel.inferred(from: old, to: new)
        for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntity == "A" {
            mapping.entityMappings[index].policyName = "Last"
        }
        let last: @Sendable () -> EntityMigrationPolicy = {
            ClosurePolicy {
                $0.onRelate = { object, session, standard in
                    let source = try session.sourceInstances(
                        forEntityMapping: "IEM_Transform_A", destinationObjects: [object])
                    let id = try #require(source.first?.id)
                    guard id.key == 3 else { return try standard() }
                    let made = try session.destinationObjects(FetchRequest("B"))
                    try object.setObject(made.first { $0.id.key == 2 }, for: "b")
                }
            }
        }
        let (store, _) = try Self.migrate(
            try Self.twoStore(old, b: [1: 2, 2: 1, 3: 2]), to: new, path: .threePasses,
            options: MigrationOptions(mapping: mapping, policies: ["Last": last], allowsLoss: true))
        #expect(try Self.references("A", named: "b", in: store) == [2: 1, 3: 2])
        #expect(try Self.references("B", named: "a", in: store) == [1: 2, 2: 3])
    }
}
