// Optional abilities of snapshots. RoostQuery has the abilities for compiled requests.

/// A snapshot that reads the links of many objects in one pass.
public protocol GroupedLinkSnapshot: StoreSnapshot {
    /// Reads the links of a to-many relationship from several objects, grouped by object.
    ///
    /// Programs call ``StoreSnapshot/links(of:from:)-(_,[ObjectID])``.
    ///
    /// - Parameters:
    ///   - relationship: A to-many relationship of the snapshot's model.
    ///   - ids: Objects whose entities belong to the model.
    /// - Returns: A cursor over the links, in the order of `ids`.
    /// - Throws: The errors of reading.
    func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor
}

/// A snapshot with its own implementation of ``ObjectGraph``.
public protocol GraphProvidingSnapshot: StoreSnapshot {
    /// Creates a graph that reads from this snapshot.
    ///
    /// Programs call ``StoreSnapshot/objectGraph()``.
    func makeObjectGraph() -> any ObjectGraph
}

/// A snapshot that can give other threads their own snapshots of the same view.
package protocol ViewSharingSnapshot: StoreSnapshot {
    /// Returns a function that creates a snapshot of the same view; nil if that is impossible.
    ///
    /// Any thread may call the function. It throws if this snapshot is closed.
    func shareView() throws(StoreError) -> (@Sendable () throws(StoreError) -> any StoreSnapshot)?
}

extension StoreSnapshot {
    /// Reads the record with a cursor of ``records(with:)``.
    public func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try records(with: [id]).next(into: &batch)
    }

    /// Reads the links of a to-many relationship from several objects.
    ///
    /// The links are grouped by object, in the order of `ids`. A group has the order of
    /// ``links(of:from:)-(_,ObjectID)``. A link's source is the key of the group's object. An
    /// object without links, or a missing object, has no group. An object that appears twice in
    /// `ids` has two groups. A ``GroupedLinkSnapshot`` reads all groups in one pass; any other
    /// snapshot opens one cursor per object.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for a to-one relationship.
    public func links(of relationship: RelationshipName, from ids: [ObjectID]) throws(StoreError) -> any LinkCursor {
        let relationship = try model.requireRelationship(relationship)
        guard relationship.isToMany else {
            throw StoreError(
                .invalidRequest, "Relationship '\(relationship.name)' is to-one; its destination is in the record.")
        }
        var known: EntityName?
        for id in ids where id.entity != known {
            _ = try model.requireEntity(id.entity)
            known = id.entity
        }
        if let snapshot = self as? any GroupedLinkSnapshot {
            return try snapshot.groupedLinks(of: relationship, from: ids)
        }
        return ChainedLinkCursor(self, relationship: relationship, ids: ids)
    }

    /// Returns a graph that reads related objects for predicates, orders and rows.
    ///
    /// Use the graph from one thread, while the snapshot is open. Unless the snapshot is a
    /// ``GraphProvidingSnapshot``, each read opens a cursor.
    public func objectGraph() -> any ObjectGraph {
        (self as? any GraphProvidingSnapshot)?.makeObjectGraph() ?? SnapshotGraph(self)
    }
}

/// A cursor over the links of several objects, which opens one cursor per object.
private final class ChainedLinkCursor: FillingLinkCursor {
    private let snapshot: any StoreSnapshot
    private let name: RelationshipName
    private let ids: [ObjectID]
    private var index = 0
    private var current: (any LinkCursor)?
    private var part: LinkBatch
    /// The index in `part` of the next link to return.
    private var position = 0

    init(_ snapshot: any StoreSnapshot, relationship: ManagedObjectModel.Relationship, ids: [ObjectID]) {
        (self.snapshot, self.ids, name) = (snapshot, ids, relationship.name)
        part = LinkBatch(relationship: relationship.number)
        super.init(relationship: relationship.number)
    }

    // After the snapshot is closed, the links in `part` must not be returned.
    override func requireOpen() throws(StoreError) { _ = try snapshot.userMetadata() }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        while try readPart() {
            let taken = part.links[position...].prefix(LinkBatch.capacityCount - batch.count)
            batch.links += taken
            position += taken.count
            if batch.isFull { return true }
        }
        return false
    }

    /// Reads until `part` has a link to return; returns false at the end.
    private func readPart() throws(StoreError) -> Bool {
        while position == part.count {
            position = 0
            if let current, try current.next(into: &part) { continue }
            part.removeAll()
            current = nil
            guard index < ids.count else { return false }
            current = try snapshot.links(of: name, from: ids[index])
            index += 1
        }
        return true
    }
}
