internal import RoostCore
internal import RoostQuery

/// A snapshot whose fetches and counts find only the objects of a list, by default in its order.
///
/// All other reads use the underlying snapshot.
final class ListSnapshot: GraphProvidingSnapshot {
    private let base: any StoreSnapshot
    private let ids: [ObjectID]

    /// Creates a snapshot that closes `base`; the list can contain IDs of deleted objects.
    init(_ ids: [ObjectID], in base: any StoreSnapshot) { (self.ids, self.base) = (ids, base) }

    var model: ManagedObjectModel { base.model }
    func recordedTally() throws(StoreError) -> StoreTally? { try base.recordedTally() }
    func userMetadata() throws(StoreError) -> [String: MetadataValue] { try base.userMetadata() }
    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 { try base.lastKey(of: entity) }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try base.records(of: entity, after: id)
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor { try base.records(with: ids) }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try base.links(of: relationship, after: link)
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try base.links(of: relationship, from: id)
    }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try ScanningFetch(
            request, model: model, source: try base.records(with: ids), graph: base.objectGraph())
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try ScanningFetch.count(
            request, model: model, source: try base.records(with: ids), graph: base.objectGraph())
    }

    func makeObjectGraph() -> any ObjectGraph { base.objectGraph() }

    func close() { base.close() }
}
