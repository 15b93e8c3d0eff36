public import RoostCore

/// A snapshot that implements every query by reading its records in sequence.
///
/// Use it for stores without indexes, such as small stores and files in foreign formats. A
/// conforming type implements ``StoreSnapshot/records(of:after:)``. If the model has to-many
/// relationships without a to-one inverse, the type must also implement
/// ``StoreSnapshot/links(of:after:)``.
///
/// The default lookups and fetches read a whole hierarchy, or all links of a relationship.
/// Implement such a method yourself if your store has a faster way.
public protocol ScanningSnapshot: CheckedFetchingSnapshot, ExplainingSnapshot {
    /// Throws `closed` if the snapshot or the store is closed.
    func requireOpen() throws(StoreError)
}

extension ScanningSnapshot {
    /// Returns nil, because no tally is recorded.
    public func recordedTally() throws(StoreError) -> StoreTally? {
        try requireOpen()
        return nil
    }

    /// Returns an empty dictionary.
    public func userMetadata() throws(StoreError) -> [String: MetadataValue] {
        try requireOpen()
        return [:]
    }

    /// Returns the highest key of the entity's hierarchy; 0 without objects.
    ///
    /// - Complexity: O(*n*), where *n* is the number of records of the hierarchy.
    public func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
        try requireOpen()
        let root = try model.requireEntity(entity).root
        var last: Int64 = 0
        try scan(model.entities[root].name) { (record) throws(StoreError) in
            last = max(last, record.key)
        } onDamage: { (id, _) throws(StoreError) in
            last = max(last, id.key)
        }
        return last
    }

    /// Reads the records with the given IDs, in the order of the IDs.
    ///
    /// - Complexity: O(*n*), where *n* is the number of records in the hierarchies of the IDs'
    ///   entities. The found records are kept in memory.
    public func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        return try LookupCursor(self, ids: ids)
    }

    /// Returns no links.
    ///
    /// - Throws: `closed`, `unknownEntity`, `unknownProperty`; `invalidRequest` for a relationship
    ///   that does not store links.
    public func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        _ = try model.requireLinkRelationship(relationship)
        return ListedLinks(self, relationship: try model.requireRelationship(relationship).number, links: [])
    }

    /// Reads the links of an object, sorted by destination key.
    ///
    /// The links of an ordered relationship are sorted by position, then by destination key.
    ///
    /// If the relationship has a to-one inverse, any damaged record of the destination's hierarchy
    /// causes an error, because that record may be a destination.
    ///
    /// - Complexity: O(*n* + *m*), where *n* is the number of records of the object's hierarchy.
    ///   With a to-one inverse, *m* is the number of records of the destination entity; otherwise,
    ///   *m* is the number of links of the relationship. The object's links are kept in memory.
    public func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
        try requireOpen()
        let relationship = try model.requireRelationship(relationship)
        guard relationship.isToMany else {
            throw StoreError(
                .invalidRequest, "Relationship '\(relationship.name)' is to-one; its destination is in the record.")
        }
        let entity = try model.requireEntity(id.entity)
        var links: [Link] = []
        var found = RecordBatch(model: model)
        if try record(with: id, into: &found), entity.includes(found.entityNumber(at: 0)),
            model.entities[relationship.source].includes(found.entityNumber(at: 0))
        {
            switch relationship.storage {
            case .field: break
            case .derived(let inverse):
                links = try references(by: model.relationships[inverse], to: id.key, relationship: relationship)
            case .links: links = try stored(relationship, from: id.key)
            }
        }
        links.sort { ($0.order, $0.target) < ($1.order, $1.target) }
        return ListedLinks(self, relationship: relationship.number, links: links)
    }

    /// Fetches by reading the entity's records in sequence.
    public func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        ScanningFetch(request, visiting: try source(of: request), graph: objectGraph())
    }

    /// Counts the records that ``fetch(_:)`` returns, by reading the entity's records.
    public func count(_ request: CheckedFetchRequest) throws(StoreError) -> Int {
        try ScanningFetch.count(request, visiting: try source(of: request), graph: objectGraph())
    }

    private func source(of request: CheckedFetchRequest) throws(StoreError) -> any RecordVisitor {
        try request.requireModel(model)
        return CursorVisitor(try records(of: request.request.entity, after: nil), model: model)
    }

    /// Returns the plan of a scan.
    ///
    /// If `executing` is true, executes the scan and adds the number of records read to the plan.
    public func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try requireOpen()
        var plan = FetchPlan.scan(request)
        if executing {
            let visits = VisitCount()
            let source = CountingVisitor(try source(of: request), visits: visits)
            try ScanningFetch(request, visiting: source, graph: objectGraph()).exhaust(model: model)
            plan.visitedCount = visits.count
        }
        return plan
    }

    // MARK: Reading everything

    /// Calls `body` with every intact record of an entity and its subentities, and `onDamage` for
    /// every damaged record.
    fileprivate func scan(
        _ entity: EntityName, body: (RecordReader) throws(StoreError) -> Void,
        onDamage: (ObjectID, StoreError) throws(StoreError) -> Void
    ) throws(StoreError) {
        let cursor = try records(of: entity, after: nil)
        var batch = RecordBatch(model: model)
        var isMore = true
        while isMore {
            do throws(StoreError) {
                isMore = try cursor.next(into: &batch)
            } catch {
                // After a damaged record, the cursor continues with the next record.
                guard let damaged = error.damagedObject else { throw error }
                try onDamage(damaged, error)
                batch.removeAll()
            }
            try batch.forEachRecord(body)
        }
    }

    /// Returns links to the objects whose to-one relationship `inverse` refers to the object `key`.
    private func references(
        by inverse: ManagedObjectModel.Relationship, to key: Int64, relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> [Link] {
        let orderName = RecordLayout.orderFieldName(of: inverse.name.name)
        var links: [Link] = []
        try scan(inverse.name.entity) { (record) throws(StoreError) in
            guard let field = record.layout.field(inverse.name.name), record.reference(field)?.key == key else {
                return
            }
            var order: Int64 = 0
            if relationship.isOrdered, let place = record.layout.field(orderName) { order = record.integer(place) }
            links.append(Link(key, record.key, order: order))
        } onDamage: { (_, error) throws(StoreError) in
            // The damaged record may refer to the object, so the links would be incomplete.
            throw error.withoutDamagedObject
        }
        return links
    }

    private func stored(_ relationship: ManagedObjectModel.Relationship, from key: Int64) throws(StoreError) -> [Link] {
        let cursor = try links(of: relationship.name, after: nil)
        var batch = LinkBatch(relationship: relationship.number)
        var links: [Link] = []
        while try cursor.next(into: &batch) {
            links += batch.links.filter { $0.source == key }
            // A relationship that is its own inverse stores each pair once.
            guard relationship.isReflexive else { continue }
            links += batch.links.filter { $0.target == key && $0.source != key }.map(\.flipped)
        }
        return links
    }
}

private final class ListedLinks: FillingLinkCursor {
    private let snapshot: any ScanningSnapshot
    private var links: ArraySlice<Link>

    init(_ snapshot: any ScanningSnapshot, relationship: Int, links: [Link]) {
        self.snapshot = snapshot
        self.links = links[...]
        super.init(relationship: relationship)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.links += links.prefix(LinkBatch.capacityCount)
        links = links.dropFirst(LinkBatch.capacityCount)
        return !links.isEmpty
    }
}

/// A cursor that finds all its records in one pass over each hierarchy.
private final class LookupCursor: FillingRecordCursor {
    private struct Place: Hashable {
        let root: Int
        let key: Int64
    }

    private let snapshot: any ScanningSnapshot
    private let wanted: [(entity: ManagedObjectModel.Entity, key: Int64)]
    private var found: RecordBatch
    private var positions: [Place: Int] = [:]
    private var damaged: [Place: StoreError] = [:]
    private var index = 0

    init(_ snapshot: any ScanningSnapshot, ids: [ObjectID]) throws(StoreError) {
        let model = snapshot.model
        var wanted: [(entity: ManagedObjectModel.Entity, key: Int64)] = []
        for id in ids { wanted.append((try model.requireEntity(id.entity), id.key)) }
        self.snapshot = snapshot
        self.wanted = wanted
        found = RecordBatch(model: model)
        super.init(model: model)
        let places = Set(wanted.map { Place(root: $0.entity.root, key: $0.key) })
        for root in Set(places.map(\.root)) {
            try snapshot.scan(model.entities[root].name) { (record) throws(StoreError) in
                let place = Place(root: root, key: record.key)
                guard places.contains(place) else { return }
                positions[place] = found.count
                found.append(record)
            } onDamage: { (id, error) throws(StoreError) in
                damaged[Place(root: root, key: id.key)] = error
            }
        }
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        while index < wanted.count, !batch.isFull {
            let (entity, key) = wanted[index]
            let place = Place(root: entity.root, key: key)
            index += 1
            if let error = damaged[place] { throw error }
            guard let position = positions[place], entity.includes(found.entityNumber(at: position)) else { continue }
            batch.append(found, at: position)
        }
        return index < wanted.count
    }
}
