import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

/// Pairs of a one-to-one relationship in which only one of the two objects refers to the other.
@Suite("Pairs recorded at one end")
struct OneSidedPairTests {
    private typealias R = RelationshipDescription

    private static func model(person: R?, passport: R?, modifier: String? = nil) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Passport", attributes: [.string("number")], relationships: passport.map { [$0] } ?? []
            ).with { $0.versionHashModifier = modifier },
            EntityDescription(
                "Person", attributes: [.string("name")], relationships: person.map { [$0] } ?? []
            ).with { $0.versionHashModifier = modifier },
        ])
    }

    /// Creates a store of three pairs, each of a person and a passport with the same key.
    ///
    /// Only the person refers in pair 1, both refer in pair 2, and only the passport in pair 3.
    /// With `hasRival`, passport 4 refers to person 2 too.
    private static func store(_ type: String = "memory", at path: String = "", hasRival: Bool = false) throws
        -> any PersistentStore
    {
        func person(_ key: Int64) -> Value { .objectID(ObjectID("Person", key: key)) }
        func passport(_ key: Int64) -> Value { .objectID(ObjectID("Passport", key: key)) }
        return try Scenario.store(
            type, at: path,
            model: model(
                person: .toOne("passport", to: "Passport", inverse: "owner"),
                passport: .toOne("owner", to: "Person", inverse: "passport")
            ),
            objects: [
                .init("Person", key: 1, values: ["passport": passport(1)]),
                .init("Person", key: 2, values: ["passport": passport(2)]),
                .init("Person", key: 3, values: [:]), .init("Person", key: 4, values: [:]),
                .init("Passport", key: 1, values: [:]),
                .init("Passport", key: 2, values: ["owner": person(2)]),
                .init("Passport", key: 3, values: ["owner": person(3)]),
                .init("Passport", key: 4, values: hasRival ? ["owner": person(2)] : [:]),
            ])
    }

    /// Returns the pairs of a migrated store as `person-passport`, whichever end records them.
    private static func pairs(_ store: any PersistentStore) throws -> Set<String> {
        var pairs: Set<String> = []
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for entity in ["Person", "Passport"] as [EntityName] {
            for object in try Scenario.objects(entity, in: store) {
                func note(_ other: Int64) {
                    pairs.insert(entity == "Person" ? "\(object.id.key)-\(other)" : "\(other)-\(object.id.key)")
                }
                for case .objectID(let other) in object.values.values { note(other.key) }
                for relationship in try store.model.requireEntity(entity).relationships where relationship.isToMany {
                    var batch = LinkBatch(relationship: 0)
                    let links = try snapshot.links(of: relationship.name, from: object.id)
                    while try links.next(into: &batch) { batch.links.forEach { note($0.target) } }
                }
            }
        }
        return pairs
    }

    private static func renamed(_ relationship: R, from identifier: String) -> R {
        var relationship = relationship
        relationship.renamingIdentifier = identifier
        return relationship
    }

    private static let changes: [String: (R?, R?)] = [
        "only the person's end": (.toOne("passport", to: "Passport"), nil),
        "only the passport's end": (nil, .toOne("owner", to: "Person")),
        "several passports": (
            renamed(.toMany("passports", to: "Passport", inverse: "owner"), from: "passport"),
            .toOne("owner", to: "Person", inverse: "passports")
        ),
        "several owners": (
            .toOne("passport", to: "Passport", inverse: "owners"),
            renamed(.toMany("owners", to: "Person", inverse: "passport"), from: "owner")
        ),
        "several of both": (
            renamed(.toMany("passports", to: "Passport", inverse: "owners"), from: "passport"),
            renamed(.toMany("owners", to: "Person", inverse: "passports"), from: "owner")
        ),
    ]

    private func migrate(
        _ source: any PersistentStore, to model: ManagedObjectModel, passes: Int, allowsLoss: Bool = false
    ) throws -> (store: any PersistentStore, report: MigrationReport) {
        var mapping = try MappingModel.inferred(from: source.model, to: model)
        if passes == 3 {
            for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "P" }
        }
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        let report = try MigrationManager(registry: .standard).migrate(
            from: .store(source), to: .store(store), model: model,
            options: MigrationOptions(
                mapping: mapping, policies: ["P": { EntityMigrationPolicy() }], allowsLoss: allowsLoss))
        return (store, report)
    }

    @Test(
        "pairs recorded at either end are kept, whichever end the new model keeps", arguments: changes.keys.sorted(),
        [1, 3])
    func kept(change: String, passes: Int) throws {
        let (person, passport) = try #require(Self.changes[change])
        let (store, report) = try migrate(
            Self.store(), to: Self.model(person: person, passport: passport, modifier: "new"), passes: passes)
        #expect(try Self.pairs(store) == ["1-1", "2-2", "3-3"])
        #expect(report.losses == [] && report.verified)
    }

    @Test("pairs recorded at either end are kept by a migration in place", arguments: Sample.fileTypes)
    func inPlace(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("store"))
        try Self.store(type, at: location.path).close()
        let report = try MigrationManager(registry: .standard).migrateInPlace(
            location, model: try Self.model(person: nil, passport: .toOne("owner", to: "Person"), modifier: "new"))
        #expect(report.lossCounts == [])
        let store = try StoreRegistry.standard.open(location)
        #expect(try Self.pairs(store) == ["1-1", "2-2", "3-3"])
        try store.close()
    }

    @Test("a pair recorded at one end is lost only if the kept end has another partner")
    func rivals() throws {
        let new = try Self.model(person: .toOne("passport", to: "Passport"), passport: nil, modifier: "new")
        let error = try #require(throws: StoreError.self) {
            _ = try migrate(Self.store(hasRival: true), to: new, passes: 1)
        }
        #expect(
            error.code == .lossRefused && error.message.contains("Passport.owner")
                && error.message.contains("1 reference"))
        let (store, report) = try migrate(Self.store(hasRival: true), to: new, passes: 1, allowsLoss: true)
        #expect(try Self.pairs(store) == ["1-1", "2-2", "3-3"])
        #expect(report.lossCounts.map(\.count) == [1])
        // The passport's end keeps all pairs, because each passport refers to one person.
        let other = try migrate(
            Self.store(hasRival: true),
            to: Self.model(person: nil, passport: .toOne("owner", to: "Person"), modifier: "new"), passes: 1)
        #expect(try Self.pairs(other.store) == ["1-1", "2-2", "3-3", "2-4"])
    }

    @Test(
        "pairs recorded at the removed end fill a kept end that becomes mandatory",
        arguments: [[1], [1, 2]] as [[Int64]])
    func mandatory(people: [Int64]) throws {
        let source = try Scenario.store(
            "memory", at: "",
            model: Self.model(
                person: .toOne("passport", to: "Passport", inverse: "owner"),
                passport: .toOne("owner", to: "Person", inverse: "passport")
            ),
            objects: people.map { .init("Person", key: $0, values: [:]) } + [
                .init("Passport", key: 1, values: ["owner": .objectID(ObjectID("Person", key: 1))])
            ])
        let new = try Self.model(
            person: .toOne("passport", to: "Passport", isOptional: false), passport: nil, modifier: "new")
        let plan = try MigrationManager(registry: .standard).planMigration(
            from: .store(source), to: .location(StoreLocation(type: "memory", path: "")), model: new)
        guard people.count > 1 else {
            #expect(plan.refusals == [])
            #expect(try Self.pairs(migrate(source, to: new, passes: 1).store) == ["1-1"])
            return
        }
        let error = #expect(throws: StoreError.self) { _ = try migrate(source, to: new, passes: 1) }
        #expect(error?.message.contains("Person/p2 has no value") == true)
        #expect(plan.refusals == [error?.message])
    }

    @Test("pairs recorded at one end stay at that end if the new model keeps both ends")
    func bothEnds() throws {
        let both = try Self.model(
            person: .toOne("passport", to: "Passport", inverse: "owner"),
            passport: .toOne("owner", to: "Person", inverse: "passport"),
            modifier: "new")
        let (store, _) = try migrate(Self.store(), to: both, passes: 1)
        #expect(
            try Scenario.objects("Person", in: store).map { $0.values["passport"] != nil } == [
                true, true, false, false,
            ])
    }
}
