internal import RoostCore
internal import RoostStores

/// A cursor over the records of a fetch, which stays usable if the program uses the context between
/// two batches.
///
/// Meanwhile, the program can end the event, save and merge. So the cursor keeps the event's
/// snapshots open. After such a change, it replaces outdated records in later batches.
final class FetchCursor: RecordCursor {
    private let base: any RecordCursor
    /// The reader of the event, which closes its snapshots when it is deallocated.
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

    /// Replaces the records by the current records, and removes those of deleted objects.
    ///
    /// Keeps the records of objects with changes, because the context's values are newer.
    private func update(_ batch: inout RecordBatch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        let root = core.model.entities[batch.entityNumber(at: 0)].root
        let isKept = (0..<batch.count).map { index in
            guard let object = core.registered(root, key: batch.key(at: index)) else { return false }
            return object.flags.contains(.changed) || object.state.contains(.privateRow)
        }
        var keys = isKept.indices.filter { !isKept[$0] }.map { batch.key(at: $0) }
        // Only a parent can have objects with temporary keys.
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
    /// A number that grows with each save, merge and refresh.
    ///
    /// If the number has grown since a row was read, the row may be outdated.
    var updateCount: Int { commitCount + refreshCount }

    /// Closes the reader of the current event before a merge, a refresh or a reset.
    func beginRefresh() {
        refreshCount += 1
        closeReader()
    }
}
