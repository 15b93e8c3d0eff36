import Foundation
import Roost
import RoostCore
import Testing

@Suite("How rows of an upsert identify objects")
struct UpsertResolutionTests {
    private let folder = Result { try Folder() }

    private func open(_ type: String, _ entities: EntityDescription...) throws -> Store {
        try folder.get().store(type, entities: entities)
    }

    /// Opens a store whose objects are identified by a code, or by a name.
    private func pairs(_ type: String) throws -> Store {
        try open(
            type,
            EntityDescription(
                "E", attributes: [.integer32("code"), .string("name"), .integer32("x"), .integer32("y")],
                uniquenessConstraints: [["code"], ["name"]]))
    }

    private func values(_ store: Store, _ names: String...) throws -> [[Value]] {
        try store.fetch("E", sortedBy: ["code"]).map { record in names.map { record[$0] } }
    }

    @Test("rows that identify one object by different constraints update it together", arguments: Sample.types)
    func twoConstraints(type: String) throws {
        let store = try pairs(type)
        let id = try store.ids("E", rows: [["code": 1, "name": "n"]])[0]
        let result = try store.insert(
            "E", rows: [["code": 1, "x": 5], ["name": "n", "y": 6]], onConflict: .update, result: .objectIDs)
        #expect(result.objectIDs == [id, id])
        #expect(result.count == 1)
        #expect(try values(store, "code", "name", "x", "y") == [[1, "n", 5, 6]])
    }

    @Test("a row can take a unique value that an earlier row of the upsert releases", arguments: Sample.types)
    func handOver(type: String) throws {
        let store = try pairs(type)
        try store.insert("E", rows: [["code": 1, "name": "a"]])
        try store.insert("E", rows: [["code": 1, "name": "b"], ["code": 2, "name": "a"]], onConflict: .update)
        #expect(try values(store, "code", "name") == [[1, "b"], [2, "a"]])
    }

    @Test("an upsert can exchange unique values of two objects", arguments: Sample.types)
    func exchange(type: String) throws {
        let store = try pairs(type)
        try store.insert("E", rows: [["code": 1, "name": "a"], ["code": 2, "name": "b"]])
        let rows: [[String: Value]] = [["code": 1, "name": "b"], ["code": 2, "name": "a"]]
        #expect(try store.insert("E", rows: rows, onConflict: .update).count == 2)
        #expect(try values(store, "code", "name") == [[1, "b"], [2, "a"]])
    }

    @Test("a row that would merge two new objects into one is refused", arguments: Sample.types)
    func joined(type: String) throws {
        let store = try pairs(type)
        let rows: [[String: Value]] = [["code": 1, "x": 1], ["name": "n", "y": 2], ["code": 1, "name": "n"]]
        let error = #expect(throws: StoreError.self) { try store.insert("E", rows: rows, onConflict: .update) }
        #expect(error?.code == .constraintViolation)
        #expect(try store.count("E") == 0)
    }

    @Test("an upsert returns an ID for each row and counts each object once", arguments: Sample.types)
    func idsOfRows(type: String) throws {
        let store = try pairs(type)
        let result = try store.insert(
            "E", rows: [["code": 1], ["code": 2], ["code": 1]], onConflict: .update, result: .objectIDs)
        let ids = try store.fetch("E", sortedBy: ["code"]).map(\.id)
        try #require(ids.count == 2)
        #expect(result.objectIDs == [ids[0], ids[1], ids[0]])
        #expect(result.count == 2)
    }

    @Test("a row without a unique value always inserts a new object", arguments: Sample.types)
    func nulls(type: String) throws {
        let store = try pairs(type)
        let rows: [[String: Value]] = [["y": 1], ["y": 1], ["code": .null, "y": 1]]
        #expect(try store.insert("E", rows: rows, onConflict: .update).count == 3)
        #expect(try store.insert("E", rows: rows, onConflict: .skip).count == 3)
        #expect(try store.count("E", where: "y == 1") == 6)
    }

    @Test("a row of a superentity updates an object of a subentity", arguments: Sample.types)
    func subentity(type: String) throws {
        let store = try folder.get().store(type, entities: Sample.animals)
        let dog = try store.ids("Dog", rows: [["code": "a", "name": "old", "bark": "wuff", "age": 3]])[0]
        let result = try store.insert(
            "Animal", rows: [["code": "a", "name": "new"]], onConflict: .update, result: .objectIDs)
        #expect(result.objectIDs == [dog])
        let all = try store.fetch("Animal")
        #expect(all.map(\.id) == [dog])
        #expect(all.map { $0.values() } == [["code": "a", "name": "new", "bark": "wuff", "age": 3]])
        #expect(try store.check().isEmpty)
    }

    @Test(
        "a row cannot identify an object of a sibling entity", arguments: Sample.types,
        [ConflictRule.update, .skip])
    func sibling(type: String, rule: ConflictRule) throws {
        let store = try folder.get().store(type, entities: Sample.animals)
        try store.insert("Cat", rows: [["code": "a", "name": "old"]])
        let error = #expect(throws: StoreError.self) {
            try store.insert("Dog", rows: [["code": "a", "name": "new"]], onConflict: rule)
        }
        #expect(error?.code == .constraintViolation)
        #expect(try store.fetch("Animal").map { $0["name"] } == ["old"])
    }

    @Test("a second upsert of a subentity updates the object that the first inserted", arguments: Sample.types)
    func sameSubentity(type: String) throws {
        let store = try folder.get().store(type, entities: Sample.animals)
        try store.insert("Cat", rows: [["code": "a"]])
        try store.insert("Dog", rows: [["code": "b", "name": "x"]], onConflict: .update)
        #expect(try store.insert("Dog", rows: [["code": "b", "name": "y"]], onConflict: .update).count == 1)
        #expect(try store.fetch("Dog").map { $0["name"] } == ["y"])
        #expect(try store.count("Animal") == 2)
    }

    @Test(
        "a reference in a constraint matches with the destination's entity or superentity", arguments: Sample.types)
    func reference(type: String) throws {
        let store = try open(
            type, EntityDescription("Owner", attributes: [.string("n")]),
            EntityDescription("Boss", superentity: "Owner"),
            EntityDescription(
                "E", attributes: [.string("name"), .integer16("v")], relationships: [.toOne("owner", to: "Owner")],
                uniquenessConstraints: [["name", "owner"]]))
        let boss = try store.ids("Boss", rows: [["n": "b"]])[0]
        try store.insert("E", rows: [["name": "a", "owner": .objectID(boss)]])
        for (value, owner) in [(1, boss), (2, ObjectID("Owner", key: boss.key))] as [(Value, ObjectID)] {
            let row: [String: Value] = ["name": "a", "owner": .objectID(owner), "v": value]
            #expect(try store.insert("E", rows: [row], onConflict: .update).count == 1)
            #expect(try store.fetch("E").map { $0["v"] } == [value])
        }
        #expect(try store.fetch("E").map { $0["owner"] } == [.objectID(boss)])
        // The deletion of the owner sets the reference to null, and a null identifies no object.
        try store.delete("Boss")
        #expect(try store.fetch("E").map { $0["owner"] } == [.null])
        #expect(try store.insert("E", rows: [["name": "a"]], onConflict: .update).count == 1)
        #expect(try store.count("E") == 2)
    }

    @Test(
        "an upsert is refused if the only constraint has a derived attribute", arguments: Sample.types,
        [ConflictRule.update, .skip])
    func derivedAlone(type: String, rule: ConflictRule) throws {
        let store = try open(
            type,
            EntityDescription(
                "E", attributes: [.string("name"), .derived("canon", type: .string, from: "canonical:(name)")],
                uniquenessConstraints: [["canon"]]))
        try store.insert("E", rows: [["name": "Ada"]])
        let error = #expect(throws: StoreError.self) {
            try store.insert("E", rows: [["name": "ADA"]], onConflict: rule)
        }
        #expect(error?.code == .invalidRequest)
        #expect(try store.fetch("E").map { $0["name"] } == ["Ada"])
    }

    @Test("a constraint on a derived attribute is enforced, but does not identify objects", arguments: Sample.types)
    func derivedBeside(type: String) throws {
        let store = try open(
            type,
            EntityDescription(
                "E",
                attributes: [
                    .integer32("code"), .string("name"), .derived("canon", type: .string, from: "canonical:(name)"),
                ], uniquenessConstraints: [["canon"], ["code"]]))
        try store.insert("E", rows: [["code": 1, "name": "Ada"]])
        try store.insert("E", rows: [["code": 1, "name": "Bob"]], onConflict: .update)
        #expect(try values(store, "code", "name", "canon") == [[1, "Bob", "bob"]])
        let error = #expect(throws: StoreError.self) {
            try store.insert("E", rows: [["code": 2, "name": "BOB"]], onConflict: .update)
        }
        #expect(error?.code == .constraintViolation)
        #expect(try store.count("E") == 1)
    }

    @Test("elements of a composite identify an object of an upsert", arguments: Sample.types)
    func compositeElements(type: String) throws {
        let store = try open(
            type,
            EntityDescription(
                "E",
                attributes: [
                    .string("code"), .composite("c", elements: [.integer32("a"), .integer32("b", default: 2)]),
                    .integer32("x"),
                ], uniquenessConstraints: [["c.a", "c.b"], ["code", "c.a"]]))
        try store.insert("E", rows: [["code": "1", "c": .composite(["a": 1])]])
        // This composite has a null for 'b', so only the second constraint identifies objects.
        let rows: [[String: Value]] = [["code": "2", "c": .composite(["a": 1])]]
        #expect(try store.insert("E", rows: rows, onConflict: .update).count == 1)
        #expect(try values(store, "code", "c.a", "c.b") == [["1", 1, .null], ["2", 1, .null]])
        try store.insert("E", rows: [["code": "2", "c.a": 1, "c.b": 2]], onConflict: .update)
        #expect(try values(store, "code", "c.a", "c.b") == [["1", 1, .null], ["2", 1, 2]])
        // Now the first constraint identifies the second object.
        try store.insert("E", rows: [["c.a": 1, "c.b": 2, "x": 7]], onConflict: .update)
        #expect(try values(store, "code", "x") == [["1", .null], ["2", 7]])
    }

    @Test("strings identify objects by their code points, without normalization", arguments: Sample.types)
    func strings(type: String) throws {
        let store = try open(
            type,
            EntityDescription("E", attributes: [.string("code"), .integer16("v")], uniquenessConstraints: [["code"]]))
        let keys = [
            "é", "e\u{301}", "E", "e", "", " ", "a\u{0}b", "a", "ß", "ss", "%", "_", "*", "'", "\u{FEFF}x", "x",
        ]
        for round in [Value.int(0), .int(1)] {
            let rows: [[String: Value]] = keys.map { ["code": .string($0), "v": round] }
            #expect(try store.insert("E", rows: rows, onConflict: .update).count == keys.count)
            #expect(try store.count("E") == keys.count)
            #expect(try store.count("E", where: "v == \(round)") == keys.count)
        }
    }
}
