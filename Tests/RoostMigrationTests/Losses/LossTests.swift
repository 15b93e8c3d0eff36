import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Losses of migrations")
struct LossTests {
    private let manager = MigrationManager(registry: .standard)
    private static let tag = EntityDescription(
        "Tag", attributes: [.string("name")], relationships: [.toMany("notes", to: "Note", inverse: "tags")])

    /// Returns a model of notes with a folder, tags and a body; drafts are notes.
    private static func model() throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.string("title"), .string("body")],
                relationships: [
                    .toOne("folder", to: "Folder", inverse: "notes"),
                    .toMany("tags", to: "Tag", inverse: "notes", isOrdered: true),
                ]),
            EntityDescription("Draft", superentity: "Note", attributes: [.string("state")]),
            EntityDescription(
                "Folder", attributes: [.string("name")],
                relationships: [.toMany("notes", to: "Note", inverse: "folder")]),
            tag, EntityDescription("Unused", attributes: [.string("x")]),
        ])
    }

    /// Creates a store of four notes, one of them a draft.
    ///
    /// Three have a body and two a folder; there are five pairs with tags.
    private static func store(_ type: String, at path: String) throws -> any PersistentStore {
        let folder = Value.objectID(ObjectID("Folder", key: 1))
        let tags = RelationshipName("Note", name: "tags")
        return try Scenario.store(
            type, at: path, model: model(),
            objects: [
                .init("Folder", key: 1, values: ["name": "inbox"]), .init("Tag", key: 1, values: ["name": "red"]),
                .init("Tag", key: 2, values: ["name": "blue"]),
                .init("Note", key: 1, values: ["title": "one", "body": "1", "folder": folder]),
                .init("Note", key: 2, values: ["title": "two", "body": "2", "folder": folder]),
                .init("Note", key: 3, values: ["title": "three"]),
                .init("Draft", key: 4, values: ["title": "four", "body": "4", "state": "new"]),
            ],
            links: [
                (tags, Link(1, 1, order: 1)), (tags, Link(1, 2, order: 0)), (tags, Link(2, 1, order: 0)),
                (tags, Link(4, 1, order: 0)), (tags, Link(4, 2, order: 1)),
            ])
    }

    private static func model(
        _ change: (inout [EntityDescription]) throws -> Void
    ) throws -> ManagedObjectModel {
        var entities = try model().entityDescriptions
        try change(&entities)
        return try ManagedObjectModel(entities: entities)
    }

    private static func changing(
        _ name: String, _ change: (inout EntityDescription) -> Void
    ) throws -> ManagedObjectModel {
        try model { entities in
            let index = try #require(entities.firstIndex { $0.name == name })
            change(&entities[index])
        }
    }

    /// Returns the model without tags and references to them.
    private static func withoutTags() throws -> ManagedObjectModel {
        try model { entities in
            entities.removeAll { $0.name == "Tag" }
            for index in entities.indices { entities[index].relationships.removeAll { $0.name == "tags" } }
        }
    }

    private func refusal(_ body: () throws -> Void) throws -> [String: Int] {
        let error = try #require(throws: StoreError.self) { try body() }
        #expect(error.code == .lossRefused, "\(error)")
        let refusal = try #require(error.underlying as? MigrationLossRefusal)
        for loss in refusal.losses { #expect(error.message.contains(loss.description)) }
        return Self.counts(refusal.losses)
    }

    private static func counts(_ losses: [MigrationLoss]) -> [String: Int] {
        Dictionary(losses.map { ("\($0.entity)\($0.property.map { "." + $0 } ?? "")", $0.count) }, uniquingKeysWith: +)
    }

    private func losses(
        _ model: ManagedObjectModel, options: MigrationOptions = MigrationOptions()
    ) throws -> [String: Int] {
        let source = try Self.store("memory", at: "")
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let plan = try manager.planMigration(from: .store(source), to: memory, model: model, options: options)
        var allowing = options
        allowing.allowsLoss = true
        let report = try manager.migrate(from: .store(source), to: memory, model: model, options: allowing)
        #expect(report.lossCounts == plan.lossCounts)
        #expect(report.losses.starts(with: plan.losses) && plan.losses == plan.lossCounts.map(\.description))
        if plan.lossCounts.isEmpty {
            #expect(plan.refusals == [])
            #expect(try manager.migrate(from: .store(source), to: memory, model: model, options: options).verified)
            return [:]
        }
        #expect(plan.refusals.count == 1 && plan.refusals[0].contains("--allow-loss"), "\(plan.refusals)")
        let found = try refusal {
            _ = try manager.migrate(from: .store(source), to: memory, model: model, options: options)
        }
        #expect(found == Self.counts(plan.lossCounts))
        return found
    }

    // MARK: Counts

    @Test("objects of a removed entity, and references to them, are counted as losses")
    func entities() throws {
        #expect(try losses(Self.withoutTags()) == ["Tag": 2, "Note.tags": 3, "Draft.tags": 2])
    }

    @Test("a removed entity without objects is not a loss")
    func emptyEntity() throws {
        #expect(try losses(Self.model { $0.removeAll { $0.name == "Unused" } }) == [:])
    }

    @Test("values other than null of a removed attribute are counted for each entity")
    func attributes() throws {
        #expect(
            try losses(Self.changing("Note") { $0.attributes.removeAll { $0.name == "body" } })
                == ["Note.body": 2, "Draft.body": 1])
        #expect(try losses(Self.changing("Unused") { $0.attributes = [] }) == [:])
    }

    @Test("values that a renaming identifier replaces with another attribute's values are a loss")
    func values() throws {
        func model(_ identifier: String?) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "A",
                    attributes: [
                        .string("a"),
                        AttributeDescription("b", type: .string).with { $0.renamingIdentifier = identifier },
                    ]
                ).with { $0.versionHashModifier = identifier }
            ])
        }
        let source = try Scenario.store(
            "memory", at: "", model: model(nil), objects: [.init("A", key: 1, values: ["a": "va", "b": "vb"])])
        let manager = MigrationManager(registry: .standard)
        let new = try model("a")
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let plan = try manager.planMigration(from: .store(source), to: memory, model: new)
        #expect(plan.lossCounts.map { "\($0.entity).\($0.property ?? ""): \($0.count)" } == ["A.b: 1"])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: new)
        _ = try manager.migrate(
            from: .store(source), to: .store(store), model: new, options: MigrationOptions(allowsLoss: true))
        #expect(try Scenario.objects("A", in: store).map(\.values) == [["a": "va", "b": "va"]])
    }

    @Test("references of a removed relationship are a loss")
    func relationships() throws {
        let withoutFolders = try Self.model { entities in
            entities.removeAll { $0.name == "Folder" }
            for index in entities.indices { entities[index].relationships.removeAll { $0.name == "folder" } }
        }
        #expect(try losses(withoutFolders) == ["Folder": 1, "Note.folder": 2])
    }

    @Test("removing an inverse is not a loss if the other end keeps the references")
    func keptEnd() throws {
        let oneWay = try Self.model { entities in
            for index in entities.indices {
                entities[index].relationships.removeAll { $0.name == "notes" && $0.destinationEntityName == "Note" }
                for relationship in entities[index].relationships.indices {
                    entities[index].relationships[relationship].inverseName = nil
                }
            }
        }
        #expect(try losses(oneWay) == [:])
    }

    @Test("removing an order is a loss for objects with more than one destination")
    func order() throws {
        let unordered = try Self.changing("Note") { note in
            for index in note.relationships.indices { note.relationships[index].isOrdered = false }
        }
        #expect(try losses(unordered) == ["Note.tags": 2])
    }

    @Test("removed composite elements, inexact numbers and dangling ID attributes are losses")
    func others() throws {
        func place(_ elements: [AttributeDescription]) -> AttributeDescription {
            AttributeDescription("place", type: .composite, elements: elements)
        }
        let (lat, lon) = (AttributeDescription("lat", type: .double), AttributeDescription("lon", type: .double))
        let old = try ManagedObjectModel(entities: [
            EntityDescription(
                "A",
                attributes: [
                    place([lat, lon]), AttributeDescription("n", type: .double),
                    AttributeDescription("of", type: .objectID),
                    AttributeDescription("d", type: .decimal),
                ]),
            EntityDescription("B", attributes: [.string("x")]),
        ])
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                "A",
                attributes: [
                    place([lat]), AttributeDescription("n", type: .float), AttributeDescription("of", type: .objectID),
                    AttributeDescription("d", type: .double),
                ])
        ])
        let source = try Scenario.store(
            "memory", at: "", model: old,
            objects: [
                .init(
                    "A", key: 1,
                    values: ["place": .composite(["lat": .double(1), "lon": .double(2)]), "n": .double(0.1)]),
                .init(
                    "A", key: 2,
                    values: ["place": .composite(["lat": .double(1)]), "n": .double(0.5), "d": .decimal(0.1)]),
                .init(
                    "A", key: 3,
                    values: [
                        "of": .objectID(ObjectID("B", key: 1)),
                        "d": .decimal(try #require(Decimal(string: "0.12345678901234567890123"))),
                    ]), .init("A", key: 4, values: ["of": .objectID(ObjectID("A", key: 1))]),
                .init("B", key: 1, values: [:]),
            ])
        let mapping = MappingModel([
            EntityMapping(
                "AToA", type: .transform, from: "A", to: "A",
                attributes: ["place", "n", "of", "d"].map { PropertyMapping($0, expression: .source($0)) })
        ])
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let found = try refusal {
            _ = try manager.migrate(
                from: .store(source), to: memory, model: new, options: MigrationOptions(mapping: mapping))
        }
        #expect(found == ["A.place.lon": 1, "A.n": 1, "A.of": 1, "A.d": 1, "B": 1])
    }

    // MARK: Mapping models

    private func mapping(_ change: (inout [EntityMapping]) throws -> Void) throws -> MigrationOptions {
        let model = try Self.model()
        var mapping = try MappingModel.inferred(from: model, to: model)
        try change(&mapping.entityMappings)
        return MigrationOptions(mapping: mapping)
    }

    @Test("a mapping that removes an entity loses its objects and references to them")
    func removingMapping() throws {
        let removing = try mapping { mappings in
            for index in mappings.indices where mappings[index].sourceEntity == "Tag" {
                mappings[index] = EntityMapping("DropTags", type: .remove, from: "Tag")
            }
        }
        #expect(try losses(Self.model(), options: removing) == ["Tag": 2, "Note.tags": 5])
    }

    @Test("a mapping that omits an attribute loses its values and is named in the refusal")
    func omittingMapping() throws {
        let leaving = try mapping { mappings in
            for index in mappings.indices where mappings[index].sourceEntity == "Folder" {
                mappings[index] = EntityMapping(
                    "Bare", type: .transform, from: "Folder", to: "Folder"
                ).with {
                    $0.relationshipMappings = [
                        PropertyMapping("notes", expression: .relatedInstances(ofSourceRelationship: "notes"))
                    ]
                }
            }
        }
        #expect(try losses(Self.model(), options: leaving) == ["Folder.name": 1])
        let error = try #require(throws: StoreError.self) {
            _ = try manager.migrate(
                from: .store(Self.store("memory", at: "")), to: .location(StoreLocation(type: "memory", path: "")),
                model: Self.model(), options: leaving)
        }
        #expect(error.message.contains("mapping 'Bare'"), "\(error.message)")
    }

    @Test("objects that no mapping's predicate selects, and references to them, are losses")
    func predicates() throws {
        #expect(
            try losses(Self.model(), options: selectingTags(.equal("name", to: "red"))) == ["Tag": 1, "Note.tags": 2])
    }

    @Test("a predicate that selects all objects loses none")
    func predicateOfAll() throws {
        #expect(try losses(Self.model(), options: selectingTags(.notEqual("name", to: .null))) == [:])
    }

    private func selectingTags(_ predicate: FetchRequest.Predicate) throws -> MigrationOptions {
        try mapping { mappings in
            for index in mappings.indices where mappings[index].sourceEntity == "Tag" {
                mappings[index].sourcePredicate = predicate
            }
        }
    }

    @Test("when mappings split an entity, an object loses only the values that its own mapping does not read")
    func split() throws {
        let model = try Self.model {
            $0.append(EntityDescription("Red", attributes: [.string("name")]))
        }
        let split = try mapping { mappings in
            let index = try #require(mappings.firstIndex { $0.sourceEntity == "Tag" })
            mappings[index].sourcePredicate = .equal("name", to: "blue")
            mappings.append(
                EntityMapping("Reds", type: .transform, from: "Tag", to: "Red").with {
                    $0.sourcePredicate = .equal("name", to: "red")
                })
        }
        let found = try losses(model, options: split)
        #expect(found["Tag"] == nil && found["Tag.name"] == 1, "\(found)")
    }

    // MARK: Paths

    @Test(
        "a migration that is refused for losses changes no file", arguments: Sample.fileTypes)
    func refusesBeforeAnythingChanges(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Self.store(type, at: location.path).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        let (tags, bodies) = (
            try Self.withoutTags(), try Self.changing("Note") { $0.attributes.removeAll { $0.name == "body" } }
        )
        for model in [tags, bodies] {
            for keepsBackup in [false, true] {
                let found = try refusal {
                    _ = try manager.migrateInPlace(
                        location, model: model, options: MigrationOptions().with { $0.keepsBackup = keepsBackup })
                }
                #expect(!found.isEmpty)
            }
            let new = StoreLocation(type: type, path: directory.file("new"))
            #expect(
                try !refusal { _ = try manager.migrate(from: .location(location), to: .location(new), model: model) }
                    .isEmpty)
            #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
            #expect(try directory.names() == ["notes"])
        }
        let plan = try manager.planMigrationInPlace(location, model: tags)
        #expect(plan.lossCounts.first?.entity == "Tag" && plan.refusals.count == 1, "\(plan)")
        let lines = plan.description.split(separator: "\n")
        #expect(lines[1].contains("loses") && lines[1].contains("Tag: ") && lines[1].contains("2 objects"), "\(plan)")
        let report = try manager.migrateInPlace(location, model: tags, options: MigrationOptions(allowsLoss: true))
        #expect(report.lossCounts == plan.lossCounts && report.way == "inferred in one step")
        #expect(report.description.split(separator: "\n")[1].contains("lost"), "\(report)")
    }

    @Test("a loss in a later step refuses the whole migration before its first step", arguments: Sample.fileTypes)
    func laterSteps(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Self.store(type, at: location.path).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        let second = try Self.changing("Folder") { $0.attributes.append(.string("more")) }
        let third = try Self.withoutTags()
        var history = try ModelHistory([
            .init("1", model: Self.model()), .init("2", model: second), .init("3", model: third),
        ])
        try history.add(MappingModel.inferred(from: Self.model(), to: second), from: "1", to: "2")
        let found = try refusal {
            _ = try manager.migrateInPlace(location, model: third, options: MigrationOptions(history: history))
        }
        #expect(found == ["Tag": 2, "Note.tags": 3, "Draft.tags": 2])
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        #expect(try directory.names() == ["notes"])
        let report = try manager.migrateInPlace(
            location, model: third, options: MigrationOptions(history: history, allowsLoss: true))
        #expect(report.steps.count == 2 && LossTests.counts(report.lossCounts) == found)
        #expect(report.way == "by a mapping model from '1' to '2'; inferred directly from '2' to '3'")
    }

    @Test("opening a store migrates it without losses, and with losses only if allowed", arguments: Sample.fileTypes)
    func opening(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Self.store(type, at: location.path).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        let model = try Self.withoutTags()
        let description = PersistentStoreDescription(location, options: StoreOptions(model: model))
        let found = try refusal {
            _ = try manager.openOrCreateStore(description, ifIncompatible: .migrate(MigrationOptions()))
        }
        #expect(found["Tag"] == 2)
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        let store = try manager.openOrCreateStore(
            description, ifIncompatible: .migrate(MigrationOptions(allowsLoss: true)))
        #expect(store.model.entity("Tag") == nil)
        try store.close()
    }

    @Test("a migration with policies refuses losses, but only reports objects that a policy drops")
    func policies() throws {
        let policy: @Sendable () -> EntityMigrationPolicy = {
            ClosurePolicy {
                $0.onCreate = { source, _, standard in
                    if source.id.key != 1 { try standard() }
                }
            }
        }
        var options = try mapping { mappings in
            for index in mappings.indices where mappings[index].sourceEntity == "Folder" {
                mappings[index].policyName = "P"
            }
            mappings.removeAll { $0.sourceEntity == "Unused" }
        }
        options.policies = ["P": policy]
        let source = try Self.store("memory", at: "")
        let memory = ConversionEndpoint.location(StoreLocation(type: "memory", path: ""))
        let report = try manager.migrate(from: .store(source), to: memory, model: Self.model(), options: options)
        #expect(report.path == .threePasses && report.lossCounts == [])
        #expect(report.losses.count == 1 && report.losses[0].contains("mapping 'IEM_Copy_Folder' created no object"))
        #expect(report.losses[0].contains("1 object"), "\(report.losses)")
        for index in options.mapping?.entityMappings.indices ?? 0..<0
        where options.mapping?.entityMappings[index].sourceEntity == "Tag" {
            options.mapping?.entityMappings[index].sourcePredicate = .equal("name", to: "red")
        }
        let found = try refusal {
            _ = try manager.migrate(from: .store(source), to: memory, model: Self.model(), options: options)
        }
        #expect(found["Tag"] == 1)
        // No policy is called for objects that a mapping removes.
        options.mapping?.entityMappings.removeAll { $0.sourceEntity == "Tag" }
        options.mapping?.entityMappings.append(
            EntityMapping("Gone", type: .remove, from: "Tag").with { $0.policyName = "P" })
        #expect(
            try refusal {
                _ = try manager.migrate(from: .store(source), to: memory, model: Self.model(), options: options)
            }["Tag"] == 2)
    }

    @Test("a plan reads back from its JSON with its losses")
    func json() throws {
        let plan = try manager.planMigration(
            from: .store(Self.store("memory", at: "")), to: .location(StoreLocation(type: "memory", path: "")),
            model: Self.withoutTags())
        let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
        #expect(text.contains("\"lossCounts\"") && text.contains("\"kind\":\"objects\""), "\(text)")
        #expect(try JSONDecoder().decode(MigrationPlan.self, from: Data(text.utf8)) == plan)
    }
}
