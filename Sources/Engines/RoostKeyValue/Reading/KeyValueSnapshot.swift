internal import RoostCore
internal import RoostQuery

/// A view of a store after one commit, through a reader of the storage.
final class KeyValueSnapshot: GroupedLinkSnapshot, GraphProvidingSnapshot {
    let store: KeyValueStore
    let reader: any KeyValueReader
    private let blocks: [Int: KeyBlock]
    let model: ManagedObjectModel
    /// The last entity that was looked up; most successive requests have the same entity.
    private var lastEntity: ManagedObjectModel.Entity?
    private var isClosed = false

    init(store: KeyValueStore, reader: any KeyValueReader, blocks: [Int: KeyBlock]) {
        self.store = store
        self.reader = reader
        self.blocks = blocks
        model = store.model
    }

    deinit { reader.close() }

    var plan: StorePlan { store.plan }

    /// Returns a verifier of a hierarchy's records, which is valid while the snapshot exists.
    func verifier(root: Int) -> RecordVerifier {
        RecordVerifier(model: model, root: root, comparesChecksums: !store.storage.holdsCheckedMemory)
    }

    func close() {
        isClosed = true
        reader.close()
    }

    func requireOpen() throws(StoreError) {
        try store.requireOpen()
        if isClosed { throw StoreError(.closed, "The snapshot of store '\(store.location)' was closed.") }
    }

    func entity(_ name: EntityName) throws(StoreError) -> ManagedObjectModel.Entity {
        if let lastEntity, lastEntity.name == name { return lastEntity }
        let entity = try model.requireEntity(name)
        lastEntity = entity
        return entity
    }

    func recordedTally() throws(StoreError) -> StoreTally? {
        try requireOpen()
        return try MetaSpace.readTally(model, reader: reader)
    }

    func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try requireOpen()
        return try MetaSpace.readUserMetadata(reader)
    }

    func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        try requireOpen()
        let root = try model.requireEntity(entity).root
        let last = try MetaSpace.readLastKey(root: root, reader: reader)
        // Keys that this program reserved, but no caller received, do not count.
        if let block = blocks[root], block.limit - 1 == last { return block.next - 1 }
        return last
    }

    func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        let entity = try model.requireEntity(entity)
        if let id, try model.requireEntity(id.entity).root != entity.root {
            throw StoreError(
                .invalidRequest,
                "Records of '\(entity.name)' cannot continue after \(id), which is of another hierarchy."
            )
        }
        return try EntityRecordCursor(self, entity: entity, after: id?.key ?? 0)
    }

    func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        for id in ids { _ = try entity(id.entity) }
        return SelectedRecordCursor(self, ids: ids)
    }

    func record(with id: ObjectID, into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try batch.requireModel(model)
        batch.removeAll()
        try requireOpen()
        let entity = try entity(id.entity)
        let verifier = verifier(root: entity.root)
        try ShortKey(record: id.key, root: entity.root).withBytes { (key) throws(StoreError) in
            try reader.withValue(of: key, in: .records) { (value) throws(StoreError) in
                guard let value else { return }
                let record = try verifier.record(value, key: id.key)
                if record.entityNumber == entity.number || entity.includes(record.entityNumber) { batch.append(record) }
            }
        }
        return !batch.isEmpty
    }

    func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        let (owner, isFlipped) = try model.requireLinkRelationship(relationship)
        let number = try model.requireRelationship(relationship).number
        let after = link.map { model.relationships[owner].normalized($0, isFlipped: isFlipped) }
        let stream = try LinkStream(
            self, space: isFlipped ? .inverseLinks : .links, prefix: StorageKey(number: owner), after: after)
        return KeyValueLinkCursor(self, relationship: number, streams: [stream])
    }

    func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        let relationship = try model.requireRelationship(relationship)
        let spaces = try linkSpaces(of: relationship)
        var streams: [LinkStream] = []
        if try exists(id, relationship: relationship) {
            for (index, (space, number)) in spaces.enumerated() {
                let stream = try LinkStream(
                    self, space: space, prefix: StorageKey(record: id.key, root: number), skipsSelf: index > 0)
                streams.append(stream)
            }
        }
        return KeyValueLinkCursor(self, relationship: relationship.number, streams: streams)
    }

    func groupedLinks(
        of relationship: ManagedObjectModel.Relationship, from ids: [ObjectID]
    ) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        return GroupedLinkCursor(self, relationship: relationship, spaces: try linkSpaces(of: relationship), ids: ids)
    }

    /// Returns the spaces with a relationship's links, and the number at the start of the keys.
    ///
    /// A relationship that is its own inverse has two spaces, because each pair is stored only
    /// once.
    private func linkSpaces(
        of relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> [(space: KeySpace, number: Int)] {
        switch relationship.storage {
        case .field:
            throw StoreError(
                .invalidRequest, "Relationship '\(relationship.name)' is to-one; its destination is in the record.")
        case .derived(let inverse): return [(.references, inverse)]
        case .links(let owner, let isFlipped):
            let own: (space: KeySpace, number: Int) = (isFlipped ? .inverseLinks : .links, owner)
            return relationship.isReflexive ? [own, (.inverseLinks, owner)] : [own]
        }
    }

    /// Returns whether an object with this ID exists and can have the relationship.
    func exists(_ id: ObjectID, relationship: ManagedObjectModel.Relationship) throws(StoreError) -> Bool {
        let entity = try entity(id.entity)
        guard let number = try reader.entityNumber(of: id.key, root: entity.root, model: model) else { return false }
        return entity.includes(number) && model.entities[relationship.source].includes(number)
    }
}
