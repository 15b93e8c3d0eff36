internal import RoostCore
internal import RoostStores

/// A cursor over the records of a fetch.
///
/// Between two batches, the program can end the event, save, merge or refresh. So the cursor keeps
/// its snapshots open, and replaces outdated records in later batches.
final class FetchCursor: RecordCursor {
    private let base: any RecordCursor
    /// The event's reader, retained because its deallocation closes the snapshots.
    private let reader: EventReader
    private let core: GraphCore
    private let updateCount: Int

    init(_ base: any RecordCursor, reader: EventReader, core: GraphCore) {
        (self.base, self.reader, self.core, updateCount) = (base, reader, core, core.updateCount)
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        guard try base.next(into: &batch) else { return false }
        if core.updateCount != updateCount { try update(&batch) }
        return true
    }

    /// Replaces the records of unchanged objects with current ones, and removes deleted objects.
    private func update(_ batch: inout RecordBatch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        let root = core.model.entities[batch.entityNumber(at: 0)].root
        let isKept = (0..<batch.count).map { index in
            guard let object = core.registered(root, key: batch.key(at: index)) else { return false }
            return object.flags.contains(.changed) || object.state.contains(.privateRow)
        }
        var keys = isKept.indices.filter { !isKept[$0] }.map { batch.key(at: $0) }
        // Temporary keys are negative. A parent knows them, but a store does not.
        if core.parent == nil { keys.removeAll { $0 < 0 } }
        var present = RecordBatch(model: core.model)
        if !keys.isEmpty {
            try core.openReader().graph(ofEntity: root).read(keys, inHierarchyOf: root, into: &present)
        }
        var (current, position) = (RecordBatch(model: core.model), 0)
        for index in isKept.indices {
            if isKept[index] {
                current.append(batch, at: index)
            } else if position < present.count, present.key(at: position) == batch.key(at: index) {
                current.append(present, at: position)
                position += 1
            }
        }
        batch = current
    }
}

extension GraphCore {
    /// A number that grows with each save, merge and refresh, because rows may then be outdated.
    var updateCount: Int { commitCount + refreshCount }

    func beginRefresh() {
        refreshCount += 1
        closeReader()
    }
}
