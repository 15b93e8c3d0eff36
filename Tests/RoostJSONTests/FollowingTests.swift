import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostJSON

@Suite("Readers beside the writer of a JSON store")
struct FollowingTests {
    @Test("a JSON reader sees each commit, in the journal or in a new document")
    func seesEachCommit() throws {
        let bench = try Bench()
        try bench.create().close()
        let writer = try bench.open(options: ["journalBytes": "4096"])
        let reader = try bench.open(readOnly: true)
        #expect(try reader.state() == writer.state())
        try writer.fill()
        #expect(try reader.state() == writer.state())
        for version in UInt32(1)...40 {
            try writer.setPages(Int64(version), version: version)
            #expect(try reader.state() == writer.state(), "version \(version)")
            #expect(try reader.byteCount() == writer.byteCount(), "version \(version)")
        }
        try writer.close()
        let last = try reader.state()
        let again = try bench.open()
        #expect(try again.state() == last)
        // This commit creates a new journal.
        try again.setPages(99, version: 41)
        #expect(try reader.state() == again.state())
        try again.close()
        try reader.close()
    }

    @Test("a snapshot of a JSON reader does not show later commits")
    func snapshotKeepsState() throws {
        let bench = try Bench()
        let writer = try bench.create()
        try writer.fill()
        let reader = try bench.open(readOnly: true)
        let before = try reader.state()
        let snapshot = try reader.snapshot()
        try writer.setPages(7, version: 1)
        #expect(try reader.state() != before)
        #expect(try snapshot.computeTally() == before)
        try writer.close()
        #expect(try reader.state() != before)
        #expect(try snapshot.computeTally() == before)
        snapshot.close()
        try reader.close()
    }

    @Test("a JSON reader sees a commit only when the journal holds all of it")
    func ignoresIncompleteCommit() throws {
        let bench = try Bench()
        let writer = try bench.create()
        try writer.fill()
        let reader = try bench.open(readOnly: true)
        let before = try reader.state()
        let journal = try bench.bytes("store-journal")
        try writer.setPages(7, version: 1)
        let after = try writer.state()
        let longer = try bench.bytes("store-journal")
        for count in [journal.count, journal.count + 1, journal.count + 40, longer.count - 1] {
            try FileManager.default.removeItem(atPath: bench.path("store-journal"))
            try bench.write(longer.prefix(count), to: "store-journal")
            #expect(try reader.state() == before, "\(count) bytes")
        }
        try bench.write(longer, to: "store-journal")
        #expect(try reader.state() == after)
        try reader.close()
    }

    @Test("a JSON reader sees edits by hand, and refuses another store that has the same path")
    func seesEditsByHand() throws {
        let bench = try Bench()
        let writer = try bench.create()
        try writer.fill()
        try writer.close()
        let reader = try bench.open(readOnly: true)
        let before = try reader.state()
        try bench.edit("store", replacing: "\"Ada\"", with: "\"Eve\"")
        #expect(try reader.state() != before)
        try bench.write(Array("{".utf8))
        #expect(throws: StoreError.self) { try reader.state() }
        try bench.create("other").close()
        try bench.write(try bench.bytes("other"))
        let error = #expect(throws: StoreError.self) { try reader.state() }
        #expect(error?.code == .storeReplaced)
        try FileManager.default.removeItem(atPath: bench.path())
        #expect(throws: StoreError.self) { try reader.state() }
        try reader.close()
    }
}
