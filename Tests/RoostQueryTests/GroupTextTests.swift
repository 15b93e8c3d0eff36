import Foundation
import Testing

@testable import RoostCore
@testable import RoostQuery

@Suite("Expressions and conditions on groups as text")
struct GroupTextTests {
    private typealias Expression = FetchRequest.Expression
    private typealias Predicate = FetchRequest.Predicate

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Album",
                attributes: [
                    .init("title", type: .string), .init("price", type: .decimal), .init("released", type: .date),
                ],
                relationships: [.toMany("tracks", to: "Track", inverse: "album")]),
            EntityDescription(
                "Track", attributes: [.init("length", type: .integer32)],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
        ])
    }

    private static let tenth = Value.decimal(DecimalNumber(utf8: "0.1".utf8)?.decimal ?? .nan)

    @Test(
        "a column of groups can apply operators to all objects of a group",
        arguments: [
            ("@count", .keyPath(["@count"])), ("@count.title", .keyPath(["@count", "title"])),
            ("@max.released", .keyPath(["@max", "released"])),
            ("@sum.album.price", .keyPath(["@sum", "album", "price"])),
            (
                "@sum.length / @count",
                .function(.divide, [.keyPath(["@sum", "length"]), .keyPath(["@count"])])
            ),
        ] as [(String, FetchRequest.Expression)])
    func columns(_ text: String, expected: FetchRequest.Expression) throws {
        let model = try Self.model()
        let entity: EntityName = text.contains("title") || text.contains("released") ? "Album" : "Track"
        let read = try Expression(text, for: entity, model: model, ofGroups: true)
        #expect(read == expected)
        #expect(try Expression(read.format(), for: entity, model: model, ofGroups: true) == read)
        #expect(throws: StoreError.self) { try Expression(text, for: entity, model: model) }
        var request = RowRequest(FetchRequest(entity))
        request.propertiesToFetch = [.init("x", expression: read)]
        #expect(try RowPlan(request, model: model).grouping != nil)
    }

    @Test(
        "a literal in a condition on groups has the type of the collection operator's result",
        arguments: [
            ("@sum.price > 0.1", ["@sum", "price"], tenth),
            ("@min.released > '2001-01-02'", ["@min", "released"], .date(Date(timeIntervalSinceReferenceDate: 86400))),
            ("@count > 2", ["@count"], .int(2)), ("@max.title > 'x'", ["@max", "title"], "x"),
        ] as [(String, [String], Value)])
    func conditions(text: String, names: [String], value: Value) throws {
        let model = try Self.model()
        let read = try Predicate(text, for: "Album", model: model, ofGroups: true)
        #expect(read == .comparison(.init(left: .keyPath(names), operator: .greater, right: .constant(value))))
        let written = try read.format(for: "Album", model: model)
        #expect(try Predicate(written, for: "Album", model: model, ofGroups: true) == read, "\(written)")
        // Conditions on objects refuse these operators.
        #expect(throws: StoreError.self) { try Predicate(text, for: "Album", model: model) }
    }

    /// Wrong columns of groups, each with the position of the mistake and words of the message.
    static let refusals: [(String, String, String)] = [
        ("1 + @sum", "column 5", "@sum.price"), ("1 + @sum.prise", "column 5", "did you mean 'price'?"),
        ("@sum.tracks.length", "column 1", "write sum(tracks.@sum.length)."),
        ("@count.tracks", "column 1", "write sum(tracks.@count)."),
        ("@max.tracks", "column 1", "write max(tracks.@count)."),
        ("@avg.tracks.length", "column 1", "write average(tracks.@avg.length)."),
        ("@unionOfObjects.title", "column 1", "needs a to-many relationship"),
    ]

    @Test("the error for a wrong column of groups has the position of the mistake and a remedy", arguments: refusals)
    func refusesWithRemedy(_ text: String, place: String, words: String) throws {
        let model = try Self.model()
        let error = try #require(throws: StoreError.self) {
            try Expression(text, for: "Album", model: model, ofGroups: true)
        }
        #expect(error.message.contains("At \(place) ") && error.message.contains(words), "\(error.message)")
    }

    @Test(
        "the column of groups that an error suggests is valid",
        arguments: refusals.filter { $0.2.hasPrefix("write") })
    func suggestsValidColumn(_ text: String, place: String, words: String) throws {
        let model = try Self.model()
        let suggested = try #require(words.split(separator: " ").last).dropLast()
        var request = RowRequest(FetchRequest("Album"))
        request.propertiesToFetch = [
            .init("x", expression: try Expression(String(suggested), for: "Album", model: model, ofGroups: true))
        ]
        #expect(try RowPlan(request, model: model).grouping != nil)
        // An expression that was read without a model is refused with the same words.
        request.propertiesToFetch = [.init("x", expression: try Expression(format: text))]
        let same = try #require(throws: StoreError.self) { try RowPlan(request, model: model) }
        #expect(same.message.contains(words), "\(same.message)")
    }
}

@Suite("Suggested names")
struct SuggestedNameTests {
    @Test(
        "a suggested name is escaped as the predicate language requires",
        arguments: [
            ("firsst == 1", "#first"), ("#\"odd nam\" == 1", "#\"odd name\""),
            ("sise.depht == 1", "#size.#\"depth\\\"\""),
            ("owner.lasst == 1", "#last"), ("titel == 'x'", "title"),
            ("SUBQUERY(parts, $p, $p.lasst == 1).@count > 0", "#last"),
        ])
    func names(_ text: String, suggestion: String) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    .init("first", type: .integer32), .init("odd name", type: .integer32),
                    .init("title", type: .string),
                    .init("size", type: .composite, elements: [.init("depth\"", type: .integer32)]),
                ],
                relationships: [
                    .toOne("owner", to: "Owner", inverse: "things"), .toMany("parts", to: "Owner", inverse: "whole"),
                ]),
            EntityDescription(
                "Owner", attributes: [.init("last", type: .integer32)],
                relationships: [
                    .toMany("things", to: "Thing", inverse: "owner"), .toOne("whole", to: "Thing", inverse: "parts"),
                ]),
        ])
        let error = try #require(throws: StoreError.self) {
            try FetchRequest.Predicate(text, for: "Thing", model: model)
        }
        #expect(error.message.contains("did you mean '\(suggestion)'?"), "\(error.message)")
        let entity: EntityName = suggestion == "#last" ? "Owner" : "Thing"
        _ = try FetchRequest.Predicate("\(suggestion) != NULL", for: entity, model: model)
    }

    @Test("the error for an unknown name names a subentity that has it, or lists the entity's properties")
    func subentities() throws {
        let library = try Library()
        let error = try #require(throws: StoreError.self) {
            try FetchRequest.Predicate("#size > 3", for: "Artist", model: library.model)
        }
        #expect(error.message.contains("its subentity 'Band' has it"), "\(error.message)")
        let nothing = try #require(throws: StoreError.self) {
            try FetchRequest.Predicate("length > 3", for: "Artist", model: library.model)
        }
        #expect(nothing.message.hasSuffix("'length'; it has albums, name."), "\(nothing.message)")
    }

    @Test("a misspelled variable is refused with the nearest name")
    func variables() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Node", attributes: [.init("number", type: .integer32)],
                relationships: [.toMany("next", to: "Node", inverse: "next")])
        ])
        let text = "SUBQUERY(next, $\"odd one\", $\"odd on\".number == 1).@count > 0"
        let predicate = try FetchRequest.Predicate(format: text)
        let error = try #require(throws: StoreError.self) {
            try RecordFilter(FetchRequest("Node", where: predicate), model: model)
        }
        #expect(error.message.contains("did you mean '$\"odd one\"'?"), "\(error.message)")
    }
}
