import Foundation
import Roost
import RoostCore
import Testing

private enum Ruled {
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    .string("name", isOptional: false, minimumLength: 2, maximumLength: 8),
                    .string("code").with { $0.validation = AttributeValidation(regularExpression: "[A-Z]{2}[0-9]+") },
                    .integer16("stars", default: 1, minimum: 0, maximum: 5),
                    .double("score", minimum: 0.5, maximum: 2),
                    .decimal("price", minimum: 1, maximum: 10),
                    .date(
                        "born", minimum: Date(timeIntervalSinceReferenceDate: 0),
                        maximum: Date(timeIntervalSinceReferenceDate: 1000)),
                    .composite(
                        "place",
                        elements: [.string("street"), .integer32("number", isOptional: false, maximum: 100)]),
                    .derived("shout", type: .string, from: "uppercase:(name)"),
                    .derived("plain", type: .string, from: "canonical:(name)"),
                    .derived("teamName", type: .string, from: "team.name"),
                    .derived("teamShout", type: .string, from: "lowercase:(team.club.name)"),
                    .derived("changed", type: .date, from: "now()"),
                ],
                relationships: [
                    .toOne("team", to: "Team", inverse: "members"),
                    .toOne("partner", to: "Person", inverse: "partner"),
                ]),
            EntityDescription(
                "Team",
                attributes: [
                    .string("name"),
                    .derived("memberCount", type: .integer32, from: "members.@count"),
                    .derived("starSum", type: .integer64, from: "members.stars.@sum"),
                    .derived("best", type: .integer16, from: "members.stars.@max"),
                ],
                relationships: [
                    RelationshipDescription("members", destination: "Person", inverse: "team", maxCount: 3)
                        .with { $0.deleteRule = .deny },
                    .toOne("club", to: "Club", inverse: "teams"),
                ]),
            EntityDescription(
                "Club", attributes: [.string("name"), .derived("teamCount", type: .integer16, from: "teams.@count")],
                relationships: [.toMany("teams", to: "Team", inverse: "club")]),
        ])
    }

    static func store(_ type: String, in folder: Folder) throws -> Store {
        try Store.open(folder.location(type), model: try model())
    }
}

@Suite("The rules of a model")
struct RuleTests {
    private let folder = Result { try Folder() }

    private func store(_ type: String) throws -> Store { try Ruled.store(type, in: try folder.get()) }

    private func failures(_ body: () throws -> Void) throws -> [ValidationFailure] {
        let error = try #require(throws: StoreError.self) { try body() }
        #expect(error.code == .validationFailed, "\(error)")
        return error.failures
    }

    @Test("an insert reports the violations of all rows at once and writes nothing", arguments: Sample.types)
    func everyViolation(type: String) throws {
        let store = try store(type)
        let secret = "secret"
        let found = try failures {
            try store.insert(
                "Person",
                rows: [
                    ["name": "Ada"],
                    [:],
                    ["name": "x"],
                    ["name": .string("\(secret)\(secret)")],
                    ["name": "Bob", "code": .string(secret)],
                    ["name": "Bob", "stars": -1],
                    ["name": "Bob", "stars": 99, "score": 0.25],
                    ["name": "Bob", "score": 3.0],
                    ["name": "Bob", "price": 0],
                    ["name": "Bob", "price": .decimal(11)],
                    ["name": "Bob", "born": .date(Date(timeIntervalSinceReferenceDate: -1))],
                    ["name": "Bob", "born": .date(Date(timeIntervalSinceReferenceDate: 1001))],
                    ["name": "Bob", "place": .composite(["street": "x"])],
                    ["name": "Bob", "place": .composite(["number": 101])],
                ])
        }
        let expected: [(Int, String, Int)] = [
            (2, "name", 1570), (3, "name", 1670), (4, "name", 1660), (5, "code", 1680), (6, "stars", 1620),
            (7, "score", 1620), (7, "stars", 1610), (8, "score", 1610), (9, "price", 1620), (10, "price", 1610),
            (11, "born", 1640), (12, "born", 1630), (13, "place.number", 1570), (14, "place.number", 1610),
        ]
        #expect(
            found.map { "\($0.subject) \($0.property ?? "") \($0.code)" }
                == expected.map { "row(\($0.0)) \($0.1) \($0.2)" })
        #expect(!found.contains { $0.message.contains(secret) })
        #expect(try store.count("Person") == 0)
        try store.close()
    }

    @Test("null is valid for an optional attribute with limits", arguments: Sample.types)
    func optionalNull(type: String) throws {
        let store = try store(type)
        try store.insert("Person", rows: [["name": "Ada", "stars": .null, "code": .null, "born": .null]])
        #expect(try store.fetch("Person")[0]["stars"] == .null)
    }

    @Test("an inserted row gets the default of an attribute that it does not name", arguments: Sample.types)
    func defaults(type: String) throws {
        let store = try store(type)
        try store.insert("Person", rows: [["name": "Ada"]])
        #expect(try store.fetch("Person")[0]["stars"] == 1)
    }

    private func ratedPersons(_ type: String) throws -> Store {
        let store = try store(type)
        try store.insert(
            "Person", rows: [["name": "Ada", "stars": 5], ["name": "Bob", "stars": 1], ["name": "Cy", "stars": 5]])
        return store
    }

    @Test("an update reports every object that would break a rule and changes none", arguments: Sample.types)
    func brokenUpdate(type: String) throws {
        let store = try ratedPersons(type)
        let found = try failures {
            try store.update("Person", set: "stars = stars + 1")
        }
        #expect(found.map(\.code) == [1610, 1610])
        #expect(found.map(\.property) == ["stars", "stars"])
        #expect(try store.fetch("Person").map { $0["stars"] } == [5, 1, 5])
    }

    @Test("an update changes only the selected objects and the named properties", arguments: Sample.types)
    func update(type: String) throws {
        let store = try ratedPersons(type)
        try store.update(
            "Person", set: ["stars": 2],
            where: "name == 'Bob'")
        let persons = try store.fetch("Person")
        #expect(persons.map { $0["stars"] } == [5, 2, 5])
        #expect(persons.map { $0["name"] } == ["Ada", "Bob", "Cy"])
    }

    @Test(
        "an insert lists every missing object that its references point to", arguments: Sample.types)
    func dangling(type: String) throws {
        let store = try store(type)
        let error = try #require(throws: StoreError.self) {
            try store.insert(
                "Person",
                rows: [
                    ["name": "Ada", "team": .objectID(ObjectID("Team", key: 7))],
                    ["name": "Bob", "team": .objectID(ObjectID("Team", key: 8))],
                    ["name": "Cy", "team": .objectID(ObjectID("Team", key: 7))],
                ])
        }
        #expect(error.code == .objectNotFound)
        #expect(error.missingObjects == [ObjectID("Team", key: 7), ObjectID("Team", key: 8)])
        #expect(try store.count("Person") == 0)
    }

    @Test("an update reports missing objects together with broken rules", arguments: Sample.types)
    func danglingUpdate(type: String) throws {
        let store = try store(type)
        try store.insert("Person", rows: [["name": "Ada", "stars": 2]])
        let team = ObjectID("Team", key: 99)
        let error = try #require(throws: StoreError.self) {
            try store.update("Person", set: ["team": .objectID(team), "stars": 77])
        }
        #expect(error.code == .validationFailed)
        #expect(error.missingObjects == [team])
        #expect(error.failures.map(\.kind) == [.tooLarge])
        #expect(try store.fetch("Person").map { $0["stars"] } == [2])
    }

    @Test("a reference to an object of another entity is refused, whether it exists or not", arguments: Sample.types)
    func otherEntity(type: String) throws {
        let store = try store(type)
        try store.insert("Person", rows: [["name": "Ada"]])
        let club = try store.ids("Club", rows: [["name": "FC"]])[0]
        let existing = try #require(throws: StoreError.self) {
            try store.update("Person", set: ["team": .objectID(club)])
        }
        #expect(existing.code == .invalidValue)
        let missing = try #require(throws: StoreError.self) {
            try store.update("Person", set: ["team": .objectID(ObjectID("Club", key: club.key + 1))])
        }
        #expect(missing.code == .objectNotFound)
        #expect(try store.fetch("Person").map { $0["team"] } == [.null])
    }

    @Test("a deny rule refuses a delete and names the object that prevents it", arguments: Sample.types)
    func deny(type: String) throws {
        let store = try store(type)
        let team = try #require(
            try store.insert("Team", rows: [["name": "Red"]], result: .objectIDs).objectIDs?.first)
        let member = try #require(
            try store.insert("Person", rows: [["name": "Ada", "team": .objectID(team)]], result: .objectIDs)
                .objectIDs?.first)
        let error = try #require(throws: StoreError.self) { try store.delete("Team") }
        #expect(error.code == .deleteDenied)
        #expect(error.denials.map(\.remaining) == [member])
        #expect(error.failures.map(\.code) == [1600])
        #expect(error.failures.map(\.kind) == [.deleteDenied(member)])
        #expect(try store.count("Team") == 1)
        try store.delete([member])
        #expect(try store.delete("Team").count == 1)
    }

    @Test("the maximum count of a relationship is enforced when its inverse is set", arguments: Sample.types)
    func counts(type: String) throws {
        let store = try store(type)
        let teams = try #require(
            try store.insert("Team", rows: [["name": "Red"], ["name": "Blue"]], result: .objectIDs).objectIDs)
        let row: [String: Value] = ["name": "Ada", "team": .objectID(teams[0])]
        try store.insert("Person", rows: [row, row, row])
        let found = try failures { try store.insert("Person", rows: [row]) }
        #expect(found.map(\.kind) == [.tooMany(maximum: 3)])
        #expect(found.map(\.subject) == [.object(teams[0])])
        try store.insert("Person", rows: [["name": "Bob", "team": .objectID(teams[1])]])
        let moved = try failures {
            try store.update(
                "Person", set: ["team": .objectID(teams[0])],
                where: "name == 'Bob'")
        }
        #expect(moved.map(\.kind) == [.tooMany(maximum: 3)])
        try store.update("Person", set: ["team": .objectID(teams[1])], where: .constant(false))
        #expect(try store.fetch("Team").map { $0["memberCount"] } == [3, 1])
    }

    @Test("two writers together cannot exceed a relationship's maximum count", arguments: Sample.types)
    func countsTogether(type: String) throws {
        let store = try store(type)
        let team = try #require(
            try store.insert("Team", rows: [["name": "Red"]], result: .objectIDs).objectIDs?.first)
        let row: [String: Value] = ["name": "Ada", "team": .objectID(team)]
        try store.insert("Person", rows: [row, row])
        var isFirst = true
        let error = #expect(throws: StoreError.self) {
            try store.execute(
                BatchInsertRequest("Person") { (next) throws(StoreError) in
                    guard isFirst else { return true }
                    isFirst = false
                    // Another writer takes the last place after this request has begun.
                    try store.insert("Person", rows: [row])
                    next = row
                    return false
                })
        }
        #expect(error?.failures.map(\.kind) == [.tooMany(maximum: 3)])
        #expect(try store.count("Person") == 3)
    }

    // MARK: Derived attributes

    /// Two teams: the first belongs to a club and has two persons.
    private struct League {
        let store: Store
        let club: ObjectID
        let teams: [ObjectID]
        let persons: [ObjectID]

        func values(_ id: ObjectID, _ names: String...) throws -> [Value] {
            let record = try #require(try store.record(id))
            return names.map { record[$0] }
        }
    }

    private func league(_ type: String) throws -> League {
        let store = try store(type)
        let club = try #require(
            try store.insert("Club", rows: [["name": "FC"]], result: .objectIDs).objectIDs?.first)
        let teams = try #require(
            try store.insert(
                "Team", rows: [["name": "Red", "club": .objectID(club)], ["name": "Blue"]], result: .objectIDs
            ).objectIDs)
        let persons = try #require(
            try store.insert(
                "Person",
                rows: [
                    ["name": "Änn", "stars": 3, "team": .objectID(teams[0])],
                    ["name": "Bob", "stars": 4, "team": .objectID(teams[0])],
                ], result: .objectIDs
            ).objectIDs)
        return League(store: store, club: club, teams: teams, persons: persons)
    }

    @Test("an insert computes derived attributes of the new objects and their owners", arguments: Sample.types)
    func derivedByInsert(type: String) throws {
        let before = Date()
        let league = try league(type)
        let persons = league.persons
        #expect(
            try league.values(persons[0], "shout", "plain", "teamName", "teamShout") == ["ÄNN", "ann", "Red", "fc"])
        let times = try persons.map { try league.values($0, "changed")[0] }
        #expect(times[0] == times[1])
        if case .date(let time) = times[0] {
            #expect(time >= before && time <= Date())
        } else {
            Issue.record("no date")
        }
        #expect(try league.values(league.club, "teamCount") == [1])
        #expect(try league.values(league.teams[0], "memberCount", "starSum", "best") == [2, 7, 4])
        #expect(try league.values(league.teams[1], "memberCount") == [0])
        #expect(try league.store.check().isEmpty)
    }

    @Test("an update recomputes derived attributes of dependent objects, but not their now()", arguments: Sample.types)
    func derivedByUpdate(type: String) throws {
        let league = try league(type)
        let (store, persons) = (league.store, league.persons)
        let time = try league.values(persons[0], "changed")
        try store.update("Team", set: ["name": "Pink"], where: nil)
        #expect(try persons.map { try league.values($0, "teamName")[0] } == ["Pink", "Pink"])
        #expect(try league.values(persons[0], "changed") == time)
        try store.update("Club", set: ["name": "AC"])
        #expect(try league.values(persons[1], "teamShout") == ["ac"])
        try store.update("Person", set: ["stars": 5])
        #expect(try league.values(league.teams[0], "memberCount", "starSum", "best") == [2, 10, 5])
        #expect(try store.check().isEmpty)
    }

    @Test("a move recomputes derived attributes of both owners", arguments: Sample.types)
    func derivedByMove(type: String) throws {
        let league = try league(type)
        try league.store.update("Person", set: ["team": .objectID(league.teams[1])], where: "name == 'Bob'")
        #expect(try league.values(league.teams[0], "memberCount", "starSum", "best") == [1, 3, 3])
        #expect(try league.values(league.teams[1], "memberCount", "starSum", "best") == [1, 4, 4])
        #expect(try league.values(league.persons[1], "teamShout") == [.null])
        #expect(try league.store.check().isEmpty)
    }

    @Test("a delete recomputes derived attributes of the owner that loses the objects", arguments: Sample.types)
    func derivedByDelete(type: String) throws {
        let league = try league(type)
        try league.store.delete(league.persons)
        #expect(try league.values(league.teams[0], "memberCount", "best") == [0, .null])
        #expect(try league.store.check().isEmpty)
    }

    // MARK: Partners and bulk loads

    @Test("setting a one-to-one reference sets the inverse reference of the partner", arguments: Sample.types)
    func partners(type: String) throws {
        let store = try store(type)
        let ids = try #require(
            try store.insert("Person", rows: [["name": "Ada"], ["name": "Bob"]], result: .objectIDs).objectIDs)
        try store.update(
            "Person", set: ["partner": .objectID(ids[0])],
            where: "name == 'Bob'")
        #expect(try store.record(ids[0])?["partner"] == .objectID(ids[1]))
        #expect(try store.check().isEmpty)
    }

    @Test("a bulk-loaded insert follows the rules and computes derived attributes", arguments: Sample.types)
    func large(type: String) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "File",
                attributes: [
                    .string("name", maximumLength: 5), .binaryData("content"),
                    .derived("shout", type: .string, from: "uppercase:(name)"),
                ])
        ])
        let store = try Store.open(try folder.get().location(type), model: model)
        let content = Value.data(Data(repeating: 1, count: 100_000))
        func rows(_ bad: Set<Int>) -> some Sequence<[String: Value]> {
            (1...200).lazy.map { ["name": bad.contains($0) ? "too long" : .string("n\($0)"), "content": content] }
        }
        let found = try failures { try store.insert("File", rows: rows([3, 199])) }
        #expect(found.map(\.subject) == [.row(3), .row(199)])
        #expect(try store.count("File") == 0)
        #expect(try store.insert("File", rows: rows([])).count == 200)
        #expect(try store.fetch("File").map { $0["shout"] } == (1...200).map { .string("N\($0)") })
    }
}
