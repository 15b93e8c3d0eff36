internal import RoostCore
internal import RoostFiles

/// The destination of a three-pass migration, as written content and content in memory.
///
/// At first, objects go to a bulk loader on its own thread. The first read of written content
/// finishes the load; all later content is committed. Use an instance on one thread only.
///
/// | part | job |
/// |---|---|
/// | ``output`` | the store: a load, then commits and snapshots |
/// | ``objects``, ``links`` | the content in memory |
/// | ``places`` | the next positions in ordered relationships |
/// | ``written`` | tally, and entities that may lack mandatory values |
/// | ``policies`` | the relationships that policies set |
final class DestinationContent {
    typealias End = FreePlaces.End

    let model: ManagedObjectModel
    let failures: PolicyFailures
    private let blueprints: [EntityBlueprint?]
    let output: DestinationOutput
    let objects: BufferedObjects
    private(set) var links = BufferedLinks()
    var places = FreePlaces()
    private var newKeys: NewKeys
    private(set) var written: WrittenContent
    var policies: PolicySettings
    /// The builder to notify when a policy reads or sets a relationship of an object.
    var relationshipBuilder: RelationshipBuilder?

    /// Creates the content of an empty store whose bulk load, `load`, has already begun.
    ///
    /// `lastKeys` contains the highest source key that can be reused, by root entity. `failures`
    /// receives errors that cannot be thrown.
    init(
        _ store: any PersistentStore, load: DestinationLoad, lastKeys: [Int: Int64], failures: PolicyFailures,
        directories: [String]
    ) throws(StoreError) {
        self.failures = failures
        model = store.model
        var blueprints: [EntityBlueprint?] = []
        for entity in store.model.entities {
            blueprints.append(entity.isAbstract ? nil : try EntityBlueprint(entity, model: store.model))
        }
        self.blueprints = blueprints
        output = DestinationOutput(store, load: load)
        objects = BufferedObjects(model: store.model)
        newKeys = NewKeys(after: lastKeys)
        written = WrittenContent(model: store.model)
        policies = PolicySettings(model: store.model, directories: directories)
    }

    // MARK: Creating objects

    /// Adds a new object, for which `body` appends the record.
    func append(
        entity: Int, key: Int64, _ body: (inout RecordBatch) throws(StoreError) -> Void
    ) throws(StoreError) -> DestinationObject {
        try output.requireUnfinished()
        let slot = try objects.add(entity: entity, key: key, body)
        // The new record may contain a position in an ordered relationship.
        places.forget()
        return object(entity, key: key, slot: slot)
    }

    func insert(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> DestinationObject {
        try output.requireUnfinished()
        guard let blueprint = blueprints[entity.number] else {
            throw StoreError(
                .invalidRequest,
                "Entity '\(entity.name)' is abstract and has no objects of its own; insert one of a subentity.")
        }
        // Limits the memory of a callback that creates many objects.
        if objects.isOverfull { try write() }
        let key = try newKey(root: entity.root)
        let slot = try objects.add(entity: entity.number, key: key) { (batch) throws(StoreError) in
            try blueprint.append(key: key, to: &batch)
        }
        return object(entity.number, key: key, slot: slot)
    }

    func object(_ entity: Int, key: Int64, slot: Int) -> DestinationObject {
        DestinationObject(
            content: self, entityNumber: entity, key: key, slot: slot, generation: objects.generation)
    }

    /// Returns a hierarchy's next key, which no object has or can get from its source object.
    func newKey(root: Int) throws(StoreError) -> Int64 { try newKeys.take(root: root, model: model) }

    // MARK: Values

    /// Returns the position of an object in memory, after reading the object if necessary.
    private func position(of object: DestinationObject) throws(StoreError) -> Int {
        if object.generation == objects.generation { return object.slot }
        if let known = knownPosition(of: object) { return known }
        try open()
        // Limits the memory of a callback that reads many objects.
        if objects.isOverfull { try write() }
        let snapshot = try output.snapshot()
        let id = object.id
        var found = RecordBatch(model: model)
        let cursor = try snapshot.records(with: [id])
        guard try cursor.next(into: &found), found.entityNumber(at: 0) == object.entityNumber else {
            throw StoreError(.objectNotFound, "The object \(id) does not exist in the destination.")
        }
        return objects.keep(found, at: 0)
    }

    func knownPosition(of object: DestinationObject) -> Int? {
        objects.position(entity: object.entityNumber, key: object.key)
    }

    /// Reads objects that are not yet in memory, all together.
    func prefetch(_ wanted: [AssociationTable.Object]) throws(StoreError) {
        try open()
        let missing = wanted.filter { objects.position(entity: $0.entity, key: $0.key) == nil }
        guard !missing.isEmpty else { return }
        var found = RecordBatch(model: model)
        let cursor = try output.snapshot()
            .records(with: missing.map { ObjectID(model.entities[$0.entity].name, key: $0.key) })
        while try cursor.next(into: &found) {
            for index in 0..<found.count { _ = objects.keep(found, at: index) }
        }
    }

    func value(_ name: String, of object: DestinationObject) throws(StoreError) -> Value {
        let field = try model.entities[object.entityNumber].layout.requireField(name)
        return try objects.value(field, at: try position(of: object))
    }

    /// Sets an attribute, or a to-one relationship by the ID of its destination.
    func set(_ value: Value, name: String, of object: DestinationObject) throws(StoreError) {
        try output.requireUnfinished()
        guard let blueprint = blueprints[object.entityNumber] else { return }
        switch try blueprint.property(name) {
        case .toOne(_, let relationship):
            switch value {
            case .null: try setDestinations([], of: relationship.name.name, from: object, isToMany: false)
            case .objectID(let target):
                let number = try model.requireEntity(target.entity).number
                policies.noteGivenByID(relationship)
                try setDestinations(
                    [DestinationObject(content: self, entityNumber: number, key: target.key)],
                    of: relationship.name.name, from: object, isToMany: false)
            default:
                throw StoreError(
                    .invalidValue,
                    "Relationship '\(relationship.name)' of \(object.id) cannot hold \(value.kindDescription); set it to an object."
                )
            }
        case let property:
            let position = try position(of: object)
            try blueprint.properties.forEachField(of: value, for: property, owner: { "\(object.id)" }) {
                (field, stored) throws(StoreError) in
                try blueprint.requireRange(of: stored, field: field)
                objects.change(field, to: stored, at: position)
            }
        }
    }

    // MARK: Fields of relationships

    func reference(_ field: RecordLayout.Field, of object: DestinationObject) throws(StoreError) -> DestinationObject? {
        guard case .objectID(let id) = try objects.value(field, at: try position(of: object)),
            let number = model.entity(id.entity)?.number
        else { return nil }
        return DestinationObject(content: self, entityNumber: number, key: id.key)
    }

    /// Sets a field, without checking its value.
    func set(_ field: RecordLayout.Field, of object: DestinationObject, to value: Value) throws(StoreError) {
        objects.change(field, to: value, at: try position(of: object))
    }

    /// Returns whether an object is only in memory, and therefore has no links in the store.
    func isOnlyInMemory(_ object: DestinationObject) -> Bool {
        if object.generation == objects.generation { return objects.pending[object.slot].isNew }
        return knownPosition(of: object).map { objects.pending[$0].isNew } ?? false
    }

    /// Sets a relationship to objects that a policy identified by their IDs.
    ///
    /// The validation at the end checks that the objects exist.
    func setGiven(
        _ relationship: ManagedObjectModel.Relationship, of object: DestinationObject,
        to destinations: [DestinationObject]
    ) throws(StoreError) {
        policies.noteGivenByID(relationship)
        policies.isSetting = true
        defer { policies.isSetting = false }
        try set(relationship, of: object, to: destinations)
    }

    // MARK: Links

    func add(_ link: Link, to owner: ManagedObjectModel.Relationship) {
        let link = owner.normalized(link)
        links.add(link, to: owner.number)
        written.add(link, of: owner.number)
    }

    /// Removes a stored link.
    func remove(_ link: Link, from owner: ManagedObjectModel.Relationship) {
        let link = owner.normalized(link)
        links.remove(link, from: owner.number)
        written.remove(link, of: owner.number)
    }

    func spareLinks(_ relationship: Int) -> LinkBatch {
        output.load?.spareLinks(relationship) ?? LinkBatch(relationship: relationship)
    }

    func write(_ batch: LinkBatch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        written.add(batch)
        places.forget()
        if let load = output.load { return try load.send(.links(batch)) }
        try output.requireUnfinished()
        // A commit requires the objects at both ends of each link to exist.
        try write()
        var changes = ChangeSet(model: model)
        changes.addedLinks = [batch]
        try output.commit(changes)
    }

    // MARK: Writing

    func writeIfFull() throws(StoreError) {
        if objects.isFull || links.isFull { try write() }
    }

    /// Writes the content in memory, and removes it from memory.
    func write() throws(StoreError) {
        guard !objects.isEmpty || !links.isEmpty else { return }
        if let load = output.load {
            try send(to: load)
        } else {
            try output.requireUnfinished()
            try commit()
        }
        objects.removeAll()
        links.removeAll()
        places.noteWritten()
    }

    private func send(to load: DestinationLoad) throws(StoreError) {
        var batch = load.spareRecords(model)
        try objects.move(into: &batch)
        written.add(batch, blueprints: blueprints)
        if !batch.isEmpty { try load.send(.records(batch)) }
        for batch in links.added { try load.send(.links(batch)) }
    }

    private func commit() throws(StoreError) {
        var changes = ChangeSet(model: model)
        for (index, object) in objects.pending.enumerated() {
            if object.isNew {
                try objects.append(index, to: &changes.inserts)
                // A commit cannot keep the source's versions; inserted objects get version 1.
                changes.inserts.setVersionOfLast(1)
            } else if !object.changes.isEmpty {
                try objects.append(index, to: &changes.updates)
                objects.records.withRecord(at: index) { written.remove($0) }
            }
        }
        written.add(changes.inserts, blueprints: blueprints)
        written.add(changes.updates, blueprints: blueprints)
        changes.addedLinks = links.added
        changes.removedLinks = links.removed
        guard !changes.isEmpty else { return }
        try output.commit(changes)
    }

    // MARK: Reading written content

    /// Finishes the load, so that written content can be read.
    func open() throws(StoreError) {
        guard output.load != nil else { return try output.requireUnfinished() }
        try write()
        try output.finishLoad()
    }

    // MARK: Finishing

    func finish() throws(StoreError) {
        try open()
        try write()
        output.close()
    }

    func missing(in record: RecordReader) -> [RecordLayout.Field] {
        blueprints[record.entityNumber]?.missing(in: record) ?? []
    }
}
