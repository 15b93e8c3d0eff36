internal import RoostCore

/// An open store as it was at one commit: every snapshot, and the metadata, show that state, whatever others commit meanwhile.
///
/// The base stays open and is not closed with it.
final class FrozenStore: PersistentStore {
    let base: any PersistentStore
    private let frozen: Mutex<any StoreSnapshot>
    private let frozenMetadata: StoreMetadata

    /// Takes the state as it is now.
    init(_ base: any PersistentStore) throws(StoreError) {
        self.base = base
        let snapshot = try base.snapshot()
        var metadata = try base.metadata()
        metadata.userMetadata = try snapshot.userMetadata()
        frozenMetadata = metadata
        frozen = Mutex(snapshot)
    }

    /// Lets go of the state.
    func close() throws(StoreError) { frozen.withLock { $0.close() } }

    var type: any PersistentStoreType { base.type }
    var url: StoreURL { base.url }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { true }

    func metadata() throws(StoreError) -> StoreMetadata { frozenMetadata }

    /// A view of the one state; closing it leaves the state to others.
    ///
    /// Use one at a time.
    func snapshot() throws(StoreError) -> any StoreSnapshot { FrozenSnapshot(frozen.withLock { $0 }) }

    func requireSoundStructure() throws(StoreError) { try base.requireSoundStructure() }
    func integrityFindings() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func notices() throws(StoreError) -> [String] { try base.notices() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> { throw readOnly }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { throw readOnly }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { throw readOnly }

    private var readOnly: StoreError {
        StoreError(.readOnly, "The state of '\(url)' that is being copied cannot be changed.")
    }
}

/// A snapshot that is somebody else's to close.
private final class FrozenSnapshot: StoreSnapshot {
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
    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor { try base.fetch(request) }
    func count(_ request: FetchRequest) throws(StoreError) -> Int { try base.count(request) }
    func visitor(_ request: FetchRequest) throws(StoreError) -> (any RecordVisitor)? { try base.visitor(request) }
    func wholeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: FetchRequest
    ) throws(StoreError) -> [Int64?]? { try base.wholeNumbers(aggregates, of: request) }
    func explain(_ request: FetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try base.explain(request, executing: executing)
    }
    func objectGraph() -> any ObjectGraph { base.objectGraph() }
    func close() {}
}
