import Foundation
import RoostCore
import TestSamples
import Testing

@Suite("Metadata documents")
struct MetadataDocumentTests {
    static let values: [MetadataValue] = [
        .string(""), .string("a\u{0}b\"\\\n\u{1F}é\u{2028}😀"), .int(.min), .int(.max), .int(0), .bool(true),
        .bool(false),
        .double(0), .double(-0.0), .double(5), .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude),
        .double(0.1), .double(.infinity), .double(-.infinity),
        .date(Date(timeIntervalSinceReferenceDate: 0.1)), .date(Date(timeIntervalSinceReferenceDate: -.infinity)),
        .data(Data()), .data(Data([0, 255, 1])), .array([]), .array([.int(1), .double(1), .array([.string("x")])]),
        .dictionary([:]), .dictionary(["$date": .double(1)]), .dictionary(["$x": .int(1)]),
        .dictionary(["$dictionary": .dictionary(["$data": .string("AA==")])]),
        .dictionary(["$a": .int(1), "b": .int(2)]),
    ]

    @Test("a metadata value has the same value and type after writing and reading its document", arguments: values)
    func roundTrip(_ value: MetadataValue) throws {
        let bytes = try MetadataDocument.encode(["key": value])
        #expect(try MetadataDocument.decode(bytes) == ["key": value])
        #expect(try MetadataDocument.encode(MetadataDocument.decode(bytes)) == bytes)
    }

    @Test(
        "a double in metadata keeps all its bits",
        arguments: [
            0x8000_0000_0000_0000, 0x7FF8_0000_0000_0000, 0x7FF8_0000_0000_0001, 0xFFF8_0000_0000_0000, 1,
        ] as [UInt64])
    func bits(_ bits: UInt64) throws {
        let decoded = try MetadataDocument.decode(MetadataDocument.encode(["x": .double(Double(bitPattern: bits))]))
        guard case .double(let number)? = decoded["x"] else {
            Issue.record("not a double: \(decoded)")
            return
        }
        #expect(number.bitPattern == bits)
    }

    @Test("a metadata document lists its keys in order")
    func sortsKeys() throws {
        let bytes = try MetadataDocument.encode(["b": .int(1), "a": .double(2), "é": .bool(true)])
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"a":2.0,"b":1,"é":true}"#)
    }

    @Test("a top-level metadata key that begins with $ is not a tag")
    func topLevelDollar() throws {
        let metadata: [String: MetadataValue] = ["$date": .double(3)]
        #expect(try MetadataDocument.decode(MetadataDocument.encode(metadata)) == metadata)
    }

    @Test(
        "a damaged metadata document is reported as corrupted",
        arguments: [
            "", "[]", "{", #"{"a":null}"#, #"{"a":1,"a":2}"#, #"{"a":9223372036854775808}"#, #"{"a":1e999}"#,
            #"{"a":{"$date":"x"}}"#, #"{"a":{"$data":"*"}}"#, #"{"a":{"$what":1}}"#, #"{"a":1,}"#, "{a:1}",
            #"{"a":"\ud800"}"#,
        ])
    func damaged(_ text: String) {
        #expect(storeError { _ = try MetadataDocument.decode(Array(text.utf8)) }?.code == .corrupted)
    }

    @Test("metadata that nests too deep to be read again cannot be written")
    func depth() throws {
        func nested(_ depth: Int) -> MetadataValue {
            (0..<depth).reduce(.int(1)) { value, _ in .array([value]) }
        }
        let deepest = try #require(
            (1...200).last { depth in (try? MetadataDocument.encode(["a": nested(depth)])) != nil })
        #expect(deepest > 100)
        let bytes = try MetadataDocument.encode(["a": nested(deepest)])
        #expect(try MetadataDocument.decode(bytes) == ["a": nested(deepest)])
        #expect(storeError { _ = try MetadataDocument.encode(["a": nested(200)]) }?.code == .limitExceeded)
    }
}
