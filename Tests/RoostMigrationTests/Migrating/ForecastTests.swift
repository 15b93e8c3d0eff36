import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

/// Dry runs, which report how a migration would end.
@Suite("Forecasts of dry runs")
struct ForecastTests {
    private let manager = MigrationManager(registry: .standard)

    /// Plans and runs a migration.
    ///
    /// The run must fail with `code`, and the plan must report one refusal, with the same message
    /// if `saysTheSame` is true.
    private func expectForecast(
        _ code: StoreError.Code, from source: any PersistentStore, model: ManagedObjectModel,
        mapping: MappingModel? = nil, to location: StoreLocation = StoreLocation(type: "memory", path: ""),
        conversion: ConversionOptions = ConversionOptions(), saysTheSame: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let options = MigrationOptions(conversion: conversion, mapping: mapping, allowsLoss: true)
        let plan = try manager.planMigration(
            from: .store(source), to: .location(location), model: model, options: options)
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
            _ = try manager.migrate(from: .store(source), to: .location(location), model: model, options: options)
        }
        #expect(error?.code == code, "\(error.map { "\($0)" } ?? "")", sourceLocation: sourceLocation)
        #expect(plan.refusals.count == 1, "\(plan.refusals)", sourceLocation: sourceLocation)
        if saysTheSame { #expect(plan.refusals == error.map { [$0.message] }, sourceLocation: sourceLocation) }
    }

    private func note(_ attributes: [AttributeDescription], unique: [[String]] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: attributes, uniquenessConstraints: unique)
        ])
    }

    private func source(_ model: ManagedObjectModel, rows: [[String: Value]]) throws -> any PersistentStore {
        try Scenario.store(
            "memory", at: "", model: model,
            objects: rows.enumerated().map { Scenario.Object("Note", key: Int64($0 + 1), values: $1) })
    }

    private func mapping(_ values: [String: FetchRequest.Expression]) -> MappingModel {
        MappingModel([
            EntityMapping(
                "NoteToNote", type: .transform, from: "Note", to: "Note",
                attributes: values.sorted { $0.key < $1.key }.map { PropertyMapping($0.key, expression: $0.value) })
        ])
    }

    @Test("a dry run forecasts a value outside its new type's range")
    func valueRange() throws {
        let source = try source(note([.integer64("n")]), rows: [["n": 1], ["n": 70_000]])
        try expectForecast(
            .migrationFailed, from: source, model: note([.integer16("n")]), mapping: mapping(["n": .source("n")]))
    }

    @Test("a dry run that cannot read the source throws the error instead of a refusal")
    func failedReading() throws {
        let source = try source(note([.string("n")]), rows: [["n": "a"], ["n": "b"]])
        let model = try note([.string("n")], unique: [["n"]])
        func plan(_ faults: Faults) throws -> MigrationPlan {
            try manager.planMigration(
                from: .store(FaultyStore(source, faults: faults)),
                to: .location(StoreLocation(type: "memory", path: "")),
                model: model, options: MigrationOptions(allowsLoss: true))
        }
        #expect(try plan(Faults()).refusals == [])
        let error = #expect(throws: StoreError.self) { _ = try plan(Faults(failsAtRead: 1)) }
        #expect(error?.code == .ioFailure)
    }

    @Test("a dry run forecasts a constant outside its type's range")
    func constantRange() throws {
        let source = try source(note([.integer64("n")]), rows: [["n": 1], ["n": 70_000]])
        try expectForecast(
            .invalidValue, from: source, model: note([.integer16("n")]),
            mapping: mapping(["n": .constant(.int(70_000))]))
    }

    @Test("a dry run forecasts missing values of new mandatory composite elements")
    func elements() throws {
        func place(_ elements: [AttributeDescription]) -> AttributeDescription {
            AttributeDescription("place", type: .composite, elements: elements)
        }
        let old = try note([place([.string("street")])])
        let new = try note([place([.string("street"), .string("country", isOptional: false)])])
        let source = try source(old, rows: [[:], ["place": .composite(["street": "Lane"])]])
        try expectForecast(.migrationFailed, from: source, model: new)
    }

    @Test("a dry run forecasts objects that break a new uniqueness constraint", arguments: [2, 600])
    func duplicates(count: Int) throws {
        let old = try note([.string("a"), .integer64("b")])
        let new = try note([.string("a"), .integer64("b")], unique: [["a", "b"]])
        var rows: [[String: Value]] = (0..<count).map { ["a": .string("\($0)"), "b": .int(Int64($0))] }
        // Nulls do not break a constraint, nor do pairs with only one equal value.
        rows += [["a": "x"], ["a": "x"], ["a": "0", "b": 1]]
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        #expect(try manager.planMigration(from: .store(source(old, rows: rows)), to: memory, model: new).refusals == [])
        #expect(try manager.migrate(from: .store(source(old, rows: rows)), to: memory, model: new).verified)
        rows.append(["a": "1", "b": 1])
        try expectForecast(.constraintViolation, from: source(old, rows: rows), model: new, saysTheSame: false)
    }

    @Test(
        "a dry run forecasts equal values with different bits that break a new uniqueness constraint",
        arguments: [(0, -0.0), (Double.nan, Double(nan: 1, signaling: false))])
    func equalNumbers(left: Double, right: Double) throws {
        let numbers: [[String: Value]] = [["n": .double(left)], ["n": .double(right)]]
        try expectForecast(
            .constraintViolation, from: source(note([.double("n")]), rows: numbers),
            model: note([.double("n")], unique: [["n"]]), saysTheSame: false)
        guard left == 0 else { return }
        let dates: [[String: Value]] = [left, right].map {
            ["n": .date(Date(timeIntervalSinceReferenceDate: $0))]
        }
        try expectForecast(
            .constraintViolation, from: source(note([.date("n")]), rows: dates),
            model: note([.date("n")], unique: [["n"]]), saysTheSame: false)
    }

    @Test("a dry run forecasts that the default for several nulls breaks a uniqueness constraint of both models")
    func replacedNulls() throws {
        let old = try note([.string("code")], unique: [["code"]])
        let new = try note([.string("code", isOptional: false, default: "none")], unique: [["code"]])
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let fitting = try source(old, rows: [["code": "a"], [:]])
        #expect(try manager.planMigration(from: .store(fitting), to: memory, model: new).refusals == [])
        #expect(try manager.migrate(from: .store(fitting), to: memory, model: new).verified)
        try expectForecast(
            .constraintViolation, from: source(old, rows: [["code": "a"], [:], [:]]), model: new, saysTheSame: false)
    }

    @Test("a dry run forecasts unique values that become equal in a type with fewer digits")
    func equalInNarrowType() throws {
        let old = try note([.double("n")], unique: [["n"]])
        let new = try note([AttributeDescription("n", type: .float)], unique: [["n"]])
        let numbers: [[String: Value]] = [["n": 0.1], ["n": 0.1000000001]]
        try expectForecast(
            .constraintViolation, from: source(old, rows: numbers), model: new, mapping: mapping(["n": .source("n")]),
            saysTheSame: false)
    }

    @Test("a dry run forecasts relationships with too few or too many destinations")
    func counts() throws {
        func model(minimum: Int, maximum: Int?, isOptional: Bool = true) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Note", attributes: [.string("x")],
                    relationships: [
                        RelationshipDescription(
                            "tags", destination: "Tag", inverse: "notes", minCount: minimum, maxCount: maximum
                        ).with { $0.isOptional = isOptional }
                    ]),
                EntityDescription("Tag", relationships: [.toMany("notes", to: "Note", inverse: "tags")]),
            ])
        }
        let tags = RelationshipName("Note", name: "tags")
        func source() throws -> any PersistentStore {
            try Scenario.store(
                "memory", at: "", model: model(minimum: 0, maximum: nil),
                objects: [.init("Note", key: 1, values: [:]), .init("Note", key: 2, values: [:])]
                    + (1...3).map { .init("Tag", key: $0, values: [:]) },
                links: (1...3).map { (tags, Link(2, $0)) })
        }
        try expectForecast(.migrationFailed, from: source(), model: model(minimum: 4, maximum: nil))
        try expectForecast(.migrationFailed, from: source(), model: model(minimum: 0, maximum: 2))
        try expectForecast(.migrationFailed, from: source(), model: model(minimum: 1, maximum: nil, isOptional: false))
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        for fitting in [try model(minimum: 3, maximum: 3), try model(minimum: 0, maximum: 3)] {
            #expect(try manager.planMigration(from: .store(source()), to: memory, model: fitting).refusals == [])
            #expect(try manager.migrate(from: .store(source()), to: memory, model: fitting).verified)
        }
        // A predicate excludes all tags.
        var some = try MappingModel.inferred(from: model(minimum: 0, maximum: nil), to: model(minimum: 0, maximum: 2))
        for index in some.entityMappings.indices where some.entityMappings[index].sourceEntity == "Tag" {
            some.entityMappings[index] = EntityMapping(
                "TagToTag", type: .transform, from: "Tag", to: "Tag"
            ).with {
                $0.sourcePredicate = .equal("notes.@count", to: 5)
                $0.relationshipMappings = [
                    PropertyMapping("notes", expression: .relatedInstances(ofSourceRelationship: "notes"))
                ]
            }
        }
        let plan = try manager.planMigration(
            from: .store(source()), to: memory, model: model(minimum: 0, maximum: 2),
            options: MigrationOptions(mapping: some, allowsLoss: true))
        #expect(plan.refusals == [])
    }

    @Test("a dry run of a migration or a conversion forecasts a document above its size limit")
    func documents() throws {
        let directory = try TemporaryDirectory()
        let old = try note([.string("text")])
        let source = try source(old, rows: (0..<50).map { _ in ["text": .string(String(repeating: "x", count: 1000))] })
        var options = ConversionOptions()
        options.destinationTypeOptions = ["maximumDocumentBytes": "20000"]
        let location = StoreLocation(type: "json", path: directory.file("new"))
        let new = try note([.string("text"), .string("more")])
        try expectForecast(
            .limitExceeded, from: source, model: new, to: location, conversion: options, saysTheSame: false)
        let plan = try manager.plan(from: .store(source), to: .location(location), options: options)
        #expect(plan.refusals.count == 1 && plan.refusals[0].contains("maximumDocumentBytes"), "\(plan.refusals)")
        options.destinationTypeOptions = ["maximumDocumentBytes": "200000"]
        #expect(try manager.plan(from: .store(source), to: .location(location), options: options).refusals == [])
        #expect(try directory.names() == [])
    }

    private static func library(
        notes: RelationshipDescription, tags: RelationshipDescription
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [.string("text")], relationships: [notes]),
            EntityDescription("Tag", relationships: [tags]),
        ])
    }

    /// Returns a model whose notes and tags have a many-to-many relationship, stored as links.
    private static func linkedLibrary() throws -> ManagedObjectModel {
        try library(
            notes: .toMany("tags", to: "Tag", inverse: "notes"), tags: .toMany("notes", to: "Note", inverse: "tags"))
    }

    /// Creates a store with many links, many fields that become links, or large metadata.
    private static func library(largeBy part: String) throws -> any PersistentStore {
        if part == "fields" {
            let model = try library(
                notes: .toOne("tags", to: "Tag", inverse: "notes"), tags: .toMany("notes", to: "Note", inverse: "tags"))
            let tags: [Scenario.Object] = (1...50).map { .init("Tag", key: $0, values: [:]) }
            let notes: [Scenario.Object] = (1...3000).map { (key: Int64) -> Scenario.Object in
                .init("Note", key: key, values: ["tags": .objectID(ObjectID("Tag", key: (key - 1) % 50 + 1))])
            }
            return try Scenario.store("memory", at: "", model: model, objects: tags + notes)
        }
        let objects: [Scenario.Object] = (1...60).flatMap { (key: Int64) -> [Scenario.Object] in
            [.init("Note", key: key, values: [:]), .init("Tag", key: key, values: [:])]
        }
        let name = RelationshipName("Note", name: "tags")
        let pairs = (0..<(part == "links" ? 3600 : 10)).map { (number: Int) -> (RelationshipName, Link) in
            (name, Link(Int64(number / 60) + 1, Int64(number % 60) + 1))
        }
        let store = try Scenario.store("memory", at: "", model: linkedLibrary(), objects: objects, links: pairs)
        if part == "metadata" {
            var changes = ChangeSet(model: store.model)
            changes.userMetadata["about"] = .string(String(repeating: "x", count: 20_000))
            _ = try store.commit(changes)
        }
        return store
    }

    /// A limit equal to the written size is accepted, and a slightly smaller limit is refused.
    @Test(
        "the forecast size of a document includes links, metadata and the model",
        arguments: [
            ("links", "conversion"), ("fields", "conversion"), ("fields", "migration"), ("metadata", "conversion"),
            ("metadata", "migration"),
        ])
    func documentsBesideObjects(part: String, kind: String) throws {
        let directory = try TemporaryDirectory()
        let source = try Self.library(largeBy: part)
        let location = StoreLocation(type: "json", path: directory.file("new"))
        let model = part == "fields" ? try Self.linkedLibrary() : try note([.string("text")])
        func options(_ limit: Int) -> ConversionOptions {
            ConversionOptions(overwrites: true).with {
                $0.destinationTypeOptions = ["maximumDocumentBytes": "\(limit)"]
            }
        }
        func run(_ limit: Int) throws {
            if kind == "conversion" {
                _ = try manager.convert(from: .store(source), to: .location(location), options: options(limit))
            } else {
                _ = try manager.migrate(
                    from: .store(source), to: .location(location), model: model,
                    options: MigrationOptions(conversion: options(limit), allowsLoss: true))
            }
        }
        func refusals(_ limit: Int) throws -> [String] {
            if kind == "conversion" {
                return try manager.plan(from: .store(source), to: .location(location), options: options(limit)).refusals
            }
            return try manager.planMigration(
                from: .store(source), to: .location(location), model: model,
                options: MigrationOptions(conversion: options(limit), allowsLoss: true)
            ).refusals
        }
        try run(10_000_000)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: location.path)[.size] as? Int)
        #expect(try refusals(size) == [])
        let refused = try refusals(size - 800)
        #expect(refused.count == 1 && refused[0].contains("maximumDocumentBytes"), "\(refused)")
        #expect(throws: StoreError.self) { try run(size - 800) }
    }
}
