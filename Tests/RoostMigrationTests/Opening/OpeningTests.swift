import Foundation
import Roost
import RoostCore
import RoostMigration
import RoostSystem
import Testing

@Suite("Opening a store with another model")
struct OpeningTests {
    private let manager = MigrationManager(registry: .standard)

    private func description(_ location: StoreLocation, model: ManagedObjectModel) -> PersistentStoreDescription {
        PersistentStoreDescription(location, options: StoreOptions(model: model))
    }

    private func count(_ store: any PersistentStore, of entity: EntityName = "Note") throws -> Int {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try snapshot.count(FetchRequest(entity))
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do { try body() } catch { return (error as? StoreError)?.code }
        return nil
    }

    // MARK: Recreating

    @Test(
        "a missing store is created empty when incompatible stores are to be recreated",
        arguments: Sample.writingTypes)
    func missing(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        let store = try manager.openOrCreateStore(description(location, model: Notes.v1()), ifIncompatible: .recreate)
        #expect(try count(store) == 0)
        try store.close()
        try StoreRegistry.standard.type(named: type).destroy(location)
    }

    @Test(
        "a compatible store keeps its objects when incompatible stores are to be recreated",
        arguments: Sample.writingTypes)
    func compatible(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Notes.store(location).close()
        let store = try manager.openOrCreateStore(description(location, model: Notes.v1()), ifIncompatible: .recreate)
        #expect(try count(store) == 5)
        try store.close()
        try StoreRegistry.standard.type(named: type).destroy(location)
    }

    @Test("an incompatible store is recreated empty with the new model", arguments: Sample.writingTypes)
    func incompatible(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Notes.store(location).close()
        let store = try manager.openOrCreateStore(description(location, model: Notes.v4()), ifIncompatible: .recreate)
        #expect(try count(store) == 0)
        #expect(try store.model == Notes.v4())
        try store.close()
        if type != "memory" { #expect(try directory.names() == ["notes"]) }
        try StoreRegistry.standard.type(named: type).destroy(location)
    }

    @Test("a damaged store is refused and kept by default, and recreated on request", arguments: Sample.fileTypes)
    func damaged(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Notes.store(location).close()
        let file = URL(fileURLWithPath: location.path)
        var bytes = try Data(contentsOf: file)
        // The beginning, which identifies the type, stays; the rest is noise.
        let start = type == "json" ? bytes.count / 2 : 200
        for index in start..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 37 &+ 11) }
        try bytes.write(to: file)
        #expect(code { _ = try manager.openOrCreateStore(description(location, model: try Notes.v1())) } != nil)
        #expect(try Data(contentsOf: file) == bytes)
        let store = try manager.openOrCreateStore(description(location, model: Notes.v1()), ifIncompatible: .recreate)
        #expect(try count(store) == 0)
        try store.close()
        #expect(try directory.names() == ["notes"])
    }

    @Test(
        "a store that has another format version, is in use or is not readable is never recreated",
        arguments: [StoreError.Code.unsupportedVersion, .busy, .permissionDenied])
    func sound(code: StoreError.Code) throws {
        let directory = try TemporaryDirectory()
        let type = try #require(Sample.fileTypes.first)
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Notes.store(location).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        let registry = StoreRegistry([
            FaultyStoreType(base: try StoreRegistry.standard.type(named: type), faults: Faults(failsAtOpening: code))
        ])
        let error = #expect(throws: StoreError.self) {
            try MigrationManager(registry: registry).openOrCreateStore(
                description(StoreLocation(type: "faulty", path: location.path), model: Notes.v1()),
                ifIncompatible: .recreate)
        }
        #expect(error?.code == code)
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
    }

    // MARK: Other processes

    private static func takeFirst(_ flag: Mutex<Bool>) -> Bool {
        flag.withLock { flag in
            defer { flag = false }
            return flag
        }
    }

    private func open(
        _ location: StoreLocation, rule: IncompatibleStoreRule, faults: Faults
    ) throws -> any PersistentStore {
        let registry = StoreRegistry([
            FaultyStoreType(base: try StoreRegistry.standard.type(named: location.type), faults: faults)
        ])
        return try MigrationManager(registry: registry).openOrCreateStore(
            description(StoreLocation(type: "faulty", path: location.path), model: Notes.v1()), ifIncompatible: rule)
    }

    @Test("opening or creating opens a store that another process creates meanwhile", arguments: Sample.fileTypes)
    func madeMeanwhile(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        let isFirst = Mutex(true)
        let faults = Faults(onOpen: { () throws(StoreError) in
            guard Self.takeFirst(isFirst) else { return }
            try Notes.store(location).close()
            throw StoreError(.notFound, "injected: not there yet")
        })
        let store = try open(location, rule: .refuse, faults: faults)
        #expect(try count(store) == 5)
        try store.close()
    }

    @Test(
        "recreating keeps a store that another process has recreated and filled meanwhile", arguments: Sample.fileTypes)
    func recreatedMeanwhile(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        let isFirst = Mutex(true)
        let faults = Faults(onOpen: { () throws(StoreError) in
            guard Self.takeFirst(isFirst) else { return }
            try Notes.store(location).close()
            throw StoreError(.modelMismatch, "injected: as it was before")
        })
        let store = try open(location, rule: .recreate, faults: faults)
        #expect(try count(store) == 5)
        try store.close()
    }

    @Test("recreating a store waits for another connection that is about to close", arguments: Sample.fileTypes)
    func waits(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        let other = Mutex<(any PersistentStore)?>(try Notes.store(location))
        let (attempts, isOld) = (Mutex(0), Mutex(true))
        let faults = Faults(
            onOpen: { () throws(StoreError) in
                if isOld.withLock({ $0 }) { throw StoreError(.modelMismatch, "injected: another model") }
            },
            onReplace: {
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                guard attempt == 2 else { return }
                isOld.withLock { $0 = false }
                other.withLock { store in
                    try? store?.close()
                    store = nil
                }
            })
        let store = try open(location, rule: .recreate, faults: faults)
        #expect(attempts.withLock { $0 } == 2)
        #expect(try count(store) == 0)
        try store.close()
    }

    @Test("a file that is not a store is never migrated or recreated", arguments: Sample.fileTypes)
    func stranger(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("thesis.txt"))
        let file = URL(fileURLWithPath: location.path)
        try Data("my thesis".utf8).write(to: file)
        for rule in [IncompatibleStoreRule.refuse, .migrate(MigrationOptions()), .recreate] {
            let refused = code {
                _ = try manager.openOrCreateStore(description(location, model: try Notes.v1()), ifIncompatible: rule)
            }
            #expect(refused == .notAStore)
        }
        #expect(try Data(contentsOf: file) == Data("my thesis".utf8))
    }

    // MARK: Migrating

    @Test("opening migrates an incompatible store only on request, and never read-only", arguments: Sample.fileTypes)
    func migrated(type: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Notes.store(location).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: location.path))
        #expect(
            code { _ = try manager.openOrCreateStore(description(location, model: try Notes.v3())) } == .modelMismatch)
        var options = MigrationOptions().with { $0.infersMappingModel = false }
        #expect(
            code {
                _ = try manager.openOrCreateStore(
                    description(location, model: try Notes.v3()), ifIncompatible: .migrate(options))
            }
                == .modelMismatch)
        var reading = description(location, model: try Notes.v3())
        reading.options.isReadOnly = true
        #expect(
            code { _ = try manager.openOrCreateStore(reading, ifIncompatible: .migrate(MigrationOptions())) }
                == .readOnly)
        #expect(code { _ = try manager.openOrCreateStore(reading, ifIncompatible: .recreate) } == .readOnly)
        #expect(try Data(contentsOf: URL(fileURLWithPath: location.path)) == before)
        options = MigrationOptions(history: try Notes.history())
        let store = try manager.openOrCreateStore(
            description(location, model: Notes.v3()), ifIncompatible: .migrate(options))
        #expect(try count(store) == 5 && count(store, of: "Tag") == 3)
        #expect(try store.model == Notes.v3())
        try store.close()
        try manager.openOrCreateStore(description(location, model: Notes.v3())).close()
        #expect(try directory.names() == ["notes"])
    }

    @Test("opening uses an explicit mapping model where inference is off")
    func explicit() throws {
        guard let type = Sample.fileTypes.first else { return }
        let directory = try TemporaryDirectory()
        let location = StoreLocation(type: type, path: directory.file("notes"))
        try Notes.store(location).close()
        let mapping = try MappingModel.inferred(from: Notes.v1(), to: Notes.v2())
        let options = MigrationOptions(mapping: mapping).with { $0.infersMappingModel = false }
        let store = try manager.openOrCreateStore(
            description(location, model: Notes.v2()), ifIncompatible: .migrate(options))
        #expect(try count(store) == 5)
        try store.close()
    }

    @Test("opening or creating a store requires a model")
    func withoutModel() throws {
        let location = StoreLocation(type: "memory", path: "never made")
        #expect(code { _ = try manager.openOrCreateStore(PersistentStoreDescription(location)) } == .invalidModel)
    }
}
