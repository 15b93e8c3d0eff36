import Foundation
import RoostCore

/// A model with every type of attribute and every kind of relationship, and records with every kind
/// of value.
enum TextSample {
    static func model() throws -> ManagedObjectModel {
        let everything = AttributeType.allCases.filter { $0 != .undefined && $0 != .composite }.map { type in
            AttributeDescription(type == .objectID ? "object" : type.name, type: type)
        }
        let place = AttributeDescription(
            "place", type: .composite,
            elements: [
                AttributeDescription("name", type: .string), AttributeDescription("height", type: .double),
                AttributeDescription(
                    "grid", type: .composite,
                    elements: [
                        AttributeDescription("x", type: .integer32), AttributeDescription("note", type: .binaryData),
                    ]),
            ])
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing", attributes: everything + [place, AttributeDescription("\"odd\\ náme", type: .string)],
                relationships: [
                    .toOne("owner", to: "Person", inverse: "things"), .toOne("box", to: "Box", inverse: "content"),
                    .toMany("friends", to: "Thing"),
                ]),
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("id", type: .integer64), AttributeDescription("version", type: .string),
                ],
                relationships: [.toMany("things", to: "Thing", inverse: "owner", isOrdered: true)]),
            EntityDescription(
                "Child", superentity: "Person", attributes: [AttributeDescription("note", type: .boolean)]),
            EntityDescription("Box", relationships: [.toMany("content", to: "Thing", inverse: "box", isOrdered: true)]),
        ])
    }

    static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 1.0 / 3, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
        -.leastNonzeroMagnitude,
        .leastNormalMagnitude, Double(bitPattern: 0x000F_FFFF_FFFF_FFFF), .infinity, -.infinity, .nan, -.nan,
        .signalingNaN,
        Double(bitPattern: 0x7FF8_0000_0000_0001),
        Double(bitPattern: 0xFFFF_FFFF_FFFF_FFFF), Double(bitPattern: 0x7FF0_0000_0000_0001), 9_007_199_254_740_994,
        1e15, 1e16, 1e17, 123_456_789.000_000_1, 1e22, 1e23,
    ]

    static let floatBits: [UInt32] = [
        0, 0x8000_0000, 0x3F80_0000, 1, 0x8000_0001, 0x007F_FFFF, 0x0080_0000, 0x7F7F_FFFF, 0xFF7F_FFFF, 0x7F80_0000,
        0xFF80_0000, 0x7FC0_0000, 0xFFC0_0000, 0x7F80_0001, 0xFFFF_FFFF, 0x3DCC_CCCD,
        0x4B80_0001, 0x3EAA_AAAB,
    ]

    private static let noncharacters = String(
        String.UnicodeScalarView([0xFFFF, 0xFDD0, 0x10FFFF, 0x1FFFE].compactMap { Unicode.Scalar(UInt32($0)) }))

    static let texts: [String] = [
        "", "a", "\u{0}", "a\u{0}b", "\u{2028}\u{2029}", noncharacters, "\"\\/\u{8}\u{C}\n\r\t",
        "\u{1}\u{1F}\u{7F}\u{80}\u{85}", "e\u{301} é", "🦉👩‍👩‍👧", "\u{FEFF}", "null", "{\"a\":1}",
        "\u{202E}abc", "\r\n", String(repeating: "ж", count: 5000), "\\u0000", "\u{E000}\u{D7FF}",
    ]

    static let decimals = [
        "0", "1", "-1", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "1e127",
        "1e-128", "-99999999999999999999999999999999999999e127",
        "12345678901234567890123456789012345678e-128", "0.1", "-12.345", "NaN", "1e60", "1e59", "1e-58", "1e-59",
        "18446744073709551616",
    ]

    static let integers: [Int64] = [
        0, 1, -1, .max, .min, .max - 1, .min + 1, 1 << 53, (1 << 53) + 1, 1_000_000_000_000_000_000,
    ]
}

/// Random numbers that follow from a seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

extension TextSample {
    /// Appends a record of any entity with random values, each sometimes null.
    static func appendRandomRecord(
        key: Int64, to batch: inout RecordBatch, using random: inout SeededNumbers
    ) throws(StoreError) {
        let model = batch.model
        let entity = model.entities.randomElement(using: &random).map(\.number) ?? 0
        let layout = model.entities[entity].layout
        batch.beginRecord(layout, key: key, version: UInt32.random(in: 0...UInt32.max, using: &random))
        for field in layout.fields where Int.random(in: 0..<4, using: &random) > 0 {
            switch field.kind {
            case .integer64, .order:
                try batch.setInteger(integers.randomElement(using: &random) ?? 0, for: field)
            case .integer32:
                try batch.setInteger(Int64([Int32.min, .max, 0, -7].randomElement(using: &random) ?? 0), for: field)
            case .integer16:
                try batch.setInteger(Int64([Int16.min, .max, 0, -7].randomElement(using: &random) ?? 0), for: field)
            case .boolean: try batch.setInteger(Bool.random(using: &random) ? 1 : 0, for: field)
            case .double, .date:
                let any = Double(bitPattern: random.next())
                try batch.setDouble(
                    Bool.random(using: &random) ? any : doubles.randomElement(using: &random) ?? 0, for: field)
            case .float:
                let any = UInt32(truncatingIfNeeded: random.next())
                batch.setFloatBits(
                    Bool.random(using: &random) ? any : floatBits.randomElement(using: &random) ?? 0, for: field)
            case .decimal:
                let known = decimals.randomElement(using: &random).flatMap { DecimalNumber(utf8: $0.utf8) }
                let any = DecimalNumber(
                    isNegative: Bool.random(using: &random),
                    mantissa: (UInt128(random.next()) << 64 | UInt128(random.next())) % DecimalNumber.mantissaLimit,
                    exponent: Int.random(in: -100...100, using: &random))
                batch.setDecimal((Bool.random(using: &random) ? any : known) ?? .zero, for: field)
            case .reference, .polymorphicReference, .objectID:
                let candidates =
                    field.destination.map { model.entities[$0].selfAndSubentities } ?? Array(model.entities.indices)
                try batch.setReference(
                    entity: candidates.randomElement(using: &random) ?? 0, key: Bool.random(using: &random) ? 1 : .max,
                    for: field)
            case .composite: batch.setComposite(field)
            case .uuid:
                let bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                    try batch.setUUID(bytes, for: field)
                }
            case .string, .uri:
                let text = Array((texts.randomElement(using: &random) ?? "").utf8)
                try text.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                    try batch.setBytes(bytes, for: field)
                }
            case .data, .transformable:
                let count = Int.random(in: 0..<70, using: &random)
                let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                    try batch.setBytes(bytes, for: field)
                }
            }
        }
        batch.endRecord()
    }
}
