import Roost
import RoostCore
import RoostFiles
import RoostQuery
import RoostSystem

/// The faults of a store and their positions.
///
/// Batches are counted from 1 in each load.
struct Faults: Sendable {
    /// The loader throws `ioFailure` at this batch.
    var failsAtAppend: Int?
    /// The loader throws `noSpace` instead of finishing.
    var failsAtFinish = false
    /// The loader silently omits this batch of records, but tallies it.
    var dropsRecordsAt: Int?
    /// The loader silently omits this batch of links, but tallies it.
    var dropsLinksAt: Int?
    /// Cursors of entities and fetches throw `ioFailure` at this call of `next`.
    ///
    /// The calls of all these cursors of a store are counted together.
    var failsAtRead: Int?
    /// Objects whose records these cursors report as damaged.
    var damaged: Set<ObjectID> = []
    /// Whether cursors of objects with given IDs report damaged records too.
    var damagesLookups = false
    /// The number of times that these cursors report a damaged record before they continue.
    var damageReportCount = 1
    /// Whether cursors of all links of a relationship find no links, although the store has links.
    var losesLinks = false
    /// A check of the structure throws `corrupted`.
    var isUnsound = false
    /// The code of the error that opening throws.
    var failsAtOpening: StoreError.Code?
    /// Called before a store is created.
    var onCreate: (@Sendable () throws(StoreError) -> Void)?
    /// Called before a store is opened.
    var onOpen: (@Sendable () throws(StoreError) -> Void)?
    /// Called with the number of each batch, before the loader receives it.
    var onAppend: (@Sendable (Int) -> Void)?
    /// Makes `replace` throw `ioFailure`.
    var failsAtReplace = false
    /// Called before `replace` moves the finished store to its final location.
    var onReplace: (@Sendable () -> Void)?
}

/// A store type that adds faults to another type.
struct FaultyStoreType: PersistentStoreType {
    let base: any PersistentStoreType
    let faults: Faults

    var name: String { "faulty" }
    var capabilities: StoreCapabilities { base.capabilities }
    private func location(_ location: StoreLocation) -> StoreLocation {
        StoreLocation(type: base.name, path: location.path)
    }
    func recognizes(fileAt path: String) -> Bool { base.recognizes(fileAt: path) }
    func metadata(at location: StoreLocation, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        try base.metadata(at: self.location(location), options: options)
    }
    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try faults.onOpen?()
        if let code = faults.failsAtOpening { throw StoreError(code, "injected: open") }
        return FaultyStore(try base.open(self.location(location), options: options), faults: faults)
    }
    func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try faults.onCreate?()
        return FaultyStore(try base.create(self.location(location), model: model, options: options), faults: faults)
    }
    func destroy(_ location: StoreLocation) throws(StoreError) { try base.destroy(self.location(location)) }
    func replace(_ destination: StoreLocation, with source: StoreLocation, overwriting: Bool) throws(StoreError) {
        faults.onReplace?()
        if faults.failsAtReplace { throw StoreError(.ioFailure, "injected: replace") }
        try base.replace(location(destination), with: location(source), overwriting: overwriting)
    }
}

/// A store that adds faults to another store.
final class FaultyStore: StructureCheckingStore, IntegrityCheckingStore, NoticeGivingStore {
    private let base: any PersistentStore
    private let faults: Faults
    private let readCount = Mutex(0)

    init(_ base: any PersistentStore, faults: Faults) {
        self.base = base
        self.faults = faults
    }

    var type: any PersistentStoreType { FaultyStoreType(base: base.type, faults: faults) }
    var location: StoreLocation { StoreLocation(type: "faulty", path: base.location.path) }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try base.commit(changes) }
    func checkStructure() throws(StoreError) {
        if faults.isUnsound { throw StoreError(.corrupted, "injected: structure") }
        try base.requireSoundStructure()
    }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func contentNotices() throws(StoreError) -> [String] { try base.notices() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        FaultySnapshot(try base.snapshot(), faults: faults, store: self)
    }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        FaultyLoader(try base.bulkLoader(options), faults: faults)
    }

    /// Counts a read, and throws if this read must fail.
    func countRead() throws(StoreError) {
        let count = readCount.withLock { count in
            count += 1
            return count
        }
        if count == faults.failsAtRead { throw StoreError(.ioFailure, "injected: read") }
    }
}

private final class FaultyLoader: BulkLoader {
    private let base: any BulkLoader
    private let faults: Faults
    private var appendCount = 0
    private var recordBatchCount = 0
    private var linkBatchCount = 0
    private var lost: (records: [RecordBatch], links: [LinkBatch]) = ([], [])

    init(_ base: any BulkLoader, faults: Faults) {
        self.base = base
        self.faults = faults
    }

    private func countAppend() throws(StoreError) {
        appendCount += 1
        faults.onAppend?(appendCount)
        if appendCount == faults.failsAtAppend { throw StoreError(.ioFailure, "injected: append") }
    }

    func append(_ records: RecordBatch) throws(StoreError) {
        try countAppend()
        recordBatchCount += 1
        if recordBatchCount == faults.dropsRecordsAt {
            lost.records.append(records)
            return
        }
        try base.append(records)
    }

    func append(_ links: LinkBatch) throws(StoreError) {
        try countAppend()
        linkBatchCount += 1
        if linkBatchCount == faults.dropsLinksAt {
            lost.links.append(links)
            return
        }
        try base.append(links)
    }

    func finish() throws(StoreError) -> StoreTally {
        if faults.failsAtFinish { throw StoreError(.noSpace, "injected: finish") }
        var tally = try base.finish()
        // Only reading the destination again can detect this false tally.
        for batch in lost.records { tally.add(batch) }
        for batch in lost.links { tally.add(batch) }
        return tally
    }

    func abandon() { base.abandon() }
}

private final class FaultySnapshot: ExplainingSnapshot {
    private let base: any StoreSnapshot
    private let faults: Faults
    private let store: FaultyStore

    init(_ base: any StoreSnapshot, faults: Faults, store: FaultyStore) {
        self.base = base
        self.faults = faults
        self.store = store
    }

    var model: ManagedObjectModel { base.model }
    func recordedTally() throws(StoreError) -> StoreTally? { try base.recordedTally() }
    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }
    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        FaultyCursor(try base.records(of: entity, after: id), faults: faults, store: store)
    }
    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        let cursor = try base.records(with: ids)
        return faults.damagesLookups ? FaultyCursor(cursor, faults: faults, store: store) : cursor
    }
    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        faults.losesLinks ? NoLinks() : try base.links(of: relationship, after: link)
    }
    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try base.links(of: relationship, from: id)
    }
    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        FaultyCursor(try base.fetch(request), faults: faults, store: store)
    }
    func count(_ request: FetchRequest) throws(StoreError) -> Int { try base.count(request) }
    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try base.explain(checked: request, executing: executing)
    }
    func close() { base.close() }
}

private final class NoLinks: LinkCursor {
    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.links.removeAll()
        return false
    }
}

/// A cursor that returns the base's records, throws at each damaged record, and then continues.
private final class FaultyCursor: RecordCursor {
    private let base: any RecordCursor
    private let faults: Faults
    private let store: FaultyStore
    private var waiting: RecordBatch?
    private var position = 0
    /// The number of reports of the record at `position`.
    private var reportCount = 0

    init(_ base: any RecordCursor, faults: Faults, store: FaultyStore) {
        self.base = base
        self.faults = faults
        self.store = store
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try store.countRead()
        guard !faults.damaged.isEmpty else { return try base.next(into: &batch) }
        batch.removeAll()
        if waiting.map({ position >= $0.count }) ?? true {
            var next = RecordBatch(model: batch.model)
            guard try base.next(into: &next) else { return false }
            waiting = next
            position = 0
        }
        guard let waiting else { return false }
        while position < waiting.count {
            let id = waiting.id(at: position)
            if faults.damaged.contains(id) {
                if !batch.isEmpty { return true }
                reportCount += 1
                if reportCount >= faults.damageReportCount { (position, reportCount) = (position + 1, 0) }
                throw StoreError(.corrupted, "injected: the record of \(id) is damaged.", damagedObject: id)
            }
            batch.append(waiting, at: position)
            position += 1
        }
        return batch.isEmpty ? try next(into: &batch) : true
    }
}
