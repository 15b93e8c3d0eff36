internal import RoostCore
internal import RoostQuery
internal import RoostStores

/// A fetch that includes unsaved changes.
///
/// The same code matches stored and changed records with a request, so a predicate has the same
/// meaning in the store and in the context. Related objects of changed records come from a graph
/// with the changes applied (`ChangedGraph`).
struct PendingFetch {
    private let checked: CheckedFetchRequest
    private let entity: ManagedObjectModel.Entity
    private let changes: ChangeSet
    private let snapshot: any StoreSnapshot
    private let graph: any ObjectGraph
    /// The graph with the changes applied, or nil if the initializer did not create it.
    private let changedGraph: ChangedGraph?
    /// The keys of the hierarchy's changed objects and candidates (``PendingCandidates``).
    private let changedKeys: Set<Int64>
    /// The records of the entity's changed objects and candidates, in the order of their keys.
    private let records: RecordBatch
    /// Whether the store's result is correct for all objects whose keys are not in ``changedKeys``.
    private let isStoreRight: Bool
    /// Whether a record can be matched and sorted without other records.
    private let isLocal: Bool

    /// Prepares a fetch.
    ///
    /// `changes` contains all changes that can affect the request. `isStoreRight` is whether the
    /// store's result is correct for all unchanged objects. `followed` contains the relationships
    /// that the request follows, or is nil if they are unknown.
    init(
        _ request: FetchRequest, entity: ManagedObjectModel.Entity, changes: ChangeSet, isStoreRight: Bool,
        following followed: [Int]?, snapshot: any StoreSnapshot, graph: any ObjectGraph
    ) throws(StoreError) {
        let model = changes.model
        checked = try CheckedFetchRequest(request, model: model)
        self.entity = entity
        self.changes = changes
        self.snapshot = snapshot
        self.graph = graph
        var isStoreRight = isStoreRight || isPlanted(.overlooksRelated)
        isLocal =
            checked.filter.matcher(over: nil).isQuick
            && request.sortDescriptors.allSatisfy { $0.key.names.count == 1 }
        var keys: Set<Int64> = []
        var found: [(key: Int64, batch: Int, index: Int)] = []
        let batches = [changes.inserts, changes.updates]
        for (number, batch) in batches.enumerated() {
            for index in 0..<batch.count {
                let own = batch.entityNumber(at: index)
                guard model.entities[own].root == entity.root else { continue }
                keys.insert(batch.key(at: index))
                guard request.includesSubentities ? entity.includes(own) : own == entity.number else { continue }
                found.append((batch.key(at: index), number, index))
            }
        }
        for reference in changes.deletes where model.entity(reference.id.entity)?.root == entity.root {
            keys.insert(reference.id.key)
        }
        var related = RecordBatch(model: model)
        var changedGraph: ChangedGraph?
        if !isStoreRight, let followed {
            let after = try ChangedGraph(changes, over: graph)
            changedGraph = after
            let search = PendingCandidates(following: followed, changes: changes, from: graph, to: after)
            // With many candidates, one pass over all objects is faster.
            let limit = max(64, Int(clamping: try snapshot.lastKey(of: entity.name) / 16))
            if let candidates = try search.keys(ofHierarchy: entity.root, limit: limit) {
                // The store's result is correct for all objects except changed objects and candidates.
                let unchanged = candidates.subtracting(keys).sorted()
                try graph.read(unchanged, inHierarchyOf: entity.root, into: &related)
                for index in 0..<related.count {
                    let own = related.entityNumber(at: index)
                    guard request.includesSubentities ? entity.includes(own) : own == entity.number else { continue }
                    found.append((related.key(at: index), batches.count, index))
                }
                keys.formUnion(candidates)
                isStoreRight = true
            }
        }
        found.sort { $0.key < $1.key }
        var records = RecordBatch(model: model)
        for (_, number, index) in found {
            records.append(number < batches.count ? batches[number] : related, at: index)
        }
        self.records = records
        changedKeys = keys
        (self.isStoreRight, self.changedGraph) = (isStoreRight, changedGraph)
    }

    /// Whether the changes cannot affect the request, so that the store's result suffices.
    var concernsStoreOnly: Bool { changedKeys.isEmpty && isStoreRight }

    private func relatedObjects() throws(StoreError) -> any ObjectGraph {
        if let changedGraph { return changedGraph }
        return isLocal ? graph : try ChangedGraph(changes, over: graph)
    }

    private func source() throws(StoreError) -> any RecordVisitor {
        var request = checked.request
        if isStoreRight {
            // The request fetches additional objects to replace the changed objects in the store's result.
            request.fetchLimit = request.fetchLimit.map { limit in
                let (sum, overflow) = limit.addingReportingOverflow(request.fetchOffset ?? 0)
                if isPlanted(.cutsWindowFirst) { return limit }
                return overflow || sum > Int.max - changedKeys.count ? Int.max : sum + changedKeys.count
            }
            request.fetchOffset = nil
        } else {
            request = FetchRequest(request.entity)
            request.includesSubentities = checked.request.includesSubentities
        }
        return PendingRecords(records, changedKeys: changedKeys, over: try snapshot.fetch(request))
    }

    func cursor() throws(StoreError) -> any RecordCursor {
        ScanningFetch(checked, visiting: try source(), graph: try relatedObjects())
    }

    func count() throws(StoreError) -> Int {
        try ScanningFetch.count(checked, visiting: try source(), graph: try relatedObjects())
    }
}

/// A visitor of given records, merged with the cursor's records that are not in `changedKeys`.
///
/// If the cursor's keys ascend, the visited keys ascend, too.
private final class PendingRecords: RecordVisitor {
    private let records: RecordBatch
    private let changedKeys: Set<Int64>
    private let cursor: any RecordCursor
    private var batch: RecordBatch
    private var index = 0
    private var position = 0
    private var isAtEnd = false

    init(_ records: RecordBatch, changedKeys: Set<Int64>, over cursor: any RecordCursor) {
        (self.records, self.changedKeys, self.cursor) = (records, changedKeys, cursor)
        batch = RecordBatch(model: records.model)
    }

    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        while true {
            if index == batch.count, !isAtEnd {
                index = 0
                do throws(StoreError) { isAtEnd = try !cursor.next(into: &batch) } catch {
                    batch.removeAll()
                    throw error
                }
                if isAtEnd { batch.removeAll() }
            }
            let stored = index < batch.count ? batch.key(at: index) : nil
            if let stored, changedKeys.contains(stored), !isPlanted(.showsChangedTwice) {
                index += 1
                continue
            }
            let pending = position < records.count ? records.key(at: position) : nil
            guard stored != nil || pending != nil else { return false }
            let shouldContinue: Bool
            if let pending, stored.map({ pending < $0 }) ?? true {
                position += 1
                shouldContinue = records.withRecord(at: position - 1, body)
            } else {
                index += 1
                shouldContinue = batch.withRecord(at: index - 1, body)
            }
            guard shouldContinue else { return true }
        }
    }
}
