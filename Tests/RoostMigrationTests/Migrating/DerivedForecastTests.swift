import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Forecasts of derived attributes")
struct DerivedForecastTests {
    private let manager = MigrationManager(registry: .standard)
    private let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))

    /// Plans and runs a migration.
    ///
    /// If `code` is not nil, the run must fail with it, and the plan must have one refusal.
    /// Otherwise the plan must have none, and the run must succeed.
    private func expect(
        _ code: StoreError.Code?, from source: any PersistentStore, model: ManagedObjectModel,
        mapping: MappingModel? = nil, path: MigrationPath = .onePass, saysTheSame: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let options = MigrationOptions(mapping: mapping, allowsLoss: true)
        let plan = try manager.planMigration(from: .store(source), to: memory, model: model, options: options)
        #expect(plan.path == path, sourceLocation: sourceLocation)
        do throws(StoreError) {
            let report = try manager.migrate(from: .store(source), to: memory, model: model, options: options)
            #expect(report.verified && code == nil, sourceLocation: sourceLocation)
            #expect(plan.refusals == [], sourceLocation: sourceLocation)
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
            #expect(plan.refusals.count == 1, "\(plan.refusals)", sourceLocation: sourceLocation)
            if saysTheSame { #expect(plan.refusals == [error.message], sourceLocation: sourceLocation) }
        }
    }

    // MARK: Attributes of one object

    private func note(
        _ attributes: [AttributeDescription] = [], unique: [[String]] = []
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.string("title"), .integer64("n")] + attributes, uniquenessConstraints: unique)
        ])
    }

    private func notes(
        _ titles: [Value], of model: ManagedObjectModel, n: Int64 = 1
    ) throws -> any PersistentStore {
        try Scenario.store(
            "memory", at: "", model: model,
            objects: titles.enumerated().map { index, title in
                .init("Note", key: Int64(index + 1), values: ["title": title, "n": .int(n)])
            })
    }

    @Test("a dry run forecasts derived values that break a new uniqueness constraint")
    func uniqueValues() throws {
        let model = try note([.derived("key", type: .string, from: "canonical:(title)")], unique: [["key"]])
        try expect(nil, from: notes(["Résumé", "summary", .null, .null], of: note()), model: model)
        try expect(.constraintViolation, from: notes(["Résumé", "resume"], of: note()), model: model)
    }

    @Test("a dry run forecasts new derived values that break a uniqueness constraint that the source has too")
    func changedDerivation() throws {
        func model(_ derivation: String) throws -> ManagedObjectModel {
            try note([.derived("key", type: .string, from: derivation)], unique: [["key"]])
        }
        func source(_ titles: [String]) throws -> any PersistentStore {
            try Scenario.store(
                "memory", at: "", model: model("title"),
                objects: titles.enumerated().map { index, title in
                    let values: [String: Value] = ["title": .string(title), "key": .string(title)]
                    return Scenario.Object("Note", key: Int64(index + 1), values: values)
                })
        }
        try expect(nil, from: source(["a", "b"]), model: model("lowercase:(title)"))
        try expect(.constraintViolation, from: source(["a", "A"]), model: model("lowercase:(title)"))
    }

    @Test("a dry run forecasts a derived value outside the range of its type")
    func range() throws {
        let model = try note([.derived("small", type: .integer16, from: "n")])
        try expect(nil, from: notes(["a"], of: note(), n: 32_767), model: model)
        try expect(.invalidValue, from: notes(["a"], of: note(), n: 32_768), model: model, saysTheSame: true)
    }

    @Test("a dry run forecasts a derived attribute whose expression cannot be computed")
    func uncomputable() throws {
        let model = try note([.derived("key", type: .string, from: "uppercase:(n)")])
        try expect(.invalidModel, from: notes(["a"], of: note()), model: model, saysTheSame: true)
    }

    @Test("a dry run of a migration in three passes forecasts equal derived values of objects of two hierarchies")
    func threePasses() throws {
        let old = try ManagedObjectModel(entities: [
            EntityDescription("Cat", attributes: [.string("name")]),
            EntityDescription("Dog", attributes: [.string("name")]),
        ])
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                "Pet", attributes: [.string("name"), .derived("key", type: .string, from: "lowercase:(name)")],
                uniquenessConstraints: [["key"]])
        ])
        let mapping = MappingModel(
            ["Cat", "Dog"].map { entity in
                EntityMapping(
                    "\(entity)ToPet", type: .transform, from: EntityName(entity), to: "Pet",
                    attributes: [PropertyMapping("name", expression: .source("name"))])
            })
        func source(_ dog: String) throws -> any PersistentStore {
            try Scenario.store(
                "memory", at: "", model: old,
                objects: [
                    .init("Cat", key: 1, values: ["name": "Rex"]),
                    .init("Dog", key: 1, values: ["name": .string(dog)]),
                ])
        }
        try expect(nil, from: source("Fido"), model: new, mapping: mapping, path: .threePasses)
        try expect(.constraintViolation, from: source("REX"), model: new, mapping: mapping, path: .threePasses)
    }

    // MARK: Attributes that read other objects

    /// Returns a model of bands and albums, in which albums can have labels.
    private func music(
        band: [AttributeDescription] = [], album: [AttributeDescription] = [],
        label: [AttributeDescription] = [], unique: (entity: String, name: String)? = nil
    ) throws -> ManagedObjectModel {
        let entities = [
            EntityDescription(
                "Band", attributes: [.string("name")] + band,
                relationships: [.toMany("albums", to: "Album", inverse: "band")]),
            EntityDescription(
                "Album", attributes: [.integer64("price")] + album,
                relationships: [
                    .toOne("band", to: "Band", inverse: "albums"), .toMany("labels", to: "Label", inverse: "albums"),
                    .toMany("similar", to: "Album", inverse: "similar"),
                ]),
            EntityDescription(
                "Label", attributes: [.string("name")] + label,
                relationships: [.toMany("albums", to: "Album", inverse: "labels")]),
        ]
        return try ManagedObjectModel(
            entities: entities.map { entity in
                entity.with { if $0.name == unique?.entity, let unique { $0.uniquenessConstraints = [[unique.name]] } }
            })
    }

    /// Returns two bands with one album each, and two labels.
    ///
    /// Each pair of `labels` is the key of an album and the key of its label.
    private func bands(
        _ names: (String, String), prices: (Int64, Int64) = (5, 6), labels: [(Int64, Int64)] = [],
        similar: [(Int64, Int64)] = []
    ) throws -> any PersistentStore {
        func album(_ key: Int64, price: Int64) -> Scenario.Object {
            .init("Album", key: key, values: ["price": .int(price), "band": .objectID(ObjectID("Band", key: key))])
        }
        return try Scenario.store(
            "memory", at: "", model: music(),
            objects: [
                .init("Band", key: 1, values: ["name": .string(names.0)]),
                .init("Band", key: 2, values: ["name": .string(names.1)]),
                album(1, price: prices.0), album(2, price: prices.1),
                .init("Label", key: 1, values: [:]), .init("Label", key: 2, values: [:]),
            ],
            links: labels.map { (RelationshipName("Album", name: "labels"), Link($0.0, $0.1)) }
                + similar.map { (RelationshipName("Album", name: "similar"), Link($0.0, $0.1)) })
    }

    @Test("a dry run computes attributes that are derived from derived attributes of other objects")
    func chains() throws {
        let model = try music(
            band: [.derived("key", type: .string, from: "lowercase:(name)")],
            album: [
                .derived("bandKey", type: .string, from: "band.key"),
                .derived("bandTitle", type: .string, from: "uppercase:(bandKey)"),
            ], unique: ("Album", "bandTitle"))
        try expect(nil, from: bands(("Ärzte", "Can")), model: model)
        try expect(.constraintViolation, from: bands(("CAN", "Can")), model: model)
    }

    @Test("a dry run computes sums over references")
    func sums() throws {
        let model = try music(
            band: [.derived("total", type: .integer64, from: "albums.price.@sum")], unique: ("Band", "total"))
        try expect(nil, from: bands(("a", "b")), model: model)
        try expect(.constraintViolation, from: bands(("a", "b"), prices: (5, 5)), model: model)
        let small = try music(band: [.derived("total", type: .integer16, from: "albums.price.@sum")])
        try expect(.invalidValue, from: bands(("a", "b"), prices: (5, 70_000)), model: small, saysTheSame: true)
    }

    @Test("sums of derived values are computed last, so that no temporary sums break a uniqueness constraint")
    func sumsOfDerivedValues() throws {
        let model = try music(
            album: [.derived("rank", type: .integer64, from: "labels.total.@sum")],
            label: [.derived("total", type: .integer64, from: "albums.@count")], unique: ("Album", "rank"))
        try expect(nil, from: bands(("a", "b"), labels: [(1, 1), (1, 2), (2, 1)]), model: model)
        try expect(.constraintViolation, from: bands(("a", "b"), labels: [(1, 1), (2, 2)]), model: model)
    }

    @Test("a dry run that computes derived attributes skips damaged objects as the migration does")
    func damagedObjects() throws {
        let model = try music(album: [.derived("bandName", type: .string, from: "band.name")])
        let source = FaultyStore(
            try bands(("a", "b")), faults: Faults(damaged: [ObjectID("Band", key: 2)], damagesLookups: true))
        let options = MigrationOptions(conversion: ConversionOptions(skipsDamaged: true))
        let plan = try manager.planMigration(from: .store(source), to: memory, model: model, options: options)
        #expect(plan.refusals == [])
        let report = try manager.migrate(from: .store(source), to: memory, model: model, options: options)
        #expect(report.skipped == ["Band/p2"])
    }

    @Test("a dry run counts links from both ends")
    func links() throws {
        let there = try music(
            album: [.derived("total", type: .integer64, from: "labels.@count")], unique: ("Album", "total"))
        try expect(nil, from: bands(("a", "b"), labels: [(1, 1), (1, 2), (2, 1)]), model: there)
        try expect(.constraintViolation, from: bands(("a", "b"), labels: [(1, 1), (2, 1)]), model: there)
        let back = try music(
            label: [.derived("total", type: .integer64, from: "albums.@count")], unique: ("Label", "total"))
        try expect(nil, from: bands(("a", "b"), labels: [(1, 1), (2, 1), (2, 2)]), model: back)
        try expect(.constraintViolation, from: bands(("a", "b"), labels: [(2, 1), (2, 2)]), model: back)
    }

    @Test("a dry run counts a link of a relationship that is its own inverse for both objects")
    func reflexiveLinks() throws {
        let model = try music(
            album: [.derived("total", type: .integer64, from: "similar.@count")], unique: ("Album", "total"))
        try expect(nil, from: bands(("a", "b"), similar: [(1, 1), (1, 2)]), model: model)
        try expect(.constraintViolation, from: bands(("a", "b"), similar: [(1, 2)]), model: model)
    }

    @Test("a dry run derives values from the objects that the mapping makes, with their new names and without others")
    func mappedObjects() throws {
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                "Group", attributes: [.string("name"), .derived("total", type: .integer64, from: "records.@count")],
                relationships: [.toMany("records", to: "Record", inverse: "group")],
                uniquenessConstraints: [["total"]]),
            EntityDescription("Record", relationships: [.toOne("group", to: "Group", inverse: "records")]),
        ])
        func related(_ name: String, to old: String) -> PropertyMapping {
            PropertyMapping(name, expression: .relatedInstances(ofSourceRelationship: old))
        }
        func mapping(_ predicate: FetchRequest.Predicate?) -> MappingModel {
            MappingModel([
                EntityMapping(
                    "Groups", type: .transform, from: "Band", to: "Group",
                    attributes: [PropertyMapping("name", expression: .source("name"))]
                ).with { $0.relationshipMappings = [related("records", to: "albums")] },
                EntityMapping("Records", type: .transform, from: "Album", to: "Record").with {
                    $0.sourcePredicate = predicate
                    $0.relationshipMappings = [related("group", to: "band")]
                },
            ])
        }
        let source = try bands(("a", "b"), prices: (5, 6))
        try expect(.constraintViolation, from: source, model: new, mapping: mapping(nil))
        try expect(nil, from: source, model: new, mapping: mapping(.equal("price", to: 5)))
    }

    @Test("a dry run of a migration in place forecasts derived values, and changes no file")
    func inPlace() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        let store = try Scenario.store(
            "sqlite", at: location.path, model: note(),
            objects: [.init("Note", key: 1, values: ["title": "a"]), .init("Note", key: 2, values: ["title": "A"])])
        try store.close()
        let model = try note([.derived("key", type: .string, from: "lowercase:(title)")], unique: [["key"]])
        let before = try (directory.names(), Data(contentsOf: URL(fileURLWithPath: location.path)))
        let plan = try manager.planMigrationInPlace(location, model: model)
        #expect(plan.refusals.count == 1, "\(plan.refusals)")
        #expect(try directory.names() == before.0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before.1)
        let error = #expect(throws: StoreError.self) { _ = try manager.migrateInPlace(location, model: model) }
        #expect(error?.code == .constraintViolation)
    }
}
