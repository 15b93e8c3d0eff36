import Foundation
import RoostCore
import RoostFiles
import RoostSQLite
import Testing

/// The log of a crashed process, after another program replaced the file or the log.
@Suite("Foreign write-ahead logs")
struct LeftoverLogTests {
    let directory: TemporaryDirectory
    let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    private func insert(_ keys: ClosedRange<Int64>, into store: any PersistentStore) throws {
        for key in keys {
            try store.change { try $0.insert(ObjectID("Note", key: key), values: ["text": .string("text \(key)")]) }
        }
    }

    /// Leaves a file with the notes `keys` and a log that adds the notes `more`, as after a crash.
    ///
    /// The copies `-before` and `-after` are the file without and with the notes `more`.
    private func crash(_ name: String, keys: ClosedRange<Int64>, more: ClosedRange<Int64>) throws {
        let store = try type.create(
            directory.location("live-\(name)"), model: try Models.note(), options: StoreOptions())
        try insert(keys, into: store)
        try store.close()
        try directory.write(try directory.bytes("live-\(name)"), to: "\(name)-before")
        let again = try type.open(directory.location("live-\(name)"), options: StoreOptions())
        try insert(more, into: again)
        for suffix in ["", "-wal"] {
            try directory.write(try directory.bytes("live-\(name)\(suffix)"), to: "\(name)\(suffix)")
        }
        try again.close()
        try directory.write(try directory.bytes("live-\(name)"), to: "\(name)-after")
    }

    /// Expects that readers and writers refuse a file with a foreign log, and change neither.
    private func expectRefusal(file: [UInt8], log: [UInt8], _ comment: Comment) throws {
        try directory.write(file, to: "mixed")
        try directory.write(log, to: "mixed-wal")
        for isReadOnly in [true, false] {
            let found = #expect(throws: StoreError.self, comment) {
                try type.open(directory.location("mixed"), options: StoreOptions(isReadOnly: isReadOnly)).close()
            }
            #expect(found?.code == .corrupted, comment)
            #expect(try directory.bytes("mixed") == file, comment)
            #expect(try directory.bytes("mixed-wal") == log, comment)
        }
        // Removing the log, as the message advises, makes the store usable.
        try FileManager.default.removeItem(atPath: directory.file("mixed-wal"))
        let store = try type.open(directory.location("mixed"), options: StoreOptions())
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("a log is recovered beside its own file and refused beside any other")
    func refusesExchangedFile() throws {
        try crash("a", keys: 1...40, more: 41...45)
        try crash("b", keys: 1...41, more: 42...46)
        let log = try directory.bytes("a-wal")
        #expect(log.count > 0)
        let old = try type.create(directory.location("old"), model: try Models.note(), options: StoreOptions())
        try old.close()
        try expectRefusal(file: try directory.bytes("old"), log: log, "another store, empty")
        try expectRefusal(file: try directory.bytes("b-before"), log: log, "another store at a generation of the log")
        let live = try type.open(directory.location("live-a"), options: StoreOptions())
        try insert(46...60, into: live)
        try live.close()
        try expectRefusal(file: try directory.bytes("live-a"), log: log, "a newer copy")
        // The right file, and the file that already contains the whole log.
        for name in ["a-before", "a-after"] {
            try directory.write(try directory.bytes(name), to: "right")
            try directory.write(log, to: "right-wal")
            let store = try type.open(directory.location("right"), options: StoreOptions())
            #expect(try store.records("Note").count == 45, "\(name)")
            #expect(try store.findings() == [])
            try store.close()
        }
    }

    enum Use: String, CaseIterable { case reading, writing, destroying, replacing, moving }

    private func attempt(_ use: Use, of name: String) throws {
        let (location, other) = (directory.location(name), directory.location("other"))
        switch use {
        case .reading, .writing: try type.open(location, options: StoreOptions(isReadOnly: use == .reading)).close()
        case .destroying: try type.destroy(location)
        case .replacing:
            try type.create(other, model: try Models.note(), options: StoreOptions()).close()
            try type.replace(location, with: other, overwriting: true)
        case .moving: try type.replace(other, with: location, overwriting: false)
        }
    }

    @Test(
        "a foreign log is neither applied nor removed by any use of the store",
        arguments: Use.allCases)
    func leavesForeignLog(use: Use) throws {
        try crash("a", keys: 1...40, more: 41...45)
        try crash("b", keys: 1...41, more: 42...46)
        let (file, log) = (try directory.bytes("b-before"), try directory.bytes("a-wal"))
        try directory.write(file, to: "mixed")
        try directory.write(log, to: "mixed-wal")
        let error = #expect(throws: StoreError.self) { try attempt(use, of: "mixed") }
        #expect(error?.code == .corrupted && error?.message.contains("mixed-wal'") == true)
        #expect(try directory.bytes("mixed") == file)
        #expect(try directory.bytes("mixed-wal") == log)
        #expect(try directory.names.filter { $0.hasPrefix("mixed") } == ["mixed", "mixed-wal", "mixed.lock"])
    }

    @Test("a store's own log is recovered, or removed with the store", arguments: Use.allCases)
    func recoversOwnLog(use: Use) throws {
        try crash("a", keys: 1...40, more: 41...45)
        for name in ["before", "after"] {
            try directory.write(try directory.bytes("a-\(name)"), to: "right")
            try directory.write(try directory.bytes("a-wal"), to: "right-wal")
            try attempt(use, of: "right")
            // A reader leaves the log if the file does not contain its commits.
            #expect(try directory.names.contains("right-wal") == (use == .reading && name == "before"))
            for name in ["right", "right-wal", "other"] where try directory.names.contains(name) {
                try FileManager.default.removeItem(atPath: directory.file(name))
            }
        }
    }

    @Test("destroying a damaged SQLite store removes its log")
    func destroysWithLog() throws {
        try crash("a", keys: 1...40, more: 41...45)
        var file = try directory.bytes("a-before")
        for offset in 100..<file.count { file[offset] = 0x55 }
        try directory.write(file, to: "damaged")
        try directory.write(try directory.bytes("a-wal"), to: "damaged-wal")
        try type.destroy(directory.location("damaged"))
        #expect(try !directory.names.contains { $0.hasPrefix("damaged") })
    }

    @Test("a log beside a rollback journal is refused, and both are kept", arguments: [true, false])
    func refusesBesideJournal(isReadOnly: Bool) throws {
        try crash("a", keys: 1...40, more: 41...45)
        try directory.write(try directory.bytes("a-wal"), to: "a-before-wal")
        var journal = [UInt8](repeating: 0, count: 512)
        // The header of a journal with the file's page count and page size.
        let file = try directory.bytes("a-before")
        journal.replaceSubrange(0..<8, with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
        journal.replaceSubrange(16..<20, with: file[28..<32])
        journal.replaceSubrange(20..<28, with: [0, 0, 2, 0, 0, 0, 0x10, 0])
        try directory.write(journal, to: "a-before-journal")
        let error = #expect(throws: StoreError.self) {
            try type.open(directory.location("a-before"), options: StoreOptions(isReadOnly: isReadOnly)).close()
        }
        #expect(error?.code == .corrupted && error?.message.contains("both exist") == true)
        #expect(try directory.bytes("a-before-journal") == journal)
        #expect(try directory.bytes("a-before") == file)
    }

    @Test("a backup that is older than the beginning of a log is refused")
    func refusesOlderBackup() throws {
        let store = try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions())
        try insert(1...10, into: store)
        try store.close()
        let backup = try directory.bytes("s")
        let again = try type.open(directory.location("s"), options: StoreOptions())
        try insert(11...30, into: again)
        try again.close()
        let third = try type.open(directory.location("s"), options: StoreOptions())
        try insert(31...35, into: third)
        let log = try directory.bytes("s-wal")
        try third.close()
        try expectRefusal(file: backup, log: log, "backup")
    }
}
