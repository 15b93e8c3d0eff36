/// The related objects of any store, read through its snapshot.
///
/// One cursor for each call; an engine that knows a shorter way has a graph of its own.
public final class SnapshotGraph: ObjectGraph {
    private let snapshot: any StoreSnapshot

    /// The graph of a snapshot, valid as long as that is.
    public init(_ snapshot: any StoreSnapshot) { self.snapshot = snapshot }

    /// Replaces the contents of `batch` by the records with these keys, by ``StoreSnapshot/records(with:)``.
    public func read(
        _ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch
    ) throws(StoreError) {
        batch.removeAll()
        let name = snapshot.model.entities[root].name
        let cursor = try snapshot.records(with: keys.map { ObjectID(name, $0) })
        var part = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &part) { part.forEachRecord { batch.append($0) } }
    }

    /// Appends the keys that ``StoreSnapshot/links(of:from:)`` gives.
    public func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        let source = snapshot.model.entities[relationship.source].name
        let cursor = try snapshot.links(of: relationship.name, from: ObjectID(source, key))
        var links = LinkBatch(relationship: relationship.number)
        while try cursor.next(into: &links) { for link in links.links { keys.append(link.target) } }
    }
}
