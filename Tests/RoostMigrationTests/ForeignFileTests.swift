import Foundation
import Roost
import RoostFiles
import RoostMigration
import Testing

@Suite("Files with the names of a new store's log, journal or locks")
struct ForeignFileTests {
    private let manager = MigrationManager(registry: .standard)

    /// The suffixes of files that a store of each type would overwrite or remove.
    private static let ownSuffixes = ["sqlite": ["-wal", "-shm", "-journal"], "lmdb": ["-lock"], "json": ["-journal"]]
    private static let own = Sample.fileTypes.flatMap { type in (ownSuffixes[type] ?? []).map { (type, $0) } }

    private func write(_ bytes: Data, to path: String) throws { try bytes.write(to: URL(fileURLWithPath: path)) }
    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do { try body() } catch { return (error as? StoreError)?.code }
        return nil
    }

    @Test(
        "a conversion is refused if a foreign file is named like a log or lock of its destination, for any store type",
        arguments: Sample.fileTypes,
        ["-wal", "-shm", "-journal", "-lock", ".lock"])
    func conversion(type: String, suffix: String) throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (
            StoreLocation(type: type, path: directory.file("a")), StoreLocation(type: type, path: directory.file("b"))
        )
        try Sample.store(type, at: a.path, people: 5).close()
        try FileManager.default.copyItem(atPath: a.path, toPath: b.path + suffix)
        for content in [try bytes(a.path), Data("poetry".utf8)] {
            try write(content, to: b.path + suffix)
            for overwrites in [false, true] {
                let options = ConversionOptions(overwrites: overwrites)
                let plan = try manager.plan(from: .location(a), to: .location(b), options: options)
                #expect(plan.refusals.count == 1 && plan.refusals.first?.contains("b\(suffix)' exists") == true)
                let error = #expect(throws: StoreError.self) {
                    try manager.convert(from: .location(a), to: .location(b), options: options)
                }
                #expect(error?.code == .alreadyExists && error?.message == plan.refusals.first)
            }
            #expect(try bytes(b.path + suffix) == content)
            #expect(try directory.names() == ["a", "b\(suffix)"].filter { !$0.hasSuffix(".lock") })
        }
    }

    @Test(
        "a foreign file named like the log or lock of a store is kept, and prevents creating or replacing the store",
        arguments: own)
    func types(type: String, suffix: String) throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (
            StoreLocation(type: type, path: directory.file("a")), StoreLocation(type: type, path: directory.file("b"))
        )
        try Sample.store(type, at: a.path, people: 5).close()
        try write(Data("poetry".utf8), to: b.path + suffix)
        let store = try StoreRegistry.standard.type(named: type)
        #expect(code { _ = try store.create(b, model: try Sample.model(), options: StoreOptions()) } == .alreadyExists)
        for overwriting in [false, true] {
            #expect(code { try store.replace(b, with: a, overwriting: overwriting) } == .alreadyExists)
        }
        #expect(try bytes(b.path + suffix) == Data("poetry".utf8))
        #expect(try directory.names() == ["a", "b\(suffix)"])
    }

    @Test("destroying a missing store keeps a foreign file with the name of its log or lock", arguments: own)
    func destroying(type: String, suffix: String) throws {
        let directory = try TemporaryDirectory()
        let b = StoreLocation(type: type, path: directory.file("b"))
        try write(Data("poetry".utf8), to: b.path + suffix)
        try StoreRegistry.standard.type(named: type).destroy(b)
        #expect(try bytes(b.path + suffix) == Data("poetry".utf8))
    }

    @Test(
        "an empty or zero-filled file with the name of a log or lock does not prevent creating a store",
        arguments: own, [0, 32 << 10])
    func empty(own: (type: String, suffix: String), byteCount: Int) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: own.type, path: directory.file("a"))
        try Sample.store(own.type, at: a.path, people: 5).close()
        let store = try StoreRegistry.standard.type(named: own.type)
        for name in ["b", "c"] {
            let location = StoreLocation(type: own.type, path: directory.file(name))
            try write(Data(count: byteCount), to: location.path + own.suffix)
            if name == "b" {
                _ = try manager.convert(from: .location(a), to: .location(location))
            } else {
                try store.create(location, model: try Sample.model(), options: StoreOptions()).close()
            }
            let made = try store.open(location, options: StoreOptions())
            #expect(try checkStore(made) == [])
            try made.close()
        }
        #expect(try directory.names() == ["a", "b", "c"])
    }

    /// A killed program leaves the index of SQLite's log, or LMDB's table of readers.
    @Test(
        "a log index or reader table left by a removed store does not prevent creating a new one",
        arguments: own.filter { ["-shm", "-lock"].contains($0.1) })
    func leftover(type: String, suffix: String) throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (
            StoreLocation(type: type, path: directory.file("a")), StoreLocation(type: type, path: directory.file("b"))
        )
        let open = try Sample.store(type, at: a.path, people: 5)
        let left = try bytes(a.path + suffix)
        #expect(left.contains { $0 != 0 })
        try write(left, to: b.path + suffix)
        _ = try manager.convert(from: .store(open), to: .location(b))
        try open.close()
        let made = try StoreRegistry.standard.open(b)
        #expect(try checkStore(made) == [])
        try made.close()
        #expect(try directory.names() == ["a", "b"])
    }

    @Test("a file name of 219 bytes leaves room for the temporary suffix of a conversion", arguments: Sample.fileTypes)
    func longestName(type: String) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let b = StoreLocation(type: type, path: directory.file(String(repeating: "n", count: 219)))
        _ = try manager.convert(from: .location(a), to: .location(b))
    }

    /// The temporary file's name has 28 more bytes, and the suffix of its log or lock up to 8 more.
    @Test(
        "a conversion refuses a file name that leaves no room for its temporary suffix",
        arguments: Sample.fileTypes, [220, 230, 250])
    func longNames(type: String, byteCount: Int) throws {
        let directory = try TemporaryDirectory()
        let a = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: a.path, people: 5).close()
        let b = StoreLocation(type: type, path: directory.file(String(repeating: "n", count: byteCount)))
        let plan = try manager.plan(from: .location(a), to: .location(b))
        let error = #expect(throws: StoreError.self) { try manager.convert(from: .location(a), to: .location(b)) }
        #expect(error?.code == .invalidRequest && plan.refusals == [error?.message])
        #expect(error?.message.contains("roost-tmp") == false && error?.message.contains(b.path) == true)
    }

    @Test("a conversion refuses a destination with the log of a moved store, and keeps the log")
    func movedStore() throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (
            StoreLocation(type: "sqlite", path: directory.file("a")),
            StoreLocation(type: "sqlite", path: directory.file("b"))
        )
        let open = try Sample.store("sqlite", at: a.path, people: 5)
        // As if a program was killed and its store 'b' was moved without the log.
        try FileManager.default.copyItem(atPath: a.path, toPath: directory.file("moved"))
        try FileManager.default.copyItem(atPath: a.path + "-wal", toPath: b.path + "-wal")
        let log = try bytes(b.path + "-wal")
        #expect(!log.isEmpty)
        #expect(code { _ = try manager.convert(from: .store(open), to: .location(b)) } == .alreadyExists)
        try open.close()
        #expect(try bytes(b.path + "-wal") == log)
    }
}
