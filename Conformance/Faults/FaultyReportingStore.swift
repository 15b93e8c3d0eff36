internal import RoostCore
internal import RoostSystem

/// A sound store, except that it reports its commits with one fault.
final class FaultyReportingStore: CommitReportingStore, StructureCheckingStore, IntegrityCheckingStore,
    NoticeGivingStore, HistoryKeepingStore
{
    private let base: any CommitReportingStore
    private let fault: FaultyStoreType.Fault
    private let relay: FaultyNotices
    /// The number of the relay in the feed of the sound store.
    private let number: Int
    let isReadOnly: Bool

    init(_ base: any CommitReportingStore, fault: FaultyStoreType.Fault) {
        (self.base, self.fault, isReadOnly) = (base, fault, base.isReadOnly)
        // The feed retains the closure, so capturing this store would keep the store alive.
        let relay = FaultyNotices(fault)
        self.relay = relay
        number = base.commitFeed.add { relay.pass($0) }
    }

    deinit { base.commitFeed.remove(number) }

    var commitFeed: CommitFeed { relay.feed }
    var commitSignal: (any CommitSignal)? { base.commitSignal }
    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    func checkStructure() throws(StoreError) { try base.requireSoundStructure() }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func contentNotices() throws(StoreError) -> [String] { try base.notices() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func removeHistory(_ bound: HistoryBound) throws(StoreError) { try base.removeHistory(bound) }
    func importHistory(_ entries: any HistoryEntries, at generation: Generation) throws(StoreError) {
        guard let store = base as? any HistoryKeepingStore else { throw .recordsNoHistory }
        try store.importHistory(entries, at: generation)
    }
    func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
    func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try base.reserveKeys(count, for: entity)
    }
    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        try base.bulkLoader(options)
    }
    func close() throws(StoreError) { try base.close() }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        let number = relay.beginCommit(changes)
        defer { relay.endCommit(number) }
        do throws(StoreError) { return try base.commit(changes) } catch {
            if fault == .signalsFailures { base.commitSignal?.raise() }
            throw error
        }
    }
}

/// A relay that passes the notices of a sound store to its own feed with one fault.
private final class FaultyNotices: Sendable {
    private struct State {
        var count = 0
        /// The generation before a notice that was lost.
        var lost: Generation?
        /// The number of running commits of this open store.
        var openCount = 0
        /// The objects whose values the most recently started commit changes.
        var updated: Set<ObjectID> = []
    }

    let feed = CommitFeed.of(nil)
    private let fault: FaultyStoreType.Fault
    private let state = Mutex(State())

    init(_ fault: FaultyStoreType.Fault) { self.fault = fault }

    func beginCommit(_ changes: ChangeSet) -> Int {
        // While a commit is open, the feed does not attribute a new generation to another program.
        let number = feed.beginCommit()
        state.withLock { state in
            state.openCount += 1
            state.updated = Set((0..<changes.updates.count).map { changes.updates.id(at: $0) })
        }
        return number
    }

    func endCommit(_ number: Int) {
        state.withLock { $0.openCount -= 1 }
        feed.endCommit(number)
    }

    /// Passes on a notice with the fault, or loses the notice.
    func pass(_ notice: SaveNotice) {
        guard let (previous, altered) = state.withLock({ altered(notice, state: &$0) }) else { return }
        let number = feed.beginCommit()
        feed.endCommit(
            number, generations: (previous, notice.generation), of: notice.store, origin: nil, notice: altered)
    }

    /// Returns the previous generation and the notice to pass on, or nil if the fault loses the
    /// notice.
    private func altered(_ notice: SaveNotice, state: inout State) -> (Generation, SaveNotice)? {
        state.count += 1
        let previous = state.lost ?? notice.previousGeneration
        state.lost = nil
        var generations = (previous, notice.generation)
        var lists: SaveNotice.Lists? =
            notice.isComplete
            ? SaveNotice.Lists(inserted: notice.inserted, updated: notice.updated, deleted: notice.deleted) : nil
        switch fault {
        case .losesNotice where state.count == 2:
            state.lost = previous
            return nil
        case .takesDeletesForUpdates:
            lists?.updated += notice.deleted
            lists?.deleted = []
        case .swapsGenerations where state.count == 2: generations = (notice.generation, previous)
        case .hidesOtherOpenings where state.openCount == 0: lists = SaveNotice.Lists()
        case .completesLoads: lists = lists ?? SaveNotice.Lists()
        case .forgetsLinkedObjects:
            let updated = state.updated
            lists?.updated.removeAll { !updated.contains($0) }
        default: break
        }
        return (
            previous,
            SaveNotice(
                store: notice.store, generations: generations, author: (notice.author, notice.contextName), lists: lists
            )
        )
    }
}
