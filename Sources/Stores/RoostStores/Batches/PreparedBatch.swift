package import RoostCore
internal import RoostMigration

/// What a batch update or delete would do to a store, worked out on a snapshot and not done.
///
/// Committing ``changes`` does it, as long as no object in it was changed since; then the commit fails with code `conflict`.
package struct PreparedBatch: Sendable {
    /// How many objects of one entity.
    package struct EntityCount: Hashable, Sendable {
        /// The objects' own entity.
        package let entity: EntityName
        /// How many.
        package let count: Int
    }

    /// The changes, all of them.
    package let changes: ChangeSet
    /// How many objects the request itself names.
    package let requestedCount: Int
    /// The objects that are updated or deleted: those that the request names, then those that a delete takes along.
    let objects: [ChangeSet.Reference]
    /// How many of the updated records are of the request; the others change with them.
    let updateCount: Int

    /// How many objects are updated or deleted, those that a delete takes along among them.
    package var objectCount: Int { objects.count }
    /// Whether nothing would change.
    package var isEmpty: Bool { changes.isEmpty }
    /// The objects that the request names.
    package var requestedIDs: [ObjectID] { objects.prefix(requestedCount).map(\.id) }

    /// The objects that the request names, by entity, in the order of the entities' names.
    package var requested: [EntityCount] { counts(objects.prefix(requestedCount)) }
    /// The objects that go because a delete rule says so, by entity, in the order of the entities' names.
    package var cascaded: [EntityCount] { counts(objects.dropFirst(requestedCount)) }
    /// The objects that change because a reference of theirs is set or cleared, by entity, in the order of the entities' names.
    package var related: [EntityCount] {
        counts((updateCount..<changes.updates.count).map { changes.updates.id(at: $0).entity })
    }

    /// Whether another preparation found the same objects to update or delete, each at the same version.
    package func concernsSameObjects(as other: Self) -> Bool {
        func updated(_ batch: Self) -> [ChangeSet.Reference] {
            (0..<batch.changes.updates.count).map {
                ChangeSet.Reference(batch.changes.updates.id(at: $0), version: batch.changes.updates.version(at: $0))
            }
        }
        return objects == other.objects && updated(self) == updated(other)
    }

    private func counts(_ references: ArraySlice<ChangeSet.Reference>) -> [EntityCount] {
        counts(references.map(\.id.entity))
    }

    private func counts(_ entities: [EntityName]) -> [EntityCount] {
        var counts: [EntityName: Int] = [:]
        for entity in entities { counts[entity, default: 0] += 1 }
        return counts.map { EntityCount(entity: $0.key, count: $0.value) }.sorted { $0.entity < $1.entity }
    }

    /// What a commit of it came to.
    func result(_ type: BatchResultType, _ receipt: CommitReceipt) -> BatchResult {
        BatchResult(
            type, generation: receipt.generation, count: objects.count, objectIDs: objects.map(\.id),
            relatedObjectIDs: (updateCount..<changes.updates.count).map { changes.updates.id(at: $0) })
    }
}
