internal import RoostCore
internal import RoostStores

/// A store that wraps a sound store, and alters calls or results by one fault.
final class FaultyStore: StructureCheckingStore, IntegrityCheckingStore, NoticeGivingStore, HistoryKeepingStore {
    struct Memory: Sendable {
        /// The reserved keys to return again, by entity.
        var firstKeys: [EntityName: Range<Int64>] = [:]
        /// The next key to reserve, by the number of the root entity.
        var nextKeys: [Int: Int64] = [:]
        var unfinished: [RecordBatch] = []
        /// The records that the sound store refused because of their unique values, by object.
        var admitted: [ObjectID: Record] = [:]
        var lastInserts: [ObjectID] = []
        /// The metadata that the store returns after it is closed.
        var lastMetadata: StoreMetadata?
    }

    let base: any PersistentStore
    let fault: FaultyStoreType.Fault
    private let isReopened: Bool
    private let memory: Mutex<Memory> = Mutex(Memory())
    let isReadOnly: Bool

    init(_ base: any PersistentStore, fault: FaultyStoreType.Fault, isReadOnly: Bool, isReopened: Bool) {
        self.base = base
        self.fault = fault
        self.isReadOnly = isReadOnly
        self.isReopened = isReopened
    }

    deinit {
        // Releases the store after its check, because other checks create stores of this name.
        if fault == .staysOpen { try? base.close() }
    }

    var type: any PersistentStoreType { base.type }
    var location: StoreLocation { base.location }
    var model: ManagedObjectModel { base.model }
    func checkStructure() throws(StoreError) { try base.requireSoundStructure() }
    func examineIntegrity() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func contentNotices() throws(StoreError) -> [String] { try base.notices() }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func removeHistory(_ bound: HistoryBound) throws(StoreError) {
        if fault != .keepsPurged { try base.removeHistory(bound) }
    }
    func importHistory(_ entries: any HistoryEntries, at generation: Generation) throws(StoreError) {
        guard let store = base as? any HistoryKeepingStore else { throw .recordsNoHistory }
        try store.importHistory(entries, at: generation)
    }

    func metadata() throws(StoreError) -> StoreMetadata {
        if let metadata = memory.withLock({ $0.lastMetadata }) { return metadata }
        return try base.metadata()
    }

    func snapshot() throws(StoreError) -> any StoreSnapshot {
        FaultySnapshot(try base.snapshot(), of: base, fault: fault, memory: memory.withLock { $0 })
    }

    func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
        if fault == .letsWritersPass {
            let base = base
            return LateBulkLoader { () throws(StoreError) in try base.bulkLoader(options) }
        }
        let loader = try base.bulkLoader(fault == .forgetsLoadedKeys ? BulkLoadOptions() : options)
        return FaultyBulkLoader(loader, fault: fault, memory: memory)
    }

    func close() throws(StoreError) {
        switch fault {
        case .staysOpen: return
        case .answersAfterClosing:
            // A store that is already closed has no new metadata.
            if let metadata = try? base.metadata() { memory.withLock { $0.lastMetadata = metadata } }
        case .losesLastCommit: removeLastInserts()
        default: break
        }
        try base.close()
    }

    private func removeLastInserts() {
        let ids = memory.withLock { memory in
            defer { memory.lastInserts = [] }
            return memory.lastInserts
        }
        // A store that cannot be changed keeps its last commit, so the fault does not show.
        guard !ids.isEmpty, let snapshot = try? base.snapshot() else { return }
        let objects = try? snapshot.objects(with: ids)
        snapshot.close()
        var changes = ChangeSet(model: model)
        for object in objects ?? [] { changes.delete(object.id, version: object.version) }
        _ = try? base.commit(changes)
    }

    // MARK: Keys

    func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        let keys = try base.reserveKeys(count, for: entity)
        switch fault {
        case .reusesKeys:
            return memory.withLock { memory in
                if let old = memory.firstKeys[entity], old.count >= count {
                    return old.lowerBound..<old.lowerBound + Int64(count)
                }
                memory.firstKeys[entity] = keys
                return keys
            }
        case .forgetsUsedKeys where isReopened:
            let root = model.entity(entity)?.root ?? 0
            let last = try readBase { snapshot throws(StoreError) in
                try snapshot.objects(of: model.entities[root].name).last?.id.key ?? 0
            }
            return memory.withLock { memory in
                // The sound store has just reserved keys at least this high, so the sum cannot overflow.
                let first = memory.nextKeys[root] ?? last + 1
                memory.nextKeys[root] = first + Int64(count)
                return first..<first + Int64(count)
            }
        default: return keys
        }
    }

    // MARK: Committing

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        let changes = try altered(changes)
        let links = fault == .leavesLinks ? try linksThatGo(changes) : []
        let receipt: CommitReceipt
        do throws(StoreError) {
            receipt = try base.commit(changes)
        } catch {
            receipt = try receiptAfter(error, changes: changes)
        }
        if fault == .leavesLinks { try putBack(links) }
        if fault == .losesLastCommit { memory.withLock { $0.lastInserts = changes.inserts.ids } }
        switch fault {
        case .repeatsGenerations:
            let same = Generation(number: 1)
            return CommitReceipt(changes, generation: same, previousGeneration: same)
        case .forgetsPreviousGeneration:
            return CommitReceipt(changes, generation: receipt.generation, previousGeneration: receipt.generation)
        case .forgetsTouchedObjects:
            return CommitReceipt(
                ChangeSet(model: model), generation: receipt.generation,
                previousGeneration: receipt.previousGeneration)
        default: return receipt
        }
    }

    /// Returns the change set to commit to the sound store instead of `original`.
    private func altered(_ original: ChangeSet) throws(StoreError) -> ChangeSet {
        var changes = original
        switch fault {
        case .forgetsMetadata: changes.userMetadata = [:]
        case .misnamesAuthor: changes.author = "nobody"
        case .ignoresUnchanged: changes.unchanged = []
        case .ignoresLastPlaces: changes.lastPlaces = []
        case .ignoresExisting: changes.existing = []
        case .ignoresReferences: changes.requiresUnreferencedDeletes = false
        case .overlooksLinks where changes.requiresUnlinkedDeletes:
            changes.removedLinks += try linksThatGo(changes)
        case .ignoresVersions: return try current(changes)
        case .overwritesObjects: return try overwriting(changes)
        case .removesLinksLast:
            for index in changes.addedLinks.indices {
                let batch = changes.addedLinks[index]
                let removed = changes.removedLinks.filter { $0.relationship == batch.relationship }.flatMap(\.links)
                changes.addedLinks[index].links.removeAll { link in
                    removed.contains { $0.source == link.source && $0.target == link.target }
                }
            }
        default:
            guard fault.altersValues else { break }
            changes.inserts = try fault.altered(changes.inserts)
            changes.updates = try fault.altered(changes.updates)
        }
        return changes
    }

    /// Returns a receipt for a refused change set, or throws its error, as the fault requires.
    private func receiptAfter(_ error: StoreError, changes: ChangeSet) throws(StoreError) -> CommitReceipt {
        switch fault {
        case .writesHalf:
            var half = ChangeSet(model: model)
            half.inserts = changes.inserts
            // The half may be refused too.
            _ = try? base.commit(half)
        case .leaksValues:
            let values = (0..<changes.inserts.count).map { changes.inserts.values(at: $0) }
            throw error.withMessage("\(error.message) \(values)")
        case .namesOneConflict:
            throw error.with { $0.conflicts = Array($0.conflicts.prefix(1)) }
        case .namesOneViolation:
            throw error.with { $0.violations = Array($0.violations.prefix(1)) }
        case .signsDamage where error.code == .corrupted && error.damagedObject != nil:
            let same = Generation(number: 1)
            return CommitReceipt(changes, generation: same, previousGeneration: same)
        case .namesNoMissingObject where error.code == .objectNotFound:
            throw error.with { $0.missingObjects = [] }
        case .admitsTakenValues where error.code == .constraintViolation:
            return try admit(changes, violations: error.violations)
        default: break
        }
        throw error
    }

    func readBase<Result>(
        _ body: (any StoreSnapshot) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let snapshot = try base.snapshot()
        defer { snapshot.close() }
        return try body(snapshot)
    }

    /// Returns the change set with the current versions of its objects.
    private func current(_ changes: ChangeSet) throws(StoreError) -> ChangeSet {
        try readBase { snapshot throws(StoreError) in
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
            return updated
        }
    }

    /// Returns the change set with inserts of existing objects turned into updates.
    private func overwriting(_ changes: ChangeSet) throws(StoreError) -> ChangeSet {
        try readBase { snapshot throws(StoreError) in
            var updated = changes
            updated.inserts = RecordBatch(model: model)
            for index in 0..<changes.inserts.count {
                let id = changes.inserts.id(at: index)
                if let object = try snapshot.object(id), object.id == id {
                    updated.updates.append(changes.inserts, at: index)
                    updated.updates.setVersionOfLast(object.version)
                } else {
                    updated.inserts.append(changes.inserts, at: index)
                }
            }
            return updated
        }
    }

    /// Commits the changes without values that violate a constraint, and remembers the whole records.
    private func admit(_ changes: ChangeSet, violations: [ConstraintViolation]) throws(StoreError) -> CommitReceipt {
        var plain = changes
        var admitted: [ObjectID: Record] = [:]
        func withoutTaken(_ batch: RecordBatch, raisingBy step: UInt32) throws(StoreError) -> RecordBatch {
            var result = RecordBatch(model: model)
            for index in 0..<batch.count {
                let id = batch.id(at: index)
                let taken = violations.filter { $0.rejected == id }.compactMap(\.attributes.first)
                let values = batch.values(at: index).filter { !taken.contains($0.key) }
                try result.append(id, version: batch.version(at: index), values: values)
                guard !taken.isEmpty else { continue }
                var whole = RecordBatch(model: model)
                whole.append(batch, at: index)
                whole.setVersionOfLast(step == 0 ? 1 : batch.version(at: index) &+ step)
                admitted[id] = whole.record(at: 0)
            }
            return result
        }
        plain.inserts = try withoutTaken(changes.inserts, raisingBy: 0)
        plain.updates = try withoutTaken(changes.updates, raisingBy: 1)
        let receipt = try base.commit(plain)
        memory.withLock { $0.admitted.merge(admitted) { $1 } }
        return receipt
    }

    // MARK: Links of deleted objects

    private func linksThatGo(_ changes: ChangeSet) throws(StoreError) -> [LinkBatch] {
        guard !changes.deletes.isEmpty else { return [] }
        return try readBase { snapshot throws(StoreError) in
            var batches: [LinkBatch] = []
            for relationship in model.linkRelationships {
                let ends = [relationship.source, relationship.destination].map { end in
                    let root = model.entities[end].root
                    return Set(changes.deletes.filter { model.entity($0.id.entity)?.root == root }.map(\.id.key))
                }
                let links = try snapshot.allLinks(of: relationship.name)
                batches.append(
                    LinkBatch(
                        relationship: relationship.number,
                        links: links.filter { ends[0].contains($0.source) || ends[1].contains($0.target) }))
            }
            return batches.filter { !$0.isEmpty }
        }
    }

    /// Loads links without checking whether their ends exist.
    private func putBack(_ batches: [LinkBatch]) throws(StoreError) {
        guard !batches.isEmpty else { return }
        let loader = try base.bulkLoader(BulkLoadOptions())
        for batch in batches { try loader.append(batch) }
        _ = try loader.finish()
    }
}
