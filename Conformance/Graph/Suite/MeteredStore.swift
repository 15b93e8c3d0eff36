package import RoostCore
internal import RoostQuery
internal import RoostSystem

/// A meter that counts the calls to a store and can make them fail.
package final class StoreMeter: Sendable {
    /// The calls since the last start of ``counting(_:)``.
    struct Counts: Equatable {
        /// The number of fetches, counts, lists of IDs, reads of records and reads of links.
        var readCount = 0
        /// The number of records that fetches and scans returned, plus the number of requested
        /// keys.
        var recordCount = 0
        var linkReadCount = 0
        var commitCount = 0
    }

    private struct State {
        var counts = Counts()
        var readError: StoreError?
        /// The number of reads that succeed before the read that fails.
        var readCountBeforeError = 0
        var commitError: StoreError?
        /// The number of reservations of keys that will succeed.
        var reservationCount = Int.max
        var snapshotError: StoreError?
        var beforeCommit: (@Sendable () throws(StoreError) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    var counts: Counts { state.withLock(\.counts) }

    /// Runs `body` and returns the counts of its calls.
    func counting(_ body: () throws -> Void) rethrows -> Counts {
        state.withLock { $0.counts = Counts() }
        try body()
        return counts
    }

    /// Makes the next read fail, or the read after `count` successful reads.
    package func failNextRead(with error: StoreError, after count: Int = 0) {
        state.withLock { ($0.readError, $0.readCountBeforeError) = (error, count) }
    }

    package func failNextCommit(with error: StoreError) { state.withLock { $0.commitError = error } }

    /// Lets reads succeed again, and returns whether a read failed as requested.
    package func endReadFailure() -> Bool {
        state.withLock { state in
            defer { state.readError = nil }
            return state.readError == nil
        }
    }

    /// Lets commits succeed again, and returns whether a commit failed as requested.
    package func endCommitFailure() -> Bool {
        state.withLock { state in
            defer { state.commitError = nil }
            return state.commitError == nil
        }
    }

    func setReservesKeys(_ reserves: Bool) { limitReservations(to: reserves ? .max : 0) }

    /// Makes reservations of keys fail after `count` reservations.
    func limitReservations(to count: Int) { state.withLock { $0.reservationCount = count } }

    /// Makes opening a snapshot fail, or succeed again if `error` is nil.
    func failSnapshots(with error: StoreError?) { state.withLock { $0.snapshotError = error } }

    package func beforeNextCommit(_ body: @escaping @Sendable () throws(StoreError) -> Void) {
        state.withLock { $0.beforeCommit = body }
    }

    func read(records: Int = 0, links: Int = 0) throws(StoreError) {
        let error = state.withLock { state -> StoreError? in
            state.counts.readCount += 1
            state.counts.recordCount += records
            state.counts.linkReadCount += links
            if state.readError != nil, state.readCountBeforeError > 0 {
                state.readCountBeforeError -= 1
                return nil
            }
            defer { state.readError = nil }
            return state.readError
        }
        if let error { throw error }
    }

    func received(_ count: Int) { state.withLock { $0.counts.recordCount += count } }

    func commit() throws(StoreError) {
        let (error, body) = state.withLock { state in
            state.counts.commitCount += 1
            defer { (state.commitError, state.beforeCommit) = (nil, nil) }
            return (state.commitError, state.beforeCommit)
        }
        if let body { try body() }
        if let error { throw error }
    }

    func openSnapshot() throws(StoreError) {
        if let error = state.withLock(\.snapshotError) { throw error }
    }

    func reserve() throws(StoreError) {
        let isAllowed = state.withLock { state -> Bool in
            guard state.reservationCount > 0 else { return false }
            state.reservationCount -= 1
            return true
        }
        guard isAllowed else {
            throw StoreError(.busy, "The store cannot reserve keys now, because the check says so.")
        }
    }
}

/// A store that reports its calls to a ``StoreMeter``.
package final class MeteredStore: CommitReportingStore {
    private let base: any PersistentStore
    private let meter: StoreMeter

    /// The feed of the store, or an empty feed.
    package let commitFeed: CommitFeed

    package init(_ base: any PersistentStore, meter: StoreMeter) {
        (self.base, self.meter) = (base, meter)
        commitFeed = (base as? any CommitReportingStore)?.commitFeed ?? .of(nil)
    }

    package var type: any PersistentStoreType { base.type }
    package var location: StoreLocation { base.location }
    package var model: ManagedObjectModel { base.model }
    package var commitSignal: (any CommitSignal)? { (base as? any CommitReportingStore)?.commitSignal }
    package var isReadOnly: Bool { base.isReadOnly }

    package func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }

    package func snapshot() throws(StoreError) -> any StoreSnapshot {
        try meter.openSnapshot()
        return MeteredSnapshot(try base.snapshot(), meter: meter)
    }

    package func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try meter.reserve()
        return try base.reserveKeys(count, for: entity)
    }

    package func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try meter.commit()
        return try base.commit(changes)
    }

    package func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try base.bulkLoader(options)
    }
    package func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    package func close() throws(StoreError) { try base.close() }
}

/// A snapshot that reports its reads to a ``StoreMeter``.
private final class MeteredSnapshot: IDListingSnapshot, GroupedLinkSnapshot, GraphProvidingSnapshot {
    private let base: any StoreSnapshot
    private let meter: StoreMeter

    init(_ base: any StoreSnapshot, meter: StoreMeter) { (self.base, self.meter) = (base, meter) }

    var model: ManagedObjectModel { base.model }

    func recordedTally() throws(StoreError) -> StoreTally? { try base.recordedTally() }
    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }
    func close() { base.close() }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try meter.read()
        return MeteredCursor(try base.records(of: entity, after: id), meter: meter)
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        try meter.read(records: ids.count)
        return try base.records(with: ids)
    }

    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try meter.read(records: 1)
        return try base.record(with: id, into: &batch)
    }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try meter.read(links: 1)
        return try base.links(of: relationship, after: link)
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try meter.read(links: 1)
        return try base.links(of: relationship, from: id)
    }

    func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor {
        try meter.read(links: 1)
        return try base.links(of: relationship.name, from: ids)
    }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try meter.read()
        return MeteredCursor(try base.fetch(request), meter: meter)
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try meter.read()
        return try base.count(request)
    }

    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        try meter.read()
        ids += try base.objectIDs(checked: request)
    }

    func makeObjectGraph() -> any ObjectGraph { MeteredGraph(base.objectGraph(), meter: meter) }
}

/// A graph that reports its reads to a ``StoreMeter``.
private final class MeteredGraph: ObjectGraph {
    private let base: any ObjectGraph
    private let meter: StoreMeter

    init(_ base: any ObjectGraph, meter: StoreMeter) { (self.base, self.meter) = (base, meter) }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        try meter.read(records: keys.count)
        try base.read(keys, inHierarchyOf: root, into: &batch)
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        try meter.read(links: 1)
        try base.appendDestinations(of: relationship, from: key, to: &keys)
    }
}

/// A cursor that counts the records that it returns.
private final class MeteredCursor: RecordCursor {
    private let base: any RecordCursor
    private let meter: StoreMeter

    init(_ base: any RecordCursor, meter: StoreMeter) { (self.base, self.meter) = (base, meter) }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        let hasMore = try base.next(into: &batch)
        meter.received(batch.count)
        return hasMore
    }
}
