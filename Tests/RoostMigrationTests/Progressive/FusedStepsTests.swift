import Foundation
import Roost
import RoostConformance
import Testing

@testable import RoostMigration

@Suite("Fused migration steps")
struct FusedStepsTests {
    private func model(
        _ attributes: [AttributeDescription], relationships: [RelationshipDescription] = [],
        others: [EntityDescription] = []
    ) throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [EntityDescription("Note", attributes: attributes, relationships: relationships)] + others)
    }

    /// Returns how many steps remain after fusing the steps from each model to the next.
    private func count(_ models: ManagedObjectModel...) throws -> Int {
        let steps = try zip(models, models.dropFirst()).map { old, new in
            MigrationChain.Step(
                sourceName: "", destinationName: "", model: new, mapping: try MappingModel.inferred(from: old, to: new),
                isInferred: true)
        }
        return MigrationChain(steps: steps).fusing(from: try #require(models.first), options: .init()).steps.count
    }

    @Test("additions, renames and wider types over several versions fuse into one step")
    func one() throws {
        #expect(
            try count(
                model([.string("title"), .integer16("stars")]),
                model([.string("title"), .integer32("stars"), .boolean("isDone", default: false)]),
                model(
                    [.string("title"), .integer64("stars"), .boolean("isDone", default: false)],
                    relationships: [.toMany("tags", to: "Tag", inverse: "note")],
                    others: [EntityDescription("Tag", relationships: [.toOne("note", to: "Note", inverse: "tags")])]),
                model(
                    [.string("title"), .integer64("stars")],
                    relationships: [.toMany("tags", to: "Tag", inverse: "note")],
                    others: [
                        EntityDescription(
                            "Tag", attributes: [.string("name")],
                            relationships: [.toOne("note", to: "Note", inverse: "tags")])
                    ]))
                == 1)
        #expect(
            try count(
                model([.string("title"), .integer16("stars")]),
                model([.string("title"), .integer32("stars"), .boolean("isDone", default: false)]),
                model([.string("title"), .integer32("stars"), .boolean("isDone", default: false), .string("note")]))
                == 1)
        #expect(
            try count(
                model([.string("name")]), model([.string("title").renamed(from: "name")]),
                model([.string("title").renamed(from: "name"), .string("more")])) == 1)
    }

    @Test("an attribute that is removed and added again prevents fusing")
    func gone() throws {
        #expect(
            try count(
                model([.string("a"), .string("b")]), model([.string("b")]),
                model([.string("a"), .string("b"), .string("c")])) == 2)
    }

    @Test("a default that fills values in an intermediate version prevents fusing")
    func defaults() throws {
        #expect(
            try count(
                model([.string("a")]), model([.string("a"), .integer16("n", default: 5)]),
                model([.string("a"), .integer16("n", default: 7), .string("b")])) == 2)
        // The first step changed null to 5.
        #expect(
            try count(
                model([.integer16("n")]), model([.integer16("n", isOptional: false, default: 5)]),
                model([.integer16("n", default: 7), .string("b")])) == 2)
    }

    @Test("an order that is dropped and added again prevents fusing")
    func order() throws {
        func ordered(_ isOrdered: Bool, attribute name: String) throws(StoreError) -> ManagedObjectModel {
            try model(
                [.string(name)], relationships: [.toMany("tags", to: "Tag", inverse: "notes", isOrdered: isOrdered)],
                others: [EntityDescription("Tag", relationships: [.toMany("notes", to: "Note", inverse: "tags")])])
        }
        #expect(
            try count(ordered(true, attribute: "a"), ordered(false, attribute: "a"), ordered(true, attribute: "b")) == 2
        )
        #expect(
            try count(ordered(true, attribute: "a"), ordered(false, attribute: "a"), ordered(false, attribute: "b"))
                == 1)
        #expect(
            try count(ordered(true, attribute: "a"), ordered(true, attribute: "b"), ordered(false, attribute: "b")) == 1
        )
    }

    @Test("fused random steps give the same content as the single steps", arguments: 0..<150)
    func random(seed: Int) throws {
        var evolution = try RandomEvolution(seed: seed)
        let source = try evolution.store()
        let versions = evolution.versions
        guard versions.count > 2 else { return }
        let mappings = try zip(versions, versions.dropFirst()).map { try MappingModel.inferred(from: $0, to: $1) }
        let steps = zip(mappings, versions.dropFirst()).map { mapping, model in
            MigrationChain.Step(sourceName: "", destinationName: "", model: model, mapping: mapping, isInferred: true)
        }
        let chain = MigrationChain(steps: steps)
        let fused = chain.fusing(from: versions[0], options: MappingModel.InferenceOptions())
        guard fused.steps.count < steps.count else { return }
        func run(_ chain: MigrationChain) throws -> RoostConformance.StoreContents? {
            var store: any PersistentStore = source
            for step in chain.steps {
                let next = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: step.model)
                do throws(StoreError) {
                    _ = try MigrationManager(registry: .standard).migrate(
                        from: .store(store), to: .store(next), model: step.model,
                        options: MigrationOptions(mapping: step.mapping, allowsLoss: true))
                } catch {
                    // The data do not permit the step; for example, a mandatory value is missing.
                    guard error.code == .migrationFailed || error.code == .constraintViolation else { throw error }
                    return nil
                }
                store = next
            }
            return try store.contents()
        }
        guard let expected = try run(chain) else { return }
        let result = try run(fused)
        let found = try #require(result, "seed \(seed): the single steps succeed, but the fused steps fail")
        #expect(found.difference(from: expected) == nil, "seed \(seed)")
    }
}
