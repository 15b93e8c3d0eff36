import Foundation
import Roost
import RoostCore
import Testing

@Suite("Values after an upsert")
struct UpsertValueTests {
    private let folder = Result { try Folder() }

    private func open(_ type: String, _ entities: EntityDescription...) throws -> Store {
        try folder.get().store(type, entities: entities)
    }

    /// A property and a value for it, mostly of another type.
    struct Number: CustomTestStringConvertible, Sendable {
        let property: String
        let value: Value

        var testDescription: String { "\(property) = \(value)" }

        static let all = [
            Number(property: "d", value: 1), Number(property: "d", value: .double(-0.0)),
            Number(property: "d", value: .decimal(Decimal(sign: .plus, exponent: -1, significand: 1))),
            Number(property: "m", value: 2), Number(property: "m", value: 0.25), Number(property: "m", value: 0.1),
            Number(property: "f", value: 3), Number(property: "f", value: 0.1), Number(property: "i", value: 7.0),
            Number(property: "u", value: "http://a"),
            Number(property: "t", value: .date(Date(timeIntervalSinceReferenceDate: 0.1234567891))),
        ]
    }

    @Test("a unique value of another type than its attribute finds the object", arguments: Sample.types, Number.all)
    func keysOfOtherTypes(type: String, number: Number) throws {
        let store = try open(
            type,
            EntityDescription(
                "E",
                attributes: [
                    .double("d"), .decimal("m"), .float("f"), .uri("u"), .date("t"), .integer32("i"),
                ],
                uniquenessConstraints: [["d"], ["m"], ["f"], ["u"], ["t"], ["i"]]))
        let row = [number.property: number.value]
        try store.insert("E", rows: [row])
        #expect(try store.insert("E", rows: [row], onConflict: .update).count == 0)
        #expect(try store.insert("E", rows: [row, row], onConflict: .skip).count == 0)
        #expect(try store.count("E") == 1)
    }

    @Test("minus zero identifies the object with zero, and the row's sign is stored", arguments: Sample.types)
    func zeros(type: String) throws {
        let store = try open(type, EntityDescription("E", attributes: [.double("d")], uniquenessConstraints: [["d"]]))
        try store.insert("E", rows: [["d": 0.0]])
        #expect(try store.insert("E", rows: [["d": .double(-0.0)]], onConflict: .update).count == 1)
        #expect(try store.fetch("E").map { $0["d"] } == [.double(-0.0)])
    }

    @Test("an upsert of numbers of other types changes nothing the second time", arguments: Sample.types)
    func valuesOfOtherTypes(type: String) throws {
        let store = try open(
            type,
            EntityDescription(
                "E", attributes: [.string("k"), .double("d"), .decimal("m"), .float("f"), .boolean("b")],
                uniquenessConstraints: [["k"]]))
        let rows: [[String: Value]] = [
            ["k": "1", "d": 3], ["k": "2", "m": 3], ["k": "3", "f": 0.1], ["k": "4", "b": 1], ["k": "5", "m": 0.1],
        ]
        #expect(try store.insert("E", rows: rows, onConflict: .update).count == 5)
        let digest = try store.digest()
        #expect(try store.insert("E", rows: rows, onConflict: .update).count == 0)
        #expect(try store.digest() == digest)
    }

    // MARK: Composites

    /// Opens a store with a composite whose second element has a default value.
    private func places(_ type: String) throws -> Store {
        try open(
            type,
            EntityDescription(
                "E",
                attributes: [
                    .string("k"), .composite("place", elements: [.integer32("zip"), .integer32("n", default: 4)]),
                ],
                relationships: [.toMany("others", to: "E")], uniquenessConstraints: [["k"]]))
    }

    private func places(in store: Store) throws -> [[Value]] {
        try store.fetch("E", sortedBy: ["k"]).map { [$0["place.zip"], $0["place.n"]] }
    }

    @Test(
        "a later row's composite replaces an element that an earlier row named",
        arguments: Sample.types)
    func compositeAfterElement(type: String) throws {
        let store = try places(type)
        try store.insert(
            "E", rows: [["k": "a", "place.zip": 5], ["k": "a", "place": .composite(["zip": 7])]], onConflict: .update)
        #expect(try places(in: store) == [[7, .null]])
        try store.insert("E", rows: [["k": "a", "place.zip": 5], ["k": "a", "place": .null]], onConflict: .update)
        #expect(try store.fetch("E").map { $0["place"] } == [.null])
    }

    @Test(
        "a later row sets one element of an earlier row's composite",
        arguments: Sample.types)
    func elementAfterComposite(type: String) throws {
        let store = try places(type)
        try store.insert(
            "E", rows: [["k": "a", "place": .composite(["zip": 7])], ["k": "a", "place.n": 9]], onConflict: .update)
        #expect(try places(in: store) == [[7, 9]])
    }

    @Test("a composite set as a whole does not get its elements' defaults", arguments: Sample.types)
    func wholeComposites(type: String) throws {
        let store = try places(type)
        let place: Value = .composite(["zip": 7])
        try store.insert("E", rows: [["k": "1", "place": place]])
        try store.insert("E", rows: [["k": "2", "place": place]], onConflict: .update)
        try store.insert("E", rows: [["k": "3", "place.n": 1]])
        try store.insert("E", rows: [["k": "3", "place": place]], onConflict: .update)
        try store.insert("E", rows: [["k": "4", "place.n": 1]])
        try store.update("E", set: ["place": place], where: "k == '4'")
        #expect(try places(in: store) == Array(repeating: [7, .null], count: 4))
    }

    @Test("setting one element of a null composite gives the other elements their defaults", arguments: Sample.types)
    func elementsAlone(type: String) throws {
        let store = try places(type)
        try store.insert("E", rows: [["k": "1", "place.zip": 7]])
        try store.insert("E", rows: [["k": "2", "place.zip": 7]], onConflict: .update)
        try store.insert("E", rows: [["k": "3", "place": .null], ["k": "4", "place": .null]])
        try store.insert("E", rows: [["k": "3", "place.zip": 7]], onConflict: .update)
        try store.update("E", set: ["place.zip": 7], where: "k == '4'")
        #expect(try places(in: store) == Array(repeating: [7, 4], count: 4))
    }

    @Test("a Codable type with a list property stores the same composite as one without", arguments: Sample.types)
    func codableComposites(type: String) throws {
        struct Place: Codable { var zip: Int?, n: Int? }
        struct Plain: Codable { var k: String, place: Place }
        struct Listed: Codable { var k: String, place: Place, others: [ObjectID] }
        let store = try places(type)
        try store.insert([Plain(k: "1", place: Place(zip: 7))], into: "E")
        try store.insert([Listed(k: "2", place: Place(zip: 7), others: [])], into: "E")
        #expect(try places(in: store) == [[7, .null], [7, .null]])
    }

    // MARK: Mandatory elements

    /// Opens a store with an object whose composite is null, although one element is mandatory.
    private func numberedPlaces(_ type: String) throws -> Store {
        let store = try open(
            type,
            EntityDescription(
                "E",
                attributes: [
                    .string("k"),
                    .composite(
                        "place",
                        elements: [
                            .string("street"), .integer32("number", isOptional: false), .integer32("n", default: 4),
                        ]),
                ],
                uniquenessConstraints: [["k"]]))
        try store.insert("E", rows: [["k": "a"]])
        return store
    }

    /// A request that leaves a composite without its mandatory element.
    enum IncompleteRequest: CaseIterable, Sendable {
        case update, upsertOfExisting, upsertOfNew, updateOfWhole

        func run(_ store: Store) throws {
            switch self {
            case .update: try store.update("E", set: ["place.street": "x"])
            case .upsertOfExisting:
                try store.insert("E", rows: [["k": "a", "place.street": "x"]], onConflict: .update)
            case .upsertOfNew: try store.insert("E", rows: [["k": "b", "place.street": "x"]], onConflict: .update)
            case .updateOfWhole: try store.update("E", set: ["place": .composite(["street": "x"])])
            }
        }
    }

    @Test(
        "a request that leaves a composite without its mandatory element is refused", arguments: Sample.types,
        IncompleteRequest.allCases)
    func incompleteComposites(type: String, request: IncompleteRequest) throws {
        let store = try numberedPlaces(type)
        let error = #expect(throws: StoreError.self) { try request.run(store) }
        #expect(error?.failures.map(\.property) == ["place.number"])
        #expect(error?.failures.map(\.kind) == [.missing])
        #expect(try store.fetch("E").map { $0["place"] } == [.null])
        #expect(try store.check().isEmpty)
    }

    @Test("setting the mandatory element of a null composite sets the defaults of the others", arguments: Sample.types)
    func mandatoryElements(type: String) throws {
        let store = try numberedPlaces(type)
        try store.update("E", set: ["place.number": 2])
        #expect(try store.fetch("E").map { $0["place.n"] } == [4])
        #expect(try store.check().isEmpty)
    }
}
