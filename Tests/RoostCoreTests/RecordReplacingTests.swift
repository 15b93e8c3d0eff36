import Foundation
import RoostCore
import Testing

@Suite("Records with replaced values")
struct RecordReplacingTests {
    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid,
        .uri, .transformable, .objectID,
    ]

    private func model(_ generator: inout SystemRandomNumberGenerator) throws -> ManagedObjectModel {
        let attributes = (0..<Int.random(in: 1...20, using: &generator)).map { number in
            AttributeDescription("a\(number)", type: Self.types.randomElement(using: &generator) ?? .string)
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing", attributes: attributes,
                relationships: [.toOne("other", to: "Thing", inverse: "others"), .toOne("next", to: "Base")]
                    + [.toMany("others", to: "Thing", inverse: "other", isOrdered: true)]),
            EntityDescription("Base"), EntityDescription("Derived", superentity: "Base"),
        ])
    }

    private func value(_ field: RecordLayout.Field, using generator: inout SystemRandomNumberGenerator) -> Value {
        if Int.random(in: 0..<3, using: &generator) == 0 { return .null }
        let number = Int64.random(in: -9...9, using: &generator)
        return switch field.kind {
        case .integer16, .integer32, .integer64, .order: .int(number)
        case .decimal: .decimal(Decimal(number) / 8)
        case .double, .float: .double([0, -0.0, 1.5, .nan, .infinity].randomElement(using: &generator) ?? 0)
        case .string: .string(String(repeating: "é", count: Int(number.magnitude)))
        case .uri: .uri(String(repeating: "u", count: Int(number.magnitude)))
        case .boolean: .bool(number > 0)
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .data, .transformable: .data(Data(repeating: 7, count: Int(number.magnitude)))
        case .uuid: .uuid(UUID())
        case .reference: .objectID(ObjectID("Thing", key: number.magnitude == 0 ? 1 : Int64(number.magnitude)))
        case .polymorphicReference, .objectID:
            .objectID(ObjectID(number > 0 ? "Derived" : "Base", key: Int64(number.magnitude) + 1))
        case .composite: .null
        }
    }

    @Test("replacing fields of a record gives the bytes of the whole new record", arguments: 0..<300)
    func sameBytes(round: Int) throws {
        var generator = SystemRandomNumberGenerator()
        let model = try model(&generator)
        let layout = try model.requireEntity("Thing").layout
        var (old, replacements) = ([String: Value](), [(field: RecordLayout.Field, value: Value)]())
        for field in layout.fields { old[field.name] = value(field, using: &generator) }
        var new = old
        for field in layout.fields.shuffled() where Bool.random() {
            let value = value(field, using: &generator)
            replacements.append((field, value))
            new[field.name] = value
        }
        var (before, expected, actual) = (
            RecordBatch(model: model), RecordBatch(model: model), RecordBatch(model: model)
        )
        try before.append(ObjectID("Thing", key: 5), version: 77, values: old)
        try expected.append(ObjectID("Thing", key: 5), version: 77, values: new)
        // The new record must not begin at offset 0.
        actual.append(before, at: 0)
        try before.withRecord(at: 0) { try actual.append($0, replacing: replacements) }
        #expect(actual.record(at: 1) == expected.record(at: 0))
        try actual.withRecord(at: 1) { try $0.validate() }
    }

    @Test(
        "replacing a field with an unsuitable value is refused and leaves the batch unchanged",
        arguments: [("number", .int(32768)), ("number", "x"), ("text", 5)] as [(String, Value)])
    func keepsBatchOnWrongValue(name: String, value: Value) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Thing", attributes: [.init("number", type: .integer16), .init("text", type: .string)])
        ])
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Thing", key: 1), values: ["number": 3, "text": "t"])
        let field = try model.requireEntity("Thing").layout.requireField(name)
        let record = batch.record(at: 0)
        #expect(throws: StoreError.self) {
            try record.withReader { try batch.append($0, replacing: [(field, value)]) }
        }
        #expect(batch.count == 1)
        #expect(batch.byteCount == record.bytes.count)
    }
}
