import Roost
import RoostConformance
import RoostCore
import RoostQuery
import Testing

@Suite("Snapshots that only scan")
struct ScanningSnapshotTests {
    /// Stores in memory whose snapshots answer every request from records and links.
    private static let fixture: StoreFixture = {
        return StoreFixture(ScanningStoreType(), keepsClosedStores: true)
    }()

    @Test("a store whose snapshots only scan passes every check of contents", arguments: ConformanceCheck.ofContents)
    func contents(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

    @Test("a store whose snapshots only scan passes every check of reads", arguments: ConformanceCheck.ofReads)
    func reads(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

    @Test("a store whose snapshots only scan passes every check of queries", arguments: ConformanceCheck.ofQueries)
    func queryChecks(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

    @Test(
        "a store whose snapshots only scan passes every check of operations", arguments: ConformanceCheck.ofOperations)
    func operations(_ check: ConformanceCheck) throws { try check.run(on: Self.fixture) }

    @Test("a store whose snapshots only scan matches a plain model after random operations")
    func lockStep() throws {
        try LockStep.run(on: [Self.fixture], seed: RandomSeed.named("ROOST_LOCKSTEP_SEED"), operationCount: 500)
    }
}

private struct ScanningStoreType: PersistentStoreType {
    private var base: any PersistentStoreType {
        get throws(StoreError) { try StoreRegistry.standard.type(named: "memory") }
    }

    var name: String { "memory" }
    var capabilities: StoreCapabilities { StoreCapabilities(.writing, .uniquenessConstraints) }
    func recognizes(fileAt path: String) -> Bool { false }

    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        ScanningStore(try base.open(location, options: options))
    }

    func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        ScanningStore(try base.create(location, model: model, options: options))
    }

    func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(location) }

    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError) {
        try base.replace(destination, with: source, overwriting: overwriting)
    }
}

private final class ScanningStore: StructureCheckingStore, IntegrityCheckingStore, NoticeGivingStore {
    private let base: any PersistentStore

    init(_ base: any PersistentStore) { self.base = base }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { OnlyRecords(try base.snapshot()) }

    /// Commits and returns a generation without an order, like a server with parallel writers.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        func unordered(_ generation: Generation) -> Generation {
            Generation(number: generation.number &* 0x9E37_79B9_7F4A_7C15)
        }
        let receipt = try base.commit(changes)
        return CommitReceipt(
            changes, generation: unordered(receipt.generation),
            previousGeneration: unordered(receipt.previousGeneration))
    }

    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try base.bulkLoader(options) }
    func checkStructure() throws(StoreError) { try base.requireSoundStructure() }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func contentNotices() throws(StoreError) -> [String] { try base.notices() }
    func close() throws(StoreError) { try base.close() }

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
}

/// A snapshot that forwards only records, links, metadata and last keys.
///
/// Everything else is the default of `ScanningSnapshot`.
private final class OnlyRecords: ScanningSnapshot {
    private let base: any StoreSnapshot

    init(_ base: any StoreSnapshot) { self.base = base }

    var model: ManagedObjectModel { base.model }
    func requireOpen() throws(StoreError) { _ = try base.userMetadata() }
    func close() { base.close() }
    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try base.records(of: entity, after: id)
    }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try base.links(of: relationship, after: link)
    }
}
