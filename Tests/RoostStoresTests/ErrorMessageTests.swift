import Foundation
import Roost
import RoostCore
import Testing

@Suite("Messages of store errors")
struct ErrorMessageTests {
    private let folder = Result { try Folder() }

    private static let secret = "secret a b ^"

    private enum Color: String, Codable { case red }

    private struct Colored: Codable { var color: Color? }

    private struct Nested: Codable { var c: Colored }

    private struct Link: Codable { var url: URL }

    /// A type whose decoding error contains the value.
    private struct Revealing: Decodable {
        enum CodingKeys: String, CodingKey { case color }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let text = try container.decode(String.self, forKey: .color)
            throw DecodingError.dataCorruptedError(forKey: .color, in: container, debugDescription: "bad \(text)")
        }
    }

    /// A request that fails for an object with secret values.
    enum Request: CaseIterable, Sendable {
        case rawValue, nestedRawValue, ownError, wrongType, takenByInsert, takenByUpdate, otherType
    }

    private func run(_ request: Request, on store: Store) throws {
        switch request {
        case .rawValue: _ = try store.fetch(Colored.self, of: "E")
        case .nestedRawValue: _ = try store.fetch(Nested.self, of: "E")
        case .ownError: _ = try store.fetch(Revealing.self, of: "E")
        case .wrongType: _ = try store.fetch(Link.self, of: "E")
        case .takenByInsert: try store.insert("E", rows: [["k": .string(Self.secret)]])
        case .takenByUpdate:
            try store.insert("E", rows: [["k": "x"], ["k": "y"]])
            try store.update("E", set: ["k": .string(Self.secret)])
        case .otherType: try store.insert("E", rows: [["k": .data(Data(Self.secret.utf8))]])
        }
    }

    @Test(
        "an error message shows neither a stored value nor a value of a row", arguments: Sample.types, Request.allCases)
    func secrets(type: String, request: Request) throws {
        let store = try folder.get().store(
            type,
            entities: [
                EntityDescription(
                    "E",
                    attributes: [
                        .string("color"), .composite("c", elements: [.string("color")]), .string("k"), .string("url"),
                    ], uniquenessConstraints: [["k"]])
            ])
        let secret = Value.string(Self.secret)
        try store.insert(
            "E", rows: [["color": secret, "c": .composite(["color": secret]), "k": secret, "url": secret]])
        let error = #expect(throws: StoreError.self) { try run(request, on: store) }
        #expect(error?.message.isEmpty == false)
        #expect(error?.message.contains("secret") == false)
    }

    @Test("a failed fetch names the property and keeps the program's own error", arguments: Sample.types)
    func ownErrors(type: String) throws {
        let store = try folder.get().store(type, entities: [EntityDescription("E", attributes: [.string("color")])])
        try store.insert("E", rows: [["color": "secret"]])
        let error = #expect(throws: StoreError.self) { _ = try store.fetch(Revealing.self, of: "E") }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("color") == true)
        #expect(error?.underlying is DecodingError)
    }
}
