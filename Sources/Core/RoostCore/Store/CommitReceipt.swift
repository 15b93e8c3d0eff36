/// The result of a commit.
///
/// ```swift
/// let receipt = try store.commit(changes)
/// if receipt.previousGeneration == seen { refresh(receipt.updatedIDs) } else { reloadAll() }
/// ```
///
/// The lists of objects are created on each access.
public struct CommitReceipt: Sendable {
    /// The generation of the store after the commit.
    ///
    /// Equal to ``previousGeneration`` if the commit changed nothing. Commits to a store without
    /// the capability ``StoreCapability/totalOrder`` can overlap. After overlapping commits, the
    /// store's generation differs from the generations in their receipts.
    public let generation: Generation
    /// The generation to which the commit applied its changes.
    ///
    /// If the program last saw a different generation, another writer has committed since then.
    public let previousGeneration: Generation
    let changes: ChangeSet

    /// Creates the receipt of a commit of `changes`.
    public init(_ changes: ChangeSet, generation: Generation, previousGeneration: Generation) {
        (self.generation, self.previousGeneration) = (generation, previousGeneration)
        self.changes = changes
    }

    /// Whether the commit changed anything.
    public var hasChanges: Bool { generation != previousGeneration }

    /// The objects that the commit inserted, in the order of the change set.
    public var insertedIDs: [ObjectID] { hasChanges ? Self.ids(changes.inserts) : [] }
    /// The objects that the commit updated, in the order of the change set.
    public var updatedIDs: [ObjectID] { hasChanges ? Self.ids(changes.updates) : [] }
    /// The objects that the commit deleted, in the order of the change set.
    public var deletedIDs: [ObjectID] { hasChanges ? changes.deletes.map(\.id) : [] }

    /// The objects at the ends of the links that the change set adds and removes, each once.
    ///
    /// Their IDs have the entity that the relationship declares, which can be a superentity of the
    /// object's own entity. Added links that already existed and removed links that did not exist
    /// are included. Links that are removed because an object was deleted are not.
    ///
    /// - Complexity: O(*n*) in links.
    public var relinkedIDs: [ObjectID] {
        guard hasChanges else { return [] }
        var (ids, seen) = ([ObjectID](), Set<ObjectID>())
        let model = changes.model
        for batch in changes.removedLinks + changes.addedLinks
        where model.relationships.indices.contains(batch.relationship) {
            let relationship = model.relationships[batch.relationship]
            let (source, target) = (
                model.entities[relationship.source].name, model.entities[relationship.destination].name
            )
            for link in batch.links {
                for id in [ObjectID(source, key: link.source), ObjectID(target, key: link.target)]
                where seen.insert(id).inserted { ids.append(id) }
            }
        }
        return ids
    }

    private static func ids(_ records: RecordBatch) -> [ObjectID] { (0..<records.count).map { records.id(at: $0) } }
}
