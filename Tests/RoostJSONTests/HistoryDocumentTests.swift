import Foundation
import RoostCore
import RoostJSON
import RoostJSONText
import RoostStores
import Testing

@Suite("Histories in JSON documents")
struct HistoryDocumentTests {
    @Test("a history part with the highest possible number is damage, but later commits still merge into the document")
    func highestPart() throws {
        let bench = try Bench()
        let store = try bench.create(options: StoreOptions().with { $0.tracksHistory = true })
        try store.fill()
        let position = try store.state().generation.number
        try store.close()
        let part = "[\(position), 4294967295, \"AAAA\"]"
        try insert(part, afterTransaction: position, bench: bench)

        let again = try bench.open()
        try again.change { try $0.insert(ObjectID("Tag", key: 30), values: ["name": "new"]) }
        try again.close()
        #expect(try bench.text().contains("\n\(part),\n[\(position + 1), 0, \""))
        let last = try bench.open(readOnly: true)
        #expect(try checkStore(last).contains { $0.severity == .damage && $0.message.contains("history") })
        try last.close()
    }

    /// Inserts a line after the first part of a transaction, and updates the checksum.
    private func insert(_ line: String, afterTransaction position: UInt64, bench: Bench) throws {
        var text = try bench.text()
        let start = try #require(text.range(of: "\n[\(position), 0, \""))
        let end = try #require(text.range(of: "\n", range: start.upperBound..<text.endIndex))
        text.insert(contentsOf: ",\n\(line)", at: end.lowerBound)
        let key = try #require(text.range(of: "\"checksum\": \"", options: .backwards))
        let covered = String(text[..<key.lowerBound])
        var checksum = TextChecksum()
        checksum.add(Array(covered.utf8))
        try bench.write((covered + "\"checksum\": \"\(checksum.text)\"\n}\n").utf8)
    }
}
