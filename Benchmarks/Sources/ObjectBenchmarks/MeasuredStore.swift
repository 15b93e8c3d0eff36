internal import Foundation
internal import Roost

/// A store that times the commits of another store.
///
/// The times divide a save into the parts before, during and after its commit.
final class MeasuredStore: PersistentStore {
    struct Commit {
        var start: ContinuousClock.Instant
        var end: ContinuousClock.Instant
    }

    private let base: any PersistentStore
    private let lock = NSLock()
    // SAFETY: guarded by the lock.
    nonisolated(unsafe) private var last: Commit?

    init(_ base: any PersistentStore) { self.base = base }

    /// The last commit that succeeded, if any.
    var lastCommit: Commit? { lock.withLock { last } }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }

    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try base.bulkLoader(options) }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        let start = ContinuousClock.now
        let receipt = try base.commit(changes)
        let end = ContinuousClock.now
        lock.withLock { last = Commit(start: start, end: end) }
        return receipt
    }
}
