public import RoostCore

/// An object of the source of a migration.
///
/// The object retains its batch of records, and decodes values when they are read. Commits to the
/// source after the start of the migration are not visible.
///
/// In a policy's ``EntityMigrationPolicy/createDestinationInstances(for:by:in:)``:
///
/// ```swift
/// let track = try session.createStandardInstance(for: source)
/// if let minutes = source.double("minutes") { track?["seconds"] = .double(minutes * 60) }
/// if let album = try source.object("album") { track?["albumTitle"] = album["title"] }
/// ```
public struct SourceObject: ObjectValues {
    let batch: SourceBatch
    let index: Int

    /// The object's identity in the source.
    public var id: ObjectID { batch.records.id(at: index) }
    var key: Int64 { batch.records.key(at: index) }
    var entityNumber: Int { batch.records.entityNumber(at: index) }

    /// The value of an attribute, or the ID of the destination of a to-one relationship.
    public subscript(name: String) -> Value {
        batch.records.withRecord(at: index) { record in
            do throws(StoreError) { return try record.value(name) } catch {
                batch.source.failures.note(error)
                return .null
            }
        }
    }

    /// Returns the values of the properties that are not null, by name.
    ///
    /// Each composite is one value.
    public func values() -> [String: Value] { batch.records.values(at: index) }

    /// Returns the destination of a to-one relationship, or nil.
    ///
    /// Costs one lookup in the source.
    ///
    /// - Throws: `unknownProperty`, and errors from reading the source.
    public func object(_ relationship: String) throws(StoreError) -> SourceObject? {
        try batch.source.destinations(of: relationship, from: self).first
    }

    /// Returns the destinations of a relationship, in order of position for an ordered
    /// relationship, otherwise in order of key.
    ///
    /// - Throws: `unknownProperty`, and errors from reading the source.
    public func objects(_ relationship: String) throws(StoreError) -> [SourceObject] {
        try batch.source.destinations(of: relationship, from: self)
    }
}

/// Records of the source, retained while an object refers to one of them.
final class SourceBatch {
    let source: MigrationSource
    private(set) var records: RecordBatch

    init(_ source: MigrationSource, records: RecordBatch) {
        self.source = source
        self.records = records
    }

    /// Removes and returns the batch's records, so that their memory can be reused.
    ///
    /// No source object may still refer to one of them.
    func takeRecords() -> RecordBatch {
        var taken = RecordBatch(model: records.model)
        swap(&taken, &records)
        return taken
    }
}

/// The first error of a policy's callback that could not be thrown where it occurred.
final class PolicyFailures {
    private(set) var first: StoreError?

    func note(_ error: StoreError) { if first == nil { first = error } }

    func check() throws(StoreError) {
        guard let error = first else { return }
        throw error
    }
}

/// The source of a migration, as it was when the migration started.
///
/// Use it on one thread only.
final class MigrationSource {
    let snapshot: any StoreSnapshot
    let failures: PolicyFailures
    let model: ManagedObjectModel
    private lazy var graph = snapshot.objectGraph()
    private var counts: [Int: Int] = [:]
    private var pairs: [Int: OneSidedPairs?] = [:]
    private let options: ConversionOptions
    private let directories: [String]
    /// The tally of the content that was read in full.
    var found: FoundContent

    init(
        _ snapshot: any StoreSnapshot, failures: PolicyFailures, options: ConversionOptions, directories: [String]
    ) {
        self.options = options
        self.directories = directories
        self.snapshot = snapshot
        self.failures = failures
        model = snapshot.model
        found = FoundContent(snapshot.model)
    }

    var objectGraph: any ObjectGraph { graph }

    func note(count: Int, of entity: ManagedObjectModel.Entity) { counts[entity.number] = count }

    /// Returns the number of objects of an entity, excluding subentities.
    func count(of entity: ManagedObjectModel.Entity) throws(StoreError) -> Int {
        if let known = counts[entity.number] { return known }
        let count: Int
        if let tally = try snapshot.recordedTally() {
            count = tally.entities[entity.number].count
        } else {
            count = try snapshot.count(FetchRequest(entity.name).with { $0.includesSubentities = false })
        }
        counts[entity.number] = count
        return count
    }

    func objects(_ request: FetchRequest) throws(StoreError) -> [SourceObject] {
        let cursor = try snapshot.fetch(request)
        return try objects(cursor)
    }

    /// Returns the existing objects with the given IDs, in the order of the IDs.
    func objects(with ids: [ObjectID]) throws(StoreError) -> [SourceObject] {
        guard !ids.isEmpty else { return [] }
        return try objects(try snapshot.records(with: ids))
    }

    private func objects(_ cursor: any RecordCursor) throws(StoreError) -> [SourceObject] {
        var objects: [SourceObject] = []
        while true {
            var records = RecordBatch(model: model)
            guard try cursor.next(into: &records) else { return objects }
            let batch = SourceBatch(self, records: records)
            for index in 0..<records.count { objects.append(SourceObject(batch: batch, index: index)) }
        }
    }

    /// Returns the IDs of a relationship's destinations, in order of position if ordered, otherwise
    /// of key.
    ///
    /// For a to-many relationship, each ID names the relationship's destination entity, even if the
    /// object belongs to a subentity.
    func destinationIDs(of name: String, from object: SourceObject) throws(StoreError) -> [ObjectID] {
        let entity = model.entities[object.entityNumber]
        let relationship = try model.requireRelationship(RelationshipName(entity.name, name: name))
        guard relationship.isToMany else {
            let field = try entity.layout.requireField(name)
            let own = object.batch.records.withRecord(at: object.index) { $0.isNull(field) }
            if own, let partner = try pairs(of: relationship)?.partner(object.entityNumber, key: object.key) {
                return [ObjectID(model.entities[partner.entity].name, key: partner.key)]
            }
            return object.batch.records.withRecord(at: object.index) { record in
                guard let (number, key) = record.reference(field), model.entities.indices.contains(number) else {
                    return []
                }
                return [ObjectID(model.entities[number].name, key: key)]
            }
        }
        var keys: [Int64] = []
        try graph.appendDestinations(of: relationship, from: object.key, to: &keys)
        let destination = model.entities[relationship.destination].name
        return keys.map { ObjectID(destination, key: $0) }
    }

    /// Returns the pairs of a one-to-one relationship that only its inverse stores, or nil.
    private func pairs(of relationship: ManagedObjectModel.Relationship) throws(StoreError) -> OneSidedPairs? {
        if let known = pairs[relationship.number] { return known }
        let found = try OneSidedPairs.found(
            relationship, snapshot: snapshot, options: options, directories: directories)
        pairs[relationship.number] = .some(found)
        return found
    }

    func destinations(of name: String, from object: SourceObject) throws(StoreError) -> [SourceObject] {
        try objects(with: try destinationIDs(of: name, from: object))
    }
}
