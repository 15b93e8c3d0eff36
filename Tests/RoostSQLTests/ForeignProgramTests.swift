import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import RoostSQLite
import Testing

/// The `sqlite3` command, which ignores Roost's lock file.
///
/// `path` is nil if the command is not installed.
enum Shell {
    static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @discardableResult
    static func run(_ sql: String, on file: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = ["-batch", "-bail", file, sql]
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(message)")
        return text
    }
}

@Suite("SQLite stores and other programs", .enabled(if: Shell.path != nil))
struct ForeignProgramTests {
    let directory: TemporaryDirectory
    let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    private func create(
        _ name: String, count: Int64 = 3, options: StoreOptions = StoreOptions()
    ) throws -> any PersistentStore {
        let store = try type.create(directory.location(name), model: try Models.note(), options: options)
        try store.change { changes in
            for key in 1...count {
                try changes.insert(ObjectID("Note", key: key), values: ["text": .string("text \(key)")])
            }
        }
        return store
    }

    @Test("an impossible tally in an SQLite store is damage", arguments: ["9223372036854775807", "-1"])
    func refusesImpossibleTally(count: String) throws {
        try create("a").close()
        try Shell.run("UPDATE _roost_tallies SET count = \(count) WHERE kind = 'entity'", on: directory.file("a"))
        let error = code {
            let snapshot = try type.open(directory.location("a"), options: StoreOptions(isReadOnly: true)).snapshot()
            _ = try snapshot.recordedTally()?.digest
        }
        #expect(error == .corrupted)
    }

    @Test("a missing tally of an empty SQLite store is damage", arguments: ["entity", "relationship"])
    func refusesMissingTally(kind: String) throws {
        try type.create(directory.location("a"), model: try Models.music(), options: StoreOptions()).close()
        try Shell.run(
            "DELETE FROM _roost_tallies WHERE kind = '\(kind)' AND number = (SELECT MAX(number) FROM _roost_tallies WHERE kind = '\(kind)')",
            on: directory.file("a"))
        let store = try type.open(directory.location("a"), options: StoreOptions())
        #expect(code { _ = try store.snapshot().recordedTally() } == .corrupted)
        #expect(try store.integrityFindings().contains { $0.severity == .damage })
        try store.close()
    }

    @Test("an SQLite store refuses commits and loads after the highest generation")
    func refusesAfterHighestGeneration() throws {
        try create("a").close()
        // 2^64 - 2, as the bits of a signed number.
        try Shell.run("UPDATE _roost_tallies SET count = -2 WHERE kind = 'generation'", on: directory.file("a"))
        let store = try type.open(directory.location("a"), options: StoreOptions())
        #expect(try store.change { $0.delete(ObjectID("Note", key: 1), version: 1) }.generation.number == .max)
        for _ in 0..<2 {
            #expect(code { try store.change { $0.delete(ObjectID("Note", key: 2), version: 1) } } == .limitExceeded)
        }
        #expect(
            code {
                let loader = try store.bulkLoader(BulkLoadOptions())
                var records = RecordBatch(model: store.model)
                try records.append(ObjectID("Note", key: 9), version: 1, values: [:])
                try loader.append(records)
                _ = try loader.finish()
            } == .limitExceeded)
        let snapshot = try store.snapshot()
        #expect(try snapshot.recordedTally()?.generation.number == .max)
        #expect(try snapshot.count(FetchRequest("Note")) == 2)
        snapshot.close()
        try store.close()
    }

    @Test("reading the file of an open SQLite store releases none of its locks")
    func keepsLocks() throws {
        let store = try create("a")
        let path = directory.file("a")
        for _ in 0..<100 {
            #expect(type.recognizes(fileAt: path))
            #expect(StoreFile.read(prefix: 16, of: path) == Array("SQLite format 3\0".utf8))
            _ = try RegularFile(at: path).byteCount
        }
        try StoreFile.syncFile(at: path)
        _ = try type.metadata(at: directory.location("a"), options: StoreOptions())
        // Without the lock, the shell would be the last connection and remove the log on exit.
        #expect(try Shell.run("SELECT COUNT(*) FROM Note", on: path) == "3\n")
        #expect(try directory.names.contains("a-wal"))
        try store.change { try $0.insert(ObjectID("Note", key: 10), values: ["text": "after"]) }
        #expect(try Shell.run("SELECT text FROM Note WHERE _id = 10", on: path) == "after\n")
        try store.close()
        #expect(try Shell.run("SELECT COUNT(*) FROM Note", on: path) == "4\n")
        let handles = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
        }
        #expect(handles.isEmpty)
    }

    @Test("with acceptsChanges, an open store reads the rows that a shell changes")
    func acceptsRowsBesideShell() throws {
        let store = try create("a", options: StoreOptions().with { $0.acceptsChanges = true })
        let path = directory.file("a")
        for round in Int64(0)..<5 {
            try Shell.run("UPDATE Note SET text = 'shell \(round)' WHERE _id = 1", on: path)
            try store.change { try $0.insert(ObjectID("Note", key: 10 + round), values: ["text": .string("\(round)")]) }
            #expect(try store.records("Note").map { try $0.value("text") }.first == .string("shell \(round)"))
        }
        #expect(try store.records("Note").count == 8)
        try store.close()
        #expect(try directory.names == ["a", "a.lock"])
        #expect(try Shell.run("PRAGMA integrity_check", on: path) == "ok\n")
    }

    @Test("with acceptsChanges, rows edited by a shell are read, and a check reports each of them")
    func reportsEdits() throws {
        try create("a", count: 6).close()
        let path = directory.file("a")
        try Shell.run(
            "UPDATE Note SET text = 'edited' WHERE _id = 2; DELETE FROM Note WHERE _id = 3; INSERT INTO Note (_id, _entity, _version, _checksum, text) VALUES (9, 0, 1, 0, 'new')",
            on: path)
        let strict = try type.open(directory.location("a"), options: StoreOptions(isReadOnly: true))
        #expect(code { _ = try strict.records("Note") } == .corrupted)
        #expect(try strict.notices() == [])
        try strict.close()
        let store = try type.open(directory.location("a"), options: StoreOptions().with { $0.acceptsChanges = true })
        #expect(try store.records("Note").map(\.id.key) == [1, 2, 4, 5, 6, 9])
        let notices = try store.notices().joined(separator: " ")
        #expect(notices.contains("Note/p2, Note/p9") && notices.contains("inserted or deleted"), "\(notices)")
        let findings = try store.integrityFindings().map(\.message)
        #expect(findings.contains { $0.contains("Note/p2") })
        #expect(findings.contains { $0.contains("Note/p9") })
        #expect(findings.contains { $0.contains("'Note'") && $0.contains("recorded") })
        // After a commit updates an edited object, a check no longer reports it.
        try store.change {
            try $0.update(ObjectID("Note", key: 2), version: 1, values: ["text": "healed"])
            try $0.update(ObjectID("Note", key: 9), version: 1, values: ["text": "adopted"])
            try $0.insert(ObjectID("Note", key: 20), values: ["text": "more"])
            $0.delete(ObjectID("Note", key: 6), version: 1)
        }
        let after = try store.integrityFindings().map(\.message)
        #expect(!after.contains { $0.contains("Note/p2") || $0.contains("Note/p9") }, "\(after)")
        #expect(try store.reserveKeys(1, for: "Note").lowerBound > 20)
        try store.close()
    }

    @Test("an object that does not exist has no links, even if other rows refer to its key")
    func hasNoLinksOfMissingObject() throws {
        let (album, singer) = (ObjectID("Album", key: 1), ObjectID("Singer", key: 1))
        let (tracks, songs) = (RelationshipName("Album", name: "tracks"), RelationshipName("Person", name: "tracks"))
        let (tags, similar) = (RelationshipName("Album", name: "tags"), RelationshipName("Album", name: "similar"))
        let made = try type.create(directory.location("a"), model: try Models.music(), options: StoreOptions())
        try made.change {
            for key in Int64(1)...2 { try $0.insert(ObjectID("Album", key: key), values: [:]) }
            try $0.insert(singer, values: [:])
            try $0.insert(ObjectID("Tag", key: 1), values: [:])
            try $0.insert(ObjectID("Track", key: 1), values: ["album": .objectID(album), "artist": .objectID(singer)])
            try $0.add(Link(1, 1), to: tags)
            try $0.add(Link(1, 2), to: similar)
        }
        for relationship in [tracks, tags, similar] { #expect(try made.links(relationship, from: album).count == 1) }
        #expect(try made.links(songs, from: singer).count == 1)
        #expect(try made.links(songs, from: ObjectID("Person", key: 1)).count == 1)
        #expect(try made.links(songs, from: ObjectID("Drummer", key: 1)) == [])
        try made.close()
        try Shell.run("DELETE FROM Album WHERE _id = 1", on: directory.file("a"))
        let store = try type.open(directory.location("a"), options: StoreOptions())
        // The remaining rows match their checksums, so only the tallies show the missing rows.
        for relationship in [tracks, tags, similar] { #expect(try store.links(relationship, from: album) == []) }
        #expect(try store.links(similar, from: ObjectID("Album", key: 2)).map(\.target) == [1])
        try store.close()
    }

    @Test("a checkpoint leaves no frames in the log for another program's checkpoint")
    func leavesNoFrames() throws {
        let store = try create("a")
        try store.change { changes in
            for key in Int64(10)..<1_800 {
                try changes.insert(
                    ObjectID("Note", key: key), values: ["text": .string(String(repeating: "x", count: 3_000))])
            }
        }
        // Not busy, no frames in the log, none moved. Leftover frames would be a risk: SQLite before
        // 3.51.3 can lose commits if a checkpoint runs while a commit restarts the log.
        #expect(try Shell.run("PRAGMA wal_checkpoint(PASSIVE)", on: directory.file("a")) == "0|0|0\n")
        try store.close()
    }

    @Test(
        "a log removed or exchanged while the store is open is noticed by a commit", arguments: ["remove", "exchange"])
    func noticesMissingLog(damage: String) throws {
        let store = try create("a", count: 3)
        let other = try create("other", count: 5)
        let log = directory.file("a-wal")
        try FileManager.default.removeItem(atPath: log)
        if damage == "exchange" { try FileManager.default.copyItem(atPath: directory.file("other-wal"), toPath: log) }
        #expect(
            code { try store.change { try $0.insert(ObjectID("Note", key: 10), values: ["text": "lost?"]) } }
                == .storeReplaced)
        try? store.close()
        try other.close()
    }
}
