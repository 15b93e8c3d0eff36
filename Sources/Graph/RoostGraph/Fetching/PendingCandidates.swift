internal import RoostCore
internal import RoostStores

/// A search for objects that a request may match or sort differently because related objects
/// changed.
///
/// The search follows the inverses of the request's relationships, from changed objects to
/// referring objects, in both the stored and the changed state.
struct PendingCandidates {
    private let changes: ChangeSet
    private let model: ManagedObjectModel
    private let followed: [ManagedObjectModel.Relationship]
    private let inserted: Set<ObjectPlace>
    private let before: any ObjectGraph
    private let after: any ObjectGraph

    init(following followed: [Int], changes: ChangeSet, from before: any ObjectGraph, to after: any ObjectGraph) {
        (self.changes, model, self.before, self.after) = (changes, changes.model, before, after)
        self.followed = followed.map { changes.model.relationships[$0] }
        inserted = Set((0..<changes.inserts.count).map { Self.place(changes.inserts, index: $0) })
    }

    private static func place(_ batch: RecordBatch, index: Int) -> ObjectPlace {
        ObjectPlace(root: batch.model.entities[batch.entityNumber(at: index)].root, key: batch.key(at: index))
    }

    /// Returns the keys of the changed and found objects in one hierarchy.
    ///
    /// - Returns: Nil if a relationship has no inverse, or if over `limit` objects in total are
    ///   changed or found.
    func keys(ofHierarchy root: Int, limit: Int) throws(StoreError) -> Set<Int64>? {
        guard followed.allSatisfy({ $0.inverse != nil }) else { return nil }
        var known = try changedPlaces()
        var next = known
        while !next.isEmpty, !isPlanted(.overlooksReferring) {
            guard known.count <= limit else { return nil }
            var found: Set<ObjectPlace> = []
            for (root, places) in Dictionary(grouping: next, by: \.root) {
                let keys = places.map(\.key).sorted()
                try collect(
                    keys.filter { !inserted.contains(ObjectPlace(root: root, key: $0)) }, root: root, graph: before,
                    found: &found)
                try collect(keys, root: root, graph: after, found: &found)
            }
            next = found.subtracting(known)
            known.formUnion(next)
        }
        return Set(known.lazy.filter { $0.root == root }.map(\.key))
    }

    private func changedPlaces() throws(StoreError) -> Set<ObjectPlace> {
        var places = inserted
        for index in 0..<changes.updates.count { places.insert(Self.place(changes.updates, index: index)) }
        for reference in changes.deletes {
            let entity = try model.requireEntity(reference.id.entity)
            places.insert(ObjectPlace(root: entity.root, key: reference.id.key))
        }
        for batch in changes.addedLinks + changes.removedLinks {
            let relationship = model.relationships[batch.relationship]
            let roots = [relationship.source, relationship.destination].map { model.entities[$0].root }
            for link in batch.links {
                places.insert(ObjectPlace(root: roots[0], key: link.source))
                places.insert(ObjectPlace(root: roots[1], key: link.target))
            }
        }
        return places
    }

    /// Adds the objects that, in `graph`, refer to the objects with the given keys.
    private func collect(
        _ keys: [Int64], root: Int, graph: any ObjectGraph, found: inout Set<ObjectPlace>
    ) throws(StoreError) {
        guard !keys.isEmpty else { return }
        let relationships = followed.filter { model.entities[$0.destination].root == root }
        guard !relationships.isEmpty else { return }
        var batch = RecordBatch(model: model)
        try graph.read(keys, inHierarchyOf: root, into: &batch)
        var sources: [Int64] = []
        for relationship in relationships {
            guard let number = relationship.inverse else { continue }
            let inverse = model.relationships[number]
            let sourceRoot = model.entities[relationship.source].root
            for index in 0..<batch.count
            where model.entities[relationship.destination].includes(batch.entityNumber(at: index)) {
                if inverse.isToMany {
                    sources.removeAll(keepingCapacity: true)
                    try graph.appendDestinations(of: inverse, from: batch.key(at: index), to: &sources)
                    for key in sources { found.insert(ObjectPlace(root: sourceRoot, key: key)) }
                } else {
                    batch.withRecord(at: index) { record in
                        guard let field = record.layout.field(inverse.name.name),
                            let (_, key) = record.reference(field)
                        else { return }
                        found.insert(ObjectPlace(root: sourceRoot, key: key))
                    }
                }
            }
        }
    }
}
