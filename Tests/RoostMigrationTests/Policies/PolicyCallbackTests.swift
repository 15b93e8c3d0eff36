import Foundation
import Roost
import RoostCore
import RoostMigration
import RoostSystem
import Testing

@Suite("Callbacks of migration policies")
struct PolicyCallbackTests {
    private struct Mine: Error, Equatable { var text: String }

    // MARK: Callbacks

    @Test("policy callbacks run in order, and each pass covers all mappings before the next pass")
    func callbackOrder() throws {
        let directory = try TemporaryDirectory()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [.string("name")]),
            EntityDescription("B", attributes: [.string("name")]),
        ])
        let old = try Scenario.store(
            "memory", at: directory.file("old"), model: model,
            objects: [
                .init("A", key: 1, values: [:]), .init("A", key: 2, values: [:]), .init("B", key: 1, values: [:]),
            ])
        let seen = Mutex<[String]>([])
        let note: @Sendable (String, MigrationSession) -> Void = { what, session in
            seen.withLock { $0.append("\(session.currentEntityMapping?.name ?? "none") \(what)") }
        }
        let mapping = MappingModel(
            ["A", "B"].map {
                EntityMapping($0, type: .copy, from: EntityName($0), to: EntityName($0)).with { $0.policyName = "P" }
            })
        _ = try PolicySample.migrate(
            old, to: .location(StoreLocation(type: "memory", path: directory.file("new"))), mapping: mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onBegin = { note("begin", $0) }
                        $0.onCreate = { source, session, standard in
                            note("create \(source.id.key)", session)
                            try standard()
                        }
                        $0.onEndCreation = { note("endCreation", $0) }
                        $0.onRelate = { object, session, standard in
                            note("relate \(object.id.key)", session)
                            try standard()
                        }
                        $0.onEndRelating = { note("endRelating", $0) }
                        $0.onValidate = { note("validate", $0) }
                        $0.onEnd = { note("end", $0) }
                    }
                }
            ])
        #expect(
            seen.withLock { $0 } == [
                "A begin", "A create 1", "A create 2", "A endCreation", "B begin", "B create 1", "B endCreation",
                "A relate 1", "A relate 2", "A endRelating", "B relate 1", "B endRelating", "A validate", "B validate",
                "A end", "B end",
            ])
    }

    @Test("the end callback runs only if all objects are valid")
    func endIsLast() throws {
        let old = try Scenario.store(
            "memory", at: "",
            model: try ManagedObjectModel(entities: [EntityDescription("A", attributes: [.string("name")])]),
            objects: [.init("A", key: 1, values: ["name": "one"]), .init("A", key: 2, values: [:])])
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [.string("name", isOptional: false)])
        ])
        let mapping = MappingModel([
            EntityMapping(
                "A", type: .custom, from: "A", to: "A",
                attributes: [PropertyMapping("name", expression: .source("name"))]
            ).with { $0.policyName = "P" }
        ])
        let seen = Mutex<[String]>([])
        func migrate(fillsIn: Bool) throws {
            let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
            _ = try PolicySample.migrate(
                old, to: .store(store), mapping: mapping, model: model,
                policies: [
                    "P": {
                        ClosurePolicy {
                            $0.onRelate = { object, _, standard in
                                try standard()
                                if fillsIn, object["name"].isNull { object["name"] = "none" }
                            }
                            $0.onValidate = { _ in seen.withLock { $0.append("validate") } }
                            $0.onEnd = { _ in seen.withLock { $0.append("end") } }
                        }
                    }
                ])
        }
        let error = try #require(throws: StoreError.self) { try migrate(fillsIn: false) }
        #expect(error.message.contains("'A.name' is mandatory in the new model, and A/p2"))
        #expect(seen.withLock { $0 } == ["validate"])
        try migrate(fillsIn: true)
        #expect(seen.withLock { $0 } == ["validate", "validate", "end"])
    }

    enum Callback: String, CaseIterable {
        case begin, create, endCreation, relate, endRelating, validate, end
    }

    private static func ending(at callback: Callback, _ body: @escaping (MigrationSession) throws -> Void)
        -> ClosurePolicy
    {
        ClosurePolicy { policy in
            switch callback {
            case .begin: policy.onBegin = body
            case .create:
                policy.onCreate = { source, session, standard in
                    try standard()
                    if source.id.key == 7 { try body(session) }
                }
            case .endCreation: policy.onEndCreation = body
            case .relate:
                policy.onRelate = { object, session, standard in
                    try standard()
                    if object.id.key == 7 { try body(session) }
                }
            case .endRelating: policy.onEndRelating = body
            case .validate: policy.onValidate = body
            case .end: policy.onEnd = body
            }
        }
    }

    @Test(
        "an error in any policy callback leaves the source unchanged and creates no destination",
        arguments: Callback.allCases, Scenario.types)
    func throwsAnywhere(callback: Callback, type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store(type, at: directory.file("old"), people: 60)
        let before = try Scenario.digest(old)
        let location = StoreLocation(type: type, path: directory.file("new"))
        let error = try #require(throws: StoreError.self) {
            _ = try PolicySample.migrate(
                old, to: .location(location), mapping: PolicySample.mapping(),
                policies: ["P": { Self.ending(at: callback) { _ in throw Mine(text: callback.rawValue) } }])
        }
        #expect(error.code == .migrationFailed)
        #expect(error.underlying as? Mine == Mine(text: callback.rawValue))
        #expect(try Scenario.digest(old) == before)
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
        _ = try PolicySample.migrate(
            old, to: .location(location), mapping: PolicySample.mapping(), policies: ["P": { EntityMigrationPolicy() }])
        try old.close()
    }

    @Test("a policy that cancels in any callback ends the migration with its error", arguments: Callback.allCases)
    func cancelsAnywhere(callback: Callback) throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("sqlite", at: directory.file("old"), people: 60)
        let error = try #require(throws: StoreError.self) {
            _ = try PolicySample.migrate(
                old, to: .location(StoreLocation(type: "lmdb", path: directory.file("new"))),
                mapping: PolicySample.mapping(),
                policies: ["P": { Self.ending(at: callback) { $0.cancel(with: Mine(text: "enough")) } }])
        }
        #expect(error.code == .cancelled && error.underlying as? Mine == Mine(text: "enough"))
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
        try old.close()
    }

    @Test("a cancellation ends a migration with policies before the next object")
    func cancelsFromOutside() throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", at: directory.file("old"), people: 60)
        let cancellation = ConversionCancellation()
        let count = Mutex(0)
        let error = try #require(throws: StoreError.self) {
            _ = try PolicySample.migrate(
                old, to: .location(StoreLocation(type: "sqlite", path: directory.file("new"))),
                mapping: PolicySample.mapping(),
                options: ConversionOptions(cancellation: cancellation),
                policies: [
                    "P": {
                        ClosurePolicy {
                            $0.onCreate = { _, _, standard in
                                try standard()
                                count.withLock { $0 += 1 }
                                cancellation.cancel()
                            }
                        }
                    }
                ])
        }
        #expect(error.code == .cancelled)
        #expect(count.withLock { $0 } == 1)
        #expect(try directory.names().filter { $0.hasPrefix("new") || $0.contains("roost-tmp") } == [])
    }

    // MARK: Mistakes

    /// Returns the error that ends a migration whose policy makes a mistake.
    private func mistake(_ body: @escaping @Sendable (SourceObject, MigrationSession) throws -> Void) throws
        -> StoreError
    {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", at: directory.file("old"), people: 9)
        let model = try Sample.model()
        return try #require(throws: StoreError.self) {
            _ = try PolicySample.migrate(
                old, to: .location(StoreLocation(type: "memory", path: directory.file("new"))),
                mapping: PolicySample.mapping(),
                model: model,
                policies: [
                    "P": {
                        ClosurePolicy {
                            $0.onCreate = { source, session, standard in
                                try standard()
                                try body(source, session)
                            }
                        }
                    }
                ])
        }
    }

    @Test("an invalid call by a policy throws an error that names the cause")
    func mistakes() throws {
        var error = try mistake { source, _ in _ = source["nmae"] }
        #expect(error.code == .unknownProperty && error.message.contains("'nmae'"))
        error = try mistake { _, session in try session.insert("Book")["titel"] = "x" }
        #expect(error.code == .unknownProperty && error.message.contains("did you mean 'title'?"))
        error = try mistake { _, session in try session.insert("Book")["title"] = 5 }
        #expect(error.code == .invalidValue && error.message.contains("Book.title"))
        error = try mistake { _, session in try session.insert("Editor")["desk"] = 70_000 }
        #expect(error.code == .invalidValue && error.message.contains("desk"))
        error = try mistake { _, session in _ = try session.insert("Bok") }
        #expect(error.code == .unknownEntity)
        error = try mistake { source, session in
            try session.associate(source, with: try session.insert("Book"), for: "IEM_Copy_Bok")
        }
        #expect(error.code == .invalidRequest && error.message.contains("did you mean 'IEM_Copy_Book'?"))
        error = try mistake { _, session in
            _ = try session.destinationInstances(forEntityMapping: "nobody", sourceObjects: nil)
        }
        #expect(error.code == .invalidRequest)
        error = try mistake { _, session in
            try session.insert("Book").setObject(try session.insert("Shelf"), for: "author")
        }
        #expect(error.code == .invalidRequest && error.message.contains("Book.author"))
        error = try mistake { _, session in try session.insert("Book").setObjects([], for: "author") }
        #expect(error.code == .invalidRequest && error.message.contains("to-one"))
        error = try mistake { _, session in
            try session.createStandardRelationships(for: try session.insert("Book"))
        }
        #expect(error.code == .invalidRequest && error.message.contains("createStandardRelationships"))
    }

    @Test("a mapping whose policy is not registered is refused with the nearest name")
    func unknownPolicy() throws {
        let directory = try TemporaryDirectory()
        let old = try Sample.store("memory", at: directory.file("old"), people: 9)
        let error = try #require(throws: StoreError.self) {
            _ = try PolicySample.migrate(
                old, to: .location(StoreLocation(type: "sqlite", path: directory.file("new"))),
                mapping: PolicySample.mapping("Polcy"),
                policies: ["Policy": { EntityMigrationPolicy() }])
        }
        #expect(error.code == .invalidMappingModel && error.message.contains("did you mean 'Policy'?"))
        #expect(try directory.names().filter { $0.hasPrefix("new") } == [])
    }
}
