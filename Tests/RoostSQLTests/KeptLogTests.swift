import CSQLite
import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostSQLite

/// After a checkpoint the log is empty for all connections, but its file keeps obsolete frames, up
/// to 8 MiB.
@Suite("Reused write-ahead logs")
struct KeptLogTests {
    let directory: TemporaryDirectory
    let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    /// Commits `count` notes of 30 KB one by one, the first with `firstKey`.
    private func insert(_ count: Int64, from firstKey: Int64, into store: any PersistentStore) throws {
        for key in firstKey..<firstKey + count {
            let text = "\(key) " + String(repeating: "x", count: 30_000)
            try store.change { try $0.insert(ObjectID("Note", key: key), values: ["text": .string(text)]) }
        }
    }

    private func create(_ options: [String: String] = [:]) throws -> any PersistentStore {
        try type.create(
            directory.location("a"), model: try Models.note(), options: StoreOptions(typeOptions: options))
    }

    /// Returns the number of frames in the log as SQLite sees it.
    private func frameCount() throws -> Int32 {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try #require(sqlite3_open(directory.file("a"), &connection) == SQLITE_OK)
        var (frames, moved): (Int32, Int32) = (-1, -1)
        try #require(sqlite3_exec(connection, "SELECT 1 FROM sqlite_schema", nil, nil, nil) == SQLITE_OK)
        try #require(
            sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, &frames, &moved) == SQLITE_OK)
        return frames
    }

    /// Opens a copy of file and log, as a crash would leave them, and examines everything.
    private func expect(_ count: Int, file: [UInt8], log: [UInt8], _ comment: Comment) throws {
        try directory.write(file, to: "image")
        try directory.write(log, to: "image-wal")
        let store = try type.open(directory.location("image"), options: StoreOptions())
        #expect(try store.records("Note").count == count, comment)
        // Warnings about frames of an unfinished transaction are ignored.
        #expect(try store.integrityFindings().filter { $0.severity == .damage }.isEmpty, comment)
        let snapshot = try store.snapshot()
        #expect(try snapshot.recordedTally() == snapshot.computeTally(), comment)
        snapshot.close()
        try insert(1, from: 1_000, into: store)
        #expect(try store.records("Note").count == count + 1, comment)
        try store.close()
        for name in ["image", "image.lock"] { try FileManager.default.removeItem(atPath: directory.file(name)) }
        #expect(try !directory.names.contains("image-wal"), comment)
    }

    @Test("a checkpoint keeps the log's file for later commits, and closing removes it")
    func reusesLogFile() throws {
        let store = try create()
        try insert(50, from: 1, into: store)
        let length = try directory.bytes("a-wal").count
        #expect(length < 3 << 20)
        try insert(60, from: 51, into: store)
        let kept = try directory.bytes("a-wal").count
        #expect(kept > 4 << 20)
        try insert(60, from: 111, into: store)
        #expect(try directory.bytes("a-wal").count == kept)
        #expect(try store.records("Note").count == 170)
        try store.close()
        #expect(try directory.names == ["a", "a.lock"])
    }

    @Test("a log of more than 8 MiB is truncated by its checkpoint")
    func truncatesLargeLog() throws {
        let store = try create()
        try store.change { changes in
            for key in Int64(1)...300 {
                try changes.insert(
                    ObjectID("Note", key: key), values: ["text": .string(String(repeating: "x", count: 30_000))])
            }
        }
        #expect(try directory.bytes("a-wal").isEmpty)
        try store.close()
    }

    @Test("a crash while a commit reuses the log leaves the state before or after the commit")
    func survivesCrash() throws {
        let store = try create()
        var count: Int64 = 0
        // The file grows for the first time at the first checkpoint after the store's creation.
        while try StoreFile.byteCount(at: directory.file("a")) < 1 << 20 {
            count += 1
            try insert(1, from: count, into: store)
        }
        #expect(try frameCount() == 0)
        let (file, old) = (try directory.bytes("a"), try directory.bytes("a-wal"))
        #expect(old.count > 4 << 20)
        try expect(Int(count), file: file, log: old, "after the checkpoint")
        try insert(1, from: count + 1, into: store)
        #expect(try directory.bytes("a") == file)
        let new = try directory.bytes("a-wal")
        #expect(new.count == old.count)
        #expect(new[16..<24] != old[16..<24])
        let frame = 24 + 4096
        for (length, comment) in [
            (12, "a part of the header"), (32, "the header"), (32 + frame / 2, "half a frame"),
            (32 + 3 * frame, "some frames"), (32 + 8 * frame, "all but the last frame"),
        ] as [(Int, Comment)] {
            // A crash cannot tear the header, which is in one sector.
            try expect(Int(count), file: file, log: Array(new[..<length] + old[length...]), comment)
        }
        try expect(Int(count) + 1, file: file, log: new, "after the commit")
        try store.close()
    }

    @Test("no commit is lost while another program makes checkpoints", .enabled(if: Shell.path != nil))
    func keepsCommitsBesideCheckpoints() throws {
        let store = try create(["synchronous": "normal"])
        try insert(1, from: 1, into: store)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: try #require(Shell.path))
        shell.arguments = ["-batch", directory.file("a")]
        let (input, output) = (Pipe(), Pipe())
        (shell.standardInput, shell.standardOutput) = (input, output)
        try shell.run()
        let checkpoints = String(repeating: "PRAGMA wal_checkpoint(PASSIVE);\n", count: 20)
        for round in Int64(0)..<60 {
            try input.fileHandleForWriting.write(contentsOf: Data(checkpoints.utf8))
            try insert(10, from: 2 + round * 10, into: store)
        }
        try input.fileHandleForWriting.close()
        _ = try output.fileHandleForReading.readToEnd()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        #expect(try store.records("Note").count == 601)
        #expect(try store.findings() == [])
        try store.close()
        let again = try type.open(directory.location("a"), options: StoreOptions())
        #expect(try again.records("Note").count == 601)
        try again.close()
    }
}
