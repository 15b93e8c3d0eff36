import Foundation
import Testing

@testable import RoostCore

@Suite("Generations, receipts and validation failures")
struct CommitTypesTests {
    private let album = ObjectID("Album", key: 3)

    @Test(
        "a generation is the same after writing and reading its text and its JSON",
        arguments: [UInt64.min, 1, 42, .max])
    func generationText(number: UInt64) throws {
        let generation = Generation(number: number)
        #expect(Generation(generation.description) == generation)
        let json = try JSONEncoder().encode([generation])
        #expect(String(decoding: json, as: UTF8.self) == "[\(number)]")
        #expect(try JSONDecoder().decode([Generation].self, from: json) == [generation])
    }

    @Test(
        "a malformed text is not read as a generation",
        arguments: ["", "-1", "+1", "01", "1.0", " 1", "18446744073709551616"])
    func wrongGenerationText(text: String) {
        #expect(Generation(text) == nil)
    }

    @Test("each generation has a next one, except the highest")
    func nextGeneration() throws {
        #expect(try Generation.initial.next() == Generation(number: 1))
        let error = #expect(throws: StoreError.self) { _ = try Generation(number: .max).next() }
        #expect(error?.code == .limitExceeded)
    }

    @Test("only a store with a total order can say which generation is earlier")
    func comparesGenerations() {
        let (low, high) = (Generation(number: 3), Generation(number: 7))
        let ordered = StoreCapabilities(.totalOrder)
        #expect(ordered.isEarlier(low, than: high) == true)
        #expect(ordered.isEarlier(high, than: low) == false)
        #expect(ordered.isEarlier(low, than: low) == false)
        #expect(StoreCapabilities(.writing).isEarlier(low, than: high) == nil)
    }

    @Test("every kind of validation failure has Core Data's code and its own message")
    func failures() throws {
        let kinds: [(ValidationFailure.Kind, Int)] = [
            (.unsuitable("the end is before the beginning"), 1550), (.missing, 1570), (.tooFew(minimum: 2), 1580),
            (.tooMany(maximum: 4), 1590), (.deleteDenied(ObjectID("Track", key: 1)), 1600), (.tooLarge, 1610),
            (.tooSmall, 1620), (.tooLate, 1630), (.tooEarly, 1640), (.tooLong, 1660), (.tooShort, 1670),
            (.noMatch, 1680),
        ]
        var messages: Set<String> = []
        for (kind, code) in kinds {
            let failure = ValidationFailure(.object(album), entity: "Album", property: "title", kind: kind)
            #expect(failure.code == code)
            #expect(failure.message.contains("\(album)"))
            messages.insert(failure.message)
        }
        #expect(messages.count == kinds.count)
    }

    @Test("an error for validation failures keeps all and names the first")
    func failuresOfError() {
        let row = ValidationFailure(.row(7), entity: "Album", property: "title", kind: .missing)
        let object = ValidationFailure(.object(album), entity: "Album", property: nil, kind: .unsuitable("no"))
        let error = ValidationFailure.error([row, object])
        #expect(error.code == .validationFailed)
        #expect(error.failures == [row, object])
        #expect(error.message.contains("'title' of row 7 (Album)") && error.message.contains("1 more"), "\(error)")
    }

    @Test("an error for missing objects lists each once and names the first")
    func missingObjects() throws {
        var missing = MissingObjects()
        try missing.throwIfAny()
        for key in [Int64(4), 2, 4] { missing.append(ObjectID("Tag", key: key)) }
        let error = #expect(throws: StoreError.self) { try missing.throwIfAny() }
        #expect(error?.missingObjects == [ObjectID("Tag", key: 4), ObjectID("Tag", key: 2)])
        #expect(error?.message.contains("Tag/p4") == true)
    }

    /// Contradicting changes of one object in one change set.
    struct Contradiction: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: StoreError.Code
        let change: @Sendable (inout ChangeSet) throws -> Void

        init(
            _ description: String, refusedWith code: StoreError.Code,
            change: @escaping @Sendable (inout ChangeSet) throws -> Void
        ) {
            testDescription = description
            self.code = code
            self.change = change
        }
    }

    private static let tag = ObjectID("Tag", key: 1)

    static let contradictions: [Contradiction] = [
        Contradiction("inserted twice", refusedWith: .duplicateObject) {
            try $0.insert(CommitTypesTests.tag, values: [:])
            try $0.insert(CommitTypesTests.tag, values: [:])
        },
        Contradiction("inserted and updated", refusedWith: .duplicateObject) {
            try $0.insert(CommitTypesTests.tag, values: [:])
            try $0.update(CommitTypesTests.tag, version: 1, values: [:])
        },
        Contradiction("inserted and deleted", refusedWith: .duplicateObject) {
            try $0.insert(CommitTypesTests.tag, values: [:])
            $0.delete(CommitTypesTests.tag, version: 1)
        },
        Contradiction("updated and deleted", refusedWith: .invalidRequest) {
            try $0.update(CommitTypesTests.tag, version: 1, values: [:])
            $0.delete(CommitTypesTests.tag, version: 1)
        },
        Contradiction("updated twice", refusedWith: .invalidRequest) {
            try $0.update(CommitTypesTests.tag, version: 1, values: [:])
            try $0.update(CommitTypesTests.tag, version: 1, values: [:])
        },
        Contradiction("deleted twice", refusedWith: .invalidRequest) {
            $0.delete(CommitTypesTests.tag, version: 1)
            $0.delete(CommitTypesTests.tag, version: 1)
        },
        Contradiction("of an unknown entity", refusedWith: .unknownEntity) {
            $0.existing = [ObjectID("Nothing", key: 1)]
        },
    ]

    @Test("a change set that contradicts itself is refused before the commit", arguments: contradictions)
    func refusesContradiction(contradiction: Contradiction) throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("Tag"), EntityDescription("Other")])
        var changes = ChangeSet(model: model)
        // A check of only the first change would not find the contradiction.
        try changes.insert(ObjectID("Other", key: 1), values: [:])
        try changes.insert(ObjectID("Tag", key: 7), values: [:])
        try contradiction.change(&changes)
        let error = #expect(throws: StoreError.self) {
            _ = try PreparedChange(changes, model: model, location: StoreLocation(type: "memory", path: "a"))
        }
        #expect(error?.code == contradiction.code, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("a prepared change sorts inserts by entity and key, and keeps their positions in the change set")
    func preparedOrder() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("A"), EntityDescription("B")])
        var changes = ChangeSet(model: model)
        let ids: [ObjectID] = (1...200).map { (number: Int) -> ObjectID in
            let entity: EntityName = number % 3 == 0 ? "B" : "A"
            return ObjectID(entity, key: Int64(number * 7919 % 211 + 1))
        }
        for id in ids { try changes.insert(id, values: [:]) }
        let prepared = try PreparedChange(changes, model: model, location: StoreLocation(type: "memory", path: "a"))
        #expect(prepared.inserts.map(\.place) == prepared.inserts.map(\.place).sorted())
        #expect(prepared.inserts.map { ids[$0.position] } == prepared.inserts.map { prepared.id($0) })
        for item in prepared.inserts {
            #expect(PreparedChange.item(at: item.place, in: prepared.inserts)?.position == item.position)
        }
        #expect(PreparedChange.item(at: ObjectPlace(root: 0, key: 9999), in: prepared.inserts) == nil)
    }
}
