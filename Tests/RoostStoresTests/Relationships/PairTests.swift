import Foundation
import Roost
import RoostCore
import Testing

@Suite("One-to-one relationships in batch requests")
struct PairTests {
    private let folder = Result { try Folder() }

    /// Four persons, who can have a spouse and a pass; a pass has a mandatory holder.
    private struct Persons {
        let store: Store
        let persons: [ObjectID]

        init(_ store: Store) throws {
            self.store = store
            persons = try store.ids("Person", rows: ["a", "b", "c", "d"].map { ["name": .string($0)] })
        }

        /// Inserts new persons, and updates persons whose names exist.
        func save(_ pairs: (name: String, spouse: Int)..., onConflict: ConflictRule = .update) throws {
            let rows: [[String: Value]] = pairs.map {
                ["name": .string($0.name), "spouse": .objectID(persons[$0.spouse])]
            }
            try store.insert("Person", rows: rows, onConflict: onConflict)
        }

        /// Returns the names of each person and spouse, such as `a-b`.
        func spouses() throws -> [String] { try names("Person", property: "spouseName") }

        /// Returns the names of each pass and holder, such as `x-a`.
        func passes() throws -> [String] { try names("Pass", property: "holderName") }

        private func names(_ entity: EntityName, property: String) throws -> [String] {
            try store.fetch(entity, sortedBy: ["name"]).compactMap { record in
                guard case .string(let name) = record["name"], case .string(let other) = record[property] else {
                    return nil
                }
                return "\(name)-\(other)"
            }
        }

        /// Checks the inverse of each reference, and the partner's name in derived attributes.
        func verify(sourceLocation: SourceLocation = #_sourceLocation) throws {
            for (entity, property, inverse, name) in [
                ("Person", "spouse", "spouse", "spouseName"), ("Person", "pass", "holder", "passName"),
                ("Pass", "holder", "pass", "holderName"),
            ] as [(EntityName, String, String, String)] {
                for record in try store.fetch(entity) {
                    guard case .objectID(let id) = record[property] else {
                        #expect(record[name] == .null, sourceLocation: sourceLocation)
                        continue
                    }
                    let other = try store.record(id)
                    #expect(other?[inverse] == .objectID(record.id), sourceLocation: sourceLocation)
                    #expect(other?["name"] == record[name], sourceLocation: sourceLocation)
                }
            }
            #expect(try store.check().isEmpty, sourceLocation: sourceLocation)
        }
    }

    private func sample(_ type: String) throws -> Persons {
        try Persons(
            try folder.get().store(
                type,
                entities: [
                    EntityDescription(
                        "Person",
                        attributes: [
                            .string("name"), .derived("spouseName", type: .string, from: "spouse.name"),
                            .derived("passName", type: .string, from: "pass.name"),
                        ],
                        relationships: [
                            .toOne("spouse", to: "Person", inverse: "spouse"),
                            .toOne("pass", to: "Pass", inverse: "holder"),
                        ],
                        uniquenessConstraints: [["name"]]),
                    EntityDescription(
                        "Pass",
                        attributes: [.string("name"), .derived("holderName", type: .string, from: "holder.name")],
                        relationships: [.toOne("holder", to: "Person", inverse: "pass", isOptional: false)],
                        uniquenessConstraints: [["name"]]),
                ]))
    }

    private func couples(_ type: String) throws -> Persons {
        let sample = try sample(type)
        try sample.save(("a", 1), ("c", 3))
        #expect(try sample.spouses() == ["a-b", "b-a", "c-d", "d-c"])
        try sample.verify()
        return sample
    }

    private func passes(_ type: String) throws -> Persons {
        let sample = try sample(type)
        let rows = ["x", "y"].enumerated().map { number, name -> [String: Value] in
            ["name": .string(name), "holder": .objectID(sample.persons[number])]
        }
        try sample.store.insert("Pass", rows: rows)
        #expect(try sample.passes() == ["x-a", "y-b"])
        try sample.verify()
        return sample
    }

    // MARK: One relationship

    @Test("an upsert of one object of each pair exchanges the partners of both pairs", arguments: Sample.types)
    func exchange(type: String) throws {
        let sample = try couples(type)
        try sample.save(("a", 3), ("c", 1))
        #expect(try sample.spouses() == ["a-d", "b-c", "c-b", "d-a"])
        try sample.verify()
    }

    @Test("an upsert of all four objects of two pairs exchanges their partners", arguments: Sample.types)
    func fullExchange(type: String) throws {
        let sample = try couples(type)
        try sample.save(("a", 3), ("b", 2), ("c", 1), ("d", 0))
        #expect(try sample.spouses() == ["a-d", "b-c", "c-b", "d-a"])
        try sample.verify()
    }

    @Test("a new object takes a partner, and the old pair is dissolved", arguments: Sample.types)
    func newPartner(type: String) throws {
        let sample = try couples(type)
        try sample.save(("e", 0))
        #expect(try sample.spouses() == ["a-e", "c-d", "d-c", "e-a"])
        try sample.verify()
    }

    @Test("an object can become its own one-to-one partner", arguments: Sample.types)
    func ownPartner(type: String) throws {
        let sample = try couples(type)
        try sample.save(("a", 0))
        #expect(try sample.spouses() == ["a-a", "c-d", "d-c"])
        try sample.verify()
    }

    @Test("the last row for an object sets its partner; with .skip, the first row does", arguments: Sample.types)
    func sameObject(type: String) throws {
        let sample = try sample(type)
        try sample.save(("a", 2), ("a", 1))
        #expect(try sample.spouses() == ["a-b", "b-a"])
        try sample.verify()
        try sample.save(("e", 2), ("e", 3), onConflict: .skip)
        #expect(try sample.spouses() == ["a-b", "b-a", "c-e", "e-c"])
        try sample.verify()
    }

    @Test("an update that gives one partner to several objects is refused", arguments: Sample.types)
    func samePartner(type: String) throws {
        let sample = try couples(type)
        let error = #expect(throws: StoreError.self) {
            try sample.store.update("Person", set: ["spouse": .objectID(sample.persons[0])])
        }
        #expect(error?.code == .invalidRequest)
        #expect(try sample.spouses() == ["a-b", "b-a", "c-d", "d-c"])
        try sample.verify()
    }

    @Test("deleting or clearing one partner clears the other's reference", arguments: Sample.types)
    func apart(type: String) throws {
        let sample = try couples(type)
        try sample.store.delete([sample.persons[0]])
        #expect(try sample.spouses() == ["c-d", "d-c"])
        try sample.verify()
        try sample.store.update("Person", set: ["spouse": .null], where: "name == 'c'")
        #expect(try sample.spouses() == [])
        try sample.verify()
    }

    @Test(
        "if an update clears two objects' references to one partner, the partner's own reference is cleared too",
        arguments: Sample.types)
    func oneSidedPartner(type: String) throws {
        let sample = try sample(type)
        // The reference from b to c is one-sided, because c refers to a. Only a commit without Roost's rules writes it.
        var changes = ChangeSet(model: sample.store.persistentStore.model)
        for (person, name, spouse) in [(0, "a", 2), (1, "b", 2), (2, "c", 0)] {
            try changes.update(
                sample.persons[person], version: 1,
                values: ["name": .string(name), "spouse": .objectID(sample.persons[spouse])])
        }
        _ = try sample.store.persistentStore.commit(changes)
        try sample.store.update("Person", set: ["spouse": .null], where: "name == 'a' OR name == 'b'")
        #expect(try sample.store.fetch("Person").allSatisfy { $0["spouse"] == .null })
        try sample.verify()
    }

    // MARK: A mandatory end

    @Test("an upsert can exchange partners of a mandatory one-to-one relationship", arguments: Sample.types)
    func mandatoryExchange(type: String) throws {
        let sample = try passes(type)
        let passes = try sample.store.fetch("Pass", sortedBy: ["name"]).map(\.id)
        let rows: [[String: Value]] = [
            ["name": "a", "pass": .objectID(passes[1])], ["name": "b", "pass": .objectID(passes[0])],
        ]
        try sample.store.insert("Person", rows: rows, onConflict: .update)
        #expect(try sample.passes() == ["x-b", "y-a"])
        try sample.verify()
    }

    @Test("an insert that takes another object's mandatory partner is refused", arguments: Sample.types)
    func takenPartner(type: String) throws {
        let sample = try passes(type)
        let taken = #expect(throws: StoreError.self) {
            try sample.store.insert("Pass", rows: [["name": "z", "holder": .objectID(sample.persons[0])]])
        }
        #expect(taken?.code == .validationFailed)
        #expect(taken?.failures.map(\.property) == ["holder"])
        #expect(try sample.passes() == ["x-a", "y-b"])
        try sample.verify()
    }

    @Test("an update that clears mandatory partners from the other end is refused", arguments: Sample.types)
    func clearedPartner(type: String) throws {
        let sample = try passes(type)
        let cleared = #expect(throws: StoreError.self) { try sample.store.update("Person", set: ["pass": .null]) }
        #expect(cleared?.code == .validationFailed)
        #expect(cleared?.failures.map(\.kind) == [.missing, .missing])
        #expect(try sample.passes() == ["x-a", "y-b"])
        try sample.verify()
    }

    @Test("a delete of another object's mandatory partner is denied", arguments: Sample.types)
    func deletedPartner(type: String) throws {
        let sample = try passes(type)
        let deleted = #expect(throws: StoreError.self) { try sample.store.delete([sample.persons[0]]) }
        #expect(deleted?.code == .deleteDenied)
        #expect(try sample.passes() == ["x-a", "y-b"])
        try sample.verify()
    }

    @Test("an object can be deleted when it is no longer a mandatory partner", arguments: Sample.types)
    func freed(type: String) throws {
        let sample = try passes(type)
        try sample.store.delete("Pass")
        try sample.verify()
        #expect(try sample.store.delete([sample.persons[0]]).count == 1)
        #expect(try sample.store.count("Person") == 3)
        try sample.verify()
    }
}
