import Foundation
import RoostConformance
import RoostCore
import Testing

/// A type whose stores write bulk loads on a separate thread.
private struct ConcurrentlyLoadingType: PersistentStoreType {
    let base: any PersistentStoreType

    var name: String { base.name }
    var capabilities: StoreCapabilities { base.capabilities }
    var optionDescriptions: [StoreOptionDescription] { base.optionDescriptions }

    func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }

    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        ConcurrentlyLoadingStore(base: try base.open(location, options: options))
    }

    func create(_ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions) throws(StoreError)
        -> any PersistentStore
    {
        ConcurrentlyLoadingStore(base: try base.create(location, model: model, options: options))
    }

    func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(location) }

    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError) {
        try base.replace(destination, with: source, overwriting: overwriting)
    }
}

private final class ConcurrentlyLoadingStore: StructureCheckingStore, IntegrityCheckingStore, NoticeGivingStore {
    typealias Loading = @Sendable (any PersistentStore, BulkLoadOptions) throws(StoreError) -> any BulkLoader

    let base: any PersistentStore
    private let loading: Loading

    init(
        base: any PersistentStore,
        loading: @escaping Loading = { (base, options) throws(StoreError) in try base.concurrentBulkLoader(options) }
    ) {
        (self.base, self.loading) = (base, loading)
    }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }

    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try loading(base, options)
    }

    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try base.commit(changes) }
    func checkStructure() throws(StoreError) { try base.requireSoundStructure() }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func contentNotices() throws(StoreError) -> [String] { try base.notices() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }
}

/// A loader that blocks the first record batch until a semaphore is signaled.
private final class HesitantLoader: BulkLoader {
    private let base: any BulkLoader
    private let goOn: DispatchSemaphore

    init(_ base: any BulkLoader, until goOn: DispatchSemaphore) { (self.base, self.goOn) = (base, goOn) }

    func append(_ records: RecordBatch) throws(StoreError) {
        // Without the deadline, a caller that waits for the writing thread would wait forever.
        guard goOn.wait(timeout: .now() + 20) == .success else {
            throw StoreError(.timedOut, "the caller waits for the writing thread")
        }
        goOn.signal()
        try base.append(records)
    }

    func append(_ links: LinkBatch) throws(StoreError) { try base.append(links) }
    func finish() throws(StoreError) -> StoreTally { try base.finish() }
    func abandon() { base.abandon() }
}

@Suite("Loads that write on a thread of their own")
struct ConcurrentLoadTests {
    private static let checks = ConformanceCheck.all.filter { $0.id.hasPrefix("bulk.") }
    private static let fixtures = StoreFixture.writable.map { fixture in
        StoreFixture(
            ConcurrentlyLoadingType(base: fixture.type), name: "concurrent \(fixture.name)",
            keepsClosedStores: fixture.keepsClosedStores)
    }

    @Test("a load that writes on its own thread passes every check of bulk loads", arguments: checks, fixtures)
    func check(_ check: ConformanceCheck, on fixture: StoreFixture) throws { try check.run(on: fixture) }

    @Test("starting a concurrent load on a closed store fails with `closed`")
    func loadOfClosedStoreFails() throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let model = try ConformanceModel.standard(for: [memory])
        let store = try memory.type.create(
            StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        try store.close()
        let error = #expect(throws: StoreError.self) { try store.concurrentBulkLoader(BulkLoadOptions()) }
        #expect(error?.code == .closed)
    }

    @Test("the caller of a concurrent load continues while records are written")
    func callerContinuesDuringLoad() throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let model = try ConformanceModel.standard(for: [memory])
        let goOn = DispatchSemaphore(value: 0)
        let store = ConcurrentlyLoadingStore(
            base: try memory.type.create(StoreLocation(type: "memory", path: ""), model: model, options: StoreOptions())
        ) { (base, options) throws(StoreError) in HesitantLoader(try base.bulkLoader(options), until: goOn) }
        let loader = try store.concurrentBulkLoader(BulkLoadOptions())
        for first in [Int64(1), 2_001, 4_001] {
            var batch = RecordBatch(model: model)
            for key in first..<first + 2_000 { try batch.append(ObjectID("Track", key: key), values: [:]) }
            try loader.append(batch)
        }
        goOn.signal()
        #expect(try loader.finish().digest.objectCount == 6_000)
        try store.close()
    }
}
