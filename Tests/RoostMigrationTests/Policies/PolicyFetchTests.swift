import Foundation
import Roost
import RoostMigration
import Testing

@Suite("Fetches of policies")
struct PolicyFetchTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static func source(_ type: String, at path: String, count: Int) throws -> any PersistentStore {
        try Scenario.store(
            type, at: path,
            model: try ManagedObjectModel(entities: [EntityDescription("Note", attributes: [.string("author")])]),
            objects: (1...count).map { .init("Note", key: Int64($0), values: ["author": .string("A\($0 * 7 % 500)")]) })
    }

    private static func destination() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.string("title", default: "T")],
                relationships: [.toOne("author", to: "Author", inverse: "notes")]),
            EntityDescription(
                "Author", attributes: [.string("name"), .integer16("rank", default: 0)],
                relationships: [.toMany("notes", to: "Note", inverse: "author")]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byName", on: "name")] },
            EntityDescription("Editor", superentity: "Author"),
        ])
    }

    private static let mapping = MappingModel([
        EntityMapping("Notes", type: .custom, from: "Note", to: "Note").with { $0.policyName = "P" },
        EntityMapping("Authors", type: .add, to: "Author"), EntityMapping("Editors", type: .add, to: "Editor"),
    ])

    @Test("a policy's fetches do not commit once for each source object", arguments: ["sqlite", "lmdb"])
    func findsOrInserts(type: String) throws {
        let directory = try TemporaryDirectory()
        let old = try Self.source(type, at: directory.file("old"), count: 2000)
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: Self.destination(), mapping: Self.mapping,
            policies: [
                "P": {
                    ClosurePolicy {
                        $0.onCreate = { source, session, _ in
                            let note = try session.insert("Note")
                            let request = FetchRequest("Author", where: .equal("name", to: source["author"]), limit: 1)
                            if let known = try session.destinationObjects(request).first {
                                return try note.setObject(known, for: "author")
                            }
                            let author = try session.insert("Author")
                            author["name"] = source["author"]
                            try note.setObject(author, for: "author")
                        }
                    }
                }
            ])
        #expect(try Scenario.objects("Author", in: new).count == 500)
        #expect(Set(try Scenario.objects("Author", in: new).map { $0.values["name"] }).count == 500)
        #expect(try Scenario.objects("Note", in: new).count == 2000)
        let author = try #require(try Scenario.objects("Author", in: new).first { $0.values["name"] == "A7" })
        #expect(try Scenario.names("notes", of: author.id, attribute: "title", in: new) == ["T", "T", "T", "T"])
        let snapshot = try new.snapshot()
        let generation = try #require(try snapshot.recordedTally()).generation
        snapshot.close()
        #expect(generation.number < 20)
        try new.close()
        try old.close()
    }

    @Test("a fetch by a policy sees unwritten objects as if they were written", arguments: Scenario.types, 0..<4)
    func seesWhatIsInMemory(type: String, seed: Int) throws {
        let directory = try TemporaryDirectory()
        let old = try Self.source(type, at: directory.file("old"), count: 1)
        let new = try Scenario.migrate(
            old, to: type, at: directory.file("new"), model: Self.destination(), mapping: Self.mapping,
            policies: [
                "P": { ClosurePolicy { $0.onBegin = { try Self.actAtRandom($0, seed: seed) } } }
            ])
        try new.close()
        try old.close()
    }

    /// Creates, changes and fetches objects, and compares every fetch with a list of the objects.
    private static func actAtRandom(_ session: MigrationSession, seed: Int) throws {
        var random = Generator(state: UInt64(seed) &* 7919 &+ 3)
        var known: [(object: DestinationObject, name: Value, rank: Int16)] = []
        for round in 0..<1500 {
            let name = Value.string("N\(Int.random(in: 0..<12, using: &random))")
            let rank = Int16.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let object = try session.insert(Bool.random(using: &random) ? "Author" : "Editor")
                object["name"] = name
                known.append((object, name, 0))
            case 2:
                guard let index = known.indices.randomElement(using: &random) else { continue }
                known[index].object["rank"] = .int(Int64(rank))
                known[index].rank = rank
                known[index].object["name"] = name
                known[index].name = name
            default:
                let isAll = Bool.random(using: &random)
                var request = FetchRequest(
                    "Author", where: .equal("name", to: name) && .less("rank", than: .int(Int64(rank)))
                ).with { $0.includesSubentities = isAll }
                let matching = known.filter {
                    $0.name == name && $0.rank < rank && (isAll || $0.object.entity == "Author")
                }.map(\.object)
                #expect(try session.destinationCount(request) == matching.count, "round \(round)")
                let offset = Int.random(in: 0..<3, using: &random)
                request.fetchOffset = offset
                request.fetchLimit = Int.random(in: 0..<4, using: &random)
                let wanted = Array(matching.dropFirst(offset).prefix(request.fetchLimit ?? 0))
                #expect(try session.destinationObjects(request) == wanted, "round \(round)")
            }
            // Sometimes everything is written, so that later rounds change stored objects.
            if round % 200 == 199 {
                _ = try session.destinationObjects(FetchRequest("Author", sortedBy: [.init("rank")]))
            }
        }
    }
}
