import Roost
import Testing

@testable import RoostMigration

@Suite("A history of versions")
struct ModelHistoryTests {
    private let location = StoreLocation(type: "sqlite", path: "notes.sqlite")

    private func chain(
        _ history: ModelHistory, from source: ManagedObjectModel, to target: ManagedObjectModel,
        options: MigrationOptions = MigrationOptions()
    ) throws(StoreError) -> [String] {
        try history.chain(from: source, to: target, storeAt: location, options: options).steps.map {
            "\($0.sourceName)-\($0.destinationName)\($0.isInferred ? "" : " by \($0.mapping.entityMappings[0].name)")"
        }
    }

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    @Test("a history has a chain from each version to each later one")
    func inferred() throws {
        let history = try Notes.inferredHistory()
        #expect(try chain(history, from: Notes.v1(), to: Notes.v3()) == ["v1-v3"])
        #expect(try chain(history, from: Notes.v2(), to: Notes.v3()) == ["v2-v3"])
        #expect(try chain(history, from: Notes.v1(), to: Notes.v2()) == ["v1-v2"])
        #expect(try chain(history, from: Notes.v3(), to: Notes.v3()) == [])
    }

    @Test("a history without mapping models makes one inferred step")
    func direct() throws {
        let last = try ManagedObjectModel(
            entities: Notes.v3().entityDescriptions + [EntityDescription("Box", attributes: [.string("label")])])
        let history = try ModelHistory([
            .init("v2", model: Notes.v2()), .init("v3", model: Notes.v3()), .init("last", model: last),
        ])
        #expect(try chain(history, from: Notes.v2(), to: last) == ["v2-last"])
    }

    @Test("a history uses mapping models between the versions that they fit")
    func mappings() throws {
        var history = try ModelHistory([
            .init("v1", model: Notes.v1()), .init("v2", model: Notes.v2()), .init("v3", model: Notes.v3()),
            .init("v4", model: Notes.v4()),
        ])
        let refused = error { _ = try chain(history, from: Notes.v1(), to: Notes.v4()) }
        #expect(refused?.code == .mappingNotInferable)
        #expect(
            refused?.message.contains("'v3' to 'v4'") == true && refused?.message.contains("Note.rating") == true,
            "\(refused.map { "\($0)" } ?? "no error")")
        try history.add(Notes.withoutRatings())
        #expect(history.mappings.map { [$0.source, $0.destination] } == [[2, 3]])
        #expect(try chain(history, from: Notes.v1(), to: Notes.v4()) == ["v1-v3", "v3-v4 by NoteToNote"])
        // A custom mapping between neighbors takes precedence over an inferred one.
        var own = try MappingModel.inferred(from: Notes.v1(), to: Notes.v2())
        own.entityMappings[0].name = "Own"
        try history.add(own, from: "v1", to: "v2")
        #expect(try chain(history, from: Notes.v1(), to: Notes.v2()) == ["v1-v2 by Own"])
        #expect(
            try chain(history, from: Notes.v1(), to: Notes.v4())
                == ["v1-v2 by Own", "v2-v3", "v3-v4 by NoteToNote"])
        var leap = try MappingModel.inferred(from: Notes.v1(), to: Notes.v3())
        leap.entityMappings[0].name = "Leap"
        try history.add(leap)
        #expect(try chain(history, from: Notes.v1(), to: Notes.v4()) == ["v1-v3 by Leap", "v3-v4 by NoteToNote"])
    }

    // MARK: One direct step, or steps through versions

    private func note(_ attributes: [AttributeDescription], identifier: String? = nil) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: attributes).with { $0.renamingIdentifier = identifier }
        ])
    }

    private func way(_ models: ManagedObjectModel...) throws -> (steps: [String], way: String?, losses: [String]) {
        let history = try ModelHistory(models.enumerated().map { .init("v\($0 + 1)", model: $1) })
        let (first, last) = (try #require(models.first), try #require(models.last))
        let chain = try history.chain(from: first, to: last, storeAt: location, options: MigrationOptions())
        var (losses, model) = ([String](), first)
        for step in chain.steps {
            losses += step.mapping.remarks(from: model, to: step.model).filter { $0.kind == .loss }.map(\.entity)
            model = step.model
        }
        return (chain.steps.map { "\($0.sourceName)-\($0.destinationName)" }, chain.way, losses)
    }

    @Test("a stray renaming identifier in an intermediate version loses nothing")
    func strayInTheMiddle() throws {
        let (a, b, c) = (
            AttributeDescription.string("a"), AttributeDescription.string("b"), AttributeDescription.string("c")
        )
        let found = try way(note([a]), note([a, b], identifier: "messageDestructionTimeout"), note([a, b, c]))
        #expect(found.steps == ["v1-v3"] && found.losses == [])
        #expect(found.way == "inferred directly from 'v1' to 'v3'")
        // The step from the version with the stray identifier also loses nothing.
        let last = try way(note([a, b], identifier: "messageDestructionTimeout"), note([a, b, c]))
        #expect(last.steps == ["v1-v2"] && last.losses == [])
    }

    @Test("a history steps through versions if a direct step would drop values or cannot be inferred")
    func versionsKeepMore() throws {
        // The version after a rename has no renaming identifier.
        let (a, b) = (AttributeDescription.string("a"), AttributeDescription.string("b"))
        let cleaned = try way(note([a]), note([b.renamed(from: "a")]), note([b, .date("d")]))
        #expect(cleaned.steps == ["v1-v2", "v2-v3"] && cleaned.losses == [])
        #expect(cleaned.way?.contains("because one step would drop Note.a") == true, "\(cleaned.way ?? "")")
        // An attribute that is removed, and added again with another type.
        let changed = try way(note([a, b]), note([b]), note([.date("a"), b]))
        #expect(changed.steps == ["v1-v2", "v2-v3"] && changed.losses == ["Note"])
        #expect(changed.way?.contains("because one step cannot be inferred") == true, "\(changed.way ?? "")")
        // An attribute that is removed, and added again unchanged, keeps its values in one step.
        let same = try way(note([a, b]), note([b]), note([a, b, .date("d")]))
        #expect(same.steps == ["v1-v3"] && same.losses == [])
    }

    @Test("an inferred step does not replace a mapping model on the path through a history")
    func mappingsAreNotEvaded() throws {
        let models = try (1...6).map { number in
            try note((1...number).map { .string("a\($0)") })
        }
        var history = try ModelHistory(models.enumerated().map { .init("v\($0 + 1)", model: $1) })
        func add(from: Int, to: Int) throws {
            var mapping = try MappingModel.inferred(from: models[from - 1], to: models[to - 1])
            mapping.entityMappings[0].name = "M"
            try history.add(mapping, from: "v\(from)", to: "v\(to)")
        }
        try add(from: 2, to: 4)
        #expect(try chain(history, from: models[0], to: models[5]) == ["v1-v2", "v2-v4 by M", "v4-v6"])
        #expect(try chain(history, from: models[2], to: models[5]) == ["v3-v6"])
        #expect(try chain(history, from: models[0], to: models[2]) == ["v1-v3"])
        try add(from: 3, to: 5)
        #expect(try chain(history, from: models[0], to: models[4]) == ["v1-v3", "v3-v5 by M"])
        let way = try history.chain(from: models[0], to: models[5], storeAt: location, options: MigrationOptions()).way
        #expect(way?.contains("by a mapping model from") == true, "\(way ?? "")")
    }

    @Test("a history infers no steps if inference is off")
    func notInferred() throws {
        let options = MigrationOptions().with { $0.infersMappingModel = false }
        let refused = error {
            _ = try chain(try Notes.inferredHistory(), from: Notes.v1(), to: Notes.v3(), options: options)
        }
        #expect(refused?.code == .mappingNotInferable)
        #expect(refused?.message.contains("inference is off") == true)
    }

    @Test("the errors of a history name a newer version, and the version nearest to an unknown model")
    func unknown() throws {
        let history = try Notes.history()
        let newer = error { _ = try chain(history, from: Notes.v3(), to: Notes.v1()) }
        #expect(newer?.code == .newerModelVersion)
        #expect(newer?.message.contains("'v3', which is newer than 'v1'") == true, "\(newer.map { "\($0)" } ?? "")")
        let unknown = error { _ = try chain(history, from: Notes.v4(), to: Notes.v3()) }
        #expect(unknown?.code == .unknownModelVersion)
        #expect(
            unknown?.message.contains("'v1', 'v2', 'v3'") == true
                && unknown?.message.contains("Nearest is 'v3'") == true
                && unknown?.message.contains("Note.rating") == true, "\(unknown.map { "\($0)" } ?? "")")
        let target = error { _ = try chain(history, from: Notes.v1(), to: Notes.v4()) }
        #expect(target?.code == .invalidRequest && target?.message.contains("none of the versions") == true)
    }

    @Test("a history treats versions with equal storage as one and uses the newest model")
    func same() throws {
        var history = try ModelHistory([
            .init("v3", model: Notes.v3()), .init("v4", model: Notes.v4()), .init("v4b", model: Notes.v4(index: true)),
        ])
        try history.add(Notes.withoutRatings())
        let steps = try history.chain(
            from: Notes.v3(), to: Notes.v4(index: true), storeAt: location, options: MigrationOptions()
        )
        .steps
        #expect(steps.map(\.destinationName) == ["v4b"])
        #expect(try steps.first?.model == Notes.v4(index: true))
        #expect(try chain(history, from: Notes.v4(), to: Notes.v4(index: true)) == [])
    }

    @Test("a history refuses duplicate versions and mapping models that do not fit")
    func refusals() throws {
        #expect(error { _ = try ModelHistory([]) }?.code == .invalidRequest)
        let twice = error {
            _ = try ModelHistory([.init("v1", model: try Notes.v1()), .init("v1", model: try Notes.v2())])
        }
        #expect(twice?.code == .invalidRequest && twice?.message.contains("'v1'") == true)
        var history = try Notes.inferredHistory()
        let mapping = try MappingModel.inferred(from: Notes.v1(), to: Notes.v2())
        let typo = error { try history.add(mapping, from: "v1", to: "v22") }
        #expect(typo?.code == .invalidRequest && typo?.message.contains("did you mean 'v2'?") == true)
        let backwards = error { try history.add(mapping, from: "v2", to: "v1") }
        #expect(backwards?.code == .invalidRequest && backwards?.message.contains("later version") == true)
        #expect(error { try history.add(mapping, from: "v2", to: "v3") }?.code == .invalidMappingModel)
        let nowhere = error { try history.add(try Notes.withoutRatings()) }
        #expect(nowhere?.code == .invalidMappingModel && nowhere?.message.contains("matches no pair") == true)
        // Without version hashes, a mapping of tags alone fits every pair of versions.
        let tags = MappingModel([
            EntityMapping(
                "TagToTag", type: .transform, from: "Tag", to: "Tag",
                attributes: [PropertyMapping("name", expression: .source("name"))])
        ])
        let several = error { try history.add(tags) }
        #expect(several?.code == .invalidMappingModel && several?.message.contains("fits several versions") == true)
        #expect(history.mappings.isEmpty)
    }
}

@Suite("Stages of a migration")
struct StagedMigrationTests {
    private let location = StoreLocation(type: "sqlite", path: "notes.sqlite")

    private func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    private func steps(
        _ manager: StagedMigrationManager, from source: ManagedObjectModel, to target: ManagedObjectModel
    ) throws(StoreError) -> [String] {
        try manager.chain(from: source, to: target, storeAt: location, options: MigrationOptions()).steps.map {
            "\($0.sourceName)-\($0.destinationName) (\($0.label ?? ""))\($0.stage == nil ? "" : " custom")"
        }
    }

    @Test("stages cover all versions in order, and custom stages have code")
    func order() throws {
        let manager = try StagedMigrationManager([
            .lightweight(LightweightMigrationStage([Notes.v1()], label: "first")),
            .custom(CustomMigrationStage(from: Notes.v2(), to: Notes.v3(), label: "ratings")),
        ])
        #expect(
            try steps(manager, from: Notes.v1(), to: Notes.v3()) == ["v1-v2 (ratings)", "v2-v3 (ratings) custom"])
        #expect(try steps(manager, from: Notes.v2(), to: Notes.v3()) == ["v2-v3 (ratings) custom"])
        #expect(try steps(manager, from: Notes.v3(), to: Notes.v3()) == [])
    }

    @Test("two custom stages share the version between them")
    func shared() throws {
        let manager = try StagedMigrationManager([
            .custom(CustomMigrationStage(from: Notes.v1(), to: Notes.v2())),
            .custom(CustomMigrationStage(from: Notes.v2(), to: Notes.v3())),
        ])
        #expect(
            try steps(manager, from: Notes.v1(), to: Notes.v3())
                == ["v1-v2 (stage 1) custom", "v2-v3 (stage 2) custom"])
    }

    @Test("stages with a repeated version or without versions are refused")
    func duplicates() throws {
        let twice = error {
            _ = try StagedMigrationManager([
                .lightweight(LightweightMigrationStage([Notes.v1(), Notes.v2()], label: "a")),
                .custom(CustomMigrationStage(from: Notes.v2(), to: Notes.v3(), label: "b")),
                .lightweight(LightweightMigrationStage([Notes.v1()], label: "c")), .lightweight(.init([])),
            ])
        }
        #expect(twice?.code == .invalidRequest)
        for text in ["'v2' of the stage 'b'", "'v1' of the stage 'c'", "exactly one stage", "stage 4 has no versions"] {
            #expect(twice?.message.contains(text) == true, "\(text): \(twice.map { "\($0)" } ?? "")")
        }
        #expect(error { _ = try StagedMigrationManager([]) }?.message.contains("no stages") == true)
    }

    @Test("stages refuse stores of newer or unknown versions, other target models and changes that cannot be inferred")
    func refusals() throws {
        let manager = try StagedMigrationManager([
            .lightweight(LightweightMigrationStage([Notes.v1(), Notes.v2(), Notes.v3()]))
        ])
        #expect(error { _ = try steps(manager, from: Notes.v3(), to: Notes.v2()) }?.code == .newerModelVersion)
        #expect(error { _ = try steps(manager, from: Notes.v4(), to: Notes.v3()) }?.code == .unknownModelVersion)
        #expect(error { _ = try steps(manager, from: Notes.v1(), to: Notes.v4()) }?.code == .invalidRequest)
        let hard = try StagedMigrationManager([.custom(.init(from: Notes.v3(), to: Notes.v4(), label: "dates"))])
        let refused = error { _ = try steps(hard, from: Notes.v3(), to: Notes.v4()) }
        #expect(refused?.code == .mappingNotInferable && refused?.message.contains("'dates'") == true)
    }
}
