internal import RoostCore

/// A summary of the objects and links that were written to a destination.
struct WrittenContent {
    private(set) var tally: StoreTally
    /// The entities with a record that was written without a mandatory value.
    ///
    /// A policy may set the value later, so validation checks the entities' objects at the end.
    private(set) var suspects: Set<Int> = []

    init(model: ManagedObjectModel) { tally = StoreTally(model: model) }

    mutating func add(_ batch: RecordBatch, blueprints: [EntityBlueprint?]) {
        batch.forEachRecord { record in
            guard let blueprint = blueprints[record.entityNumber], !suspects.contains(record.entityNumber) else {
                return
            }
            if blueprint.isIncomplete(record) { suspects.insert(record.entityNumber) }
        }
        tally.add(batch)
    }

    mutating func add(_ batch: LinkBatch) { tally.add(batch) }

    /// Removes from the tally a record that an update replaces.
    mutating func remove(_ record: RecordReader) {
        tally.entities[record.entityNumber].remove(record.storedContentHash)
    }

    mutating func add(_ link: Link, of owner: Int) {
        tally.relationships[owner].add(RecordHash.link(link, of: owner))
    }

    mutating func remove(_ link: Link, of owner: Int) {
        tally.relationships[owner].remove(RecordHash.link(link, of: owner))
    }
}

/// A generator of new keys, which exceed all source keys that can be reused.
struct NewKeys {
    /// The next key, by root.
    private var next: [Int: Int64]

    /// Starts after the highest source keys that can be reused, by root.
    init(after lastKeys: [Int: Int64]) { next = lastKeys.mapValues { $0 == .max ? .max : $0 + 1 } }

    /// Returns the next unused key of a hierarchy.
    mutating func take(root: Int, model: ManagedObjectModel) throws(StoreError) -> Int64 {
        let key = next[root] ?? 1
        guard key < .max else {
            throw StoreError(
                .limitExceeded, "No key is left for new objects of '\(model.entities[root].name)'.")
        }
        next[root] = key + 1
        return key
    }
}
