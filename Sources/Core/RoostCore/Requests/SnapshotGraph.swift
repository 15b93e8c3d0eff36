/// An object graph for any snapshot.
package final class SnapshotGraph: ObjectGraph {
    private let snapshot: any StoreSnapshot
    private var links: LinkBatch
    private var records: RecordBatch

    package init(_ snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
        links = LinkBatch(relationship: 0)
        records = RecordBatch(model: snapshot.model)
    }

    package func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        let name = snapshot.model.entities[root].name
        let cursor = try snapshot.records(with: keys.map { ObjectID(name, key: $0) })
        batch.removeAll()
        while try cursor.next(into: &records) {
            for index in 0..<records.count { batch.append(records, at: index) }
        }
    }

    package func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        let source = snapshot.model.entities[relationship.source].name
        let cursor = try snapshot.links(of: relationship.name, from: ObjectID(source, key: key))
        while try cursor.next(into: &links) { keys += links.links.map(\.target) }
    }
}
