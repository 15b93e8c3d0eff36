import Roost
import RoostCore
import RoostGraph
import RoostQuery
import RoostStores
import RoostSystem

/// Makes the next commit or the next read of a store fail, or lets the next commit wait.
final class StoreSwitch: Sendable {
    private struct State {
        var failsRead = false
        var failsCommit = false
        var beforeCommit: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// The error of the calls that fail.
    static let error = StoreError(.busy, "The call fails, because the test says so.")

    func failNextRead() { state.withLock { $0.failsRead = true } }
    func failNextCommit() { state.withLock { $0.failsCommit = true } }
    func beforeNextCommit(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeCommit = body } }

    /// Lets reads succeed again; returns whether a read failed since it was asked for.
    func endReadFailure() -> Bool {
        state.withLock { state in
            defer { state.failsRead = false }
            return !state.failsRead
        }
    }

    /// Lets commits succeed again; returns whether a commit failed since it was asked for.
    func endCommitFailure() -> Bool {
        state.withLock { state in
            defer { state.failsCommit = false }
            return !state.failsCommit
        }
    }

    func read() throws(StoreError) {
        let fails = state.withLock { state in
            defer { state.failsRead = false }
            return state.failsRead
        }
        if fails { throw Self.error }
    }

    func commit() throws(StoreError) {
        let (fails, body) = state.withLock { state in
            defer { (state.failsCommit, state.beforeCommit) = (false, nil) }
            return (state.failsCommit, state.beforeCommit)
        }
        body?()
        if fails { throw Self.error }
    }

    /// Opens a new store whose calls fail as this switch says, and a container for it.
    func makeContainer(_ location: StoreLocation) throws -> PersistentContainer {
        let model = try Music.model()
        let inner = try PersistentContainer(location, model: model, types: Music.types)
        guard let store = inner.stores.first?.persistentStore else {
            throw StoreError(.invalidRequest, "The container has no store.")
        }
        return try PersistentContainer(
            try Store(FailingStore(store, self), registry: StoreRegistry([store.type])), model: model,
            types: Music.types)
    }
}

/// A store whose calls fail as a switch says.
final class FailingStore: PersistentStore {
    private let base: any PersistentStore
    private let control: StoreSwitch

    init(_ base: any PersistentStore, _ control: StoreSwitch) { (self.base, self.control) = (base, control) }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }

    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { FailingSnapshot(try base.snapshot(), control) }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        try control.commit()
        return try base.commit(changes)
    }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try base.bulkLoader(options) }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }
}

private final class FailingSnapshot: IDListingSnapshot, GraphProvidingSnapshot {
    private let base: any StoreSnapshot
    private let control: StoreSwitch

    init(_ base: any StoreSnapshot, _ control: StoreSwitch) { (self.base, self.control) = (base, control) }

    var model: ManagedObjectModel { base.model }

    func recordedTally() throws(StoreError) -> StoreTally? { try base.recordedTally() }
    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }
    func close() { base.close() }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try control.read()
        return try base.records(of: entity, after: id)
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        try control.read()
        return try base.records(with: ids)
    }

    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try control.read()
        return try base.record(with: id, into: &batch)
    }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try control.read()
        return try base.links(of: relationship, after: link)
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try control.read()
        return try base.links(of: relationship, from: id)
    }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try control.read()
        return try base.fetch(request)
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try control.read()
        return try base.count(request)
    }

    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        try control.read()
        ids += try base.objectIDs(checked: request)
    }

    func makeObjectGraph() -> any ObjectGraph { FailingGraph(base.objectGraph(), control) }
}

private final class FailingGraph: ObjectGraph {
    private let base: any ObjectGraph
    private let control: StoreSwitch

    init(_ base: any ObjectGraph, _ control: StoreSwitch) { (self.base, self.control) = (base, control) }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        try control.read()
        try base.read(keys, inHierarchyOf: root, into: &batch)
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        try control.read()
        try base.appendDestinations(of: relationship, from: key, to: &keys)
    }
}
