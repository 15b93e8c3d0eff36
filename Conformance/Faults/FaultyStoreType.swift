internal import Foundation
public import RoostCore

/// A type of store with one fault, around a sound one: what the suite must notice.
///
/// Run the checks on it to see them fail; a suite that cannot fail proves nothing.
public struct FaultyStoreType: PersistentStoreType {
    /// What is wrong with the stores.
    public enum Fault: String, CaseIterable, Sendable {
        /// A walk of links leaves out the last one.
        case dropsLastLink
        /// A scan leaves out the last record.
        case losesLastRecord
        /// Updates and deletes go through whatever version they were based on.
        case ignoresVersions
        /// The inserts of a refused change set are written all the same.
        case writesHalf
        /// Reserved keys are given out again.
        case reusesKeys
        /// Snapshots show what was committed after them.
        case showsLaterCommits
        /// The user's metadata of commits are dropped.
        case forgetsMetadata
        /// Counts do not look at limit and offset.
        case miscounts
        /// Sort descriptors are not looked at.
        case ignoresOrder
        /// Links come back without their places.
        case forgetsPlaces
        /// The digest that is recorded is that of an earlier state.
        case recordsOldDigest
        /// Error messages show what is stored.
        case leaksValues
    }

    private let base: any PersistentStoreType
    private let fault: Fault

    /// Makes stores of `base` with a fault.
    public init(_ base: any PersistentStoreType, _ fault: Fault) {
        self.base = base
        self.fault = fault
    }

    /// The name of the sound type.
    public var name: String { base.name }
    /// What stores of the sound type can do.
    public var capabilities: StoreCapabilities { base.capabilities }

    /// As the sound type does it.
    public func recognises(fileAt path: String) -> Bool { base.recognises(fileAt: path) }

    /// As the sound type does it.
    public func metadata(at url: StoreURL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
        try base.metadata(at: url, options: options)
    }

    /// Opens a store with the fault.
    public func open(_ url: StoreURL, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        FaultyStore(try base.open(url, options: options), fault)
    }

    /// Creates a store with the fault.
    public func create(_ url: StoreURL, model: ManagedObjectModel, options: StoreOptions) throws(StoreError)
        -> any PersistentStore
    {
        FaultyStore(try base.create(url, model: model, options: options), fault)
    }

    /// As the sound type does it.
    public func destroy(_ url: StoreURL) throws(StoreError) { try base.destroy(url) }

    /// As the sound type does it.
    public func replace(_ destination: StoreURL, with source: StoreURL, overwriting: Bool) throws(StoreError) {
        try base.replace(destination, with: source, overwriting: overwriting)
    }
}

private final class FaultyStore: PersistentStore {
    private let base: any PersistentStore
    private let fault: FaultyStoreType.Fault
    private let firstKeys: Mutex<[EntityName: Range<Int64>]> = Mutex([:])

    init(_ base: any PersistentStore, _ fault: FaultyStoreType.Fault) {
        self.base = base
        self.fault = fault
    }

    var type: any PersistentStoreType { base.type }
    var url: StoreURL { base.url }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func integrityFindings() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try base.bulkLoader(options) }

    func snapshot() throws(StoreError) -> any StoreSnapshot { FaultySnapshot(try base.snapshot(), of: base, fault) }

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        let keys = try base.reserveKeys(count, for: entity)
        guard fault == .reusesKeys else { return keys }
        return firstKeys.withLock { first in
            if let old = first[entity], old.count >= count { return old.lowerBound..<old.lowerBound + Int64(count) }
            first[entity] = keys
            return keys
        }
    }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        var changes = changes
        if fault == .forgetsMetadata { changes.userMetadata = [:] }
        if fault == .ignoresVersions { changes = try current(changes) }
        do throws(StoreError) {
            return try base.commit(changes)
        } catch {
            if fault == .writesHalf {
                var half = ChangeSet(model: model)
                half.inserts = changes.inserts
                // The half may be refused for the same reason; then nothing is half written.
                _ = try? base.commit(half)
            }
            if fault == .leaksValues {
                let values = (0..<changes.inserts.count).map { changes.inserts.values(at: $0) }
                throw StoreError(
                    error.code, "\(error.message) \(values)", conflicts: error.conflicts, violations: error.violations,
                    underlying: error.underlying)
            }
            throw error
        }
    }

    /// The change set as if it had been based on the current versions.
    private func current(_ changes: ChangeSet) throws(StoreError) -> ChangeSet {
        let snapshot = try base.snapshot()
        defer { snapshot.close() }
        var updated = changes
        updated.updates = RecordBatch(model: model)
        for index in 0..<changes.updates.count {
            updated.updates.append(changes.updates, at: index)
            if let object = try snapshot.object(changes.updates.id(at: index)) {
                updated.updates.setVersionOfLast(object.version)
            }
        }
        updated.deletes = []
        for var reference in changes.deletes {
            if let object = try snapshot.object(reference.id) { reference.version = object.version }
            updated.deletes.append(reference)
        }
        updated.unchanged = []
        return updated
    }
}

private final class FaultySnapshot: StoreSnapshot {
    private let own: any StoreSnapshot
    private let store: any PersistentStore
    private let fault: FaultyStoreType.Fault

    init(_ own: any StoreSnapshot, of store: any PersistentStore, _ fault: FaultyStoreType.Fault) {
        (self.own, self.store, self.fault) = (own, store, fault)
    }

    /// The snapshot to read: a new one each time where isolation is the fault.
    private var base: any StoreSnapshot {
        get throws(StoreError) {
            _ = try own.lastKey(of: own.model.entities[0].name)
            return fault == .showsLaterCommits ? try store.snapshot() : own
        }
    }

    var model: ManagedObjectModel { own.model }
    func close() { own.close() }

    func recordedTally() throws(StoreError) -> StoreTally? {
        let tally = try base.recordedTally()
        guard fault == .recordsOldDigest, let tally, tally.digest.objectCount > 3 else { return tally }
        return StoreTally(model: model)
    }

    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }

    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        let cursor = try base.records(of: entity, after: id)
        return fault == .losesLastRecord ? LosingRecordCursor(cursor) : cursor
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor { try base.records(with: ids) }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        FaultyLinkCursor(try base.links(of: relationship, after: link), fault)
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        FaultyLinkCursor(try base.links(of: relationship, from: id), fault)
    }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        var request = request
        if fault == .ignoresOrder { request.sortDescriptors = [] }
        return try base.fetch(request)
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        var request = request
        if fault == .miscounts { (request.fetchLimit, request.fetchOffset) = (nil, 0) }
        return try base.count(request)
    }
}

/// Leaves out the last record of a batch that is not full, which is the last of the scan.
private final class LosingRecordCursor: RecordCursor {
    private let base: any RecordCursor

    init(_ base: any RecordCursor) { self.base = base }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard try base.next(into: &batch) else { return false }
        guard !batch.isFull, batch.count > 1 else { return true }
        var shorter = RecordBatch(model: batch.model)
        for index in 0..<batch.count - 1 { shorter.append(batch, at: index) }
        batch = shorter
        return true
    }
}

private final class FaultyLinkCursor: LinkCursor {
    private let base: any LinkCursor
    private let fault: FaultyStoreType.Fault

    init(_ base: any LinkCursor, _ fault: FaultyStoreType.Fault) { (self.base, self.fault) = (base, fault) }

    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        guard try base.next(into: &batch) else { return false }
        if fault == .dropsLastLink, !batch.isFull, batch.count > 1 { batch.links.removeLast() }
        if fault == .forgetsPlaces { batch.links = batch.links.map { Link($0.source, $0.target) } }
        return true
    }
}
