package import RoostCore

/// The objects of a snapshot, as they are after a change set is applied.
///
/// The objects of a to-many relationship have no particular order.
package final class ChangedGraph: ObjectGraph {
    /// The position of a changed object's record in the change set.
    private enum Row {
        case inserted(Int)
        case updated(Int)
        case deleted
    }

    private struct End: Hashable {
        let relationship: Int
        let key: Int64
    }

    private let changes: ChangeSet
    private let model: ManagedObjectModel
    private let base: any ObjectGraph
    private var rows: [ObjectPlace: Row] = [:]
    /// For each to-one relationship and destination, the changed objects that refer to it.
    private var references: [End: [Int64]] = [:]
    /// For each end of a relationship with links, the other ends of added and removed links.
    private var added: (bySource: [End: [Int64]], byTarget: [End: [Int64]]) = ([:], [:])
    private var removed: (bySource: [End: Set<Int64>], byTarget: [End: Set<Int64>]) = ([:], [:])
    private var stored: RecordBatch
    /// The objects that were read from the snapshot while ``isTracking`` was set, with their
    /// versions.
    private(set) var readVersions: [ObjectPlace: UInt32] = [:]
    var isTracking = false

    package init(_ changes: ChangeSet, over base: any ObjectGraph) throws(StoreError) {
        self.changes = changes
        self.base = base
        model = changes.model
        stored = RecordBatch(model: changes.model)
        for index in 0..<changes.updates.count { rows[model.place(of: changes.updates, at: index)] = .updated(index) }
        for index in 0..<changes.inserts.count { rows[model.place(of: changes.inserts, at: index)] = .inserted(index) }
        for reference in changes.deletes { rows[try model.place(of: reference.id)] = .deleted }
        changes.updates.forEachRecord { note($0) }
        changes.inserts.forEachRecord { note($0) }
        for batch in changes.addedLinks {
            for link in batch.links {
                added.bySource[End(relationship: batch.relationship, key: link.source), default: []].append(link.target)
                added.byTarget[End(relationship: batch.relationship, key: link.target), default: []].append(link.source)
            }
        }
        for batch in changes.removedLinks {
            for link in batch.links {
                removed.bySource[End(relationship: batch.relationship, key: link.source), default: []]
                    .insert(link.target)
                removed.byTarget[End(relationship: batch.relationship, key: link.target), default: []]
                    .insert(link.source)
            }
        }
    }

    private func note(_ record: RecordReader) {
        for relationship in model.entities[record.entityNumber].relationships where relationship.storage == .field {
            guard let field = record.layout.field(relationship.name.name), let (_, key) = record.reference(field)
            else { continue }
            references[End(relationship: relationship.number, key: key), default: []].append(record.key)
        }
    }

    func isChanged(_ place: ObjectPlace) -> Bool { rows[place] != nil }

    func isDeleted(_ place: ObjectPlace) -> Bool {
        if case .deleted = rows[place] { true } else { false }
    }

    func isInserted(_ place: ObjectPlace) -> Bool {
        if case .inserted = rows[place] { true } else { false }
    }

    package func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        guard keys.contains(where: { rows[ObjectPlace(root: root, key: $0)] != nil }) else {
            try base.read(keys, inHierarchyOf: root, into: &batch)
            if isTracking { note(batch) }
            return
        }
        batch.removeAll()
        var start = 0
        while start < keys.count {
            switch rows[ObjectPlace(root: root, key: keys[start])] {
            case .inserted(let index): batch.append(changes.inserts, at: index)
            case .updated(let index): batch.append(changes.updates, at: index)
            case .deleted: break
            case nil:
                var end = start + 1
                while end < keys.count, rows[ObjectPlace(root: root, key: keys[end])] == nil { end += 1 }
                try base.read(Array(keys[start..<end]), inHierarchyOf: root, into: &stored)
                if isTracking { note(stored) }
                batch.append(contentsOf: stored)
                start = end
                continue
            }
            start += 1
        }
    }

    private func note(_ batch: RecordBatch) {
        for index in 0..<batch.count { readVersions[model.place(of: batch, at: index)] = batch.version(at: index) }
    }

    package func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        let sourceRoot = model.entities[relationship.source].root
        let root = model.entities[relationship.destination].root
        let first = keys.count
        if !isInserted(ObjectPlace(root: sourceRoot, key: key)) {
            try base.appendDestinations(of: relationship, from: key, to: &keys)
        }
        switch relationship.storage {
        case .field: break
        case .derived(let inverse):
            // `base` finds changed objects by their stored references. These objects are removed,
            // and the objects with a new reference are added from `references`.
            removeAll(from: first, of: &keys) { rows[ObjectPlace(root: root, key: $0)] != nil }
            keys += references[End(relationship: inverse, key: key)] ?? []
        case .links(let owner, let isFlipped):
            let end = End(relationship: owner, key: key)
            var (gone, new) =
                isFlipped ? (removed.byTarget[end], added.byTarget[end]) : (removed.bySource[end], added.bySource[end])
            if model.relationships[owner].isReflexive {
                gone = (removed.bySource[end] ?? []).union(removed.byTarget[end] ?? [])
                new = (added.bySource[end] ?? []) + (added.byTarget[end] ?? []).filter { $0 != key }
            }
            removeAll(from: first, of: &keys) { other in
                gone?.contains(other) ?? false || isDeleted(ObjectPlace(root: root, key: other))
            }
            if let new {
                let known = Set(keys[first...])
                var fresh: Set<Int64> = []
                for other in new where !known.contains(other) && fresh.insert(other).inserted { keys.append(other) }
            }
        }
    }

    private func removeAll(from first: Int, of keys: inout [Int64], where isRemoved: (Int64) -> Bool) {
        guard keys[first...].contains(where: isRemoved) else { return }
        let rest = keys[first...].filter { !isRemoved($0) }
        keys.replaceSubrange(first..., with: rest)
    }
}
