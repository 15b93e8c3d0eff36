package import RoostCore
internal import RoostMigration

/// The uncommitted changes of a batch update or delete.
///
/// Committing ``changes`` throws `conflict` if another writer has changed one of the objects
/// meanwhile.
package struct PreparedBatch: Sendable {
    /// The number of objects of one entity.
    package struct EntityCount: Hashable, Sendable {
        package let entity: EntityName
        package let count: Int
    }

    package let changes: ChangeSet
    /// The number of objects that the request itself matches.
    package let requestedCount: Int
    /// The objects that the request matches, and then the objects that delete rules delete.
    let objects: [ChangeSet.Reference]
    /// The number of updated records that the request itself matches.
    ///
    /// In ``changes``, these records come first.
    let updateCount: Int

    package var objectCount: Int { objects.count }
    package var isEmpty: Bool { changes.isEmpty }
    package var requestedIDs: [ObjectID] { objects.prefix(requestedCount).map(\.id) }

    /// The objects that the request matches, counted by entity.
    package var requested: [EntityCount] { counts(objects.prefix(requestedCount)) }
    /// The further objects that delete rules delete, counted by entity.
    package var cascaded: [EntityCount] { counts(objects.dropFirst(requestedCount)) }
    /// The updated objects that the request itself does not match, counted by entity.
    package var related: [EntityCount] {
        counts((updateCount..<changes.updates.count).map { changes.updates.id(at: $0).entity })
    }

    /// Returns whether another preparation found the same objects to update or delete, with the
    /// same versions.
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

    func result(_ type: BatchResultType, receipt: CommitReceipt) -> BatchResult {
        BatchResult(
            type, generation: receipt.generation, count: objects.count, objectIDs: objects.map(\.id),
            relatedObjectIDs: (updateCount..<changes.updates.count).map { changes.updates.id(at: $0) })
    }
}
