import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration
import Testing

@Suite("Relationships whose ends change")
struct RelationshipChangeTests {
    typealias R = RelationshipDescription

    // MARK: Models and stores

    static func nodes(_ relationships: R...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [AttributeDescription("n", type: .integer64)], relationships: relationships)
        ])
    }

    /// Creates a store of objects 1 to `count` of `A`.
    ///
    /// `s` contains the key of each object's destination by the to-one relationship `s`. `links`
    /// belong to the to-many `relationship`.
    static func store(
        _ model: ManagedObjectModel, count: Int64 = 4, s: [Int64: Int64] = [:], links: [Link] = [],
        by relationship: String = "fr", type: String = "memory", at path: String = ""
    ) throws -> any PersistentStore {
        try Scenario.store(
            type, at: path, model: model,
            objects: (1...count).map { key in
                var values: [String: Value] = ["n": .int(key)]
                if let target = s[key] { values["s"] = .objectID(ObjectID("A", key: target)) }
                return Scenario.Object("A", key: key, values: values)
            }, links: links.map { (RelationshipName("A", name: relationship), $0) })
    }

    static func manager() -> MigrationManager { MigrationManager(registry: .standard) }

    static func migrate(
        _ source: any PersistentStore, to model: ManagedObjectModel, path: MigrationPath,
        options: MigrationOptions = MigrationOptions(allowsLoss: true)
    ) throws -> (store: any PersistentStore, report: MigrationReport) {
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        let report = try manager().migrate(from: .store(source), to: .store(store), model: model, options: options)
        #expect(report.path == path)
        #expect(try checkStore(store) == [])
        return (store, report)
    }

    /// Returns options with an inferred mapping and a policy that has no effect.
    static func withPolicy(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> MigrationOptions {
        var mapping = try MappingModel.inferred(from: old, to: new)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        return MigrationOptions(mapping: mapping, policies: ["P": { EntityMigrationPolicy() }], allowsLoss: true)
    }

    static func pairs(_ name: String, in store: any PersistentStore) throws -> Set<[Int64]> {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var pairs: Set<[Int64]> = []
        for object in try Scenario.objects("A", in: store) {
            let cursor = try snapshot.links(of: RelationshipName("A", name: name), from: object.id)
            var batch = LinkBatch(relationship: 0)
            while try cursor.next(into: &batch) {
                for link in batch.links { pairs.insert([link.source, link.target]) }
            }
        }
        return pairs
    }

    static func references(_ entity: EntityName, named name: String, in store: any PersistentStore) throws
        -> [Int64: Int64]
    {
        var found: [Int64: Int64] = [:]
        for object in try Scenario.objects(entity, in: store) {
            if case .objectID(let id)? = object.values[name] { found[object.id.key] = id.key }
        }
        return found
    }

    /// Returns a model of `A` with a relationship and `B` with its inverse, if any.
    static func two(_ a: R, _ b: R?) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [a]), EntityDescription("B", relationships: b.map { [$0] } ?? []),
        ])
    }

    static func twoStore(
        _ model: ManagedObjectModel, b: [Int64: Int64], type: String = "memory", at path: String = ""
    ) throws -> any PersistentStore {
        var objects: [Scenario.Object] = []
        for key: Int64 in 1...3 {
            var values: [String: Value] = [:]
            if let target = b[key] { values["b"] = .objectID(ObjectID("B", key: target)) }
            objects.append(Scenario.Object("A", key: key, values: values))
            objects.append(Scenario.Object("B", key: key, values: [:]))
        }
        return try Scenario.store(type, at: path, model: model, objects: objects)
    }

    // MARK: Its own inverse

    @Test(
        "a to-many relationship that becomes its own inverse has the pairs of both directions",
        arguments: Sample.writingTypes, ["none", "both", "policy"])
    func becomesOwnInverse(type: String, how: String) throws {
        let old =
            how == "both"
            ? try Self.nodes(.toMany("fr", to: "A", inverse: "back"), .toMany("back", to: "A", inverse: "fr"))
            : try Self.nodes(.toMany("fr", to: "A"))
        let new = try Self.nodes(.toMany("fr", to: "A", inverse: "fr"))
        let directory = try TemporaryDirectory()
        // A pair with both directions, one pair in each direction alone, and an object paired with itself.
        let links = [Link(1, 2), Link(2, 1), Link(2, 3), Link(4, 1), Link(3, 3)]
        let source = try Self.store(old, links: links, type: type, at: directory.file("old"))
        let isPolicy = how == "policy"
        let (store, report) = try Self.migrate(
            source, to: new, path: isPolicy ? .threePasses : .onePass,
            options: isPolicy ? try Self.withPolicy(old, new) : MigrationOptions(allowsLoss: true))
        #expect(
            try Self.pairs("fr", in: store)
                == [[1, 2], [2, 1], [2, 3], [3, 2], [1, 4], [4, 1], [3, 3]])
        #expect(report.links == 4)
        // With a policy, the report does not mention that the links lose their direction.
        #expect(report.losses.contains { $0.contains("A.fr") && $0.contains("its own inverse") } == !isPolicy)
        try source.close()
    }

    @Test("thousands of links become the pairs of both directions without duplicates", arguments: [true, false])
    func manyLinks(isOrdered: Bool) throws {
        let old = try Self.nodes(.toMany("fr", to: "A", isOrdered: isOrdered))
        let new = try Self.nodes(.toMany("fr", to: "A", inverse: "fr", isOrdered: isOrdered))
        var generator = SeededGenerator(seed: 11)
        var links: Set<[Int64]> = []
        for _ in 0..<4000 { links.insert([Int64(1 + generator.below(90)), Int64(1 + generator.below(90))]) }
        let source = try Self.store(
            old, count: 90, links: links.sorted { $0[1] < $1[1] }.map { Link($0[0], $0[1], order: $0[1] * 7) })
        let (store, report) = try Self.migrate(source, to: new, path: .onePass)
        #expect(try Self.pairs("fr", in: store) == links.union(links.map { [$0[1], $0[0]] }))
        #expect(report.links == Set(links.map { $0.sorted() }).count)
    }

    @Test("each end of a pair recorded in both directions keeps its place")
    func keepsPlaces() throws {
        let old = try Self.nodes(.toMany("fr", to: "A", isOrdered: true))
        let new = try Self.nodes(.toMany("fr", to: "A", inverse: "fr", isOrdered: true))
        let source = try Self.store(
            old,
            links: [
                Link(1, 2, order: 3), Link(1, 3, order: 2), Link(1, 4, order: 1), Link(2, 1, order: 8),
                Link(2, 3, order: 9), Link(2, 4, order: 7), Link(3, 1, order: 5), Link(3, 2, order: 4),
                Link(4, 1, order: 5), Link(4, 2, order: 4),
            ])
        let (store, _) = try Self.migrate(source, to: new, path: .onePass)
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        func targets(_ key: Int64) throws -> [Int64] {
            try snapshot.targets(of: RelationshipName("A", name: "fr"), from: ObjectID("A", key: key))
        }
        #expect(try targets(1) == [4, 3, 2])
        #expect(try targets(2) == [4, 1, 3])
        #expect(try targets(3) == [2, 1])
        #expect(try targets(4) == [2, 1])
    }

    @Test("a to-one relationship that becomes its own to-many inverse keeps every pair", arguments: [false, true])
    func toOneBecomesOwnInverse(hasPolicy: Bool) throws {
        let old = try Self.nodes(.toOne("s", to: "A"))
        let new = try Self.nodes(.toMany("s", to: "A", inverse: "s"))
        let source = try Self.store(old, count: 6, s: [1: 2, 2: 3, 3: 3, 4: 1, 5: 6, 6: 5])
        let (store, report) = try Self.migrate(
            source, to: new, path: hasPolicy ? .threePasses : .onePass,
            options: hasPolicy ? try Self.withPolicy(old, new) : MigrationOptions(allowsLoss: true))
        #expect(
            try Self.pairs("s", in: store)
                == [[1, 2], [2, 1], [2, 3], [3, 2], [3, 3], [1, 4], [4, 1], [5, 6], [6, 5]])
        #expect(report.links == 5)
    }

    @Test(
        "a one-to-one relationship with itself keeps its pairs when it becomes to-many",
        arguments: ["itself", "none", "another"], Sample.writingTypes)
    func ownOneToOneBecomesToMany(inverse: String, type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Self.nodes(.toOne("s", to: "A", inverse: "s"))
        let new =
            switch inverse {
            case "itself": try Self.nodes(.toMany("s", to: "A", inverse: "s"))
            case "none": try Self.nodes(.toMany("s", to: "A"))
            default: try Self.nodes(.toMany("s", to: "A", inverse: "t"), .toMany("t", to: "A", inverse: "s"))
            }
        let source = try Self.store(old, s: [1: 2, 2: 1, 3: 3], type: type, at: directory.file("old"))
        let (store, report) = try Self.migrate(source, to: new, path: .onePass)
        #expect(try Self.pairs("s", in: store) == [[1, 2], [2, 1], [3, 3]])
        if inverse == "another" { #expect(try Self.pairs("t", in: store) == [[1, 2], [2, 1], [3, 3]]) }
        #expect(report.links == (inverse == "itself" ? 2 : 3))
        try source.close()
    }

    @Test("the maximum of a relationship that becomes its own inverse counts both directions")
    func countsBothDirections() throws {
        let old = try Self.nodes(
            R("fr", destination: "A", inverse: nil, maxCount: 2))
        let new = try Self.nodes(
            R("fr", destination: "A", inverse: "fr", maxCount: 2))
        let source = try Self.store(old, links: [Link(1, 2), Link(2, 3), Link(4, 2)])
        let error = #expect(throws: StoreError.self) { try Self.migrate(source, to: new, path: .onePass) }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("A/p2") ?? false)
    }

    // MARK: The source

    @Test("a check reports a reference of a self-inverse relationship if the other object does not refer back")
    func findsUnansweredReferencesToItself() throws {
        let own = try Self.store(
            try Self.nodes(.toOne("s", to: "A", inverse: "s")), count: 6, s: [1: 2, 2: 3, 3: 2, 4: 4, 5: 6])
        #expect(
            try checkStore(own).map(\.description) == [
                "warning: A/p1 refers by 'A.s' to A/p2, whose 'A.s' does not refer back.",
                "warning: A/p5 refers by 'A.s' to A/p6, whose 'A.s' does not refer back.",
            ])
    }

    @Test("a check reports a one-to-one reference if the other object does not refer back")
    func findsUnansweredReferences() throws {
        let model = try Self.two(.toOne("b", to: "B", inverse: "a"), .toOne("a", to: "A", inverse: "b"))
        let two = try Scenario.store(
            "memory", at: "", model: model,
            objects: [
                Scenario.Object("A", key: 1, values: ["b": .objectID(ObjectID("B", key: 1))]),
                Scenario.Object("A", key: 2, values: ["b": .objectID(ObjectID("B", key: 1))]),
                Scenario.Object("B", key: 1, values: ["a": .objectID(ObjectID("A", key: 1))]),
            ])
        #expect(
            try checkStore(two).map(\.message) == ["A/p2 refers by 'A.b' to B/p1, whose 'B.a' does not refer back."])
    }

    @Test("a migration with policies refuses a source whose recorded links are missing")
    func noticesChangedSources() throws {
        let base = try Sample.store("memory", at: "", people: 50)
        let mapping = try PolicySample.mapping()
        func migrate(_ faults: Faults) throws -> MigrationReport {
            try PolicySample.migrate(
                FaultyStore(base, faults: faults), to: .location(StoreLocation(type: "memory", path: "")),
                mapping: mapping,
                policies: ["P": { EntityMigrationPolicy() }])
        }
        #expect(try migrate(Faults()).warnings == [])
        var found: StoreError?
        do { _ = try migrate(Faults(losesLinks: true)) } catch { found = error as? StoreError }
        #expect(found?.code == .corrupted)
        // The source returns no links, so the error names both relationships that are stored as links.
        for name in ["Person.friends", "Book.shelves"] {
            #expect(found?.message.contains("relationship '\(name)'") ?? false)
        }
        #expect(found?.message.contains("entity") == false)
    }

    @Test("links mapped from both ends are made once, by the last mapping")
    func linksFromBothEnds() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [AttributeDescription("n", type: .integer64)],
                relationships: [
                    R.toMany("teams", to: "B", inverse: "members"), R.toMany("led", to: "B", inverse: "lead"),
                ]),
            EntityDescription(
                "B", attributes: [AttributeDescription("n", type: .integer64)],
                relationships: [
                    R.toMany("members", to: "A", inverse: "teams"), R.toOne("lead", to: "A", inverse: "led"),
                ]),
        ])
        let source = try Scenario.store(
            "memory", at: "", model: model,
            objects: (1...3).map { Scenario.Object("A", key: $0, values: ["n": .int($0)]) }
                + [
                    Scenario.Object("B", key: 1, values: ["lead": .objectID(ObjectID("A", key: 1))]),
                    Scenario.Object("B", key: 2, values: ["lead": .objectID(ObjectID("A", key: 2))]),
                    Scenario.Object("B", key: 3, values: [:]),
                ],
            links: [(1, 1), (1, 2), (2, 1)].map { (RelationshipName("A", name: "teams"), Link($0.0, $0.1)) })
        let lead = try FetchRequest.Expression(
            format:
                "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'lead', $source.lead)"
        )
        let mapping = MappingModel([
            EntityMapping("A", type: .copy, from: "A", to: "A"),
            EntityMapping(
                "B", type: .transform, from: "B", to: "B", attributes: [PropertyMapping("n", expression: .source("n"))]
            ).with {
                $0.relationshipMappings = [
                    PropertyMapping("members", expression: lead), PropertyMapping("lead", expression: lead),
                ]
            },
        ])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        _ = try Self.manager().migrate(
            from: .store(source), to: .store(store), model: model,
            options: MigrationOptions(mapping: mapping, allowsLoss: true))
        // The mapping of B is the last that sets the relationships.
        #expect(try Self.pairs("teams", in: store) == [[1, 1], [2, 2]])
        #expect(try Self.references("B", named: "lead", in: store) == [1: 1, 2: 2])
        #expect(try checkStore(store) == [])
    }
}
