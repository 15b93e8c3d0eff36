import Foundation
import RoostJSONText
import RoostText
import Testing

@Suite("Bytes as JSON text")
struct ValueTextTests {
    @Test("base64 of each length equals Foundation's", arguments: 0...70)
    func writesBase64(count: Int) throws {
        var random = SeededNumbers(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        var text = TextBuffer()
        bytes.withUnsafeBytes { JSONText.append(base64: $0, to: &text) }
        #expect(String(decoding: text.bytes, as: UTF8.self) == "\"\(Data(bytes).base64EncodedString())\"")
    }

    @Test("the text of a UUID equals Foundation's")
    func writesUUID() throws {
        for _ in 0..<100 {
            let uuid = UUID()
            var text = TextBuffer()
            withUnsafeBytes(of: uuid.uuid) { JSONText.append(uuid: $0, to: &text) }
            #expect(String(decoding: text.bytes, as: UTF8.self) == "\"\(uuid.uuidString)\"")
        }
    }
}
