import Foundation
import Roost
import RoostMigration
import Testing

/// The code of `docs/migrating.md` and `docs/converting.md`, run on stores in files.
@Suite("The articles about migration and conversion")
struct ArticleTests {
    private func folder() throws -> TemporaryDirectory { try TemporaryDirectory() }

    private func location(_ type: String, in folder: TemporaryDirectory, name: String) -> StoreLocation {
        StoreLocation(type: type, path: folder.file(name))
    }

    private static func oldModel() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Person", attributes: [.string("name"), .string("email"), .integer16("fahrenheit")])
        ])
        return model
    }

    private static func newModel() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    .string("fullName").with { $0.renamingIdentifier = "name" }, .string("email"),
                    .boolean("isMember", default: false), .integer16("fahrenheit"),
                ])
        ])
        return model
    }

    private func oldStore(_ type: String, in folder: TemporaryDirectory) throws -> StoreLocation {
        let location = location(type, in: folder, name: "people")
        let store = try Store.open(location, model: try Self.oldModel())
        try store.insert(
            "Person",
            rows: [
                ["name": "Ada Lovelace", "email": "ada@example.org", "fahrenheit": 98], ["name": "Grace Hopper"],
            ])
        try store.close()
        return location
    }

    private func names(_ location: StoreLocation, attribute: String = "fullName") throws -> [Value] {
        let store = try Store.open(location)
        defer { try? store.close() }
        return try store.fetch("Person", sortedBy: [.init(attribute)]).map { $0[attribute] }
    }

    @Test(
        "a store opens with the next version of its model, and is migrated in one inferred step", arguments: fileTypes)
    func opening(type: String) throws {
        let folder = try folder()
        let (location, model) = (try oldStore(type, in: folder), try Self.newModel())
        let store = try Store.open(location, model: model, ifIncompatible: .migrate(MigrationOptions()))
        let members = try store.count("Person", where: "isMember == true")
        try store.close()
        #expect(members == 0)
        #expect(try names(location) == ["Ada Lovelace", "Grace Hopper"])
    }

    @Test(
        "a plan lists the losses of a migration, and the migration is refused unless it may lose values",
        arguments: fileTypes
    )
    func losses(type: String) throws {
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }
        let folder = try folder()
        let location = try oldStore(type, in: folder)
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Person", attributes: [.string("name"), .integer16("fahrenheit")])
        ])
        do {
            let plan = try MigrationManager().planMigrationInPlace(location, model: model)
            print(plan)
            for loss in plan.losses { print(loss) }
        }
        do {
            _ = try MigrationManager().migrateInPlace(location, model: model)
        } catch {
            print(error.code, error.message)
        }
        #expect(printed.filter { $0.contains("email") }.count >= 2, "\(printed)")
        #expect(try names(location, attribute: "name") == ["Ada Lovelace", "Grace Hopper"])

        let options = MigrationOptions(allowsLoss: true).with { $0.keepsBackup = true }
        let report = try MigrationManager().migrateInPlace(location, model: model, options: options)
        print(report.losses)
        #expect(report.losses.count == 1 && report.verified && report.backup != nil)
        #expect(try names(location, attribute: "name") == ["Ada Lovelace", "Grace Hopper"])
    }

    @Test("an expression of a mapping model computes a value of the next version", arguments: fileTypes)
    func expressions(type: String) throws {
        let folder = try folder()
        let location = try oldStore(type, in: folder)
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Person", attributes: [.string("name"), .string("email"), .double("celsius")])
        ])
        let celsius = FetchRequest.Expression.function(
            .divide, [.function(.subtract, [.source("fahrenheit"), .constant(32.0)]), .constant(1.8)])
        let mapping = MappingModel([
            EntityMapping(
                "PersonToPerson", type: .transform, from: "Person", to: "Person",
                attributes: [
                    PropertyMapping("name", expression: .source("name")),
                    PropertyMapping("email", expression: .source("email")),
                    PropertyMapping("celsius", expression: celsius),
                ])
        ])
        let store = try Store.open(
            location, model: model, ifIncompatible: .migrate(MigrationOptions(mapping: mapping)))
        #expect(try store.count("Person", where: "celsius > 36.6 AND celsius < 36.7") == 1)
        try store.close()
    }

    /// Creates an address for each person with an email address.
    final class PersonToAddress: EntityMigrationPolicy {
        override func createDestinationInstances(
            for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
        ) throws {
            let person = try session.createStandardInstance(for: source)
            guard let text = source.string("email") else { return }
            let address = try session.insert("Address")
            address["text"] = .string(text)
            try address.setObject(person, for: "owner")
        }
    }

    @Test("a policy makes several objects from one object", arguments: fileTypes)
    func policies(type: String) throws {
        let folder = try folder()
        let location = try oldStore(type, in: folder)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person", attributes: [.string("name"), .integer16("fahrenheit")],
                relationships: [.toMany("addresses", to: "Address", inverse: "owner")]),
            EntityDescription(
                "Address", attributes: [.string("text")],
                relationships: [.toOne("owner", to: "Person", inverse: "addresses")]),
        ])
        let mapping = MappingModel([
            EntityMapping(
                "PersonToAddress", type: .custom, from: "Person", to: "Person",
                attributes: [
                    PropertyMapping("name", expression: .source("name")),
                    PropertyMapping("fahrenheit", expression: .source("fahrenheit")),
                ]
            ).with { $0.policyName = "PersonToAddress" }
        ])
        let options = MigrationOptions(mapping: mapping, policies: ["PersonToAddress": { PersonToAddress() }])
            .with { $0.allowsLoss = true }
        let store = try Store.open(location, model: model, ifIncompatible: .migrate(options))
        #expect(try store.count("Address", where: "owner.name == 'Ada Lovelace'") == 1)
        try store.close()
    }

    @Test("a stage runs the program's code between two versions", arguments: fileTypes)
    func stages(type: String) throws {
        let folder = try folder()
        let (location, oldModel, newModel) = (try oldStore(type, in: folder), try Self.oldModel(), try Self.newModel())
        let stage = CustomMigrationStage(
            from: oldModel, to: newModel, label: "members",
            didMigrate: { store, _ in
                _ = try store.execute(
                    BatchUpdateRequest("Person", where: "email != nil", set: ["isMember": .constant(true)]))
            })
        let options = try MigrationOptions().with { $0.stages = try StagedMigrationManager([.custom(stage)]) }
        let store = try Store.open(location, model: newModel, ifIncompatible: .migrate(options))
        #expect(try store.count("Person", where: "isMember == true") == 1)
        try store.close()
    }

    @Test("a planned conversion reports progress, and its destination equals the source", arguments: fileTypes)
    func conversion(type: String) throws {
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }
        @Sendable func showProgress(_ fraction: Double) { #expect(fraction >= 0 && fraction <= 1) }
        let folder = try folder()
        let (source, destination) = (try oldStore("sqlite", in: folder), location(type, in: folder, name: "copy"))
        do {
            let plan = try MigrationManager().plan(from: .location(source), to: .location(destination))
            print(plan)
        }
        do {
            let options = ConversionOptions(onProgress: { progress in
                if let fraction = progress.fraction { showProgress(fraction) }
            })
            let report = try MigrationManager().convert(
                from: .location(source), to: .location(destination), options: options)
            print(report)
        }
        do {
            let first = try StoreRegistry.standard.open(source)
            let second = try StoreRegistry.standard.open(destination)
            for difference in try StoreComparison.diff(first, second) { print(difference) }
            try first.close()
            try second.close()
        }
        #expect(printed.count == 2, "\(printed)")
        #expect(try names(destination, attribute: "name") == ["Ada Lovelace", "Grace Hopper"])
    }

    @Test("a conversion reports its objects", arguments: fileTypes)
    func report(type: String) throws {
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }
        let folder = try folder()
        let (source, destination) = (try oldStore("sqlite", in: folder), location(type, in: folder, name: "copy"))
        let report = try MigrationManager().convert(
            from: .location(source), to: .location(destination))
        print(report)
        #expect(report.objects == 2 && report.verified && printed.count == 1)
    }

    @Test("a conversion that is cancelled leaves no destination")
    func cancellation() throws {
        let folder = try folder()
        let (source, destination) = (try oldStore("sqlite", in: folder), location("lmdb", in: folder, name: "copy"))
        let cancellation = ConversionCancellation()
        cancellation.cancel()
        let error = #expect(throws: StoreError.self) {
            try MigrationManager().convert(
                from: .location(source), to: .location(destination),
                options: ConversionOptions(cancellation: cancellation))
        }
        #expect(error?.code == .cancelled)
        #expect(try folder.names().allSatisfy { !$0.hasPrefix("copy") || $0.contains("lock") })
    }
}

private let fileTypes = ["sqlite", "lmdb", "json"]
