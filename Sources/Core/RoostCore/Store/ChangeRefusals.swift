extension StoreError {
    package static func takenKey(_ id: ObjectID) -> StoreError {
        StoreError(
            .duplicateObject,
            "\(id) cannot be inserted: an object of its hierarchy has its key; nothing was written. Reserve keys from the store."
        )
    }

    package static func usedUpVersions(_ id: ObjectID, version: UInt32) -> StoreError {
        StoreError(.limitExceeded, "\(id) was updated \(version) times; its versions are used up.")
    }
}

/// The conflicts of a commit: objects that another writer changed after they were read.
package struct ChangeConflicts {
    /// The conflicts; the error lists them by rank: updates, deletes, then ``ChangeSet/unchanged``.
    private var found: [(rank: Int, conflict: ObjectConflict)] = []

    package init() {}

    package var isEmpty: Bool { found.isEmpty }

    /// Adds an object that is missing, or whose stored version is not the version that was read.
    ///
    /// If `stored` has another entity than `item`, the object of `item` counts as deleted.
    package mutating func append(
        _ item: PreparedChange.Item, version: UInt32, stored: RecordReader?, in change: PreparedChange, rank: Int
    ) {
        var current: Record?
        if let stored, stored.entityNumber == item.entity {
            var batch = RecordBatch(model: change.model)
            batch.append(stored)
            current = batch.record(at: 0)
        }
        found.append((rank, ObjectConflict(id: change.id(item), expectedVersion: version, current: current)))
    }

    package mutating func append(_ others: Self) { found += others.found }

    package func throwIfAny() throws(StoreError) {
        let conflicts = found.sorted { $0.rank < $1.rank }.map(\.conflict)
        guard let first = conflicts.first else { return }
        let others = conflicts.count == 1 ? "" : " and \(conflicts.count - 1) more"
        throw StoreError(
            .conflict,
            "\(first.id)\(others) changed since it was read; nothing was written. Read it again and decide which values to keep."
        ).with { $0.conflicts = conflicts }
    }
}

extension PreparedChange {
    package func rank(ofUpdate item: Item) -> Int { item.position }
    package func rank(ofDelete item: Item) -> Int { updates.count + item.position }
    package func rank(ofUnchanged item: Item) -> Int { updates.count + deletes.count + item.position }
}

/// The objects that must exist after a commit but would be missing.
package struct MissingObjects {
    private var ids: [ObjectID] = []
    private var known: Set<ObjectID> = []
    private var message = ""

    package init() {}

    package mutating func append(_ id: ObjectID) {
        append(id, "The commit needs \(id), which does not exist; nothing was written.")
    }

    package mutating func append(
        endOf relationship: ManagedObjectModel.Relationship, entity: ManagedObjectModel.Entity, key: Int64
    ) {
        let id = ObjectID(entity.name, key: key)
        append(id, "A link of '\(relationship.name)' needs \(id), which does not exist; nothing was written.")
    }

    private mutating func append(_ id: ObjectID, _ text: @autoclosure () -> String) {
        guard known.insert(id).inserted else { return }
        if ids.isEmpty { message = text() }
        ids.append(id)
    }

    package func throwIfAny() throws(StoreError) {
        guard !ids.isEmpty else { return }
        let others = ids.count == 1 ? "" : " There are \(ids.count - 1) more such objects."
        throw StoreError(.objectNotFound, message + others).with { $0.missingObjects = ids }
    }
}

/// The deletes that are denied because a remaining object refers to the deleted object.
package struct DeleteDenials {
    /// A deleted object, and a relationship in which a remaining object refers to it.
    ///
    /// Only one denial is kept for each pair, because very many objects can refer to one object.
    private struct Pair: Hashable {
        let deleted: ObjectPlace
        let relationship: Int
    }

    private var found: [Pair: DeleteDenial] = [:]

    package init() {}

    package func contains(_ item: PreparedChange.Item, relationship: ManagedObjectModel.Relationship) -> Bool {
        found[Pair(deleted: item.place, relationship: relationship.number)] != nil
    }

    /// Adds an object that remains and refers to the deleted `item`.
    package mutating func append(
        _ item: PreparedChange.Item, relationship: ManagedObjectModel.Relationship, remaining: ObjectID,
        in change: PreparedChange
    ) {
        found[Pair(deleted: item.place, relationship: relationship.number)] = DeleteDenial(
            relationship: relationship.name, deleted: change.id(item), remaining: remaining, reason: .referenced)
    }

    package func throwIfAny() throws(StoreError) {
        guard !found.isEmpty else { return }
        throw DeleteDenial.error(
            found.sorted { ($0.key.deleted, $0.key.relationship) < ($1.key.deleted, $1.key.relationship) }.map(\.value))
    }
}

extension ManagedObjectModel {
    /// Returns the to-one relationships that can refer to an object of `entity`.
    package func references(to entity: Int) -> [Relationship] {
        relationships.filter { $0.storage == .field && entities[$0.destination].includes(entity) }
    }
}
