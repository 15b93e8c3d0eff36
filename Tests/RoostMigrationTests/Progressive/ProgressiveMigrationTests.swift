import Foundation
import Roost
import RoostMigration
import RoostSystem
import Testing

@Suite("Migration through versions")
struct ProgressiveMigrationTests {
    private let manager = MigrationManager(registry: .standard)

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    private func location(_ type: String, in directory: TemporaryDirectory, name: String) -> StoreLocation {
        // The names of stores in memory apply to the whole process.
        StoreLocation(type: type, path: type == "memory" ? "\(directory.path)/\(name)" : directory.file(name))
    }

    private func ratings(_ location: StoreLocation, of attribute: String = "rating") throws -> [Value] {
        let store = try StoreRegistry.standard.open(location)
        defer { try? store.close() }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let cursor = try snapshot.records(of: "Note", after: nil)
        var (batch, values) = (RecordBatch(model: store.model), [Value]())
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { values.append(batch.values(at: index)[attribute] ?? .null) }
        }
        return values
    }

    private func destroy(_ urls: StoreLocation...) throws {
        for location in urls where location.type == "memory" {
            try StoreRegistry.standard.type(named: location.type).destroy(location)
        }
    }

    @Test(
        "a migration through versions works between any two types and keeps the source",
        arguments: Sample.writingTypes,
        Sample.writingTypes)
    func wholeWay(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let (old, new) = (
            location(source, in: directory, name: "old"), location(destination, in: directory, name: "new")
        )
        try Notes.store(old).close()
        let before = source == "memory" ? nil : try Data(contentsOf: URL(fileURLWithPath: old.path))
        let options = MigrationOptions(history: try Notes.history())
        let report = try manager.migrate(
            from: .location(old), to: .location(new), model: try Notes.v3(), options: options)
        #expect(report.steps.count == 2 && report.verified && report.objects == 8 && report.links == 10)
        #expect(report.source == old.description && report.destination == new.description)
        #expect(try ratings(new, of: "paint") == (1...5).map { .string("c\($0)") })
        #expect(try ratings(new) == (1...5).map { .int(Int64($0 * 10)) })
        // The default value of the intermediate version.
        #expect(try ratings(new, of: "isDone") == Array(repeating: .bool(false), count: 5))
        if let before { #expect(try Data(contentsOf: URL(fileURLWithPath: old.path)) == before) }
        #expect(
            try directory.names()
                == [source, destination].enumerated().filter { $1 != "memory" }.map { ["old", "new"][$0.offset] }
                .sorted())
        let again = error {
            _ = try manager.migrate(from: .location(old), to: .location(new), model: try Notes.v3(), options: options)
        }
        #expect(again?.code == .alreadyExists)
        var overwriting = options
        overwriting.conversion.overwrites = true
        #expect(
            try manager.migrate(from: .location(old), to: .location(new), model: try Notes.v3(), options: overwriting)
                .destinationDigest == report.destinationDigest)
        try destroy(old, new)
    }

    @Test("a migration through versions fills an open store", arguments: Sample.writingTypes)
    func openDestination(type: String) throws {
        let directory = try TemporaryDirectory()
        let (old, new) = (location(type, in: directory, name: "old"), location(type, in: directory, name: "new"))
        let source = try Notes.store(old)
        let store = try StoreRegistry.standard.create(new, model: try Notes.v3())
        let report = try manager.migrate(
            from: .store(source), to: .store(store), model: try Notes.v3(),
            options: MigrationOptions(history: try Notes.history()))
        #expect(report.objects == 8)
        #expect(try store.metadata().userMetadata == ["by": .string("me")])
        try store.close()
        try source.close()
        #expect(try ratings(new).count == 5)
        try destroy(old, new)
    }

    /// Returns stages that change the type of an attribute, and the model of their last version.
    ///
    /// The middle version has both the old and the new attribute. The code of the first stage
    /// deletes note 5 and fills the new attribute.
    private func stages(
        _ log: Mutex<[String]>, failing: Bool = false
    ) throws(StoreError) -> (StagedMigrationManager, ManagedObjectModel) {
        func model(_ name: String, attributes: [AttributeDescription]) throws(StoreError) -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: [
                    EntityDescription(
                        "Note", attributes: [.string("title", isOptional: false)] + attributes,
                        relationships: [.toMany("tags", to: "Tag", inverse: "notes")]),
                    EntityDescription(
                        "Tag", attributes: [.string("name")],
                        relationships: [.toMany("notes", to: "Note", inverse: "tags")]
                    ),
                ], versionIdentifiers: [name])
        }
        let both = try model(
            "both",
            attributes: [.integer16("number").renamed(from: "rating"), .string("rating").renamed(from: "stars")])
        let last = try model("last", attributes: [.string("rating").renamed(from: "stars")])
        struct Failure: Error {}
        let manager = try StagedMigrationManager([
            .custom(
                CustomMigrationStage(
                    from: Notes.v1(), to: both, label: "stars",
                    willMigrate: { store, stage in
                        log.withLock { $0.append("will \(stage.label ?? "")") }
                        var changes = ChangeSet(model: store.model)
                        changes.delete(ObjectID("Note", key: 5), version: 1)
                        _ = try store.commit(changes)
                    },
                    didMigrate: { store, _ in
                        log.withLock { $0.append("did") }
                        if failing { throw Failure() }
                        let snapshot = try store.snapshot()
                        defer { snapshot.close() }
                        var changes = ChangeSet(model: store.model)
                        let cursor = try snapshot.records(of: "Note", after: nil)
                        var batch = RecordBatch(model: store.model)
                        while try cursor.next(into: &batch) {
                            for index in 0..<batch.count {
                                var values = batch.values(at: index)
                                if case .int(let number)? = values["number"] {
                                    values["rating"] = .string(String(repeating: "*", count: Int(number / 10)))
                                }
                                try changes.update(
                                    batch.id(at: index), version: batch.version(at: index), values: values)
                            }
                        }
                        _ = try store.commit(changes)
                    })),
            .lightweight(LightweightMigrationStage([last])),
        ])
        return (manager, last)
    }

    @Test(
        "stages run their code on copies, and the report counts the code's changes", arguments: Sample.writingTypes,
        Sample.writingTypes)
    func staged(from source: String, to destination: String) throws {
        let directory = try TemporaryDirectory()
        let (old, new) = (
            location(source, in: directory, name: "old"), location(destination, in: directory, name: "new")
        )
        try Notes.store(old).close()
        let log = Mutex<[String]>([])
        let (stages, model) = try stages(log)
        let report = try manager.migrate(
            from: .location(old), to: .location(new), model: model,
            options: MigrationOptions(allowsLoss: true).with { $0.stages = stages })
        #expect(log.withLock { $0 } == ["will stars", "did"])
        #expect(report.steps.count == 2 && report.objects == 7)
        // The second step reads the result of the first stage's code.
        #expect(report.steps.first?.destinationDigest == report.steps.last?.sourceDigest)
        let store = try StoreRegistry.standard.open(old)
        #expect(try report.sourceDigest == Scenario.digest(store).description)
        try store.close()
        #expect(try ratings(new) == (1...4).map { .string(String(repeating: "*", count: $0)) })
        #expect(try ratings(old).count == 5)
        try destroy(old, new)
    }

    @Test("the first stage's code changes a copy of the source, and the report names objects that the copy skipped")
    func stagedCopy() throws {
        let source = try Notes.store(StoreLocation(type: "memory", path: ""))
        var changes = ChangeSet(model: source.model)
        changes.userMetadata = ["dropped": .string("b")]
        _ = try source.commit(changes)
        let stages = try StagedMigrationManager([
            .custom(
                CustomMigrationStage(
                    from: Notes.v1(), to: Notes.v2(), label: "first",
                    willMigrate: { store, _ in
                        var changes = ChangeSet(model: store.model)
                        changes.userMetadata = ["dropped": nil]
                        _ = try store.commit(changes)
                    }))
        ])
        let faulty = FaultyStore(source, faults: Faults(damaged: [ObjectID("Note", key: 2)]))
        let directory = try TemporaryDirectory()
        let new = StoreLocation(type: "json", path: directory.file("new"))
        let report = try manager.migrate(
            from: .store(faulty), to: .location(new), model: Notes.v2(),
            options: MigrationOptions(conversion: ConversionOptions(skipsDamaged: true)).with { $0.stages = stages })
        #expect(report.skipped == ["Note/p2"])
        #expect(report.warnings.contains { $0.contains("references by") }, "\(report.warnings)")
        let store = try StoreRegistry.standard.open(new)
        #expect(try store.metadata().userMetadata == ["by": .string("me")])
        try store.close()
    }

    @Test("a migration through versions is refused without enough space", arguments: Sample.fileTypes)
    func requiresSpace(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory, name: "notes")
        try Notes.store(location).close()
        var options = MigrationOptions(history: try Notes.history())
        options.conversion.reservedBytes = .max
        let new = StoreLocation(type: type, path: directory.file("new"))
        let refused = error {
            _ = try manager.migrate(
                from: .location(location), to: .location(new), model: try Notes.v3(), options: options)
        }
        #expect(refused?.code == .noSpace)
        let plan = try manager.planMigration(
            from: .location(location), to: .location(new), model: Notes.v3(), options: options)
        #expect(plan.refusals.contains { $0.contains("not enough space") }, "\(plan.refusals)")
        #expect(try directory.names() == ["notes"])
    }

    @Test(
        "a migration with a history stores the program's own model, not the equivalent model of the history",
        arguments: Sample.fileTypes)
    func ownModel(type: String) throws {
        var entities = try Notes.v2().entityDescriptions
        let note = try #require(entities.firstIndex { $0.name == "Note" })
        entities[note].fetchIndexes.append(FetchIndexDescription("byTitle", on: "title"))
        let model = try ManagedObjectModel(entities: entities, versionIdentifiers: ["program"])
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory, name: "notes")
        try Notes.store(location).close()
        let history = try ModelHistory([.init("v1", model: Notes.v1()), .init("v2", model: Notes.v2())])
        let report = try manager.migrateInPlace(location, model: model, options: MigrationOptions(history: history))
        #expect(report.verified)
        let store = try StoreRegistry.standard.open(location)
        #expect(store.model == model)
        try store.close()
    }

    @Test("stages migrate a store in place", arguments: Sample.fileTypes)
    func stagedInPlace(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory, name: "notes")
        try Notes.store(location).close()
        let log = Mutex<[String]>([])
        let (stages, model) = try stages(log)
        let report = try manager.migrateInPlace(
            location, model: model, options: MigrationOptions(allowsLoss: true).with { $0.stages = stages })
        #expect(report.steps.count == 2)
        #expect(try ratings(location) == (1...4).map { .string(String(repeating: "*", count: $0)) })
        #expect(try directory.names() == ["notes"])
    }

    @Test(
        "an error in a stage's code ends the migration and changes nothing", arguments: Sample.fileTypes, [false, true])
    func failingStage(type: String, inPlace: Bool) throws {
        let directory = try TemporaryDirectory()
        let location = location(type, in: directory, name: "notes")
        try Notes.store(location).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        let log = Mutex<[String]>([])
        let (stages, model) = try stages(log, failing: true)
        let options = MigrationOptions(allowsLoss: true).with { $0.stages = stages }
        let refused = error {
            if inPlace {
                _ = try manager.migrateInPlace(location, model: model, options: options)
            } else {
                let new = StoreLocation(type: type, path: directory.file("new"))
                _ = try manager.migrate(from: .location(location), to: .location(new), model: model, options: options)
            }
        }
        #expect(refused?.code == .migrationFailed && refused?.message.contains("'stars'") == true)
        #expect(refused?.underlying != nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        #expect(try directory.names() == ["notes"])
    }
}
