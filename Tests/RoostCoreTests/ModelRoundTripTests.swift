import Foundation
import RoostCore
import Testing

@Suite("Round trips of models")
struct ModelRoundTripTests {
    @Test("a random model comes back from its document", arguments: 0..<60 as Range<UInt64>)
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
        "default values come back with every bit",
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
    func values(_ type: AttributeType, _ value: Value) throws {
        let attribute = AttributeDescription("a", type, defaultValue: value)
        let composite = AttributeDescription(
            "c", .composite, defaultValue: .composite(["a": value, "b": .null]),
            elements: [attribute, AttributeDescription("b", .string)])
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
                    .derived("trackCount", .integer64, from: "tracks.@count"),
                ],
                relationships: [.toMany("tracks", "Track", inverse: "album", isOrdered: true, deleteRule: .cascade)],
                uniquenessConstraints: [["title"]]),
            EntityDescription(
                "Track",
                attributes: [
                    .string("title").renamed(from: "name"),
                    .integer64("playCount", default: 0, minimum: 0),
                    .composite("recordedAt", [.double("latitude"), .double("longitude")]),
                ],
                relationships: [.toOne("album", "Album", inverse: "tracks")],
                fetchIndexes: [FetchIndexDescription("byTitle", on: "title")]),
        ])
        #expect(model.entity("Track")?.layout.field("recordedAt.latitude")?.kind == .double)
        #expect(try ManagedObjectModel(document: model.document()) == model)
    }

    @Test(
        "a damaged document is refused or means another valid model, and never ends the process",
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

    @Test("short ways describe what they say")
    func factories() {
        #expect(
            AttributeDescription.string(
                "s", isOptional: false, default: "x", minimumLength: 1, maximumLength: 9, matching: "x+")
                == AttributeDescription(
                    "s", .string, isOptional: false, defaultValue: "x",
                    validation: AttributeValidation(minimumLength: 1, maximumLength: 9, regularExpression: "x+")))
        #expect(
            AttributeDescription.integer16("i", default: 1, minimum: -2, maximum: 3)
                == AttributeDescription(
                    "i", .integer16, defaultValue: 1, validation: AttributeValidation(minimum: -2, maximum: 3)))
        #expect(
            AttributeDescription.float("f", default: 0.5).renamed(from: "g")
                == AttributeDescription("f", .float, defaultValue: 0.5, renamingIdentifier: "g"))
        #expect(
            AttributeDescription.decimal("d", maximum: 7)
                == AttributeDescription("d", .decimal, validation: AttributeValidation(maximum: .decimal(7))))
        #expect(
            AttributeDescription.transformable("t", transformer: "T", valueClass: "C").transient()
                == AttributeDescription(
                    "t", .transformable, isTransient: true, valueTransformerName: "T", attributeValueClassName: "C"))
    }
}

/// Makes valid models that use everything a model can say.
struct RandomModel {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func model() throws -> ManagedObjectModel {
        let names = (0..<Int.random(in: 1...8, using: &generator)).map {
            "Entity\($0)" + pick(["", "É", " with space", "日本"])
        }
        var entities = names.enumerated().map { number, name in
            let parent = number > 0 && chance() ? names[Int.random(in: 0..<number, using: &generator)] : nil
            return entity(name, number: number, superentity: parent, among: names)
        }
        // A pair of inverses between any two entities.
        for pair in 0..<Int.random(in: 0...6, using: &generator) {
            let (a, b) = (
                Int.random(in: names.indices, using: &generator), Int.random(in: names.indices, using: &generator)
            )
            entities[a].relationships.append(relationship("to\(pair)", names[b], inverse: "from\(pair)"))
            entities[b].relationships.append(relationship("from\(pair)", names[a], inverse: "to\(pair)"))
        }
        entities.shuffle(using: &generator)
        return try ManagedObjectModel(
            entities: entities, configurations: chance() ? ["C": names, "D.e": []] : [:],
            fetchRequestTemplates: chance()
                ? [
                    FetchRequestTemplate(
                        "t", entity: names[0], predicateFormat: "a == $B", options: ["fetchLimit": "3"])
                ] : [],
            versionIdentifiers: chance() ? ["2", "1", "2"] : [], userInfo: info())
    }

    private mutating func chance() -> Bool { Bool.random(using: &generator) }
    private mutating func pick<Item>(_ items: [Item]) -> Item {
        items[Int.random(in: items.indices, using: &generator)]
    }
    private mutating func text() -> String? {
        chance() ? nil : pick(["", "x", "a\"b\\c", "\u{0}\n\t\u{7F}", "日本 😀", "e\u{301}"])
    }
    private mutating func info() -> [String: String] { chance() ? [:] : ["k": text() ?? "", "": "x", "a.b": "y"] }

    private mutating func entity(_ name: String, number: Int, superentity: String?, among names: [String])
        -> EntityDescription
    {
        let types = AttributeType.allCases.shuffled(using: &generator).prefix(Int.random(in: 1...8, using: &generator))
        let attributes = types.map { attribute("\($0.name)\(number)", $0, depth: 0) }
        let keys = attributes.filter { $0.isStored && $0.type != .composite }.map(\.name)
        return EntityDescription(
            name, superentity: superentity, isAbstract: chance(), attributes: attributes,
            relationships: chance() ? [relationship("single\(number)", pick(names), inverse: nil)] : [],
            fetchedProperties: chance()
                ? [
                    FetchedPropertyDescription(
                        "f\(number)", entity: pick(names), predicateFormat: text(), isOptional: chance(),
                        userInfo: info())
                ]
                : [],
            uniquenessConstraints: keys.shuffled(using: &generator).prefix(2).map { [$0] },
            fetchIndexes: keys.isEmpty
                ? []
                : [
                    FetchIndexDescription(
                        "i\(number)",
                        elements: keys.shuffled(using: &generator).map { .init($0, isAscending: chance()) },
                        partialIndexPredicateFormat: text()),
                    FetchIndexDescription("e", elements: [.init("", expression: "uppercase:(a)")]),
                ],
            managedObjectClassName: text(), coreSpotlightDisplayNameExpression: text(), renamingIdentifier: text(),
            versionHashModifier: text(), userInfo: info())
    }

    private mutating func relationship(_ name: String, _ destination: String, inverse: String?)
        -> RelationshipDescription
    {
        let maxCount = pick([nil, 1, 1, 5])
        return RelationshipDescription(
            name, destination: destination, inverse: inverse, minCount: Int.random(in: 0...1, using: &generator),
            maxCount: maxCount, isOrdered: maxCount != 1 && chance(), isOptional: chance(),
            isTransient: false, deleteRule: pick(DeleteRule.allCases), isIndexedBySpotlight: chance(),
            renamingIdentifier: text(), versionHashModifier: text(), userInfo: info())
    }

    private mutating func attribute(_ name: String, _ type: AttributeType, depth: Int) -> AttributeDescription {
        let elementTypes = AttributeType.allCases.filter {
            $0 != .undefined && $0 != .objectID && (depth < 2 || $0 != .composite)
        }
        let elements =
            type == .composite
            ? elementTypes.shuffled(using: &generator).prefix(4).map { attribute($0.name, $0, depth: depth + 1) } : []
        let isLimited: [AttributeType] = [.integer16, .integer32, .integer64, .double, .float, .decimal, .date]
        var validation = AttributeValidation()
        if isLimited.contains(type) {
            (validation.minimum, validation.maximum) = (value(type, elements), value(type, elements))
        } else if type == .string {
            validation = AttributeValidation(minimumLength: 0, maximumLength: 7, regularExpression: text())
        }
        return AttributeDescription(
            name, type, isOptional: chance(), isTransient: depth == 0 && (type == .undefined || chance()),
            defaultValue: value(type, elements), validation: validation, elements: elements,
            derivationExpression: depth == 0 && chance() ? "now()" : nil, valueTransformerName: text(),
            attributeValueClassName: text(), allowsExternalBinaryDataStorage: depth == 0 && chance(),
            preservesValueInHistoryOnDeletion: chance(), isIndexedBySpotlight: chance(),
            allowsCloudEncryption: chance(), renamingIdentifier: text(), versionHashModifier: text(), userInfo: info())
    }

    private mutating func value(_ type: AttributeType, _ elements: [AttributeDescription]) -> Value {
        if chance() { return .null }
        let bits = generator.next()
        switch type {
        case .undefined, .objectID: return .null
        case .integer16: return .int(Int64(Int16(truncatingIfNeeded: bits)))
        case .integer32: return .int(Int64(Int32(truncatingIfNeeded: bits)))
        case .integer64: return .int(Int64(bitPattern: bits))
        case .decimal:
            return .decimal(
                Decimal(bits) * pick([1, -1]) * Decimal(sign: .plus, exponent: Int(bits % 60) - 30, significand: 1))
        case .double: return .double(Double(bitPattern: bits))
        case .float: return .double(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
        case .string: return .string(text() ?? "")
        case .boolean: return .bool(chance())
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .binaryData, .transformable: return .data(Data(withUnsafeBytes(of: bits) { Array($0) }))
        case .uuid:
            return .uuid(
                UUID(uuid: (UInt8(truncatingIfNeeded: bits), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
        case .uri: return .uri("x:\(bits)")
        case .composite:
            return .composite(Dictionary(uniqueKeysWithValues: elements.map { ($0.name, value($0.type, $0.elements)) }))
        }
    }
}
