internal import RoostCore
internal import RoostFiles

/// The destination of a migration in three passes: what was written, and what is still in memory.
///
/// At first objects go to a bulk loader, on a thread of its own. As soon as somebody looks at what was written the load is finished;
/// from then on everything is committed, which costs little as long as nobody knows the store. What is in memory is written when there
/// is a batch of it, or when somebody asks what only the store can answer. For one thread.
final class DestinationContent {
    /// An object in memory: a record of the batch, and what was set since.
    struct Pending {
        /// Whether it is not in the store yet.
        var isNew: Bool
        /// New values by field; no field is there twice.
        var changes: [(field: RecordLayout.Field, value: Value)] = []
        /// Where it is among ``settled`` with these values; nil where it is not.
        var settledPosition: Int?
    }

    /// A relationship as seen from one object.
    struct End: Hashable {
        var relationship: Int
        var key: Int64
    }

    private struct Place: Hashable {
        var root: Int
        var key: Int64
    }

    private enum Output {
        case loading(DestinationLoad)
        case open
        case closed
    }

    /// The bytes of values set after which objects are written, beside those of a batch.
    private static let changedByteLimit = 1 << 20
    /// The ends of ordered relationships whose next place is remembered beyond a writing.
    private static let placeLimit = 1 << 16

    let model: ManagedObjectModel
    let failures: PolicyFailures
    private let store: any PersistentStore
    private var output: Output
    private var openSnapshot: (any StoreSnapshot)?
    private(set) var records: RecordBatch
    private(set) var pending: [Pending] = []
    /// Objects in memory with the values that were set since, for requests that were answered without writing them.
    private(set) var settled: RecordBatch
    private var positions: [Place: Int]?
    /// By root: the positions of objects in memory that are not what the store has.
    private(set) var changedPositions: [Int: [Int]] = [:]
    private var changedByteCount = 0
    /// Counts the times that the objects in memory were written and let go of.
    private(set) var generation = 0
    private var addedLinks: [Int: LinkBatch] = [:]
    private var removedLinks: [Int: LinkBatch] = [:]
    private(set) var pendingLinkCount = 0
    /// The ends of relationships that were set since the last writing, with the next free place of each.
    var touched: [End: Int64] = [:]
    /// The next free places of some ends of ordered relationships, also of those that were written.
    private(set) var nextPlaces: [End: Int64] = [:]
    /// By root: the key of the next object that has none of the source.
    private var nextKeys: [Int: Int64]
    private let blueprints: [EntityBlueprint?]
    /// By entity: the root of its hierarchy.
    private let roots: [Int]
    /// What was written.
    private(set) var tally: StoreTally
    /// The entities of which a record was written without a value that is mandatory.
    private(set) var suspects: Set<Int> = []
    /// Whether something was written by a commit, which is not flushed to the disk in a store that nobody knows.
    private(set) var hasCommitted = false
    /// The relationships that a policy has set, by number, with their inverses.
    private(set) var setRelationships: Set<Int> = []
    /// By to-one relationship: the objects for which policies have set it, from either end.
    private let setFields: AssociationTable
    /// The to-one relationships that were set to IDs, which may name what is not there.
    private(set) var givenByID: Set<Int> = []
    /// Whether what is being set is what a policy asked for.
    var isSettingForPolicy = false
    /// What wants to know that a policy looks at, or sets, a relationship of an object.
    var relationshipMaker: RelationshipMaker?

    /// Makes the content of an empty store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - load: What is being loaded into it.
    ///   - lastKeys: By root of the destination: the highest key that an object can have which keeps its own.
    ///   - failures: Where mistakes go that cannot be thrown.
    ///   - directories: Where a file may be made for what does not fit into memory.
    /// - Throws: What asking the model for what is mandatory throws.
    init(
        _ store: any PersistentStore, _ load: DestinationLoad, lastKeys: [Int: Int64], failures: PolicyFailures,
        directories: [String]
    ) throws(StoreError) {
        self.store = store
        setFields = AssociationTable(
            mappingCount: store.model.relationships.count, from: store.model, to: store.model, memoryByteCount: 2 << 20,
            directories: directories)
        self.failures = failures
        model = store.model
        roots = store.model.entities.map(\.root)
        output = .loading(load)
        records = RecordBatch(model: store.model)
        settled = RecordBatch(model: store.model)
        nextKeys = lastKeys.mapValues { $0 == .max ? .max : $0 + 1 }
        var blueprints: [EntityBlueprint?] = []
        for entity in store.model.entities {
            blueprints.append(entity.isAbstract ? nil : try EntityBlueprint(entity, store.model))
        }
        self.blueprints = blueprints
        tally = StoreTally(model: store.model)
    }

    // MARK: Making objects

    /// Adds a record that `body` appends, of a new object.
    func append(
        entity: Int, key: Int64, _ body: (inout RecordBatch) throws(StoreError) -> Void
    ) throws(StoreError) -> DestinationObject {
        try requireUnfinished()
        try body(&records)
        // It may have a place in the field of a relationship.
        forgetPlaces()
        return addPending(entity, key)
    }

    /// Makes an object with the defaults of its entity and a key of its own.
    func insert(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> DestinationObject {
        try requireUnfinished()
        guard let blueprint = blueprints[entity.number] else {
            throw StoreError(
                .invalidRequest,
                "Entity '\(entity.name)' is abstract and has no objects of its own; insert one of a subentity.")
        }
        // A callback that makes many objects at once must not fill the memory.
        if records.byteCount + changedByteCount > 4 * RecordBatch.capacityBytes { try write() }
        let key = try newKey(root: entity.root)
        try blueprint.append(key: key, to: &records)
        return addPending(entity.number, key)
    }

    private func addPending(_ entity: Int, _ key: Int64) -> DestinationObject {
        pending.append(Pending(isNew: true))
        let root = roots[entity]
        positions?[Place(root: root, key: key)] = pending.count - 1
        changedPositions[root, default: []].append(pending.count - 1)
        return DestinationObject(
            content: self, entityNumber: entity, key: key, slot: pending.count - 1, generation: generation)
    }

    /// A key that no object of a hierarchy has, or will keep.
    func newKey(root: Int) throws(StoreError) -> Int64 {
        let key = nextKeys[root] ?? 1
        guard key < .max else {
            throw StoreError(
                .limitExceeded, "There are no more keys for new objects of '\(model.entities[root].name)'.")
        }
        nextKeys[root] = key + 1
        return key
    }

    private func requireUnfinished() throws(StoreError) {
        if case .closed = output {
            throw StoreError(
                .closed,
                "The objects of the destination were validated; make and change objects in an earlier callback.")
        }
    }

    // MARK: Values

    /// Where an object is in memory; it is read into it if it is not there.
    private func position(of object: DestinationObject) throws(StoreError) -> Int {
        if object.generation == generation { return object.slot }
        if let known = knownPosition(of: object) { return known }
        try open()
        // A callback that looks at many objects must not fill the memory.
        if records.byteCount + changedByteCount > 4 * RecordBatch.capacityBytes { try write() }
        let snapshot = try snapshot()
        let id = object.id
        var found = RecordBatch(model: model)
        let cursor = try snapshot.records(with: [id])
        guard try cursor.next(into: &found), found.entityNumber(at: 0) == object.entityNumber else {
            throw StoreError(.objectNotFound, "There is no object \(id) in the destination.")
        }
        return keep(found, at: 0)
    }

    /// Where an object is in memory; nil where it is not.
    func knownPosition(of object: DestinationObject) -> Int? {
        if positions == nil {
            var positions: [Place: Int] = [:]
            for index in pending.indices {
                positions[Place(root: roots[records.entityNumber(at: index)], key: records.key(at: index))] = index
            }
            self.positions = positions
        }
        return positions?[Place(root: roots[object.entityNumber], key: object.key)]
    }

    /// Keeps a copy of a record of the store.
    func keep(_ found: RecordBatch, at index: Int) -> Int {
        records.append(found, at: index)
        pending.append(Pending(isNew: false))
        let place = Place(root: roots[found.entityNumber(at: index)], key: found.key(at: index))
        positions?[place] = pending.count - 1
        return pending.count - 1
    }

    /// Reads objects into memory together, those that are there already left out.
    func prefetch(_ objects: [AssociationTable.Object]) throws(StoreError) {
        try open()
        let missing = objects.filter {
            knownPosition(of: DestinationObject(content: self, entityNumber: $0.entity, key: $0.key)) == nil
        }
        guard !missing.isEmpty else { return }
        var found = RecordBatch(model: model)
        let cursor = try snapshot().records(with: missing.map { ObjectID(model.entities[$0.entity].name, $0.key) })
        while try cursor.next(into: &found) {
            for index in 0..<found.count { _ = keep(found, at: index) }
        }
    }

    /// The value of a field, decoded.
    func value(_ name: String, of object: DestinationObject) throws(StoreError) -> Value {
        let field = try model.entities[object.entityNumber].layout.requireField(name)
        return try value(field, at: try position(of: object))
    }

    private func value(_ field: RecordLayout.Field, at position: Int) throws(StoreError) -> Value {
        let changes = pending[position].changes
        if changes.isEmpty || field.kind != .composite {
            if let change = changes.first(where: { $0.field.index == field.index }) { return change.value }
            return records.withRecord(at: position) { $0.value(field) }
        }
        // A composite is itself and its elements.
        var current = RecordBatch(model: model)
        try records.withRecord(at: position) { (record) throws(StoreError) in
            try current.append(record, replacing: changes)
        }
        return current.withRecord(at: 0) { $0.value(field) }
    }

    /// Sets an attribute, or a to-one relationship by the ID of its destination.
    func set(_ value: Value, _ name: String, of object: DestinationObject) throws(StoreError) {
        try requireUnfinished()
        guard let blueprint = blueprints[object.entityNumber] else { return }
        switch try blueprint.property(name) {
        case .toOne(_, let relationship):
            switch value {
            case .null: try setDestinations([], of: relationship.name.name, from: object, isToMany: false)
            case .objectID(let target):
                let number = try model.requireEntity(target.entity).number
                givenByID.insert(relationship.number)
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
            try blueprint.properties.forEachField(of: value, for: property, { "\(object.id)" }) {
                (field, stored) throws(StoreError) in
                try blueprint.requireRange(of: stored, field)
                change(field, to: stored, at: position)
            }
        }
    }

    /// Notes a new value of a field.
    func change(_ field: RecordLayout.Field, to value: Value, at position: Int) {
        changedByteCount += value.byteCount
        pending[position].settledPosition = nil
        if !pending[position].isNew, pending[position].changes.isEmpty {
            changedPositions[roots[records.entityNumber(at: position)], default: []].append(position)
        }
        if let known = pending[position].changes.firstIndex(where: { $0.field.index == field.index }) {
            pending[position].changes[known].value = value
        } else {
            pending[position].changes.append((field, value))
        }
    }

    // MARK: Fields of relationships

    /// The destination that a to-one field holds.
    func reference(_ field: RecordLayout.Field, of object: DestinationObject) throws(StoreError) -> DestinationObject? {
        guard case .objectID(let id) = try value(field, at: try position(of: object)),
            let number = model.entity(id.entity)?.number
        else { return nil }
        return DestinationObject(content: self, entityNumber: number, key: id.key)
    }

    /// Sets a field that is not an attribute.
    func set(_ field: RecordLayout.Field, of object: DestinationObject, to value: Value) throws(StoreError) {
        change(field, to: value, at: try position(of: object))
    }

    /// Whether an object is in memory only, so that nothing in the store leads to it, or from it.
    func isOnlyInMemory(_ object: DestinationObject) -> Bool {
        if object.generation == generation { return pending[object.slot].isNew }
        return knownPosition(of: object).map { pending[$0].isNew } ?? false
    }

    /// Notes that a policy sets a relationship.
    func note(set relationship: ManagedObjectModel.Relationship) {
        guard setRelationships.insert(relationship.number).inserted else { return }
        if let inverse = relationship.inverse { setRelationships.insert(inverse) }
    }

    /// Notes that a to-one relationship of an object is what a policy wants, if it is a policy's wish that is being done.
    func noteField(_ relationship: ManagedObjectModel.Relationship, of object: DestinationObject) throws(StoreError) {
        guard isSettingForPolicy else { return }
        let place = AssociationTable.Object(entity: object.entityNumber, key: object.key)
        guard try !isSetByPolicy(relationship, of: place) else { return }
        try setFields.associate(place, with: place, in: relationship.number)
    }

    /// Sets a relationship to the object with an ID that a policy gave; whether there is such an object shows in the end.
    func setGiven(
        _ relationship: ManagedObjectModel.Relationship, of object: DestinationObject,
        to destinations: [DestinationObject]
    ) throws(StoreError) {
        givenByID.insert(relationship.number)
        isSettingForPolicy = true
        defer { isSettingForPolicy = false }
        try set(relationship, of: object, to: destinations)
    }

    /// Whether a policy has set a to-one relationship of an object, from either end.
    func isSetByPolicy(
        _ relationship: ManagedObjectModel.Relationship, of place: AssociationTable.Object
    ) throws(StoreError) -> Bool {
        guard setFields.count(in: relationship.number) > 0 else { return false }
        var found: [AssociationTable.Object] = []
        try setFields.appendDestinations(of: place, in: relationship.number, to: &found)
        return !found.isEmpty
    }

    /// Notes the next free place of an end of a relationship that is being set.
    func noteNextPlace(_ place: Int64, at end: End) {
        touched[end] = place
        if nextPlaces.count >= Self.placeLimit { forgetPlaces() }
        nextPlaces[end] = place
    }

    private func forgetPlaces() {
        if !nextPlaces.isEmpty { nextPlaces.removeAll(keepingCapacity: true) }
    }

    // MARK: Links

    /// Adds a link of the relationship that owns it, which is not there.
    func add(_ link: Link, to owner: ManagedObjectModel.Relationship) {
        let link = owner.normalised(link)
        addedLinks[owner.number, default: LinkBatch(relationship: owner.number)].links.append(link)
        tally.relationships[owner.number].add(RecordHash.link(relationship: owner.number, link))
        pendingLinkCount += 1
    }

    /// Removes a link that is in the store.
    func remove(_ link: Link, from owner: ManagedObjectModel.Relationship) {
        let link = owner.normalised(link)
        removedLinks[owner.number, default: LinkBatch(relationship: owner.number)].links.append(link)
        tally.relationships[owner.number].remove(RecordHash.link(relationship: owner.number, link))
        pendingLinkCount += 1
    }

    /// A batch for links, one that came back if there is one.
    func spareLinks(_ relationship: Int) -> LinkBatch {
        if case .loading(let load) = output { return load.spareLinks(relationship) }
        return LinkBatch(relationship: relationship)
    }

    /// Writes links of a relationship that nobody has set before.
    func write(_ batch: LinkBatch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        tally.add(batch)
        forgetPlaces()
        switch output {
        case .loading(let load):
            try load.send(.links(batch))
        case .open:
            // A commit wants both ends to be there.
            try write()
            var changes = ChangeSet(model: model)
            changes.addedLinks = [batch]
            try commit(changes)
        case .closed: try requireUnfinished()
        }
    }

    // MARK: Writing

    /// Writes what is in memory if there is a batch of it.
    func writeIfFull() throws(StoreError) {
        if records.isFull || changedByteCount > Self.changedByteLimit || pendingLinkCount >= LinkBatch.capacityCount {
            try write()
        }
    }

    /// Writes what is in memory, and lets go of it.
    func write() throws(StoreError) {
        guard !pending.isEmpty || pendingLinkCount > 0 else { return }
        switch output {
        case .loading(let load): try send(to: load)
        case .open: try commitPending()
        case .closed: try requireUnfinished()
        }
        records.removeAll()
        settled.removeAll()
        changedPositions.removeAll(keepingCapacity: true)
        pending.removeAll(keepingCapacity: true)
        positions = nil
        changedByteCount = 0
        addedLinks = [:]
        removedLinks = [:]
        pendingLinkCount = 0
        touched.removeAll(keepingCapacity: true)
        generation += 1
    }

    private func send(to load: DestinationLoad) throws(StoreError) {
        var batch: RecordBatch
        if pending.allSatisfy({ $0.changes.isEmpty }) {
            batch = records
            records = load.spareRecords(model)
        } else {
            batch = load.spareRecords(model)
            for index in pending.indices { try append(index, to: &batch) }
        }
        inspect(batch)
        tally.add(batch)
        if !batch.isEmpty { try load.send(.records(batch)) }
        for (_, links) in addedLinks.sorted(by: { $0.key < $1.key }) { try load.send(.links(links)) }
    }

    private func commitPending() throws(StoreError) {
        var changes = ChangeSet(model: model)
        for index in pending.indices {
            if pending[index].isNew {
                try append(index, to: &changes.inserts)
                // A commit numbers versions itself: every insert is stored as 1, so the source's cannot be handed on.
                changes.inserts.setVersionOfLast(1)
            } else if !pending[index].changes.isEmpty {
                try append(index, to: &changes.updates)
                records.withRecord(at: index) { tally.entities[$0.entityNumber].remove($0.storedContentHash) }
            }
        }
        inspect(changes.inserts)
        inspect(changes.updates)
        tally.add(changes.inserts)
        tally.add(changes.updates)
        changes.addedLinks = addedLinks.sorted { $0.key < $1.key }.map(\.value)
        changes.removedLinks = removedLinks.sorted { $0.key < $1.key }.map(\.value)
        guard !changes.isEmpty else { return }
        try commit(changes)
    }

    private func append(_ index: Int, to batch: inout RecordBatch) throws(StoreError) {
        let changes = pending[index].changes
        guard !changes.isEmpty else { return batch.append(records, at: index) }
        try records.withRecord(at: index) { (record) throws(StoreError) in
            try batch.append(record, replacing: changes)
        }
    }

    /// Puts the objects of a hierarchy that are in memory and were set into ``settled``, with what they were set to.
    func settle(root: Int) throws(StoreError) {
        // What was set again lies there twice; it must not fill the memory.
        if settled.byteCount > 2 * RecordBatch.capacityBytes {
            settled.removeAll()
            for index in pending.indices { pending[index].settledPosition = nil }
        }
        for index in changedPositions[root] ?? []
        where pending[index].settledPosition == nil && !pending[index].changes.isEmpty {
            try append(index, to: &settled)
            pending[index].settledPosition = settled.count - 1
        }
    }

    private func commit(_ changes: ChangeSet) throws(StoreError) {
        closeSnapshot()
        hasCommitted = true
        _ = try store.commit(changes)
    }

    /// Notes the entities of records that lack a mandatory value; those that get one later are looked at again in the end.
    private func inspect(_ batch: RecordBatch) {
        batch.forEachRecord { record in
            guard let blueprint = blueprints[record.entityNumber], !suspects.contains(record.entityNumber) else {
                return
            }
            if blueprint.isIncomplete(record) { suspects.insert(record.entityNumber) }
        }
    }

    // MARK: Reading what was written

    /// Finishes the load, so that what was written can be read.
    func open() throws(StoreError) {
        guard case .loading(let load) = output else { return try requireUnfinished() }
        try write()
        _ = try load.finish()
        output = .open
    }

    /// The store as it is now; what is in memory is not in it.
    func snapshot() throws(StoreError) -> any StoreSnapshot {
        if let openSnapshot { return openSnapshot }
        let snapshot = try store.snapshot()
        openSnapshot = snapshot
        return snapshot
    }

    func closeSnapshot() {
        openSnapshot?.close()
        openSnapshot = nil
    }

    // MARK: The end

    /// Writes everything and takes no more changes; the store is complete then.
    func finish() throws(StoreError) {
        try open()
        try write()
        closeSnapshot()
        output = .closed
    }

    /// Whether what is written can be read already.
    var isOpen: Bool {
        if case .open = output { return true }
        return false
    }

    /// Gives up; what was written stays in the store, whose owner discards it.
    func abandon() {
        closeSnapshot()
        if case .loading(let load) = output { load.abandon() }
        output = .closed
    }

    /// The mandatory properties without a value of a record.
    func missing(in record: RecordReader) -> [RecordLayout.Field] {
        blueprints[record.entityNumber]?.missing(in: record) ?? []
    }
}

extension Value {
    /// About how many bytes the value takes in memory beside itself.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text), .uri(let text): text.utf8.count
        case .data(let data): data.count
        default: 0
        }
    }
}
