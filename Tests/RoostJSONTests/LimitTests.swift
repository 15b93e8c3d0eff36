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

    @Test("metadata with a name of 2 MiB is read again, and errors later in the document have positions")
    func readsLongMetadataName() throws {
        let bench = try Bench()
        let store = try bench.create()
        let name = String(repeating: "k", count: 2 << 20)
        try store.fill()
        try store.change { $0.userMetadata[name] = .some(.int(1)) }
        try store.close()
        let again = try bench.open()
        #expect(try again.metadata().userMetadata[name] == .int(1))
        try again.close()
        try bench.edit(
            "store", replacing: "\"author\": \"Author/1\", \"author#order\": 2",
            with: "\"author\": \"Editor/1\", \"author#order\": 2")
        let message = try bench.refused().message
        #expect(message.contains("Editor/p1") && message.contains("column "), "\(message.suffix(300))")
    }

    @Test("the position of an error in a document on one line is found in linear time")
    func positionOnOneLine() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try store.change { changes in
            for key in Int64(10)..<1510 {
                try changes.insert(
                    ObjectID("Book", key: key),
                    values: [
                        "title": .string("Book \(key)"),
                        "author": .objectID(ObjectID("Author", key: key < 1509 ? 1 : 2)), "author#order": .int(key),
                    ])
            }
        }
        try store.change { $0.delete(ObjectID("Author", key: 2), version: 1) }
        try store.close()
        // This edit only removes the checksum, so that references are checked.
        try bench.edit("store", replacing: "Book 1509", with: "Book 1509")
        func seconds() throws -> Double {
            let start = processorSeconds()
            let error = #expect(throws: StoreError.self) { try bench.open(readOnly: true).close() }
            #expect(error?.message.contains("no such Author") == true)
            return processorSeconds() - start
        }
        let manyLines = try seconds()
        try bench.write(bench.text().replacingOccurrences(of: "\n", with: " ").utf8)
        // Counting each property's column from the start of the line would take 50 times as long.
        #expect(try seconds() < 10 * manyLines)
    }

    /// Returns the processor time of this thread, which does not depend on other tests.
    private func processorSeconds() -> Double {
        var time = timespec()
        #expect(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
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

    @Test("a reference that gives an existing object the wrong entity is refused with its position")
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
