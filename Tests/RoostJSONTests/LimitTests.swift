import Foundation
import RoostCore
import RoostJSON
import Testing

@Suite("Limits of JSON documents")
struct LimitTests {
    @Test("a JSON document with metadata of 65 MiB is read")
    func readsHugeMetadata() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try store.close()
        // White space makes the metadata long, because it is fast to write and to read.
        try bench.edit(
            "store", replacing: "\"metadata\": {", with: "\"metadata\": {" + String(repeating: " ", count: 65 << 20))
        let again = try bench.open(readOnly: true)
        #expect(try again.metadata().userMetadata == ["place": .string("shelf")])
        try again.close()
    }

    @Test("a link that occurs twice in a JSON document is refused with its position")
    func refusesRepeatedLink() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try store.close()
        try bench.edit("store", replacing: "[1, 1, 0, 1],", with: "[1, 1, 0, 1],\n[1, 1, 0, 9],")
        let error = try bench.refused()
        #expect(error.code == .corrupted)
        #expect(error.message.contains("line ") && error.message.contains("column "), "\(error.message)")
    }

    @Test("a reference that names the wrong entity of its object is refused with its position")
    func refusesWrongEntity() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try store.close()
        try bench.edit(
            "store", replacing: "\"author\": \"Author/1\", \"author#order\": 2",
            with: "\"author\": \"Editor/1\", \"author#order\": 2")
        let error = try bench.refused()
        #expect(error.code == .corrupted)
        for part in ["line ", "column ", "Book/p2", "author", "Editor/p1"] {
            #expect(error.message.contains(part), "\(error.message)")
        }
    }
}
