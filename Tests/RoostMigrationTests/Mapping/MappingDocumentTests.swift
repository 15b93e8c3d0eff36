import Foundation
import RoostCore
import RoostMigration
import TestSamples
import Testing

@Suite("Mapping documents")
struct MappingDocumentTests {
    static let example = """
        {
          "formatVersion": 1,
          "entityMappings": [
            {
              "name": "NoteToPost",
              "type": "transform",
              "source": "Note",
              "destination": "Post",
              "where": "isDraft == FALSE",
              "attributes": {
                "celsius": { "value": "($source.fahrenheit - 32.0) / 1.8" },
                "createdOn": {},
                "title": { "value": "$source.title" }
              },
              "relationships": {
                "labels": { "value": "FUNCTION($manager, \\"destinationInstancesForEntityMappingNamed:sourceInstances:\\", \\"TagToLabel\\", $source.tags)" }
              }
            },
            {
              "name": "TagToLabel",
              "type": "custom",
              "source": "Tag",
              "destination": "Label",
              "policy": "TagPolicy"
            }
          ]
        }

        """

    private func exampleModel() throws -> MappingModel {
        MappingModel([
            EntityMapping(
                "NoteToPost", type: .transform, from: "Note", to: "Post",
                attributes: [
                    PropertyMapping(
                        "celsius",
                        expression: .function(
                            .divide,
                            [.function(.subtract, [.source("fahrenheit"), .constant(32.0)]), .constant(1.8)])),
                    PropertyMapping("createdOn"), PropertyMapping("title", expression: .source("title")),
                ]
            ).with {
                $0.sourcePredicate = .equal("isDraft", to: false)
                $0.relationshipMappings = [
                    PropertyMapping(
                        "labels",
                        expression: .destinationInstances(ofEntityMapping: "TagToLabel", from: .source("tags")))
                ]
            },
            EntityMapping("TagToLabel", type: .custom, from: "Tag", to: "Label").with { $0.policyName = "TagPolicy" },
        ])
    }

    @Test("a mapping document is written as in MAPPING-FORMAT.md and reads back")
    func example() throws {
        let mapping = try exampleModel()
        #expect(String(decoding: try mapping.document(), as: UTF8.self) == Self.example)
        #expect(try MappingModel(document: Array(Self.example.utf8)) == mapping)
    }

    @Test("MAPPING-FORMAT.md contains the example document of these tests")
    func documentation() throws {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { url.deleteLastPathComponent() }
        let page = try String(
            contentsOf: url.appendingPathComponent("Sources/Migration/RoostMigration/Mapping/MAPPING-FORMAT.md"),
            encoding: .utf8)
        #expect(page.contains(Self.example))
    }

    @Test("a random mapping model reads back from its document", arguments: 0..<100 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = RandomMapping(seed: seed)
        let mapping = random.model()
        let document = try mapping.document()
        let read = try MappingModel(document: document)
        #expect(read == mapping)
        #expect(try read.document() == document)
    }

    @Test("a mapping document may be JSON5, and null equals a missing key")
    func json5() throws {
        let text = """
            // A mapping
            { formatVersion: 1, entityMappings: [ { name: 'm', type: 'remove', source: 'A', where: null, }, ], }
            """
        #expect(
            try MappingModel(document: Array(text.utf8)) == MappingModel([EntityMapping("m", type: .remove, from: "A")])
        )
    }

    @Test("an invalid mapping document reports every problem with its place and the nearest name")
    func problems() throws {
        let text = """
            {"formatVersion": 1, "entityMapings": [], "entityMappings": [
              {"name": "a", "type": "transfrom", "surce": "A", "sourceVersionHash": "12"},
              {"name": "a", "type": "copy", "where": "x ==", "attributes": {"x": {"value": "$source."}, "y": {"vlaue": "1"}}},
              {"type": "copy", "userInfo": {"k": 1}},
              7
            ]}
            """
        let error = storeError { _ = try MappingModel(document: Array(text.utf8)) }
        #expect(error?.code == .invalidMappingModel)
        let message = error?.message ?? ""
        for part in [
            "entityMapings (line 1, column 22): the key is unknown; did you mean 'entityMappings'?",
            "entityMappings[0].type (line 2, column 25): one of custom, add, remove, copy, transform is expected; did you mean 'transform'?",
            "entityMappings[0].surce (line 2, column 38): the key is unknown; did you mean 'source'?",
            "entityMappings[0].sourceVersionHash", "another mapping is named 'a'", "entityMappings[1].where (line 3",
            "entityMappings[1].attributes.x.value (line 3", "did you mean 'value'?", "entityMappings[2] (line 4",
            "'name' is missing", "entityMappings[2].userInfo.k",
            "entityMappings[3] (line 5, column 3): an object is expected",
        ] { #expect(message.contains(part), "\(part) in \(message)") }
    }

    @Test(
        "a text that is not a mapping model is refused",
        arguments: ["{", "[]", "{}", #"{"formatVersion": 0, "entityMappings": []}"#])
    func refusals(text: String) {
        #expect(storeError { _ = try MappingModel(document: Array(text.utf8)) }?.code == .invalidMappingModel)
    }

    @Test("a mapping document of a newer format version is refused despite unknown keys")
    func newerFormat() {
        let text = #"{"formatVersion": 2, "entityMappings": [], "new": 1}"#
        #expect(storeError { _ = try MappingModel(document: Array(text.utf8)) }?.code == .unsupportedVersion)
    }

    @Test("a mapping document needs no entity mappings")
    func noMappings() throws { _ = try MappingModel(document: Array(#"{"formatVersion": 1}"#.utf8)) }

    @Test("a mapping model that no document can express is not written")
    func unwritable() {
        let twice = MappingModel([EntityMapping("m", type: .add, to: "A"), EntityMapping("m", type: .add, to: "B")])
        #expect(storeError { _ = try twice.document() }?.code == .invalidMappingModel)
        let property = MappingModel([
            EntityMapping("m", type: .add, to: "A", attributes: [PropertyMapping("x"), PropertyMapping("x")])
        ])
        #expect(storeError { _ = try property.document() }?.code == .invalidMappingModel)
        let composite = MappingModel([
            EntityMapping(
                "m", type: .add, to: "A",
                attributes: [PropertyMapping("x", expression: .constant(.composite(["a": 1])))])
        ])
        #expect(storeError { _ = try composite.document() }?.code == .unsupported)
    }
}

/// A generator of random mapping models, valid or not.
private struct RandomMapping {
    private var trees: PredicateTrees

    init(seed: UInt64) { trees = PredicateTrees(seed: seed) }

    private mutating func chance() -> Bool { Bool.random(using: &trees.random) }
    private mutating func text() -> String {
        ["", "x", "a\"b\\c", "\u{0}\n\t\u{7F}", "日本 😀", "e\u{301}"].randomElement(using: &trees.random) ?? ""
    }
    private mutating func info() -> [String: String] { chance() ? [:] : ["k": text(), "": "x", "a.b": "y"] }
    private mutating func entity() -> EntityName? { chance() ? nil : EntityName("E" + text()) }
    private mutating func hash() -> VersionHash? {
        chance() ? nil : VersionHash(high: trees.random.next(), low: trees.random.next())
    }

    private mutating func properties() -> [PropertyMapping] {
        (0..<Int.random(in: 0...4, using: &trees.random)).map { number in
            PropertyMapping("p\(number)" + text(), expression: chance() ? nil : trees.expression(3), userInfo: info())
        }
    }

    mutating func model() -> MappingModel {
        let mappings = (0..<Int.random(in: 0...5, using: &trees.random)).map { number in
            EntityMapping(
                "m\(number)" + text(),
                type: EntityMapping.MappingType.allCases.randomElement(using: &trees.random) ?? .copy, from: entity(),
                to: entity(), attributes: properties()
            ).with {
                $0.sourceVersionHash = hash()
                $0.destinationVersionHash = hash()
                $0.sourcePredicate = chance() ? nil : trees.predicate(3)
                $0.relationshipMappings = properties()
                $0.policyName = chance() ? nil : text()
                $0.userInfo = info()
            }
        }
        return MappingModel(mappings, userInfo: info())
    }
}
