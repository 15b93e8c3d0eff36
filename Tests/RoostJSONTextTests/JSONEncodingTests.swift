import Foundation
import RoostJSONText
import Testing

private struct Everything: Encodable {
    struct Part: Encodable {
        var name: String
        var size: Int?
        var places: [Double]
    }

    enum Kind: String, Encodable { case small, large }

    enum CodingKeys: String, CodingKey {
        case text = "z text", number, float, flag, kind, parts, none, byName, nothing, id, bounds
    }

    var text = "q\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}\u{80}é\u{2028}😀"
    var number = -0.0
    var float: Float = 0.1
    var flag = false
    var kind = Kind.large
    var parts = [
        Part(name: "", size: nil, places: []),
        Part(name: "a", size: 1, places: [1, 2.5, -3, 1e300, 1e-300, 1e15, 1e16]),
    ]
    var none: [Part] = []
    var byName = ["b": UInt64.max, "a10": 1, "a2": 2, "B": 3, "é": 4, "e\u{301}x": 5, "": 6, "_": 7]
    var nothing: [String: Part] = [:]
    var id = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
    var bounds: [Int64?] = [.min, nil, .max]
}

/// A value that uses encoding containers of every kind.
private struct Nested: Encodable {
    enum Keys: String, CodingKey { case list, object, null, above }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encodeNil(forKey: .null)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode("x")
        try list.encodeNil()
        var inner = list.nestedContainer(keyedBy: Keys.self)
        try inner.encode([1, 2], forKey: .list)
        var deeper = list.nestedUnkeyedContainer()
        try deeper.encode(list.count)
        try true.encode(to: list.superEncoder())
        var object = container.nestedContainer(keyedBy: Keys.self, forKey: .object)
        try object.encode(Int8(-5), forKey: .null)
        try 7.encode(to: container.superEncoder(forKey: .above))
        try 8.encode(to: container.superEncoder())
    }
}

@Suite("JSON encoding")
struct JSONEncodingTests {
    private func foundation(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        // Roost has no blank before a colon, and no line breaks in an empty list or object.
        return text.replacing("\" : ", with: "\": ").replacing(/\[\s+\]/, with: "[]").replacing(/\{\s+\}/, with: "{}")
    }

    private func expectSame(_ value: some Encodable) throws {
        let text = String(decoding: JSONText.bytes(try JSONNode(encoding: value), style: .lines), as: UTF8.self)
        #expect(text == (try foundation(value)))
    }

    @Test("values are encoded as by Foundation's JSONEncoder, except for spaces")
    func encodesValues() throws {
        try expectSame(Everything())
        try expectSame([Everything(), Everything()])
        try expectSame(Nested())
        try expectSame([String]())
        try expectSame([String: Int]())
        try expectSame("text")
        try expectSame(3)
        try expectSame([[[]], [[1]]] as [[[Int]]])
    }

    @Test("floating-point numbers are encoded as by Foundation's JSONEncoder")
    func encodesDoubles() throws {
        var random = SeededNumbers(seed: 7)
        var numbers = (0..<2000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        numbers += (-30...30).flatMap { [pow(10, Double($0)), 3 * pow(10, Double($0)), pow(2, Double($0))] }
        try expectSame(numbers)
        try expectSame(numbers.map { Float($0) }.filter(\.isFinite))
    }

    @Test("infinity and NaN cannot be encoded as JSON", arguments: [Double.nan, .infinity, -.infinity])
    func refusesNaN(_ number: Double) {
        #expect(throws: EncodingError.self) { try JSONNode(encoding: ["a": number]) }
        #expect(throws: EncodingError.self) { try JSONNode(encoding: [Float(number)]) }
    }
}
