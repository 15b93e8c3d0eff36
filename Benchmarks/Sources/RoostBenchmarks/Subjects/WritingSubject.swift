internal import CTracks
internal import Roost

/// Updates, deletes or inserts tracks of a store.
final class WritingSubject: Subject {
    enum Change: Sendable { case update, delete, insert }

    private let type: String
    private let workload: Workload
    private let change: Change
    private let schema: TrackSchema
    private var store: (any PersistentStore)?

    init(_ type: String, workload: Workload, change: Change) throws {
        self.type = type
        self.workload = workload
        self.change = change
        schema = try TrackSchema()
    }

    func open() throws { store = try openStore(type, workload: workload, schema: schema) }

    func close() throws {
        try store?.close()
        store = nil
        if type == BenchmarkServer.type { try BenchmarkServer.clear() }
    }

    func run(proving: Bool) throws -> Outcome {
        guard let store else { throw BenchmarkError("The store is not open.") }
        return switch change {
        case .update: try update(store)
        case .delete: try delete(store)
        case .insert: try insert(store)
        }
    }

    func madeChecksum() throws -> UInt64? { try store.map { try Proof.checksum(of: $0) } }

    private func distinctTrack(_ index: Int) -> ObjectID {
        ObjectID(TrackSchema.trackEntity, key: Tracks.distinctKey(index, count: workload.trackCount))
    }

    /// Reads scattered tracks, changes two properties of each, and commits all in one transaction.
    private func update(_ store: any PersistentStore) throws -> Outcome {
        var changes = ChangeSet(model: schema.model)
        var batch = RecordBatch(model: schema.model)
        var place = 0
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        while place < workload.repetitions {
            let ids = (place..<min(place + 1000, workload.repetitions)).map { distinctTrack($0) }
            let cursor = try snapshot.records(with: ids)
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count {
                    try batch.withRecord(at: index) { (record) throws(StoreError) in
                        try schema.appendUpdate(of: record, at: place, to: &changes.updates)
                    }
                    place += 1
                }
            }
        }
        _ = try store.commit(changes)
        return Outcome(unitCount: place)
    }

    /// Deletes scattered tracks in one transaction.
    private func delete(_ store: any PersistentStore) throws -> Outcome {
        var changes = ChangeSet(model: schema.model)
        for index in 0..<workload.repetitions { changes.delete(distinctTrack(index), version: 1) }
        _ = try store.commit(changes)
        return Outcome(unitCount: workload.repetitions)
    }

    /// Commits transactions of new tracks, each durable before the next begins.
    private func insert(_ store: any PersistentStore) throws -> Outcome {
        var outcome = Outcome(unitCount: 0, checksum: 0)
        var value = track()
        var number = Int64(workload.trackCount)
        for _ in 0..<workload.repetitions {
            var changes = ChangeSet(model: schema.model)
            for key in try store.reserveKeys(workload.batchSize, for: TrackSchema.trackEntity) {
                number += 1
                let checksum = Tracks.make(number, albumCount: workload.albumCount, into: &value)
                outcome.checksum = (outcome.checksum ?? 0) &+ checksum
                // The key can differ from the number, because stores may leave gaps between reserved keys.
                value.id = key
                try schema.append(value, to: &changes.inserts)
            }
            _ = try store.commit(changes)
            outcome.unitCount += 1
        }
        return outcome
    }
}
