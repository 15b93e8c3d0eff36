package import RoostCore
internal import RoostMigration

/// The computed changes of a batch update or delete, which are not committed yet.
///
/// To apply the changes, commit ``changes``. If another writer has changed one of the objects since
/// the computation, the commit throws `conflict`.
package struct PreparedBatch: Sendable {
    /// The number of objects of one entity.
    package struct EntityCount: Hashable, Sendable {
        /// The entity of the objects.
        package let entity: EntityName
        /// The number of objects.
        package let count: Int
    }

    /// All changes.
    package let changes: ChangeSet
    /// The number of objects that the request itself matches.
    package let requestedCount: Int
    /// The updated or deleted objects: first the objects that the request matches, then the
    /// objects that delete rules delete.
    let objects: [ChangeSet.Reference]
    /// The number of updated records that the request itself matches.
    ///
    /// In ``changes``, these records come first. The other updates are their consequences.
    let updateCount: Int

    /// The number of updated or deleted objects, including the objects that delete rules delete.
    package var objectCount: Int { objects.count }
    /// Whether nothing would change.
    package var isEmpty: Bool { changes.isEmpty }
    /// The objects that the request matches.
    package var requestedIDs: [ObjectID] { objects.prefix(requestedCount).map(\.id) }

    /// The number of objects that the request matches, by entity, in the order of the entities'
    /// names.
    package var requested: [EntityCount] { counts(objects.prefix(requestedCount)) }
    /// The number of further objects that delete rules delete, by entity, in the order of the
    /// entities' names.
    package var cascaded: [EntityCount] { counts(objects.dropFirst(requestedCount)) }
    /// The number of other objects that are updated as a consequence, by entity, in the order of
    /// the entities' names.
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

    /// Returns the result of committing the changes.
    func result(_ type: BatchResultType, receipt: CommitReceipt) -> BatchResult {
        BatchResult(
            type, generation: receipt.generation, count: objects.count, objectIDs: objects.map(\.id),
            relatedObjectIDs: (updateCount..<changes.updates.count).map { changes.updates.id(at: $0) })
    }
}
