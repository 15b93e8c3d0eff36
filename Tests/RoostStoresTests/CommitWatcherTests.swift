import Foundation
import Roost
import RoostCore
import RoostStores
import RoostSystem
import Testing

/// A store whose signal has a file and also calls an observer.
private final class SignalStore: CommitReportingStore {
    final class Signal: CommitSignal {
        let path: String
        let id = CommitSignalID(device: .max, inode: .max)
        private let observer = Mutex<(@Sendable () -> Void)?>(nil)

        init(_ path: String) { self.path = path }

        func raise() {
            let body = observer.withLock { $0 }
            body?()
        }

        func observe(_ body: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? {
            observer.withLock { $0 = body }
            return nil
        }
    }

    private let base: any PersistentStore
    let signal: Signal
    let commitFeed: CommitFeed

    init(_ base: any PersistentStore, path: String) {
        self.base = base
        signal = Signal(path)
        commitFeed = CommitFeed.of(signal)
    }

    var commitSignal: (any CommitSignal)? { signal }
    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    var isReadOnly: Bool { base.isReadOnly }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try base.commit(changes) }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try base.bulkLoader(options) }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func close() throws(StoreError) { try base.close() }
}

@Suite("Watching stores for commits")
struct CommitWatcherTests {
    private let folder = Result { try Folder() }

    @Test("a subscription ends exactly once when a signal arrives after its store was closed")
    func endsInObserver() throws {
        let folder = try folder.get()
        let plain = try folder.store("memory", entities: [EntityDescription("E", attributes: [.integer32("n")])])
        let file = "\(folder.path)/signal"
        try Data().write(to: URL(fileURLWithPath: file))
        let signalStore = SignalStore(plain.persistentStore, path: file)
        let ends = Mutex(0)
        let subscription = try CommitSubscription(
            to: try Store(signalStore, registry: .standard), listener: { _ in }, end: { ends.withLock { $0 += 1 } })
        // Some systems cannot watch files.
        guard subscription.isWatched else { return }
        // Closing the base store does not end the subscription.
        try plain.close()
        signalStore.signal.raise()
        // The limit only prevents waiting forever.
        for _ in 0..<60_000 where subscription.isWatched { usleep(1_000) }
        #expect(!subscription.isWatched)
        #expect(ends.withLock { $0 } == 1)
    }

    @Test("a listener to a named memory store is notified of another instance's commit before the commit returns")
    func sharesMemoryCommits() throws {
        let type = try StoreRegistry.standard.type(named: "memory")
        let location = StoreLocation(type: "memory", path: UUID().uuidString)
        let model = try ManagedObjectModel(entities: [EntityDescription("E", attributes: [.integer32("n")])])
        let first = try type.create(location, model: model, options: StoreOptions())
        let second = try type.open(location, options: StoreOptions())
        let notices = Mutex<[SaveNotice]>([])
        let subscription = try CommitSubscription(
            to: try Store(second, registry: .standard), listener: { notice in notices.withLock { $0.append(notice) } },
            end: {})
        for key in Int64(1)...3 {
            var changes = ChangeSet(model: model)
            try changes.insert(ObjectID("E", key: key), values: [:])
            let receipt = try first.commit(changes)
            let last = try #require(notices.withLock { $0.last })
            #expect(last.inserted == [ObjectID("E", key: key)])
            #expect(last.generation == receipt.generation)
        }
        #expect(notices.withLock { $0.count } == 3)
        withExtendedLifetime(subscription) {}
        try second.close()
        try first.close()
        try type.destroy(location)
    }
}
