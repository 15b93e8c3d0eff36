import Roost
import RoostCore

/// A store that runs other code just before and after each commit.
final class MeddledStore: PersistentStore {
    private let base: any PersistentStore
    private let before: @Sendable (Int) throws(StoreError) -> Void
    private let after: @Sendable () -> Void
    private let commits = Mutex(0)

    /// Returns a store that commits to `plain`, which other writers share.
    ///
    /// `before` gets `plain` and the number of the commit, from 1.
    static func store(
        _ plain: Store, before: @escaping @Sendable (Store, Int) throws(StoreError) -> Void,
        after: @escaping @Sendable () -> Void = {}
    ) throws -> Store {
        let base = plain.persistentStore
        let meddled = MeddledStore(
            base, before: { (number) throws(StoreError) in try before(plain, number) }, after: after)
        return try Store(meddled, registry: .standard)
    }

    init(
        _ base: any PersistentStore, before: @escaping @Sendable (Int) throws(StoreError) -> Void,
        after: @escaping @Sendable () -> Void = {}
    ) {
        (self.base, self.before, self.after) = (base, before, after)
    }

    var commitCount: Int { commits.withLock { $0 } }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        let number = commits.withLock { count in
            count += 1
            return count
        }
        try before(number)
        defer { after() }
        return try base.commit(changes)
    }

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
}
