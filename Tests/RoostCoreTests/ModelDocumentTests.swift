import Foundation
import RoostCore
import TestSamples
import Testing

@Suite("Model documents")
struct ModelDocumentTests {
    static let music = """
        {
          "formatVersion": 1,
          "entities": {
            "Album": {
              "attributes": {
                "title": { "type": "string", "isOptional": false }
              },
              "relationships": {
                "tracks": { "destination": "Track", "inverse": "album", "isOrdered": true, "deleteRule": "cascade" }
              }
            },
            "Track": {
              "attributes": {
                "playCount": { "type": "integer64", "defaultValue": 0, "minimum": 0 },
                "title": { "type": "string" }
              },
              "relationships": {
                "album": { "destination": "Album", "inverse": "tracks", "maxCount": 1 }
              },
              "fetchIndexes": {
                "byTitle": { "elements": [{ "property": "title" }] }
              }
            }
          }
        }

        """

    @Test("the example of MODEL-FORMAT.md reads as the model that writes it")
    func example() throws {
        let model = try ModelSamples.music()
        #expect(String(decoding: model.document(), as: UTF8.self) == Self.music)
        #expect(try ManagedObjectModel(document: Array(Self.music.utf8)) == model)
    }

    @Test("a model document may be written in JSON5")
    func json5() throws {
        let text = """
            \u{FEFF}// A model
            { formatVersion: 0x1, 'entities': { /* one */ A: { attributes: {
                x: { type: 'double', defaultValue: +.5, minimum: -Infinity, },
                y: { type: "integer16", defaultValue: -0x10 },
                z: { type: "string", defaultValue: "a\\x41\\
            b" },
            } }, }, }
            """
        let model = try ManagedObjectModel(document: Array(text.utf8))
        let entity = try model.requireEntity("A")
        #expect(entity.attribute("x")?.defaultValue == .double(0.5))
        #expect(entity.attribute("x")?.validation.minimum == .double(-.infinity))
        #expect(entity.attribute("y")?.defaultValue == .int(-16))
        #expect(entity.attribute("z")?.defaultValue == .string("aAb"))
    }

    @Test("every problem of a model document is reported at once, with path and position")
    func allProblems() throws {
        let text = """
            { "formatVersion": 1,
              "entites": {},
              "entities": { "A": {
                "isAbstract": "yes",
                "attributes": {
                  "a": { "type": "strnig" },
                  "b": { "type": "integer16", "isOptionl": false, "defaultValue": "1" },
                  "c": {} },
                "relationships": { "r": { "deleteRule": "cascde", "destination": 1 } } } } }
            """
        let error = try #require(storeError { _ = try ManagedObjectModel(document: Array(text.utf8)) })
        #expect(error.code == .invalidModel)
        for part in [
            "entites (line 2, column 3): the key is unknown; did you mean 'entities'?",
            "entities.A.isAbstract (line 4, column 19): true or false is expected, not a string.",
            "entities.A.attributes.a.type (line 6, column 22): one of",
            "did you mean 'string'?",
            "entities.A.attributes.b.isOptionl (line 7, column 35): the key is unknown; did you mean 'isOptional'?",
            "entities.A.attributes.b.defaultValue (line 7, column 71): a whole number of 64 bits is expected",
            "entities.A.attributes.c (line 8, column 12): 'type' is missing.",
            "did you mean 'cascade'?",
            "entities.A.relationships.r.destination (line 9, column 70): a string is expected, not a number.",
        ] {
            #expect(error.message.contains(part), "\(part) is missing in\n\(error.message)")
        }
    }

    @Test(
        "a malformed model document is refused with the reason",
        arguments: [
            ("", "line 1, column 1: the text ends where a value is expected"),
            (
                "{\"formatVersion\": 1,\n \"entities\": {}, \"entities\": {}}",
                "line 2, column 18: the key 'entities' occurs twice"
            ),
            ("{\"é\": 1 2}", "line 1, column 9: ',' or '}' is expected"),
            ("{\"a\": \"\\ud800\"}", "the surrogate has no partner"),
            ("{\"a\": 01}", "a number may not start with a zero"),
            ("{} x", "there is text after the end of the document"),
            ("[", "the text ends where a value is expected"),
            ("{\"a\": \"x", "line 1, column 7: the string has no end"),
            ("{ /* ", "line 1, column 3: the comment has no end"),
            ("{\"a\": \"\u{1}\"}", "a control character"),
            (String(repeating: "[", count: 100_000), "the text nests deeper than 128"),
        ])
    func broken(_ text: String, message: String) throws {
        let error = try #require(storeError { _ = try ManagedObjectModel(document: Array(text.utf8)) })
        #expect(error.code == .invalidModel)
        #expect(error.message.contains(message), "\(error.message)")
    }

    @Test("a model document with 5000 problems lists the first and counts the others")
    func manyProblems() throws {
        let keys = (0..<5000).map { "\"k\($0)\": 0" }.joined(separator: ", ")
        let text = "{\"formatVersion\": 1, \(keys)}"
        let error = try #require(storeError { _ = try ManagedObjectModel(document: Array(text.utf8)) })
        #expect(error.message.hasSuffix("… and 4900 more."))
    }

    @Test("a model document that is not UTF-8 is refused with the position")
    func invalidUTF8() throws {
        let bytes = Array("{\"é".utf8) + [0xFF, 0x22]
        let error = try #require(storeError { _ = try ManagedObjectModel(document: bytes) })
        #expect(error.message.contains("line 1, column 4: the text is not valid UTF-8"), "\(error.message)")
    }

    @Test("a model document of a newer format is refused as unsupported")
    func newerVersion() {
        let text = #"{"formatVersion": 2, "novelty": []}"#
        #expect(storeError { _ = try ManagedObjectModel(document: Array(text.utf8)) }?.code == .unsupportedVersion)
    }

    @Test(
        "a model document without a format version of at least 1 is refused",
        arguments: ["{}", #"{"formatVersion":0}"#])
    func missingVersion(_ text: String) {
        #expect(storeError { _ = try ManagedObjectModel(document: Array(text.utf8)) }?.code == .invalidModel)
    }

    @Test("a model encodes and decodes as its document")
    func codable() throws {
        let model = try ModelSamples.music()
        #expect(try JSONDecoder().decode(ManagedObjectModel.self, from: JSONEncoder().encode(model)) == model)
        #expect(throws: StoreError.self) {
            try JSONDecoder().decode(ManagedObjectModel.self, from: Data(#""{""#.utf8))
        }
    }
}
