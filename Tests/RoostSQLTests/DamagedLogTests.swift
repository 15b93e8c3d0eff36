import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostSQLite

/// Stores as a killed process leaves them, with their last commits in the log.
@Suite("Damaged write-ahead logs")
struct DamagedLogTests {
    private let directory: TemporaryDirectory
    private let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    private func insert(_ keys: ClosedRange<Int64>, into store: any PersistentStore) throws {
        for key in keys {
            try store.change { try $0.insert(ObjectID("Note", key: key), values: ["text": .string("text \(key)")]) }
        }
    }

    /// Leaves a file of three notes with a log of six commits, as after a kill.
    ///
    /// Returns the log, and its length after each commit.
    private func leaveLog(_ name: String = "w", options: [String: String] = [:]) throws -> (log: [UInt8], ends: [Int]) {
        let location = directory.location("live")
        let store = try type.create(location, model: try Models.note(), options: StoreOptions())
        try insert(1...3, into: store)
        try store.close()
        let again = try type.open(location, options: StoreOptions(typeOptions: options))
        var ends: [Int] = []
        for key in Int64(4)...9 {
            try insert(key...key, into: again)
            ends.append(try StoreFile.byteCount(at: location.path + "-wal"))
        }
        let (file, log) = (try directory.bytes("live"), try directory.bytes("live-wal"))
        try again.close()
        try type.destroy(location)
        try directory.write(file, to: name)
        try directory.write(log, to: name + "-wal")
        return (log, ends)
    }

    private func put(_ log: [UInt8]) throws {
        try directory.write(log, to: "w-wal")
        try? FileManager.default.removeItem(atPath: directory.file("w-shm"))
    }

    @Test("a flipped bit that hides acknowledged commits is refused, and nothing is changed")
    func refusesFlippedBit() throws {
        let (log, ends) = try leaveLog()
        let file = try directory.bytes("w")
        var random = SeededRandom(3)
        let offsets = (0..<40).map { _ in Int.random(in: 0..<ends[3], using: &random) } + [0, 8, 16, 24, 40, 48]
        for offset in offsets {
            for isReadOnly in [true, false] {
                var damaged = log
                damaged[offset] ^= 4
                try put(damaged)
                let error = #expect(throws: StoreError.self, "byte \(offset)") {
                    try type.open(directory.location("w"), options: StoreOptions(isReadOnly: isReadOnly)).close()
                }
                #expect(error?.code == .corrupted, "byte \(offset): \(error.debugDescription)")
                #expect(error?.message.contains("w-wal' is damaged") == true, "byte \(offset)")
                #expect(try directory.bytes("w") == file)
                #expect(try directory.bytes("w-wal") == damaged)
                #expect(try directory.names.filter { $0.hasPrefix("w") } == ["w", "w-wal", "w.lock"])
            }
            // The store cannot be moved either.
            #expect(
                code {
                    try type.replace(directory.location("other"), with: directory.location("w"), overwriting: false)
                }
                    == .corrupted, "byte \(offset)")
        }
        try put(log)
        let store = try type.open(directory.location("w"), options: StoreOptions())
        #expect(try store.records("Note").count == 9)
        #expect(try store.findings() == [])
        try store.close()
    }

    /// Opens the store `w` from several threads at once.
    ///
    /// Returns each thread's number of notes, or its error.
    private func openAtOnce(isReadOnly: Bool) -> [Result<Int, StoreError>] {
        let found = Mutex<[Result<Int, StoreError>]>([])
        let location = directory.location("w")
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            let result: Result<Int, StoreError>
            do {
                let store = try SQLiteStoreType().open(location, options: StoreOptions(isReadOnly: isReadOnly))
                let count = try store.records("Note").count
                try store.close()
                result = .success(count)
            } catch let error as StoreError {
                result = .failure(error)
            } catch { return }
            found.withLock { $0.append(result) }
        }
        return found.withLock { $0 }
    }

    @Test(
        "a damaged log is refused even if several threads open the store at once", arguments: [true, false])
    func refusesForEachOpener(isReadOnly: Bool) throws {
        let (log, ends) = try leaveLog()
        let file = try directory.bytes("w")
        var damaged = log
        damaged[ends[1] + 100] ^= 1
        try put(damaged)
        do {
            // A program that is opening the store has this lock.
            let other = try StoreLock.acquire(forStoreAt: directory.file("w"), mode: .shared, timeoutSeconds: 0)
            defer { other.release() }
            #expect(
                code { try type.open(directory.location("w"), options: StoreOptions(isReadOnly: isReadOnly)).close() }
                    == .corrupted)
        }
        for _ in 0..<5 {
            let found = openAtOnce(isReadOnly: isReadOnly)
            #expect(found.count == 6)
            for result in found {
                guard case .failure(let error) = result, error.code == .corrupted else {
                    Issue.record("\(result)")
                    continue
                }
            }
        }
        #expect(try directory.bytes("w") == file)
        #expect(try directory.bytes("w-wal") == damaged)
        try put(log)
        #expect(openAtOnce(isReadOnly: isReadOnly).allSatisfy { (try? $0.get()) == 9 })
        let store = try type.open(directory.location("w"), options: StoreOptions())
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("a flipped bit in the salts of a log's last commit is refused")
    func refusesFlippedSalts() throws {
        let (log, ends) = try leaveLog()
        for offset in 8..<16 {
            var damaged = log
            damaged[ends[4] + offset] ^= 0x10
            try put(damaged)
            #expect(
                code { try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true)).close() }
                    == .corrupted, "byte \(offset)")
        }
    }

    @Test("a log of zeros causes no notice and no finding")
    func ignoresZeros() throws {
        _ = try leaveLog()
        try type.open(directory.location("w"), options: StoreOptions()).close()
        try put([UInt8](repeating: 0, count: 5000))
        let reader = try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true))
        #expect(try reader.records("Note").count == 9)
        #expect(try reader.notices() == [])
        #expect(try reader.integrityFindings() == [])
        try reader.close()
        #expect(try directory.names == ["w", "w.lock"])
    }

    @Test("two connections can both set, and then both remove, the mark of a store with unflushed commits")
    func marksAtOnce() throws {
        try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions()).close()
        let settings = try SQLiteSettings(StoreOptions(typeOptions: ["synchronous": "normal"]))
        let connections = try (0..<2).map { _ in
            try SQLiteDatabase.connect(directory.file("s"), settings: settings, access: .readWrite)
        }
        for connection in connections {
            try UnflushedMark.set(connection, settings: settings)
            #expect(try SQLiteSchemaCheck(connection).isUnflushed)
        }
        for connection in connections {
            try UnflushedMark.remove(connection)
            #expect(try !SQLiteSchemaCheck(connection).isUnflushed)
        }
        for connection in connections { try connection.close() }
        let stores = try (0..<3).map { _ in
            try type.open(directory.location("s"), options: StoreOptions(typeOptions: ["synchronous": "normal"]))
        }
        for store in stores { try store.close() }
    }

    @Test("cutting a damaged log as the message advises recovers the earlier commits")
    func recoversAsAdvised() throws {
        let (log, ends) = try leaveLog()
        var damaged = log
        damaged[ends[1] + 100] ^= 1
        try put(damaged)
        let error = #expect(throws: StoreError.self) {
            try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true)).close()
        }
        #expect(error?.message.contains("cut '\(directory.file("w"))-wal' to \(ends[1]) bytes") == true)
        try put(Array(damaged[..<ends[1]]))
        let store = try type.open(directory.location("w"), options: StoreOptions())
        #expect(try store.records("Note").count == 5)
        #expect(try store.findings() == [])
        #expect(try store.notices() == [])
        try store.close()
    }

    @Test("a torn or damaged last commit in a log causes a notice and a warning")
    func warnsOfTornCommit() throws {
        let (log, ends) = try leaveLog()
        for (bytes, comment) in [
            (Array(log[..<(ends[5] - 30)]), "cut"),
            (log.enumerated().map { $0 == ends[5] - 2000 ? ~$1 : $1 }, "flipped"),
        ] as [([UInt8], Comment)] {
            try put(bytes)
            let store = try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true))
            #expect(try store.records("Note").count == 8, comment)
            let notices = try store.notices()
            #expect(notices.contains { $0.contains("not complete and is left out") }, comment)
            let findings = try store.integrityFindings()
            #expect(findings.map(\.severity) == notices.map { _ in .warning }, comment)
            try store.close()
            #expect(try directory.bytes("w-wal") == bytes, comment)
        }
    }

    @Test("a reader reports that file and log belong together, and changes neither")
    func keepsFileAndLogTogether() throws {
        let (log, _) = try leaveLog()
        let file = try directory.bytes("w")
        for _ in 0..<2 {
            let store = try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true))
            #expect(try store.records("Note").count == 9)
            #expect(try store.notices().count == 1)
            #expect(try store.notices().first?.contains("keep both files together") == true)
            #expect(try store.integrityFindings().map(\.severity) == [.warning])
            try store.close()
            #expect(try directory.bytes("w") == file)
            #expect(try directory.bytes("w-wal") == log)
        }
        let writer = try type.open(directory.location("w"), options: StoreOptions())
        #expect(try writer.notices() == [])
        try writer.close()
        #expect(try directory.names == ["w", "w.lock"])
    }

    @Test("a reader removes a log whose commits the file already contains")
    func removesMovedLog() throws {
        let (log, _) = try leaveLog()
        let store = try type.open(directory.location("w"), options: StoreOptions())
        try store.close()
        let file = try directory.bytes("w")
        try put(log)
        let before = try FileIdentity(at: directory.file("w"))
        let reader = try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true))
        #expect(try reader.records("Note").count == 9)
        #expect(try reader.notices() == [])
        try reader.close()
        #expect(try directory.names == ["w", "w.lock"])
        #expect(try directory.bytes("w") == file)
        #expect(try FileIdentity(at: directory.file("w")).isUnchanged(since: before))
    }

    @Test("damage to a log of unflushed commits causes only a notice, until a writer that flushes opens the store")
    func noticesUnflushedDamage() throws {
        let (log, ends) = try leaveLog("w", options: ["synchronous": "normal"])
        var damaged = log
        damaged[ends[2] + 100] ^= 1
        try put(damaged)
        let reader = try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true))
        #expect(try reader.records("Note").count == 6)
        #expect(try reader.notices().contains { $0.contains("'synchronous' was 'normal'") })
        #expect(try reader.integrityFindings().allSatisfy { $0.severity == .warning })
        try reader.close()
        // With either value of `synchronous`, a log's header is flushed before its frames.
        damaged[10] ^= 1
        try put(damaged)
        #expect(
            code { try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true)).close() }
                == .corrupted)
        try put(log)
        // The first open merges the log into the file, so the second finds none.
        for _ in 0..<2 { try type.open(directory.location("w"), options: StoreOptions()).close() }
        let store = try type.open(directory.location("w"), options: StoreOptions())
        var newEnds: [Int] = []
        for key in Int64(10)...15 {
            try insert(key...key, into: store)
            newEnds.append(try StoreFile.byteCount(at: directory.file("w-wal")))
        }
        let (file, flushed) = (try directory.bytes("w"), try directory.bytes("w-wal"))
        try store.close()
        try directory.write(file, to: "w")
        damaged = flushed
        damaged[newEnds[1] + 100] ^= 1
        try put(damaged)
        #expect(
            code { try type.open(directory.location("w"), options: StoreOptions(isReadOnly: true)).close() }
                == .corrupted)
    }

    @Test("a writer that closes beside a reader moves the log into the file")
    func closesBesideReader() throws {
        try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions()).close()
        let writer = try type.open(directory.location("s"), options: StoreOptions())
        try insert(1...3, into: writer)
        let reader = try type.open(directory.location("s"), options: StoreOptions(isReadOnly: true))
        try insert(4...6, into: writer)
        try writer.close()
        // The file alone has every commit.
        try directory.write(try directory.bytes("s"), to: "alone")
        let alone = try type.open(directory.location("alone"), options: StoreOptions(isReadOnly: true))
        #expect(try alone.records("Note").count == 6)
        try alone.close()
        #expect(try reader.records("Note").count == 6)
        try reader.close()
        #expect(try directory.names == ["alone", "alone.lock", "s", "s.lock"])
    }

    @Test(
        "a log kept for an older snapshot is reported to the next reader"
    )
    func closesBesideOldSnapshot() throws {
        try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions()).close()
        let writer = try type.open(directory.location("s"), options: StoreOptions())
        try insert(1...3, into: writer)
        let reader = try type.open(directory.location("s"), options: StoreOptions(isReadOnly: true))
        let snapshot = try reader.snapshot()
        try insert(4...6, into: writer)
        try writer.close()
        try directory.write(try directory.bytes("s"), to: "alone")
        let alone = try type.open(directory.location("alone"), options: StoreOptions(isReadOnly: true))
        #expect(try alone.records("Note").count == 0)
        #expect(try alone.findings() == [])
        try alone.close()
        snapshot.close()
        let file = try directory.bytes("s")
        try reader.close()
        #expect(try directory.bytes("s") == file)
        let next = try type.open(directory.location("s"), options: StoreOptions(isReadOnly: true))
        #expect(try next.records("Note").count == 6)
        #expect(try next.notices().count == 1)
        try next.close()
        let last = try type.open(directory.location("s"), options: StoreOptions())
        try last.close()
        #expect(try directory.names == ["alone", "alone.lock", "s", "s.lock"])
    }

    @Test("a writer that closes beside a snapshot of the newest state leaves no log")
    func closesBesideNewSnapshot() throws {
        try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions()).close()
        let writer = try type.open(directory.location("s"), options: StoreOptions())
        try insert(1...3, into: writer)
        let reader = try type.open(directory.location("s"), options: StoreOptions(isReadOnly: true))
        let snapshot = try reader.snapshot()
        try writer.close()
        snapshot.close()
        try reader.close()
        #expect(try directory.names == ["s", "s.lock"])
        let store = try type.open(directory.location("s"), options: StoreOptions())
        #expect(try store.records("Note").count == 3)
        try store.close()
    }
}

/// A file that is read without a log, under a lock on the file itself.
@Suite("Locks on SQLite files")
struct SQLiteFileLockTests {
    private let directory: TemporaryDirectory
    private let type = SQLiteStoreType()

    init() throws {
        directory = try TemporaryDirectory()
        let store = try type.create(directory.location("s"), model: try Models.note(), options: StoreOptions())
        try store.change { try $0.insert(ObjectID("Note", key: 1), values: ["text": .string("text")]) }
        try store.close()
    }

    @Test("read locks on an SQLite file exclude writers, and a writer excludes read locks")
    func excludesWriters() throws {
        let path = directory.file("s")
        #expect(!SQLiteFileLock.isHeld(at: path))
        var locks = try (0..<20).compactMap { _ in try SQLiteFileLock.forReading(path) }
        #expect(locks.count == 20)
        #expect(SQLiteFileLock.isHeld(at: path))
        #expect(
            code { try type.open(directory.location("s"), options: StoreOptions(timeoutSeconds: 0)).close() } == .busy)
        let reader = try type.open(directory.location("s"), options: StoreOptions(isReadOnly: true, timeoutSeconds: 0))
        #expect(try reader.records("Note").count == 1)
        locks = []
        #expect(
            code { try type.open(directory.location("s"), options: StoreOptions(timeoutSeconds: 0)).close() } == .busy)
        try reader.close()
        #expect(!SQLiteFileLock.isHeld(at: path))
        let writer = try type.open(directory.location("s"), options: StoreOptions(timeoutSeconds: 0))
        #expect(try SQLiteFileLock.forReading(path) == nil)
        // The failed attempt did not release the writer's locks, so this attempt fails too.
        #expect(try SQLiteFileLock.keepingOthersOut(of: path) == nil)
        try writer.close()
        #expect(try directory.names == ["s", "s.lock"])
    }

    @Test("closed readers beside an SQLite writer keep no handles", .enabled(if: openHandleCount("/proc/self/fd") >= 0))
    func keepsNoHandles() throws {
        let path = directory.file("s")
        let writer = try type.open(directory.location("s"), options: StoreOptions())
        func open() throws {
            let reader = try type.open(directory.location("s"), options: StoreOptions(isReadOnly: true))
            #expect(try reader.records("Note").count == 1)
            try reader.close()
            #expect(try SQLiteFileLock.forReading(path) == nil)
        }
        for _ in 0..<3 { try open() }
        let before = openHandleCount(path)
        for _ in 0..<20 { try open() }
        #expect(openHandleCount(path) == before)
        try writer.close()
        #expect(openHandleCount(path) == 0)
    }
}

/// Returns the number of this process's handles on a file, or -1 if the number is unknown.
private func openHandleCount(_ path: String) -> Int {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return -1 }
    return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path }
}
