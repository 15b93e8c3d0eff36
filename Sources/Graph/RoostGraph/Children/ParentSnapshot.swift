internal import RoostCore
internal import RoostQuery
internal import RoostStores

/// A context's current state, including unsaved changes, as a snapshot for its children.
///
/// The snapshot is valid for one event of a child. If the parent changes during the event, the
/// snapshot may show the changes, and the child's next read uses a new snapshot.
final class ParentSnapshot: GraphProvidingSnapshot {
    private let parent: ManagedObjectContext
    /// The parent's reader, which keeps the snapshots of the stores open.
    private let reader: EventReader
    private let store: Int

    init(_ parent: ManagedObjectContext, reader: EventReader, store: Int) {
        (self.parent, self.reader, self.store) = (parent, reader, store)
    }

    var model: ManagedObjectModel { parent.core.model }

    /// Returns nil, because stores record no tally of unsaved changes.
    func recordedTally() throws(StoreError) -> StoreTally? { nil }

    func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try reader.snapshot(ofStore: store).userMetadata()
    }

    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        try reader.snapshot(ofStore: store).lastKey(of: entity)
    }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        var ids = try parent.combinedIDs(FetchRequest(entity))
        if let id { ids.removeAll { $0.key <= id.key } }
        return try records(with: ids)
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        ParentRecords(ids, model: parent.core.model, graph: makeObjectGraph())
    }

    /// Throws `unsupported`, because a context reads links object by object.
    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        throw StoreError(
            .unsupported,
            "A child context cannot read all links of '\(relationship)' at once. Read the links of each object.")
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        let declared = try model.requireRelationship(relationship)
        var keys: [Int64] = []
        try makeObjectGraph().appendDestinations(of: declared, from: id.key, to: &keys)
        let links = keys.enumerated().map { position, key in
            Link(id.key, key, order: declared.isOrdered ? Int64(position + 1) * OrderedPlaces.distance : 0)
        }
        return ParentLinks(links)
    }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try parent.combinedCursor(request)
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int { try parent.combinedCount(request) }

    func makeObjectGraph() -> any ObjectGraph { ParentGraph(parent, reader: reader) }

    /// Does nothing, because the parent closes its snapshots.
    func close() {}
}

/// The graph from which predicates and faults of a child read the parent's objects.
private final class ParentGraph: ObjectGraph {
    private let parent: ManagedObjectContext
    private let reader: EventReader

    init(_ parent: ManagedObjectContext, reader: EventReader) { (self.parent, self.reader) = (parent, reader) }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        let core = parent.core
        batch.removeAll()
        var unknown: [Int64] = []
        var stored = RecordBatch(model: core.model)
        func readUnknown() throws(StoreError) {
            guard !unknown.isEmpty else { return }
            try reader.graph(ofEntity: root).read(unknown, inHierarchyOf: root, into: &stored)
            batch.append(contentsOf: stored)
            unknown.removeAll()
        }
        for key in keys {
            guard let object = core.registered(root, key: key), let row = object.row else {
                // If the parent is itself a child, the key may be the temporary key of a new object in an ancestor.
                if key > 0 || parent.parent != nil { unknown.append(key) }
                continue
            }
            guard object.flags.isDisjoint(with: [.deleted, .inaccessible]) else { continue }
            try readUnknown()
            batch.append(
                built: UnsafeRawBufferPointer(start: row, count: Int(object.byteCount)), key: key,
                entity: Int(object.entityNumber))
        }
        try readUnknown()
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        let core = parent.core
        guard let owner = try core.objects([key], destination: relationship.source).first else { return }
        keys += try core.memberKeys(of: owner, relationship: relationship.number)
    }
}

/// A cursor that reads records by their IDs, in parts.
private final class ParentRecords: RecordCursor {
    private static let partCount = 1_024
    private let ids: [ObjectID]
    private let model: ManagedObjectModel
    private let graph: any ObjectGraph
    private var position = 0

    init(_ ids: [ObjectID], model: ManagedObjectModel, graph: any ObjectGraph) {
        (self.ids, self.model, self.graph) = (ids, model, graph)
    }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        var part = RecordBatch(model: model)
        while batch.isEmpty, position < ids.count {
            // Consecutive IDs of one entity are read in one step.
            let name = ids[position].entity
            let end = min(ids.count, position + Self.partCount)
            let entity = try model.requireEntity(name)
            var keys: [Int64] = []
            while position < end, ids[position].entity == name {
                keys.append(ids[position].key)
                position += 1
            }
            try graph.read(keys, inHierarchyOf: entity.root, into: &part)
            for index in 0..<part.count where entity.includes(part.entityNumber(at: index)) {
                batch.append(part, at: index)
            }
        }
        return !batch.isEmpty
    }
}

/// A cursor over links that are already in memory.
private final class ParentLinks: LinkCursor {
    private var links: [Link]

    init(_ links: [Link]) { self.links = links }

    func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.links = links
        links = []
        return !batch.links.isEmpty
    }
}
