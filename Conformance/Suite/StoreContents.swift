package import RoostCore
internal import RoostMigration

/// An object that was read from a store.
package struct StoredObject: Hashable, Sendable {
    package var id: ObjectID
    /// The number of times that the object was written.
    package var version: UInt32
    /// The record, whose bytes are equal for equal values and versions.
    package var record: Record

    init(_ record: Record) {
        id = record.id
        version = record.version
        self.record = record
    }

    /// The non-null values, by property.
    package var values: [String: Value] { record.values() }
}

/// The whole content of a store, read through the contract.
package struct StoreContents: Sendable {
    /// The objects of each hierarchy by the number of its root, in the order of the store.
    package var objects: [Int: [StoredObject]] = [:]
    /// The links by the number of the relationship that owns them, in the order of the store.
    package var links: [Int: [Link]] = [:]
    package var userMetadata: [String: MetadataValue] = [:]

    package init() {}

    /// Reads the objects and links of a snapshot, but not the metadata.
    package init(of snapshot: any StoreSnapshot) throws(StoreError) {
        let model = snapshot.model
        for root in model.roots { objects[root] = try snapshot.objects(of: model.entities[root].name) }
        for relationship in model.linkRelationships {
            links[relationship.number] = try snapshot.allLinks(of: relationship.name)
        }
    }

    /// Returns the first difference in one line, or nil if the contents and their order are equal.
    package func difference(from expected: StoreContents, comparingVersions: Bool = true) -> String? {
        for root in Set(objects.keys).union(expected.objects.keys).sorted() {
            let (mine, theirs) = (objects[root] ?? [], expected.objects[root] ?? [])
            for (a, b) in zip(mine, theirs) {
                if a.id != b.id { return "\(a.id) where \(b.id) was expected" }
                if comparingVersions, a.version != b.version {
                    return "\(a.id) has version \(a.version), not \(b.version)"
                }
                if let difference = valueDifference(a, b) { return difference }
            }
            if mine.count != theirs.count {
                let extra = mine.count > theirs.count ? mine[theirs.count].id : theirs[mine.count].id
                return
                    "\(mine.count) objects where \(theirs.count) were expected; \(extra) is the first one too many or missing"
            }
        }
        for relationship in Set(links.keys).union(expected.links.keys).sorted() {
            let (mine, theirs) = (links[relationship] ?? [], expected.links[relationship] ?? [])
            for (a, b) in zip(mine, theirs) where a != b {
                return "relationship \(relationship): \(a) where \(b) was expected"
            }
            if mine.count != theirs.count {
                return "relationship \(relationship): \(mine.count) links where \(theirs.count) were expected"
            }
        }
        if userMetadata != expected.userMetadata {
            return "metadata \(userMetadata) where \(expected.userMetadata) were expected"
        }
        return nil
    }

    private func valueDifference(_ a: StoredObject, _ b: StoredObject) -> String? {
        let (mine, theirs) = (a.values, b.values)
        for name in Set(mine.keys).union(theirs.keys).sorted() where mine[name] ?? .null != theirs[name] ?? .null {
            return "\(a.id).\(name) is \(mine[name] ?? .null), not \(theirs[name] ?? .null)"
        }
        // Some differences, such as signaling NaNs of floats, show only in the bytes. The first 12 bytes are left out:
        // the version and the checksum.
        if a.record.bytes.dropFirst(12) != b.record.bytes.dropFirst(12) {
            return "\(a.id) has other bytes than expected"
        }
        return nil
    }
}

extension StoreSnapshot {
    /// Returns the objects of an entity and its subentities after `id`, in the store's order.
    package func objects(of entity: EntityName, after id: ObjectID? = nil) throws(StoreError) -> [StoredObject] {
        try drain(records(of: entity, after: id))
    }

    /// Returns the existing objects with these IDs.
    package func objects(with ids: [ObjectID]) throws(StoreError) -> [StoredObject] { try drain(records(with: ids)) }

    package func objects(_ request: FetchRequest) throws(StoreError) -> [StoredObject] { try drain(fetch(request)) }

    package func keys(_ request: FetchRequest) throws(StoreError) -> [Int64] { try objects(request).map(\.id.key) }

    package func allLinks(of relationship: RelationshipName, after link: Link? = nil) throws(StoreError) -> [Link] {
        try drain(links(of: relationship, after: link))
    }

    /// Returns the keys of the destinations of an object's relationship.
    package func targets(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> [Int64] {
        try drain(links(of: relationship, from: id)).map(\.target)
    }

    package func object(_ id: ObjectID) throws(StoreError) -> StoredObject? {
        var batch = RecordBatch(model: model)
        return try record(with: id, into: &batch) ? StoredObject(batch.record(at: 0)) : nil
    }

    func drain(_ cursor: any RecordCursor) throws(StoreError) -> [StoredObject] {
        var objects: [StoredObject] = []
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { objects.append(StoredObject(batch.record(at: index))) }
        }
        return objects
    }

    func drain(_ cursor: any LinkCursor) throws(StoreError) -> [Link] {
        var links: [Link] = []
        var batch = LinkBatch(relationship: 0)
        while try cursor.next(into: &batch) { links += batch.links }
        return links
    }
}

extension PersistentStore {
    /// Runs `body` with a snapshot that is closed afterwards.
    func view<Result>(_ body: (any StoreSnapshot) throws -> Result) throws -> Result {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try body(snapshot)
    }

    @discardableResult
    func change(_ body: (inout ChangeSet) throws -> Void) throws -> CommitReceipt {
        var changes = ChangeSet(model: model)
        try body(&changes)
        return try commit(changes)
    }

    /// Returns the current content of the store, user metadata included.
    package func contents() throws -> StoreContents {
        var contents = try view { try StoreContents(of: $0) }
        contents.userMetadata = try metadata().userMetadata
        return contents
    }

    func recordedTally() throws -> StoreTally {
        try view { try require(try $0.recordedTally(), "a recorded tally, which capability 'digest' promises") }
    }
}
