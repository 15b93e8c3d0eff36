import Foundation
import Roost
import RoostCore
import Testing

@Suite("Upserts")
struct UpsertTests {
    private let folder = Result { try Folder() }

    private func store(_ type: String) throws -> Store {
        try Store.open(
            try folder.get().location(type),
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    "Artist", attributes: [.string("name", isOptional: false), .string("land", default: "?")],
                    relationships: [.toMany("tracks", to: "Track", inverse: "artist", isOrdered: true)],
                    uniquenessConstraints: [["name"]]),
                EntityDescription(
                    "Track",
                    attributes: [
                        .string("title", isOptional: false), .integer16("disc", default: 1),
                        .integer32("plays", maximum: 99),
                    ],
                    relationships: [.toOne("artist", to: "Artist", inverse: "tracks")],
                    uniquenessConstraints: [["title", "disc"]]),
            ]))
    }

    @Test("an upsert changes the values that a row names and keeps the others", arguments: Sample.types)
    func updates(type: String) throws {
        let store = try store(type)
        let ids = try store.insert("Artist", rows: [["name": "Ada", "land": "UK"]], result: .objectIDs).objectIDs
        let result = try store.insert(
            "Artist", rows: [["name": "Ada"], ["name": "Bob"]], onConflict: .update, result: .objectIDs)
        #expect(result.objectIDs?.first == ids?.first)
        #expect(result.objectIDs?.count == 2)
        #expect(try store.fetch("Artist", sortedBy: ["name"]).map { $0["land"] } == ["UK", "?"])
        try store.insert("Artist", rows: [["name": "Ada", "land": .null]], onConflict: .update)
        #expect(try store.fetch("Artist", sortedBy: ["name"]).map { $0["land"] } == [.null, "?"])
    }

    @Test("an upsert with the rule to skip inserts only new objects", arguments: Sample.types)
    func skips(type: String) throws {
        let store = try store(type)
        try store.insert("Artist", rows: [["name": "Ada", "land": "UK"]])
        let result = try store.insert(
            "Artist", rows: [["name": "Ada", "land": "DE"], ["name": "Bob", "land": "FR"]], onConflict: .skip)
        #expect(result.count == 1)
        #expect(try store.fetch("Artist", sortedBy: ["name"]).map { $0["land"] } == ["UK", "FR"])
    }

    @Test("an insert without a conflict rule fails if a unique value exists", arguments: Sample.types)
    func insertWithoutRule(type: String) throws {
        let store = try store(type)
        try store.insert("Artist", rows: [["name": "Ada"]])
        let taken = #expect(throws: StoreError.self) { try store.insert("Artist", rows: [["name": "Ada"]]) }
        #expect(taken?.code == .constraintViolation)
    }

    @Test("an upsert of an entity without a uniqueness constraint is refused")
    func entityWithoutConstraint() throws {
        let plain = try Store.open(.memory("plain"), model: try ManagedObjectModel(entities: [EntityDescription("A")]))
        let none = #expect(throws: StoreError.self) { try plain.insert("A", rows: [[:]], onConflict: .update) }
        #expect(none?.code == .invalidRequest)
    }

    @Test("rows of one upsert with the same unique values describe one object", arguments: Sample.types)
    func sameRequest(type: String) throws {
        let store = try store(type)
        let rows: [[String: Value]] = [
            ["title": "Blue", "plays": 1], ["title": "Blue", "disc": 2, "plays": 2], ["title": "Blue", "plays": 3],
            ["title": "Blue", "disc": 1],
        ]
        #expect(try store.insert("Track", rows: rows, onConflict: .update).count == 2)
        #expect(try store.fetch("Track", sortedBy: ["disc"]).map { $0["plays"] } == [3, 2])
        try store.delete("Track")
        #expect(try store.insert("Track", rows: rows, onConflict: .skip).count == 2)
        #expect(try store.fetch("Track", sortedBy: ["disc"]).map { $0["plays"] } == [1, 2])
    }

    @Test("an upsert that moves an object appends it to the new owner's list", arguments: Sample.types)
    func movedObject(type: String) throws {
        let store = try store(type)
        let artists = try #require(
            try store.insert("Artist", rows: [["name": "Ada"], ["name": "Bob"]], result: .objectIDs).objectIDs)
        func rows(_ artist: Int, _ titles: String...) -> [[String: Value]] {
            titles.map { ["title": .string($0), "artist": .objectID(artists[artist])] }
        }
        try store.insert("Track", rows: rows(0, "a", "b", "c") + rows(1, "x"))
        try store.insert("Track", rows: rows(1, "b", "y", "x"), onConflict: .update)
        func titles(_ artist: Int) throws -> [Value] {
            try store.read { view in
                try view.objectIDs("tracks", of: artists[artist]).map { try #require(try view.record($0))["title"] }
            }
        }
        #expect(try titles(0) == ["a", "c"])
        #expect(try titles(1) == ["x", "b", "y"])
        #expect(try store.check().isEmpty)
    }

    @Test("an upsert reports violations by row number and writes nothing", arguments: Sample.types)
    func violations(type: String) throws {
        let store = try store(type)
        try store.insert("Track", rows: [["title": "a", "plays": 1]])
        let error = #expect(throws: StoreError.self) {
            try store.insert(
                "Track", rows: [["title": "b"], ["title": "a", "plays": 100], ["title": "c", "plays": 100]],
                onConflict: .update)
        }
        #expect(error?.failures.map(\.subject) == [.row(2), .row(3)])
        #expect(try store.fetch("Track").map { $0["plays"] } == [1])
    }

    @Test("an upsert that merges rows reports a violation for the row with the invalid value", arguments: Sample.types)
    func mergedViolations(type: String) throws {
        let store = try store(type)
        let rows: [[String: Value]] = [["title": "a", "plays": 1], ["title": "b"], ["title": "a", "plays": 100]]
        let error = #expect(throws: StoreError.self) { try store.insert("Track", rows: rows, onConflict: .update) }
        #expect(error?.code == .validationFailed)
        #expect(error?.failures.map(\.subject) == [.row(3)])
        #expect(try store.count("Track") == 0)
    }

    @Test("an upsert ignores an invalid value that a later row replaces", arguments: Sample.types)
    func replacedViolations(type: String) throws {
        let store = try store(type)
        let rows: [[String: Value]] = [["title": "a", "plays": 100], ["title": "a", "plays": 1]]
        #expect(try store.insert("Track", rows: rows, onConflict: .update).count == 1)
        #expect(try store.fetch("Track").map { $0["plays"] } == [1])
    }

    @Test("an upsert does not validate rows that it skips", arguments: Sample.types)
    func skippedViolations(type: String) throws {
        let store = try store(type)
        let rows: [[String: Value]] = [["title": "a", "plays": 1], ["title": "a", "plays": 100]]
        #expect(try store.insert("Track", rows: rows, onConflict: .skip).count == 1)
        #expect(try store.insert("Track", rows: rows.suffix(1), onConflict: .skip).count == 0)
        #expect(try store.fetch("Track").map { $0["plays"] } == [1])
    }

    @Test(
        "an insert with any conflict rule names the missing object of a mandatory relationship",
        arguments: Sample.types, ConflictRule.allCases)
    func missingObjects(type: String, rule: ConflictRule) throws {
        let store = try folder.get().store(
            type,
            entities: [
                EntityDescription("Folder", relationships: [.toMany("notes", to: "Note", inverse: "folder")]),
                EntityDescription(
                    "Note", attributes: [.string("title")],
                    relationships: [.toOne("folder", to: "Folder", inverse: "notes", isOptional: false)],
                    uniquenessConstraints: [["title"]]),
            ])
        let missing = ObjectID("Folder", key: 9)
        let error = #expect(throws: StoreError.self) {
            try store.insert("Note", rows: [["title": "a", "folder": .objectID(missing)]], onConflict: rule)
        }
        #expect(error?.code == .objectNotFound)
        #expect(error?.missingObjects == [missing])
        #expect(try store.count("Note") == 0)
    }

    @Test("an upsert of the same 5 000 rows changes nothing the second time", arguments: Sample.types)
    func secondRun(type: String) throws {
        let store = try store(type)
        let rows = (1...5000).lazy.map { number -> [String: Value] in
            ["title": .string("t\(number)"), "disc": .int(Int64(number % 3)), "plays": .int(Int64(number % 99))]
        }
        #expect(try store.insert("Track", rows: rows, onConflict: .update).count == 5000)
        let digest = try store.digest()
        let again = try store.insert("Track", rows: rows, onConflict: .update)
        #expect(again.count == 0)
        #expect(try store.digest() == digest)
        #expect(try store.fetch("Track", limit: 1)[0].version == 1)
    }

    @Test("an upsert updates an object that another writer inserts while rows are read", arguments: Sample.types)
    func race(type: String) throws {
        let store = try store(type)
        var number = 0
        var request = BatchInsertRequest("Artist", result: .objectIDs) { (row) throws(StoreError) in
            number += 1
            if number == 1 { try store.insert("Artist", rows: [["name": "Ada", "land": "UK"]]) }
            row["name"] = "Ada"
            return number > 1
        }
        request.onConflict = .update
        #expect(try store.execute(request).objectIDs == store.fetch("Artist").map(\.id))
        #expect(try store.fetch("Artist").map { $0["land"] } == ["UK"])
    }
}
