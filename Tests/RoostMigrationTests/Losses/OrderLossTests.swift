import Roost
import RoostCore
import RoostMigration
import Testing

/// Migrations that drop a relationship's order.
///
/// This is a loss even if only the inverse stores the pairs.
@Suite("Losses of order")
struct OrderLossTests {
    private typealias R = RelationshipDescription

    private static func model(_ a: [R], _ b: [R]) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [.string("x")], relationships: a),
            EntityDescription("B", attributes: [.string("x")], relationships: b),
        ])
    }

    private static func renamed(_ relationship: R, from identifier: String) -> R {
        var relationship = relationship
        relationship.renamingIdentifier = identifier
        return relationship
    }

    private static func transient(_ relationship: R) -> R {
        var relationship = relationship
        relationship.isTransient = true
        return relationship
    }

    /// Creates a store whose objects 1 to 3 of `B` belong to object 1 of `A`, in reverse order.
    private static func oneToMany() throws -> any PersistentStore {
        let model = try model(
            [.toMany("bs", to: "B", inverse: "a", isOrdered: true)], [.toOne("a", to: "A", inverse: "bs")])
        let place = RecordLayout.orderFieldName(of: "a")
        return try Scenario.store(
            "memory", at: "", model: model,
            objects: [.init("A", key: 1, values: [:]), .init("A", key: 2, values: [:])]
                + (1...3).map {
                    .init("B", key: $0, values: ["a": .objectID(ObjectID("A", key: 1)), place: .int(400 - $0 * 100)])
                })
    }

    /// Creates a store in which A 1 has two objects of `B`, and B 1 has two objects of `A`.
    private static func manyToMany() throws -> any PersistentStore {
        let model = try model(
            [.toMany("bs", to: "B", inverse: "as", isOrdered: true)],
            [.toMany("as", to: "A", inverse: "bs", isOrdered: true)])
        let links = [
            Link(1, 1, order: 20, inverseOrder: 5), Link(1, 2, order: 10, inverseOrder: 1),
            Link(2, 1, order: 7, inverseOrder: 1),
        ]
        return try Scenario.store(
            "memory", at: "", model: model,
            objects: [
                .init("A", key: 1, values: [:]), .init("A", key: 2, values: [:]), .init("B", key: 1, values: [:]),
                .init("B", key: 2, values: [:]),
            ],
            links: links.map { (RelationshipName("A", name: "bs"), $0) })
    }

    private struct Change {
        var isManyToMany = false
        let a: [R]
        let b: [R]
        let losses: [String]
    }

    private static let changes: [String: Change] = [
        "the ordered end is removed": Change(a: [], b: [.toOne("a", to: "A")], losses: ["A.bs: 1"]),
        "the ordered end is replaced by one without order": Change(
            a: [.toMany("items", to: "B", inverse: "owner")],
            b: [renamed(.toOne("owner", to: "A", inverse: "items"), from: "a")], losses: ["A.bs: 1"]),
        "the ordered end becomes transient": Change(
            a: [transient(.toMany("bs", to: "B", inverse: "a", isOrdered: true))],
            b: [.toOne("a", to: "A", inverse: "bs")],
            losses: ["A.bs: 1"]),
        "of two ordered ends one is removed": Change(
            isManyToMany: true, a: [.toMany("bs", to: "B", isOrdered: true)], b: [], losses: ["B.as: 1"]),
        "of two ordered ends one is replaced by one without order": Change(
            isManyToMany: true, a: [.toMany("cs", to: "B", inverse: "as")],
            b: [.toMany("as", to: "A", inverse: "cs", isOrdered: true)], losses: ["A.bs: 1"]),
        "the ordered end stays without its order": Change(
            a: [.toMany("bs", to: "B", inverse: "a")], b: [.toOne("a", to: "A", inverse: "bs")], losses: ["A.bs: 1"]),
        "the ordered end is renamed": Change(
            a: [renamed(.toMany("items", to: "B", inverse: "a", isOrdered: true), from: "bs")],
            b: [.toOne("a", to: "A", inverse: "items")], losses: []),
        "the ordered end is replaced by an ordered one": Change(
            a: [.toMany("items", to: "B", inverse: "a", isOrdered: true)], b: [.toOne("a", to: "A", inverse: "items")],
            losses: []),
        "of two ordered ends one is replaced by an ordered one": Change(
            isManyToMany: true, a: [.toMany("cs", to: "B", inverse: "as", isOrdered: true)],
            b: [.toMany("as", to: "A", inverse: "cs", isOrdered: true)], losses: []),
    ]

    @Test(
        "a migration that drops an ordered relationship's order is forecast and refused",
        arguments: changes.keys.sorted())
    func orders(name: String) throws {
        let change = try #require(Self.changes[name])
        let source = try change.isManyToMany ? Self.manyToMany() : Self.oneToMany()
        let model = try Self.model(change.a, change.b)
        let manager = MigrationManager(registry: .standard)
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let plan = try manager.planMigration(from: .store(source), to: memory, model: model)
        #expect(plan.lossCounts.map { "\($0.entity).\($0.property ?? ""): \($0.count)" } == change.losses)
        #expect(plan.lossCounts.allSatisfy { $0.kind == .order })
        #expect(plan.refusals.count == (change.losses.isEmpty ? 0 : 1), "\(plan.refusals)")
        guard change.losses.isEmpty else {
            let error = #expect(throws: StoreError.self) {
                _ = try manager.migrate(from: .store(source), to: memory, model: model)
            }
            #expect(error?.code == .lossRefused)
            return
        }
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        #expect(try manager.migrate(from: .store(source), to: .store(store), model: model).verified)
        let new = try #require(try store.model.requireEntity("A").relationships.first)
        let keys = try Self.destinations(of: new.name, in: store)
        #expect(keys == (change.isManyToMany ? [2, 1] : [3, 2, 1]))
    }

    /// Returns the destinations of object 1 of `A`, in their order.
    private static func destinations(of relationship: RelationshipName, in store: any PersistentStore) throws -> [Int64]
    {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.links(of: relationship, from: ObjectID("A", key: 1))
        var batch = LinkBatch(relationship: 0)
        var links: [Link] = []
        while try cursor.next(into: &batch) { links += batch.links }
        return links.sorted { $0.order < $1.order }.map(\.target)
    }
}
