internal import Foundation
package import RoostCore

/// A generator that gives the same random numbers for the same seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Returns the name of a type's sample attribute: the type's name, except for `objectID`, which is
/// a property of every object.
package func sampleName(of type: AttributeType) -> String { type == .objectID ? "anyObjectID" : type.name }

/// Returns a model with every type of attribute and every kind of field.
package func everyTypeModel() throws -> ManagedObjectModel {
    let elements: [AttributeDescription] = [
        .init("depth", type: .double), .init("label", type: .string),
        .init(
            "inner", type: .composite, elements: [.init("code", type: .integer16), .init("note", type: .binaryData)]),
    ]
    return try ManagedObjectModel(entities: [
        EntityDescription(
            "Thing",
            attributes: AttributeType.allCases.filter { $0 != .undefined && $0 != .composite }.map {
                AttributeDescription(sampleName(of: $0), type: $0)
            } + [
                .init("composite", type: .composite, elements: elements),
                .init("scratch", type: .undefined).with { $0.isTransient = true },
            ],
            relationships: [
                .toOne("owner", to: "Party", inverse: "things"),
                .toOne("next", to: "Thing", inverse: "previous"), .toOne("previous", to: "Thing", inverse: "next"),
                .toMany("tags", to: "Tag", inverse: "things"),
            ]),
        EntityDescription(
            "Party",
            relationships: [.toMany("things", to: "Thing", inverse: "owner", isOrdered: true)]
        ).with { $0.isAbstract = true },
        EntityDescription("Person", superentity: "Party", attributes: [.init("name", type: .string)]),
        EntityDescription("Company", superentity: "Party", attributes: [.init("name", type: .string)]),
        EntityDescription("Tag", relationships: [.toMany("things", to: "Thing", inverse: "tags")]),
    ])
}

/// Returns values at the limits of a type, and ordinary ones; none for `undefined` and `composite`.
package func limits(of type: AttributeType) -> [Value] {
    switch type {
    case .undefined, .composite: []
    case .integer16: [.int(-32768), .int(-1), .int(0), .int(1), .int(32767)]
    case .integer32: [.int(Int64(Int32.min)), .int(0), .int(Int64(Int32.max))]
    case .integer64: [.int(.min), .int(.min + 1), .int(-1), .int(0), .int(1 << 53 + 1), .int(.max)]
    case .boolean: [.bool(false), .bool(true)]
    case .double:
        [
            0.0, -0.0, .infinity, -.infinity, .nan, Double(bitPattern: 0xFFF8_0000_0000_0001),
            Double(bitPattern: 0x7FF0_0000_0000_0001), .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 0.1, .pi,
        ].map { .double($0) }
    case .float:
        [0.0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1].map {
            (number: Float) in .double(Double(number))
        }
    case .decimal:
        [
            "0", "-1", "1", "0.1", "-0.1", "99999999999999999999999999999999999999", "1e127", "1e-128", "-123.456",
            "12345678901234567890.123456789012345678",
        ].compactMap { DecimalNumber(utf8: $0.utf8).map { .decimal($0.decimal) } } + [.decimal(.nan)]
    case .string:
        [
            "", "a", "\0", "a\0b", "é", "e\u{301}", "\u{10FFFF}", "\u{FFFD}", "日本語", "\u{1F468}\u{200D}\u{1F469}",
            String(repeating: "x", count: 3_000),
        ].map { .string($0) }
    case .uri: ["", "https://example.org/a?b=c#d", "not a url at all \u{0}"].map { .uri($0) }
    case .binaryData, .transformable:
        [Data(), Data([0]), Data(0...255), Data(repeating: 0xFF, count: 7_000)].map { .data($0) }
    case .date:
        [0, -0.0, 0.1, -978_307_200, .nan, .infinity, 1e300, Double(bitPattern: 1)].map {
            .date(Date(timeIntervalSinceReferenceDate: $0))
        }
    case .uuid: [UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), UUID()].map { .uuid($0) }
    case .objectID: [.objectID(ObjectID("Thing", key: 1)), .objectID(ObjectID("Person", key: .max))]
    }
}

/// Returns random values for the stored properties of `everyTypeModel`'s Thing; some are missing.
package func randomThing(using generator: inout SeededGenerator) -> [String: Value] {
    var values: [String: Value] = [:]
    for type in AttributeType.allCases where Bool.random(using: &generator) {
        values[sampleName(of: type)] = limits(of: type).randomElement(using: &generator)
    }
    if Bool.random(using: &generator) {
        var composite: [String: Value] = [:]
        if Bool.random(using: &generator) { composite["depth"] = limits(of: .double).randomElement(using: &generator) }
        if Bool.random(using: &generator) { composite["label"] = .string("l") }
        if Bool.random(using: &generator) { composite["inner"] = .composite(["code": .int(3)]) }
        values["composite"] = .composite(composite)
    }
    if Bool.random(using: &generator) {
        let owner: EntityName = Bool.random(using: &generator) ? "Person" : "Company"
        values["owner"] = .objectID(ObjectID(owner, key: .random(in: 1...Int64.max, using: &generator)))
        values["owner#order"] = .int(.random(in: .min ... .max, using: &generator))
    }
    if Bool.random(using: &generator) { values["next"] = .objectID(ObjectID("Thing", key: 9)) }
    return values
}
