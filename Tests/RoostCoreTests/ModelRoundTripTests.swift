import Foundation
import RoostCore
import TestSamples
import Testing

@Suite("Round trips of models")
struct ModelRoundTripTests {
    @Test("a random model is the same after writing and reading its document", arguments: 0..<60 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = RandomModel(seed: seed)
        let model = try random.model()
        let document = model.document()
        let read = try ManagedObjectModel(document: document)
        #expect(read == model)
        #expect(read.document() == document)
        #expect(read.difference(from: model).isEmpty)
        #expect(read.entities.map(\.versionHash) == model.entities.map(\.versionHash))
    }

    @Test(
        "a default value has the same bits after writing and reading a model document",
        arguments: [
            (.integer64, .int(.min)), (.integer64, .int(.max)), (.integer16, .int(-32768)), (.double, .double(-0.0)),
            (.double, .double(.infinity)), (.double, .double(Double(bitPattern: 0x7FF8_0000_0000_0001))),
            (.double, .double(Double(bitPattern: 0xFFF8_0000_0000_0000))), (.double, .double(.leastNonzeroMagnitude)),
            (.double, .double(.greatestFiniteMagnitude)), (.float, .double(-.infinity)), (.boolean, .bool(false)),
            (.decimal, .decimal(Decimal(string: "-12345678901234567890123456789012345678") ?? 0)),
            (.decimal, .decimal(Decimal(string: "0.00000000000000000000000000000000000001") ?? 0)),
            (.decimal, .decimal(.nan)),
            (.string, .string("a\u{0}\"\\\u{2028}😀")), (.string, .string("e\u{301}")), (.string, .string("")),
            (.date, .date(Date(timeIntervalSinceReferenceDate: -31_626_000.000_000_1))),
            (.date, .date(Date(timeIntervalSinceReferenceDate: .nan))), (.binaryData, .data(Data([0, 255]))),
            (.transformable, .data(Data())),
            (.uuid, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))),
            (.uri, .uri("not a url: \u{0}")),
        ] as [(AttributeType, Value)])
    func values(_ type: AttributeType, value: Value) throws {
        let attribute = AttributeDescription("a", type: type, defaultValue: value)
        let composite = AttributeDescription(
            "c", type: .composite, defaultValue: .composite(["a": value, "b": .null]),
            elements: [attribute, AttributeDescription("b", type: .string)])
        let model = try ManagedObjectModel(entities: [EntityDescription("A", attributes: [attribute, composite])])
        let entity = try ManagedObjectModel(document: model.document()).requireEntity("A")
        #expect(entity.attribute("a")?.defaultValue == value)
        #expect(entity.attribute("c")?.defaultValue == .composite(["a": value]))
    }

    /// The example of `AttributeDescription`'s factories.
    @Test("the documented example of a model in Swift is valid")
    func documentedExample() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album",
                attributes: [
                    .string("title", isOptional: false, maximumLength: 200),
                    .date("releasedOn"),
                    .derived("trackCount", type: .integer64, from: "tracks.@count"),
                ],
                relationships: [
                    .toMany("tracks", to: "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)
                ],
                uniquenessConstraints: [["title"]]),
            EntityDescription(
                "Track",
                attributes: [
                    .string("title").renamed(from: "name"),
                    .integer64("playCount", default: 0, minimum: 0),
                    .composite("recordedAt", elements: [.double("latitude"), .double("longitude")]),
                ],
                relationships: [.toOne("album", to: "Album", inverse: "tracks")]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")] },
        ])
        #expect(model.entity("Track")?.layout.field("recordedAt.latitude")?.kind == .double)
        #expect(try ManagedObjectModel(document: model.document()) == model)
    }

    @Test(
        "a damaged model document is refused or read as another valid model",
        arguments: 0..<40 as Range<UInt64>)
    func damaged(seed: UInt64) throws {
        var random = RandomModel(seed: seed)
        let document = try random.model().document()
        var generator = SeededGenerator(seed: seed)
        let insertions: [[UInt8]] =
            ["{", "}", "[", "]", "\"", ",", ":", "\\u", "-", "e9", "null", "1e999", "\u{0}", "//", "'"]
            .map { Array($0.utf8) } + [[0xFF], [0xC3]]
        for _ in 0..<20 {
            var bytes = document
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let start = Int.random(in: bytes.indices, using: &generator)
                let end = min(bytes.count, start + Int.random(in: 0...6, using: &generator))
                bytes.replaceSubrange(start..<end, with: insertions.randomElement(using: &generator) ?? [])
            }
            let error = storeError {
                let model = try ManagedObjectModel(document: bytes)
                #expect(try ManagedObjectModel(document: model.document()) == model)
            }
            #expect(error == nil || error?.code == .invalidModel || error?.code == .unsupportedVersion)
        }
    }

    @Test("the short forms of attributes equal the full descriptions")
    func factories() {
        #expect(
            AttributeDescription.string(
                "s", isOptional: false, default: "x", minimumLength: 1, maximumLength: 9)
                == AttributeDescription(
                    "s", type: .string, isOptional: false, defaultValue: "x"
                ).with {
                    $0.validation = AttributeValidation(minimumLength: 1, maximumLength: 9)
                })
        #expect(
            AttributeDescription.integer16("i", default: 1, minimum: -2, maximum: 3)
                == AttributeDescription(
                    "i", type: .integer16, defaultValue: 1
                ).with { $0.validation = AttributeValidation(minimum: -2, maximum: 3) })
        #expect(
            AttributeDescription.float("f", default: 0.5).renamed(from: "g")
                == AttributeDescription("f", type: .float, defaultValue: 0.5).with { $0.renamingIdentifier = "g" })
        #expect(
            AttributeDescription.decimal("d", maximum: 7)
                == AttributeDescription("d", type: .decimal).with {
                    $0.validation = AttributeValidation(maximum: .decimal(7))
                })
        #expect(
            AttributeDescription.transformable("t", transformer: "T", valueClass: "C").transient()
                == AttributeDescription(
                    "t", type: .transformable
                ).with {
                    $0.isTransient = true
                    $0.valueTransformerName = "T"
                    $0.attributeValueClassName = "C"
                })
    }
}
