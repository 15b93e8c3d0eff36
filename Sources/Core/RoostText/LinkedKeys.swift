package import RoostCore

/// The keys of the objects that to-many columns show for one batch of records.
package final class LinkedKeys {
    private let relationships: [ManagedObjectModel.Relationship?]
    /// The destination keys, by column and then by the key of the source object.
    private var keys: [[Int64: [Int64]]]

    package init(_ columns: RecordColumns) {
        relationships = columns.columns.map(\.relationship)
        keys = Array(repeating: [:], count: relationships.count)
    }

    /// Reads the links of a batch's records, in one pass for each to-many column.
    package func read(of batch: RecordBatch, from snapshot: any StoreSnapshot) throws(StoreError) {
        for (column, relationship) in relationships.enumerated() {
            guard let relationship else { continue }
            keys[column].removeAll(keepingCapacity: true)
            // Each object is requested only once, because a second request would return its links
            // again.
            var ids: [ObjectID] = []
            for index in 0..<batch.count where keys[column].updateValue([], forKey: batch.key(at: index)) == nil {
                ids.append(batch.id(at: index))
            }
            let cursor = try snapshot.links(of: relationship.name, from: ids)
            var links = LinkBatch(relationship: relationship.number)
            while try cursor.next(into: &links) {
                for link in links.links { keys[column][link.source, default: []].append(link.target) }
            }
        }
    }

    package func keys(_ column: Int, of object: Int64) -> [Int64] { keys[column][object] ?? [] }
}
