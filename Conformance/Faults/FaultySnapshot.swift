internal import RoostCore
internal import RoostQuery

final class FaultySnapshot: ExplainingSnapshot, GroupedLinkSnapshot, IDListingSnapshot, HistorySnapshot {
    private let own: any StoreSnapshot
    private let store: any PersistentStore
    private let fault: FaultyStoreType.Fault
    private let memory: FaultyStore.Memory
    private var isClosed = false

    init(
        _ own: any StoreSnapshot, of store: any PersistentStore, fault: FaultyStoreType.Fault,
        memory: FaultyStore.Memory
    ) {
        (self.own, self.store, self.fault, self.memory) = (own, store, fault, memory)
    }

    /// The snapshot to read.
    ///
    /// With `showsLaterCommits`, each read gets a new snapshot.
    private var base: any StoreSnapshot {
        get throws(StoreError) {
            guard !isClosed else { throw StoreError(.closed, "The snapshot was closed before; take a new one.") }
            _ = try own.lastKey(of: own.model.entities[0].name)
            return fault == .showsLaterCommits ? try store.snapshot() : own
        }
    }

    var model: ManagedObjectModel { own.model }

    func close() {
        isClosed = true
        // With `leaksCursors`, cursors read the sound snapshot until it is deallocated.
        if fault != .leaksCursors { own.close() }
    }

    func recordedTally() throws(StoreError) -> StoreTally? {
        let tally = try base.recordedTally()
        guard fault == .recordsOldDigest, let tally, tally.digest.objectCount > 3 else { return tally }
        return StoreTally(model: model)
    }

    var canRecordHistory: Bool { (own as? any HistorySnapshot)?.canRecordHistory ?? false }

    func withHistory<Result>(
        _ body: (any HistoryEntries, StoreUUID, Generation) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard let snapshot = try base as? any HistorySnapshot else {
            throw StoreError(.unsupported, "Stores of this type cannot record a history.")
        }
        return try snapshot.withHistory(body)
    }

    func makeHistoryToken() throws(StoreError) -> HistoryToken { try base.historyToken() }

    func makeHistoryCursor(_ request: HistoryRequest) throws(StoreError) -> any HistoryCursor {
        var request = request
        if fault == .acceptsForeignTokens, try request.token?.storeUUID != store.metadata().storeUUID {
            request.token = nil
        }
        return FaultyHistoryCursor(try base.historyCursor(request), fault: fault)
    }

    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }

    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        let cursor = try base.records(of: entity, after: fault == .startsOver ? nil : id)
        switch fault {
        case .losesLastRecord:
            return AlteringRecordCursor(cursor) { batch in
                batch.isFull || batch.count < 2 ? batch : batch.picked(0..<batch.count - 1)
            }
        case .losesRecordsBetweenBatches:
            return AlteringRecordCursor(cursor) { batch in
                batch.isFull && batch.count > 1 ? batch.picked(0..<batch.count - 1) : batch
            }
        case .reversesBatches:
            return AlteringRecordCursor(cursor) { batch in batch.picked((0..<batch.count).reversed()) }
        case .cutsSubentities:
            let known = try model.requireEntity(entity).layout
            return AlteringRecordCursor(cursor) { (batch) throws(StoreError) in
                var result = RecordBatch(model: batch.model)
                for index in 0..<batch.count {
                    try result.append(
                        batch.id(at: index), version: batch.version(at: index),
                        values: batch.values(at: index).filter { (try? known.requireField($0.key)) != nil })
                }
                return result
            }
        case .showsUnfinishedLoads:
            return ChainedRecordCursor(
                cursor, batches: memory.unfinished, of: try model.requireEntity(entity), after: id, in: model)
        default: return altered(cursor)
        }
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor { altered(try base.records(with: ids)) }

    /// Adds the fault to the cursor if the fault concerns all record cursors.
    private func altered(_ cursor: any RecordCursor) -> any RecordCursor {
        switch fault {
        case .keepsBatchContents: return AddingRecordCursor(cursor)
        case .readsDamage: return UnverifiedRecordCursor(cursor)
        case .admitsTakenValues:
            let admitted = memory.admitted
            return AlteringRecordCursor(cursor) { batch in
                var result = RecordBatch(model: batch.model)
                for index in 0..<batch.count {
                    if let record = admitted[batch.id(at: index)], record.version == batch.version(at: index) {
                        result.append(record)
                    } else {
                        result.append(batch, at: index)
                    }
                }
                return result
            }
        default: return cursor
        }
    }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        FaultyLinkCursor(try base.links(of: relationship, after: link), fault: fault)
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        FaultyLinkCursor(try base.links(of: relationship, from: id), fault: fault)
    }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        var request = altered(request)
        if fault == .ignoresOrder { request.sortDescriptors = [] }
        if fault == .ignoresLimit, request.fetchLimit ?? 0 >= 0 { request.fetchLimit = nil }
        if fault == .breaksTiesBackwards, !request.sortDescriptors.isEmpty {
            return TieReversingCursor(try base.fetch(request), request: request)
        }
        return altered(try base.fetch(request))
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        var request = altered(request)
        if fault == .miscounts { (request.fetchLimit, request.fetchOffset) = (nil, nil) }
        return try base.count(request)
    }

    func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor {
        let ids = fault == .ordersLinkOwners ? ids.sorted { $0.key < $1.key } : ids
        return FaultyLinkCursor(try base.links(of: relationship.name, from: ids), fault: fault)
    }

    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        try request.requireModel(model)
        // Calls this snapshot's fetch, so that a fault of fetches affects the IDs too.
        var found: [ObjectID] = []
        try fetch(request.request).appendIDs(to: &found, model: model)
        if fault == .listsIDsByKey { found.sort { $0.key < $1.key } }
        ids += found
    }

    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try base.explain(checked: request, executing: executing)
    }

    private func altered(_ request: FetchRequest) -> FetchRequest {
        guard let predicate = request.predicate else { return request }
        var request = request
        request.predicate =
            fault == .followsThreeValuedLogic ? predicate.threeValued : FaultyPredicates(fault).altered(predicate)
        return request
    }
}

extension RecordBatch {
    fileprivate func picked(_ indices: some Sequence<Int>) -> RecordBatch {
        var result = RecordBatch(model: model)
        for index in indices { result.append(self, at: index) }
        return result
    }
}

extension FetchRequest.Predicate {
    /// The predicate in SQL's three-valued logic: a comparison with null is unknown, and so is its
    /// negation.
    fileprivate var threeValued: Self {
        switch self {
        case .constant: self
        case .and(let members): .and(members.map(\.threeValued))
        case .or(let members): .or(members.map(\.threeValued))
        case .not(let member): .and([.not(member.threeValued)] + member.comparedKeys.map { .isNotNull($0) })
        case .comparison: .and([self] + comparedKeys.map { .isNotNull($0) })
        }
    }

    /// The properties that are compared with values other than null.
    private var comparedKeys: [String] {
        switch self {
        case .constant: []
        case .and(let members), .or(let members): members.flatMap(\.comparedKeys)
        case .not(let member): member.comparedKeys
        case .comparison(let comparison):
            [comparison.left, comparison.right].contains(.constant(.null))
                ? []
                : [comparison.left, comparison.right].compactMap { expression in
                    if case .keyPath(let path) = expression { path.joined(separator: ".") } else { nil }
                }
        }
    }
}
