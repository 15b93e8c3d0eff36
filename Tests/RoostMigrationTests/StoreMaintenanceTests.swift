import Foundation
import Roost
import RoostCore
import RoostFiles
import RoostMigration
import RoostStores
import Testing

@Suite("Backups and compaction")
struct StoreMaintenanceTests {
    static let fileTypes = StoreRegistry.standard.all
        .filter { $0.capabilities.contains(.writing) && $0.capabilities.contains(.file) }.map(\.name)

    private let maintenance = StoreMaintenance(registry: .standard)

    private func open(_ location: StoreLocation) throws -> any PersistentStore {
        try StoreRegistry.standard.open(location)
    }

    /// Fills a store, deletes nine tenths of its books and persons, and returns its UUID.
    private func makeHollow(_ location: StoreLocation) throws -> StoreUUID {
        let uuid = StoreUUID()
        let store = try Sample.store(location.type, at: location.path, uuid: uuid)
        var changes = ChangeSet(model: store.model)
        let snapshot = try store.snapshot()
        var batch = RecordBatch(model: store.model)
        for entity in ["Book", "Person"] as [EntityName] {
            let cursor = try snapshot.records(of: entity, after: nil)
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count where batch.key(at: index) % 10 != 0 {
                    changes.delete(batch.id(at: index), version: batch.version(at: index))
                }
            }
        }
        snapshot.close()
        changes.userMetadata = ["note": .string("kept")]
        _ = try store.commit(changes)
        try store.close()
        return uuid
    }

    private func facts(_ location: StoreLocation) throws -> [String] {
        let store = try open(location)
        defer { try? store.close() }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let metadata = try store.metadata()
        return [
            metadata.storeUUID.description,
            MetadataValue.dictionary(metadata.userMetadata).description, try snapshot.computeTally().digest.description,
            "\(try snapshot.lastKey(of: "Person")) \(try snapshot.lastKey(of: "Shelf"))",
            "\(try checkStore(store).filter { $0.severity == .damage })",
        ]
    }

    @Test("a backup has the content, metadata and UUID of its store", arguments: fileTypes)
    func backup(type: String) throws {
        let directory = try TemporaryDirectory()
        let (location, copy) = (
            StoreLocation(type: type, path: directory.file("a")), StoreLocation(type: type, path: directory.file("b"))
        )
        let uuid = try makeHollow(location)
        let report = try maintenance.backUp(.location(location), to: copy)
        #expect(report.verified && report.warnings == [])
        #expect(try facts(copy) == facts(location))
        #expect(try facts(copy)[0] == uuid.description)
        #expect(throws: StoreError.self) { try maintenance.backUp(.location(location), to: copy) }
        _ = try maintenance.backUp(.location(location), to: copy, options: ConversionOptions(overwrites: true))
        #expect(try directory.names() == ["a", "b"])
    }

    @Test("an invalid backup or compaction is refused and changes nothing", arguments: fileTypes)
    func backupRefusals(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("a"))
        try Sample.store(type, at: location.path).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        func code(_ body: () throws -> Void) -> StoreError.Code? {
            do { try body() } catch { return (error as? StoreError)?.code }
            return nil
        }
        #expect(code { _ = try maintenance.backUp(.location(location), to: location) } == .invalidRequest)
        #expect(
            code { _ = try maintenance.backUp(.location(location), to: StoreLocation(type: "memory", path: "x")) }
                == .invalidRequest)
        let missing = StoreLocation(type: type, path: directory.file("no/b"))
        #expect(code { _ = try maintenance.backUp(.location(location), to: missing) } == .missingDirectory)
        let memory = StoreLocation(type: "memory", path: "")
        #expect(code { _ = try maintenance.backUp(.location(memory), to: memory) } == .unsupported)
        #expect(code { _ = try maintenance.compact(memory) } == .unsupported)
        #expect(code { _ = try maintenance.compact(StoreLocation(type: type, path: directory.file("c"))) } == .notFound)
        let cancellation = ConversionCancellation()
        cancellation.cancel()
        let options = ConversionOptions(cancellation: cancellation)
        let copy = StoreLocation(type: type, path: directory.file("b"))
        #expect(code { _ = try maintenance.backUp(.location(location), to: copy, options: options) } == .cancelled)
        #expect(code { _ = try maintenance.compact(location, options: options) } == .cancelled)
        let full = ConversionOptions().with { $0.reservedBytes = .max }
        #expect(code { _ = try maintenance.backUp(.location(location), to: copy, options: full) } == .noSpace)
        #expect(code { _ = try maintenance.compact(location, options: full) } == .noSpace)
        #expect(try directory.names() == ["a"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
    }

    @Test("compacting shrinks a store to the size of a copy and keeps its content", arguments: fileTypes)
    func compact(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("a"))
        let uuid = try makeHollow(location)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: location.path)
        let copy = StoreLocation(type: type, path: directory.file("b"))
        let copied = try maintenance.backUp(.location(location), to: copy)
        let before = try facts(location)
        let size = try StoreFile.byteCount(at: location.path)
        let report = try maintenance.compact(location)
        #expect(!report.inPlace && report.bytesBefore == size)
        #expect(report.bytesAfter == copied.bytes)
        // A JSON document has no unused space, so compacting does not shrink it.
        #expect(report.bytesAfter < size || type == "json")
        #expect(try StoreFile.byteCount(at: location.path) == copied.bytes)
        #expect(report.digest == copied.digest)
        #expect(try facts(location) == before)
        #expect(try facts(location)[0] == uuid.description)
        let attributes = try FileManager.default.attributesOfItem(atPath: location.path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(attributes[.referenceCount] as? Int == 1)
        #expect(try directory.names() == ["a", "b"])
    }

    @Test(
        "compacting an SQLite store keeps tables and indexes of other programs", .enabled(if: SQLiteShell.path != nil))
    func foreignTables() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("store"))
        try Sample.store(location.type, at: location.path).close()
        try SQLiteShell.run(
            "CREATE TABLE zebra (a); INSERT INTO zebra VALUES (7); CREATE INDEX mine ON Person (born)",
            on: location.path)
        let report = try maintenance.compact(location)
        #expect(report.inPlace)
        #expect(try SQLiteShell.run("SELECT a FROM zebra", on: location.path) == ["7"])
        #expect(
            try SQLiteShell.run("SELECT name FROM sqlite_schema WHERE name = 'mine'", on: location.path) == ["mine"])
    }

    @Test("an open SQLite store is compacted in place, with a warning while a reader keeps old pages")
    func inPlace() throws {
        guard Self.fileTypes.contains("sqlite") else { return }
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("a"))
        _ = try makeHollow(location)
        let before = try facts(location)
        let size = try StoreFile.byteCount(at: location.path)
        let store = try open(location)
        let snapshot = try store.snapshot()
        let digest = try snapshot.computeTally().digest
        // The compaction waits only briefly for the open snapshot, which keeps the old pages.
        let held = try maintenance.compact(location)
        #expect(held.inPlace && held.warnings.count == 1)
        #expect(try snapshot.computeTally().digest == digest)
        snapshot.close()
        let report = try maintenance.compact(location)
        #expect(report.inPlace && report.warnings == [])
        #expect(report.bytesAfter < size / 2)
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("Shelf", key: 200), values: [:])
        changes.userMetadata = ["later": .bool(true)]
        _ = try store.commit(changes)
        try store.close()
        #expect(try StoreFile.byteCount(at: location.path) < size / 2)
        let after = try facts(location)
        #expect(after[0] == before[0] && after[4] == "[]")
        #expect(try directory.names() == ["a"])
    }

    @Test("a cancelled compaction of an open SQLite store changes nothing")
    func cancelledInPlace() throws {
        guard Self.fileTypes.contains("sqlite") else { return }
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("a"))
        _ = try makeHollow(location)
        let (before, size) = (try facts(location), try StoreFile.byteCount(at: location.path))
        let store = try open(location)
        do throws(StoreError) {
            _ = try store.type.compactOpenStore(location, options: StoreOptions(), isCancelled: { true })
            Issue.record("the store was compacted")
        } catch {
            #expect(error.code == .cancelled, "\(error)")
        }
        try store.close()
        #expect(try StoreFile.byteCount(at: location.path) == size)
        #expect(try facts(location) == before)
    }

    @Test("compacting an open LMDB store throws busy and changes nothing")
    func busy() throws {
        guard Self.fileTypes.contains("lmdb") else { return }
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "lmdb", path: directory.file("a"))
        _ = try makeHollow(location)
        let store = try open(location)
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        do throws(StoreError) {
            _ = try maintenance.compact(location, options: ConversionOptions(timeoutSeconds: 0.1))
            Issue.record("the store was compacted")
        } catch {
            #expect(error.code == .busy && error.message.contains("only while no program has it open"))
            #if os(Linux)
                #expect(error.message.contains("(this one)"))
            #endif
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        try store.close()
        #expect(try !maintenance.compact(location).inPlace)
    }

    @Test("compacting refuses a store that another program changed", arguments: [false, true])
    func changed(isOpen: Bool) throws {
        guard Self.fileTypes.contains("sqlite") else { return }
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: "sqlite", path: directory.file("a"))
        try Sample.store("sqlite", at: location.path).close()
        // Changes the rows and their index entries in the same way, as another program would.
        let file = URL(fileURLWithPath: location.path)
        var bytes = try Data(contentsOf: file)
        let (old, new) = (Data("Book 7 é".utf8), Data("Bxok 7 é".utf8))
        while let range = bytes.range(of: old) { bytes.replaceSubrange(range, with: new) }
        #expect(try bytes != Data(contentsOf: file))
        try bytes.write(to: file)
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        let store = isOpen ? try open(location) : nil
        do throws(StoreError) {
            _ = try maintenance.compact(location)
            Issue.record("the store was compacted")
        } catch {
            #expect(error.code == .corrupted && error.message.contains("roost check"), "\(error)")
        }
        try store?.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        #expect(try directory.names() == ["a"])
    }
}
