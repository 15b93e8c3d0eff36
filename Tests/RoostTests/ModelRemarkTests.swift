import Foundation
import Roost
import RoostMigration
import RoostStores
import Testing

@Suite("Remarks of models")
struct ModelRemarkTests {
    private func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Place",
                    attributes: [
                        .init("name", type: .string), .init("north", type: .double),
                        .init("secret", type: .transformable).with { $0.valueTransformerName = "Secret" },
                        .init("upper", type: .string).with { $0.derivationExpression = "uppercase:(name)" },
                        .init("passing", type: .transformable).with {
                            $0.isTransient = true
                            $0.valueTransformerName = "Secret"
                        },
                        .init(
                            "deep", type: .composite,
                            elements: [.init("inner", type: .transformable).with { $0.valueTransformerName = "Secret" }]
                        ),
                    ]
                ).with {
                    $0.fetchedProperties = [.init("near", entity: "Place", predicateFormat: "north > 0")]
                    $0.fetchIndexes = [
                        FetchIndexDescription("plain", on: "name"),
                        FetchIndexDescription("spatial", elements: [.init("north", collation: .rTree)]),
                        FetchIndexDescription("computed", elements: [.init("x", expression: "length(name)")]),
                        FetchIndexDescription(
                            "some", elements: [.init("name")], partialIndexPredicateFormat: "north > 0"),
                    ]
                }
            ],
            fetchRequestTemplates: [.init("all", entity: "Place")])
    }

    private let expected = [
        "Place.computed: index of an expression: no store keeps one, and fetches do not use it",
        "Place.some: partial index: every store indexes all objects instead",
        "Place.spatial: spatial index: no store keeps one, and fetches do not use it",
        "Place.all: fetch request template: it is kept in the model, and no store executes it",
        "Place.near: fetched property: it is kept in the model, and no store evaluates it",
        "Place.deep.inner: value transformer: no store applies it; stores keep the bytes that the transformer wrote",
        "Place.secret: value transformer: no store applies it; stores keep the bytes that the transformer wrote",
        "Place.upper: derived attribute: contexts and batch requests compute it; a store's commit saves the given value unchanged",
    ]

    @Test("a model lists its declarations that no store acts on")
    func remarks() throws {
        #expect(try model().remarks.map(\.description) == expected)
        #expect(try RoostTests.model().remarks == [])
    }

    @Test("reports of conversions and migrations repeat the model's remarks", arguments: writableTypes)
    func reports(type: String) throws {
        let folder = try Folder()
        let manager = MigrationManager(registry: .standard)
        let source = try StoreRegistry.standard.type(named: "memory").create(
            StoreLocation(type: "memory", path: ""), model: try model(), options: StoreOptions())
        let lines = try model().remarks.count - 1  // Both transformers are on one line.
        func location(_ name: String) -> StoreLocation {
            StoreLocation(type: type, path: type == "memory" ? "" : folder.file(name))
        }

        let plan = try manager.plan(from: .store(source), to: .location(location("a")))
        let report = try manager.convert(from: .store(source), to: .location(location("a")))
        #expect(plan.remarks == report.remarks && report.remarks.count == lines && report.warnings == [])
        #expect(report.remarks.contains { $0.hasSuffix("(Place.deep.inner, Place.secret)") })
        #expect(report.description.contains("  note      spatial index: "))

        let plain = try StoreRegistry.standard.type(named: "memory").create(
            StoreLocation(type: "memory", path: ""), model: try ManagedObjectModel(entities: []),
            options: StoreOptions())
        let planned = try manager.planMigration(from: .store(plain), to: .location(location("b")), model: try model())
        let migrated = try manager.migrate(from: .store(plain), to: .location(location("b")), model: try model())
        #expect(planned.remarks == report.remarks && migrated.remarks == report.remarks)
    }

    @Test("a backup repeats no remarks, and a store with remarks can be compacted", arguments: fileTypes)
    func maintenance(type: String) throws {
        let folder = try Folder()
        let location = StoreLocation(type: type, path: folder.file("a"))
        try StoreRegistry.standard.type(named: type).create(location, model: try model(), options: StoreOptions())
            .close()
        let maintenance = StoreMaintenance(registry: .standard)
        let backup = try maintenance.backUp(.location(location), to: StoreLocation(type: type, path: folder.file("b")))
        #expect(backup.remarks == [] && backup.warnings == [])
        _ = try maintenance.compact(location)
    }
}
