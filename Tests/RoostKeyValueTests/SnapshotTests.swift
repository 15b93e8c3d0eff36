import Foundation
import RoostCore
import RoostPredicates
import Testing

@testable import RoostKeyValue
@testable import RoostMemory

@Suite("Snapshots, keys and checks of the key-value engine")
struct SnapshotTests {
    @Test("a key-value snapshot does not show later commits")
    func keepsState() throws {
        let test = try TestStore()
        try test.fill()
        let old = try test.snapshot()
        try test.commit { changes in
            changes.delete(test.artist(1), version: 1)
            try changes.insert(test.artist(9), values: [:])
        }
        #expect(try old.ids(of: "Artist").map(\.key) == [1, 2, 3])
        #expect(try test.snapshot().ids(of: "Artist").map(\.key) == [2, 3, 9])
        #expect(try old.recordedTally()?.generation.number == 1)
        old.close()
        old.close()
        #expect(code { _ = try old.ids(of: "Artist") } == .closed)
    }

    @Test("records are read after an ID, or by IDs in the requested order")
    func readsAfterIDs() throws {
        let test = try TestStore()
        try test.fill()
        let snapshot = try test.snapshot()
        let rest = try snapshot.all(try snapshot.records(of: "Artist", after: test.artist(1)))
        #expect((0..<rest.count).map { rest.key(at: $0) } == [2, 3])
        let ids = [test.album(3), test.artist(9), ObjectID("Artist", key: 3), test.album(3), ObjectID("Band", key: 1)]
        let some = try snapshot.all(try snapshot.records(with: ids))
        #expect((0..<some.count).map { some.id(at: $0) } == [test.album(3), ObjectID("Band", key: 3), test.album(3)])
        #expect(code { _ = try snapshot.records(of: "Nobody", after: nil) } == .unknownEntity)
        #expect(try snapshot.ids(of: "Chart") == [])
    }

    @Test("fetches by index and by scan find the expected objects")
    func fetchesByIndexAndScan() throws {
        let test = try TestStore()
        try test.fill()
        try test.commit { changes in
            for key in Int64(10)..<60 {
                try changes.insert(
                    test.artist(key),
                    values: ["name": .string("n\(key % 5)"), "rank": .int(key % 3), "code": .string("k\(key)")])
            }
        }
        let snapshot = try test.snapshot()
        let byName = FetchRequest("Artist", where: .equal("name", to: "n3") && .equal("rank", to: 1))
        #expect(try snapshot.keys(byName) == (10..<60).filter { $0 % 5 == 3 && $0 % 3 == 1 })
        #expect(try snapshot.keys(FetchRequest("Band", where: .equal("code", to: "a"))) == [])
        #expect(
            try snapshot.keys(FetchRequest("Artist", where: .isIn("code", values: ["k12", "b", "none"]))) == [2, 12])
        #expect(
            try snapshot.keys(
                FetchRequest("Artist", where: .equal("code", to: "k12") || .greater("rank", than: 1), limit: 3))
                == [1, 11, 12])
        #expect(
            try snapshot.keys(FetchRequest("Album", where: .equal("artist", to: .objectID(test.artist(1))))) == [
                1, 2, 3,
            ])
        #expect(try snapshot.keys(FetchRequest("Album", where: .equal("artist", to: .objectID(test.album(1))))) == [])
        let this = FetchRequest.Predicate.comparison(
            .init(
                left: .evaluatedObject, operator: .isIn,
                right: .aggregate([.constant(.objectID(test.artist(2))), .constant(.objectID(test.artist(3)))])))
        #expect(try snapshot.keys(FetchRequest("Artist", where: this)) == [2, 3])
        #expect(try snapshot.keys(FetchRequest("Artist", where: this).with { $0.includesSubentities = false }) == [2])
        #expect(
            try snapshot.keys(
                FetchRequest(
                    "Artist", where: .less("rank", than: 3), sortedBy: [.init("name", ascending: false)], limit: 2,
                    offset: 1)
            )
                == [19, 24])
        #expect(
            code { _ = try snapshot.fetch(FetchRequest("Artist", where: .equal("nome", to: 1))) } == .unknownProperty)
        #expect(
            code { _ = try snapshot.fetch(FetchRequest("Artist", where: .equal("name", to: 1))) } == .invalidRequest)
    }

    @Test("reserved keys never repeat, and unused ones are returned on close")
    func reservesKeysOnce() throws {
        let test = try TestStore()
        #expect(try test.snapshot().lastKey(of: "Artist") == 0)
        #expect(try test.store.reserveKeys(3, for: "Band") == 1..<4)
        #expect(try test.store.reserveKeys(2, for: "Artist") == 4..<6)
        #expect(try test.snapshot().lastKey(of: "Artist") == 5)
        #expect(try test.store.reserveKeys(100, for: "Artist") == 6..<106)
        try test.commit { try $0.insert(test.artist(110), values: [:]) }
        #expect(try test.store.reserveKeys(1, for: "Artist") == 111..<112)
        try test.commit { try $0.insert(test.artist(100_000), values: [:]) }
        let next = try test.store.reserveKeys(5000, for: "Artist")
        #expect(next == 100_001..<105_001)
        #expect(code { _ = try test.store.reserveKeys(0, for: "Artist") } == .invalidRequest)
        #expect(code { _ = try test.store.reserveKeys(1, for: "Nobody") } == .unknownEntity)
        #expect(code { _ = try test.store.reserveKeys(.max, for: "Artist") } == .limitExceeded)
        _ = try test.store.reserveKeys(1, for: "Genre")
        #expect(
            try MetaSpace.readLastKey(root: try test.model.requireEntity("Genre").number, reader: test.storage.read())
                == 64)
        let reader = try test.storage.read()
        try test.store.close()
        let genre = try test.model.requireEntity("Genre").number
        #expect(try MetaSpace.readLastKey(root: genre, reader: reader) == 64)
        let after = MemoryReader(trees: test.storage.contents.current.trees)
        #expect(try MetaSpace.readLastKey(root: genre, reader: after) == 1)
    }

    @Test("a snapshot that begins before a commit returns counts the commit's keys as used")
    func lastKeyDuringCommit() throws {
        let storage = UntrustedStorage(MemoryStorage())
        let store = try KeyValueStore(
            creating: storage, type: MemoryStoreType(), location: StoreLocation(type: "memory", path: ""),
            model: try musicModel(), options: StoreOptions(timeoutSeconds: 0))
        let key = try store.reserveKeys(1, for: "Artist").lowerBound + 1
        let last = Mutex<Int64?>(nil)
        storage.afterWrite.withLock { action in
            action = {
                let found = try? store.snapshot().lastKey(of: "Artist")
                last.withLock { $0 = found }
            }
        }
        var changes = ChangeSet(model: store.model)
        try changes.insert(ObjectID("Artist", key: key), values: ["name": "A", "code": "a"])
        _ = try store.commit(changes)
        #expect(last.withLock { $0 } == key)
    }

    @Test("key reservations of many threads and two open stores do not overlap")
    func reservesKeysOnThreads() async throws {
        let type = MemoryStoreType()
        let location = StoreLocation(type: "memory", path: "reserving-\(UUID())")
        let first = try type.create(location, model: try musicModel(), options: StoreOptions())
        let second = try type.open(location, options: StoreOptions())
        let ranges = try await withThrowingTaskGroup(of: [Range<Int64>].self) { group in
            for worker in 0..<6 {
                group.addTask {
                    let store = worker % 2 == 0 ? first : second
                    return try (1...100).map { try store.reserveKeys($0 % 7 + 1, for: "Genre") }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let keys = ranges.flatMap { Array($0) }
        #expect(Set(keys).count == keys.count)
        #expect(code { try type.destroy(location) } == .busy)
        try first.close()
        try second.close()
        try type.destroy(location)
        #expect(code { _ = try type.open(location, options: StoreOptions()) } == .notFound)
    }

    /// Writes to the storage without the engine.
    private func tamper(_ test: TestStore, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Void) throws {
        try test.storage.write(timeoutSeconds: 0, body)
    }

    private static func firstKey(of space: KeySpace, in reader: any KeyValueReader) throws(StoreError) -> StorageKey {
        let cursor = try reader.cursor(in: space)
        guard try cursor.next() else { throw StoreError(.notFound, "the space is empty") }
        return StorageKey(cursor.key)
    }

    @Test("a check finds a missing entry in each key space", arguments: KeySpace.allCases.filter { $0 != .meta })
    func findsMissingEntry(space: KeySpace) throws {
        let test = try TestStore()
        try test.fill()
        try tamper(test) { (writer) throws(StoreError) in
            try writer.delete(try Self.firstKey(of: space, in: writer), in: space)
        }
        #expect(try !test.findings().isEmpty)
    }

    @Test(
        "a check finds a surplus entry beside a missing one of the same key space",
        arguments: [KeySpace.unique, .indexes, .references])
    func findsReplacedEntry(space: KeySpace) throws {
        let test = try TestStore()
        try test.fill()
        try tamper(test) { (writer) throws(StoreError) in
            var key = try Self.firstKey(of: space, in: writer)
            let value = try writer.value(of: key, in: space) ?? []
            try writer.delete(key, in: space)
            key.truncate(to: key.count - 1)
            key.append(bytes: [77])
            try writer.put(key, value, in: space)
        }
        #expect(try test.findings().contains { $0.contains("belongs to no record") })
    }

    @Test("a check finds a surplus entry in each key space", arguments: KeySpace.allCases.filter { $0 != .meta })
    func findsSurplusEntry(space: KeySpace) throws {
        let test = try TestStore()
        try test.fill()
        try tamper(test) { (writer) throws(StoreError) in
            var key = try Self.firstKey(of: space, in: writer)
            let value = try writer.value(of: key, in: space) ?? []
            // The key of another object's entry.
            key.truncate(to: key.count - 1)
            key.append(bytes: [77])
            try writer.put(key, value, in: space)
        }
        #expect(try !test.findings().isEmpty)
    }

    /// `place` is the damaged byte's offset from the record's start, or from its end if negative.
    ///
    /// Snapshots of a trusted store compare no checksums.
    @Test(
        "a damaged record is named, and the records after it are read",
        arguments: [(-1, false), (14, false), (14, true)])
    func continuesAfterDamage(place: Int, isTrusted: Bool) throws {
        let test = try TestStore(isTrusted: isTrusted)
        try test.fill()
        let root = try test.model.requireEntity("Artist").number
        try tamper(test) { (writer) throws(StoreError) in
            let key = StorageKey(record: 2, root: root)
            var bytes = try writer.value(of: key, in: .records) ?? []
            bytes[place < 0 ? bytes.count + place : place] ^= 1
            try writer.put(key, bytes, in: .records)
        }
        let snapshot = try test.snapshot()
        let cursor = try snapshot.records(of: "Artist", after: nil)
        var batch = RecordBatch(model: test.model)
        #expect(try cursor.next(into: &batch))
        #expect(batch.count == 1 && batch.key(at: 0) == 1)
        do {
            _ = try cursor.next(into: &batch)
            Issue.record("the damage must be reported")
        } catch {
            #expect(error.code == .corrupted)
            #expect(error.damagedObject == test.artist(2))
        }
        #expect(try cursor.next(into: &batch))
        #expect(batch.count == 1 && batch.key(at: 0) == 3)
        #expect(try !cursor.next(into: &batch))
        let selected = try snapshot.records(with: [test.artist(1), test.artist(2), test.artist(3)])
        #expect(try selected.next(into: &batch) && batch.count == 1)
        #expect(code { _ = try selected.next(into: &batch) } == .corrupted)
        #expect(try selected.next(into: &batch) && batch.key(at: 0) == 3)
        #expect(code { _ = try snapshot.count(FetchRequest("Artist", where: .greater("rank", than: 0))) } == .corrupted)
        #expect(try test.findings().contains { $0.contains("Artist/p2") })
        #expect(code { try test.commit { try $0.update(test.artist(2), version: 1, values: [:]) } } == .corrupted)
    }

    @Test(
        "a key-value store with damaged metadata is refused",
        arguments: ["format", "uuid", "type", "model", "user", "tally"])
    func refusesDamagedMetadata(name: String) throws {
        let test = try TestStore()
        try test.fill()
        let location = StoreLocation(type: "memory", path: "")
        try tamper(test) { (writer) throws(StoreError) in
            let key = StorageKey(name.utf8)
            var bytes = try writer.value(of: key, in: .meta) ?? []
            bytes[bytes.count - 1] ^= 1
            try writer.put(key, bytes, in: .meta)
        }
        let copy = MemoryStorage(contents: test.storage.contents)
        #expect(
            code {
                _ = try KeyValueStore(
                    opening: copy, type: MemoryStoreType(), location: location, options: StoreOptions())
            }
                == .corrupted)
    }

    private func openCopy(of test: TestStore, options: StoreOptions = StoreOptions()) throws -> KeyValueStore {
        try KeyValueStore(
            opening: MemoryStorage(contents: test.storage.contents), type: MemoryStoreType(),
            location: StoreLocation(type: "memory", path: ""), options: options)
    }

    @Test("an empty storage and a key-value store of another model are refused")
    func refusesOtherStores() throws {
        let location = StoreLocation(type: "memory", path: "")
        let type = MemoryStoreType()
        #expect(
            code {
                _ = try KeyValueStore(opening: MemoryStorage(), type: type, location: location, options: StoreOptions())
            }
                == .notAStore)
        let test = try TestStore()
        let other = try ManagedObjectModel(entities: [EntityDescription("Other")])
        #expect(code { _ = try openCopy(of: test, options: StoreOptions(model: other)) } == .modelMismatch)
        let copy = try openCopy(of: test, options: StoreOptions(model: test.model))
        #expect(try copy.metadata() == (try test.store.metadata()))
        #expect(
            code {
                _ = try KeyValueStore(
                    creating: MemoryStorage(contents: test.storage.contents), type: type, location: location,
                    model: other,
                    options: StoreOptions())
            } == .alreadyExists)
        #expect(code { _ = try test.store.commit(ChangeSet(model: other)) } == .modelMismatch)
    }

    @Test("a key-value store of another format version is refused", arguments: [1, 4] as [UInt64])
    func refusesOtherFormat(version: UInt64) throws {
        let test = try TestStore()
        try tamper(test) { (writer) throws(StoreError) in
            try MetaSpace.write((version | 511 << 32).littleEndianBytes, key: MetaSpace.format, writer: writer)
        }
        #expect(code { _ = try openCopy(of: test) } == .unsupportedVersion)
    }

    @Test("a key-value store that requires an unknown feature is refused, and the error names the feature")
    func refusesUnknownFeature() throws {
        let test = try TestStore()
        try tamper(test) { (writer) throws(StoreError) in
            try MetaSpace.writeFormat(keyLimit: 511, features: ["history", "telepathy"], writer: writer)
        }
        let unknown = #expect(throws: StoreError.self) { _ = try openCopy(of: test) }
        #expect(unknown?.code == .unsupportedVersion)
        #expect(unknown?.message.contains("'telepathy'") == true)
    }

    @Test("a named memory store survives closing; an unnamed one is private")
    func sharesNamedStores() throws {
        let type = MemoryStoreType()
        let model = try musicModel()
        let (a, b) = (
            StoreLocation(type: "memory", path: "a-\(UUID())"), StoreLocation(type: "memory", path: "b-\(UUID())")
        )
        let private1 = try type.create(StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Genre", key: 1), values: [:])
        _ = try private1.commit(changes)
        let private2 = try type.create(StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        #expect(try private2.snapshot().ids(of: "Genre") == [])
        #expect(
            code { _ = try type.open(StoreLocation(type: "memory", path: ""), options: StoreOptions()) } == .notFound)

        let store = try type.create(a, model: model, options: StoreOptions())
        #expect(code { _ = try type.create(a, model: model, options: StoreOptions()) } == .alreadyExists)
        _ = try store.commit(changes)
        #expect(code { try type.replace(b, with: a, overwriting: false) } == .busy)
        try store.close()
        let again = try type.open(a, options: StoreOptions(model: model))
        #expect(try again.snapshot().ids(of: "Genre").count == 1)
        #expect(try type.metadata(at: a, options: StoreOptions()) == again.metadata())
        try again.close()
        try type.create(b, model: model, options: StoreOptions()).close()
        #expect(code { try type.replace(b, with: a, overwriting: false) } == .alreadyExists)
        try type.replace(b, with: a, overwriting: true)
        #expect(code { _ = try type.open(a, options: StoreOptions()) } == .notFound)
        let moved = try type.open(b, options: StoreOptions())
        #expect(try moved.snapshot().ids(of: "Genre").count == 1)
        try moved.close()
        try type.destroy(b)
        try type.destroy(b)
        #expect(code { _ = try type.open(b, options: StoreOptions(typeOptions: ["x": "y"])) } == .invalidRequest)
    }
}
