import Foundation
import RoostCore
import RoostSystem
import Testing

@Suite("Bytes as text")
struct TextCodecTests {
    @Test("base64 of every length equals Foundation's and reads back", arguments: 0...70)
    func base64(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
        var text = [UInt8](repeating: 0, count: Base64.digitCount(ofByteCount: count))
        bytes.withUnsafeBytes { bytes in
            text.withUnsafeMutableBufferPointer { text in
                if let start = text.baseAddress { Base64.encode(bytes, into: start) }
            }
        }
        #expect(String(decoding: text, as: UTF8.self) == Data(bytes).base64EncodedString())
        #expect(try decoded(String(decoding: text, as: UTF8.self)) == bytes)
        #expect(Base64.data(Base64.text(Data(bytes))) == Data(bytes))
    }

    @Test(
        "base64 of stored values is refused if it is not canonical",
        arguments: ["A", "AAA", "AB==", "AAB=", "A===", "AA==AA==", "AA\nA", "_-__"])
    func strictness(text: String) throws {
        #expect(try decoded(text) == nil)
    }

    @Test("base64 of other programs may contain white space if the caller allows it")
    func spaces() {
        #expect(Base64.bytes(" QU\n\tI= ", ignoringSpaces: true) == [0x41, 0x42])
        #expect(Base64.bytes(" QU\n\tI= ") == nil)
        #expect(Base64.bytes("Q*UI=", ignoringSpaces: true) == nil)
        #expect(Base64.bytes(" \u{0B}\u{0C}\r ", ignoringSpaces: true) == [])
    }

    @Test("base64 of other programs is read as Foundation reads it", arguments: 0...5)
    func leniency(count: Int) {
        let digits = "AB/w=\n".utf8
        var texts: [[UInt8]] = [[]]
        for _ in 0..<count { texts = texts.flatMap { text in digits.map { text + [$0] } } }
        for bytes in texts {
            for prefix in ["", "QUJD"] {
                let text = prefix + String(decoding: bytes, as: UTF8.self)
                // Foundation on Linux also accepts padding alone, and a digit after padding, and
                // returns wrong bytes.
                let padding = text.utf8.drop { $0 != UInt8(ascii: "=") }
                let isOrderly =
                    padding.count < max(1, text.utf8.count) && padding.allSatisfy { $0 == UInt8(ascii: "=") }
                let expected = isOrderly ? Data(base64Encoded: text) : nil
                #expect(Base64.data(text) == expected, "\(text)")
                #expect(Base64.bytes(text) == expected.map { [UInt8]($0) }, "\(text)")
            }
        }
    }

    private func decoded(_ text: String) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: text.utf8.count)
        let count = Array(text.utf8).withUnsafeBytes { text in
            bytes.withUnsafeMutableBytes { Base64.decode(text, into: $0) }
        }
        return count.map { Array(bytes.prefix($0)) }
    }

    @Test("hexadecimal numbers have all their digits and are read strictly")
    func numbers() {
        #expect(UInt64(0x1F).hexadecimal == "000000000000001f")
        #expect(UInt64.max.hexadecimal == "ffffffffffffffff")
        #expect(UInt32(0x1F).hexadecimal == "0000001f" && UInt8(7).hexadecimal == "07")
        #expect(UInt64(hexadecimal: "000000000000001F") == 0x1F)
        for text in ["", "1f", "+00000000000001f", "000000000000001g", "0000000000000001f", "ä00000000000001f"] {
            #expect(UInt64(hexadecimal: text) == nil, "\(text)")
        }
        #expect(VersionHash("+00000000000000100000000000000002") == nil)
        #expect(VersionHash("00000000000000010000000000000002") == VersionHash(high: 1, low: 2))
        #expect(Hexadecimal.text([0, 171, 16]) == "00ab10")
    }

    @Test("a UUID is written in upper case and read in either case")
    func uuids() throws {
        let uuid = try #require(UUID(uuidString: "0FAE3D5C-1234-4ABC-9DEF-00112233445F"))
        let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        var text = [UInt8](repeating: 0, count: 36)
        let count = bytes.withUnsafeBytes { bytes in
            text.withUnsafeMutableBufferPointer { text in
                text.baseAddress.map { Hexadecimal.encodeUUID(bytes, into: $0) }
            }
        }
        #expect(count == 36 && String(decoding: text, as: UTF8.self) == uuid.uuidString)
        for spelling in [uuid.uuidString, uuid.uuidString.lowercased()] {
            var read = [UInt8](repeating: 0, count: 16)
            let isRead = Array(spelling.utf8).withUnsafeBytes { text in
                read.withUnsafeMutableBytes { Hexadecimal.decodeUUID(text, into: $0) }
            }
            #expect(isRead && read == bytes)
        }
    }
}
