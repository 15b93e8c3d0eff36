import Foundation
import Testing

@testable import RoostCore

@Suite("Generations, receipts and validation failures")
struct CommitTypesTests {
    @Test("a generation survives its text and its JSON")
    func generationText() throws {
        for number in [UInt64.min, 1, 42, .max] {
            let generation = Generation(number: number)
            #expect(Generation(generation.description) == generation)
            let json = try JSONEncoder().encode([generation])
            #expect(String(decoding: json, as: UTF8.self) == "[\(number)]")
            #expect(try JSONDecoder().decode([Generation].self, from: json) == [generation])
        }
        for text in ["", "-1", "+1", "01", "1.0", " 1", "18446744073709551616"] {
            #expect(Generation(text) == nil, "'\(text)'")
        }
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
        let id = ObjectID("Album", key: 3)
        let kinds: [(ValidationFailure.Kind, Int)] = [
            (.unsuitable("the end is before the beginning"), 1550), (.missing, 1570), (.tooFew(minimum: 2), 1580),
            (.tooMany(maximum: 4), 1590), (.deleteDenied(ObjectID("Track", key: 1)), 1600), (.tooLarge, 1610),
            (.tooSmall, 1620), (.tooLate, 1630), (.tooEarly, 1640), (.tooLong, 1660), (.tooShort, 1670),
            (.noMatch, 1680),
        ]
        var messages: Set<String> = []
        for (kind, code) in kinds {
            let failure = ValidationFailure(.object(id), entity: "Album", property: "title", kind: kind)
            #expect(failure.code == code)
            #expect(failure.message.contains("\(id)"))
            messages.insert(failure.message)
        }
        #expect(messages.count == kinds.count)
        let row = ValidationFailure(.row(7), entity: "Album", property: "title", kind: .missing)
        let object = ValidationFailure(.object(id), entity: "Album", property: nil, kind: .unsuitable("no"))
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

    @Test("a change set that changes an object twice is refused before the commit")
    func refusesContradiction() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("Tag"), EntityDescription("Other")])
        let tag = ObjectID("Tag", key: 1)
        let cases: [(String, StoreError.Code, (inout ChangeSet) throws -> Void)] = [
            ("inserted twice", .duplicateObject, { for _ in 0..<2 { try $0.insert(tag, values: [:]) } }),
            (
                "inserted and updated", .duplicateObject,
                {
                    try $0.insert(tag, values: [:])
                    try $0.update(tag, version: 1, values: [:])
                }
            ),
            (
                "inserted and deleted", .duplicateObject,
                {
                    try $0.insert(tag, values: [:])
                    $0.delete(tag, version: 1)
                }
            ),
            (
                "updated and deleted", .invalidRequest,
                {
                    try $0.update(tag, version: 1, values: [:])
                    $0.delete(tag, version: 1)
                }
            ),
            ("updated twice", .invalidRequest, { for _ in 0..<2 { try $0.update(tag, version: 1, values: [:]) } }),
            ("deleted twice", .invalidRequest, { for _ in 0..<2 { $0.delete(tag, version: 1) } }),
            ("unknown", .unknownEntity, { $0.existing = [ObjectID("Nothing", key: 1)] }),
        ]
        for (name, code, change) in cases {
            var changes = ChangeSet(model: model)
            // In between, so that nothing is found by position.
            try changes.insert(ObjectID("Other", key: 1), values: [:])
            try changes.insert(ObjectID("Tag", key: 7), values: [:])
            try change(&changes)
            let error = #expect(throws: StoreError.self) {
                _ = try PreparedChange(changes, model: model, location: StoreLocation(type: "memory", path: "a"))
            }
            #expect(error?.code == code, "\(name): \(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("a prepared change sorts its inserts by place and keeps their positions")
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
