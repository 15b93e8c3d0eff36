internal import RoostCore
internal import RoostQuery

/// An open store whose metadata and snapshots show one commit, despite later commits.
///
/// Closing a frozen store does not close the base store.
final class FrozenStore: StructureCheckingStore, IntegrityCheckingStore, NoticeGivingStore {
    let base: any PersistentStore
    private let frozen: Mutex<any StoreSnapshot>
    private let frozenMetadata: StoreMetadata

    init(_ base: any PersistentStore) throws(StoreError) {
        self.base = base
        let snapshot = try base.snapshot()
        var metadata = try base.metadata()
        metadata.userMetadata = try snapshot.userMetadata()
        frozenMetadata = metadata
        frozen = Mutex(snapshot)
    }

    /// Releases the captured state.
    func close() throws(StoreError) { frozen.withLock { $0.close() } }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { true }

    func metadata() throws(StoreError) -> StoreMetadata { frozenMetadata }

    /// Returns a view of the captured state.
    ///
    /// Use only one view at a time.
    func snapshot() throws(StoreError) -> any StoreSnapshot { FrozenSnapshot(frozen.withLock { $0 }) }

    func checkStructure() throws(StoreError) { try base.requireSoundStructure() }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func contentNotices() throws(StoreError) -> [String] { try base.notices() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> { throw readOnly }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { throw readOnly }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { throw readOnly }

    private var readOnly: StoreError {
        StoreError(.readOnly, "The state of '\(location)' that is being copied cannot be changed.")
    }
}

/// A view of a frozen store's snapshot, which only the frozen store can close.
///
/// Forwards optional protocols, so that fetches are as fast as from the base snapshot.
private final class FrozenSnapshot: CheckedFetchingSnapshot, ExplainingSnapshot, IDListingSnapshot, VisitableSnapshot,
    AggregatingSnapshot, GroupedLinkSnapshot, GraphProvidingSnapshot, HistorySnapshot
{
    private let base: any StoreSnapshot

    init(_ base: any StoreSnapshot) { self.base = base }

    var model: ManagedObjectModel { base.model }
    func recordedTally() throws(StoreError) -> StoreTally? { try base.recordedTally() }
    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }
    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try base.records(of: entity, after: id)
    }
    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor { try base.records(with: ids) }
    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try base.record(with: id, into: &batch)
    }
    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try base.links(of: relationship, after: link)
    }
    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try base.links(of: relationship, from: id)
    }
    func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor { try base.links(of: relationship.name, from: ids) }
    func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        try base.fetch(checked: request)
    }
    func count(_ request: CheckedFetchRequest) throws(StoreError) -> Int { try base.count(checked: request) }
    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        try base.visitor(request)
    }
    func computeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]? { try base.wholeNumbers(aggregates, of: request) }
    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        ids += try base.objectIDs(checked: request)
    }
    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try base.explain(checked: request, executing: executing)
    }
    var canRecordHistory: Bool { (base as? any HistorySnapshot)?.canRecordHistory ?? false }
    func withHistory<Result>(
        _ body: (any HistoryEntries, StoreUUID, Generation) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if let snapshot = base as? any HistorySnapshot { return try snapshot.withHistory(body) }
        return try body(NoHistory(), StoreUUID(), .initial)
    }
    func makeObjectGraph() -> any ObjectGraph { base.objectGraph() }
    func close() {}
}
