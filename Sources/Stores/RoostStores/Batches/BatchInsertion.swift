internal import RoostCore
internal import RoostQuery

/// A batch insert that converts rows to records and writes them.
///
/// The records become one change set, or a bulk load if they are large and ``needsChangeSet`` is
/// false.
struct BatchInsertion {
    /// The number of rows whose destinations are looked up together.
    private static let chunkCount = 256
    /// The total size of the records, in bytes, above which the insert becomes a bulk load.
    static let changeSetByteCount = 16 << 20
    /// The maximum number of destinations that a load caches.
    private static let rememberedCount = 65_536

    private let store: any PersistentStore
    private let rules: ModelRules
    private let model: ManagedObjectModel
    /// The rules of records; each regular expression has one time limit for all records.
    private var recordRules: RecordRules
    private var failures = FailureList()
    private var missing = MissingObjects()
    private let properties: BatchProperties
    private let layout: RecordLayout
    private let references: [Reference]
    private let hasRecordRules: Bool
    private let hasComposites: Bool
    /// Whether the rows must be one change set, because a row may change other objects or a rule
    /// needs all rows.
    private let needsChangeSet: Bool
    private let byteLimit: Int
    private var known: [String: BatchProperties.Property] = [:]
    /// The default value of each field.
    private let defaults: [Value]
    private var snapshot: any StoreSnapshot
    private var destinations: BatchDestinations
    private var partners: PartnerChanges
    private var records: RecordBatch
    /// For each row number, the indexes of the position fields that the row itself sets.
    private var namedPlaces: [Int: Set<Int>] = [:]
    private var keys: [Range<Int64>] = []
    private var rowCount = 0
    private var loader: (any BulkLoader)?
    var author: String?
    /// The next unused key during a bulk load.
    private var nextKey: Int64 = 0

    /// A to-one relationship with its fields.
    ///
    /// A class, because copying a structure for each row would cost much more.
    private final class Reference {
        let field: RecordLayout.Field
        /// The field for the position in the inverse, or nil if the inverse is not ordered.
        let order: RecordLayout.Field?
        let relationship: ManagedObjectModel.Relationship
        let inverse: ManagedObjectModel.Relationship?

        init(
            _ relationship: ManagedObjectModel.Relationship, field: RecordLayout.Field, order: RecordLayout.Field?,
            inverse: ManagedObjectModel.Relationship?
        ) {
            self.relationship = relationship
            self.field = field
            self.order = order
            self.inverse = inverse
        }
    }

    init(
        _ entity: EntityName, in store: any PersistentStore, rules: ModelRules,
        byteLimit: Int = Self.changeSetByteCount
    ) throws(StoreError) {
        let model = rules.model
        let entity = try model.requireEntity(entity)
        guard !entity.isAbstract else {
            throw StoreError(.invalidRequest, "Entity '\(entity.name)' is abstract and has no objects of its own.")
        }
        self.store = store
        self.rules = rules
        self.model = model
        recordRules = rules.records
        hasRecordRules = !recordRules.isEmpty(forEntity: entity.number)
        self.byteLimit = byteLimit
        layout = entity.layout
        properties = BatchProperties(entity, in: model)
        hasComposites = properties.hasComposites
        references = entity.relationships.compactMap { relationship in
            guard !relationship.isToMany, let field = entity.layout.field(relationship.name.name) else { return nil }
            return Reference(
                relationship, field: field,
                order: entity.layout.field(RecordLayout.orderFieldName(of: relationship.name.name)),
                inverse: relationship.inverse.map { model.relationships[$0] })
        }
        needsChangeSet =
            references.contains { $0.inverse?.isToMany == false } || rules.needsChangeSet(entity)
        defaults = try properties.defaults()
        snapshot = try store.snapshot()
        destinations = BatchDestinations(snapshot, model: model)
        partners = PartnerChanges(model)
        records = RecordBatch(model: model)
    }

    /// Writes all rows, or nothing after an error.
    mutating func run(_ request: BatchInsertRequest) throws(StoreError) -> BatchResult {
        defer { snapshot.close() }
        do throws(StoreError) {
            let next = request.rows()
            var chunk: [[Value]] = []
            while !failures.isFull, let row = try next() {
                chunk.append(try values(of: row))
                guard chunk.count == Self.chunkCount else { continue }
                try throwIfCancelled()
                try append(chunk)
                chunk.removeAll(keepingCapacity: true)
            }
            try append(chunk)
            try missing.throwIfAny(with: failures)
            try throwIfCancelled()
            let generation = try finish()
            let (entity, keys) = (layout.entity, keys)
            return BatchResult(
                request.resultType, generation: generation, count: rowCount,
                objectIDs: keys.flatMap { $0.map { ObjectID(entity, key: $0) } }, relatedObjectIDs: relatedIDs)
        } catch {
            loader?.abandon()
            throw error
        }
    }

    // MARK: Values

    private mutating func values(of row: BatchInsertRequest.Row) throws(StoreError) -> [Value] {
        rowCount += 1
        let number = rowCount
        var values = defaults
        var named: Set<Int> = []
        let hasElementDefaults = !properties.elementDefaults.isEmpty
        // Sorting puts a composite before its elements.
        for (name, value) in hasComposites ? row.sorted(by: { $0.key < $1.key }) : Array(row) {
            let property: BatchProperties.Property
            if let found = known[name] {
                property = found
            } else {
                property = try properties.property(name)
                known[name] = property
            }
            try properties.forEachField(of: value, for: property, owner: { Self.owner(number) }) {
                values[$0.index] = $1
                if hasElementDefaults { named.insert($0.index) }
            }
        }
        for (composite, element, attribute) in properties.elementDefaults
        where !values[composite.index].isNull && values[element.index].isNull && !named.contains(element.index) {
            try properties.forEachField(
                of: attribute.defaultValue, for: element.kind == .composite ? .composite(element) : .field(element),
                owner: { "its default" }, { values[$0.index] = $1 })
        }
        return values
    }

    private static func owner(_ number: Int) -> String { "row \(number) of the batch" }

    // MARK: Records

    private mutating func append(_ rows: [[Value]]) throws(StoreError) {
        guard !rows.isEmpty else { return }
        var rows = rows
        let firstRow = rowCount - rows.count + 1
        try connect(&rows)
        let keys = try newKeys(rows.count)
        for (index, values) in rows.enumerated() {
            let key = keys.lowerBound + Int64(index)
            try append(values, key: key)
            if hasRecordRules {
                let row = firstRow + index
                try records.withRecord(at: records.count - 1) { (record) throws(StoreError) in
                    try failures.check(record, rules: &recordRules) { _, _ in .row(row) }
                }
            }
            for reference in references {
                guard case .objectID(let id) = values[reference.field.index] else { continue }
                try partners.note(
                    ObjectID(layout.entity, key: key), relationship: reference.relationship, from: nil, to: id)
            }
        }
        if !failures.isEmpty || !missing.isEmpty {
            // After a failure, nothing is written. The remaining rows are only checked.
            records.removeAll()
        } else if let loader {
            try deriveRecords()
            try loader.append(records)
            records.removeAll()
            if destinations.count > Self.rememberedCount { destinations.forget() }
        } else if records.byteCount > byteLimit, !needsChangeSet {
            try startLoading()
        }
    }

    private mutating func append(_ values: [Value], key: Int64) throws(StoreError) {
        records.beginRecord(layout, key: key, version: 1)
        do throws(StoreError) {
            for field in layout.fields { try records.set(values[field.index], for: field) }
        } catch {
            records.abandonRecord()
            throw error
        }
        records.endRecord()
    }

    /// Looks up the destinations of the rows, and assigns positions in ordered relationships.
    private mutating func connect(_ rows: inout [[Value]]) throws(StoreError) {
        guard !references.isEmpty else { return }
        let first = rowCount - rows.count + 1
        var ids: [ObjectID] = []
        for (index, values) in rows.enumerated() {
            for reference in references {
                switch values[reference.field.index] {
                case .null: continue
                case .objectID(let id): ids.append(id)
                case let value:
                    throw properties.mismatch(value, in: reference.field, for: Self.owner(first + index))
                }
            }
        }
        try destinations.look(up: ids)
        for index in rows.indices {
            for reference in references {
                guard case .objectID(let named) = rows[index][reference.field.index] else {
                    if let order = reference.order { rows[index][order.index] = .null }
                    continue
                }
                let found = try missing.collecting(named) { () throws(StoreError) in
                    try destinations.destination(named, of: reference.relationship) { Self.owner(first + index) }
                }
                guard let id = found else { continue }
                rows[index][reference.field.index] = .objectID(id)
                guard let order = reference.order, let inverse = reference.inverse else { continue }
                if rows[index][order.index].isNull {
                    rows[index][order.index] = .int(try destinations.nextPlace(in: inverse, of: id))
                } else if loader == nil {
                    namedPlaces[first + index, default: []].insert(order.index)
                }
            }
        }
    }

    private mutating func newKeys(_ count: Int) throws(StoreError) -> Range<Int64> {
        var new: Range<Int64>
        if loader == nil {
            new = try store.reserveKeys(count, for: layout.entity)
        } else {
            // The load blocks other writers, so it can use the next keys without reserving them.
            guard nextKey <= Int64.max - Int64(count) else {
                throw StoreError(
                    .limitExceeded, "The hierarchy of entity '\(layout.entity)' has fewer than \(count) keys left.")
            }
            new = nextKey..<nextKey + Int64(count)
            nextKey = new.upperBound
        }
        if let last = keys.last, last.upperBound == new.lowerBound {
            keys[keys.count - 1] = last.lowerBound..<new.upperBound
        } else {
            keys.append(new)
        }
        return new
    }

    // MARK: Rules

    /// Computes derived attributes for a load.
    private mutating func deriveRecords() throws(StoreError) {
        guard !rules.derived.isEmpty else { return }
        var changes = ChangeSet(model: model)
        changes.inserts = records
        try applyRules(to: &changes)
        records = changes.inserts
    }

    private mutating func applyRules(to changes: inout ChangeSet) throws(StoreError) {
        var rules = ChangeRules(rules, on: snapshot)
        let firstRow = rowCount - records.count + 1
        try rules.apply(to: &changes, failures: &failures) { .row(firstRow + $0) }
        try failures.throwIfAny()
    }

    // MARK: Writing

    private mutating func startLoading() throws(StoreError) {
        let known = destinations.references
        // The bulk load can wait for space until all snapshots are closed.
        snapshot.close()
        var options = BulkLoadOptions()
        options.author = author
        let loader = try store.concurrentBulkLoader(options)
        self.loader = loader
        // From now on the load blocks other writers, so the content of this snapshot stays current.
        snapshot = try store.snapshot()
        destinations.go(on: snapshot)
        try requireExisting(known)
        try moveToFreePlaces()
        namedPlaces = [:]
        try deriveRecords()
        let (next, isUsedUp) = try snapshot.lastKey(of: layout.entity).addingReportingOverflow(1)
        guard !isUsedUp else {
            throw StoreError(.limitExceeded, "The hierarchy of entity '\(layout.entity)' has no keys left.")
        }
        nextKey = max(next, keys.last?.upperBound ?? 1)
        try loader.append(records)
        records.removeAll()
    }

    /// Looks up known destinations again, and throws if one no longer exists.
    private mutating func requireExisting(_ references: [ChangeSet.Reference]) throws(StoreError) {
        try destinations.look(up: references.map(\.id))
        let existing = Set(destinations.references.map(\.id))
        guard let gone = references.first(where: { !existing.contains($0.id) }) else { return }
        throw StoreError(
            .objectNotFound,
            "Another writer deleted \(gone.id), to which objects of the batch refer; nothing was written."
        ).with { $0.missingObjects = references.map(\.id).filter { !existing.contains($0) } }
    }

    /// Moves the assigned positions of records if another writer has changed the last positions.
    private mutating func moveToFreePlaces() throws(StoreError) {
        let moves = try destinations.movePlaces()
        guard !moves.isEmpty else { return }
        let byEnd = Dictionary(grouping: moves, by: \.relationship).mapValues { moves in
            Dictionary(moves.map { ($0.place, $0.distance) }, uniquingKeysWith: { first, _ in first })
        }
        var moved = RecordBatch(model: model)
        for index in 0..<records.count {
            try records.withRecord(at: index) { (record) throws(StoreError) in
                var places: [(field: RecordLayout.Field, value: Value)] = []
                for reference in references {
                    guard let order = reference.order, namedPlaces[index + 1]?.contains(order.index) != true,
                        let distances = reference.inverse.flatMap({ byEnd[$0.number] }),
                        case .objectID(let id) = record.value(reference.field),
                        let distance = distances[try model.place(of: id)]
                    else { continue }
                    places.append((order, .int(record.integer(order) + distance)))
                }
                if places.isEmpty { moved.append(record) } else { try moved.append(record, replacing: places) }
            }
        }
        records = moved
    }

    private var relatedIDs: [ObjectID] = []

    private mutating func finish() throws(StoreError) -> Generation {
        if let loader {
            // The load can wait for space until all snapshots are closed.
            snapshot.close()
            return try loader.finish().generation
        }
        var isFirst = true
        // Concurrent requests conflict if they extend the same ordered relationship or change the same
        // object. Only one of them succeeds at each attempt, so they get more attempts.
        let attempts = destinations.lastPlaces.isEmpty && !needsChangeSet ? 10 : 100
        return try store.retryingConflicts(attempts: attempts) { () throws(StoreError) in
            if !isFirst {
                let known = destinations.references
                snapshot.close()
                snapshot = try store.snapshot()
                destinations.go(on: snapshot)
                try requireExisting(known)
                try moveToFreePlaces()
            }
            isFirst = false
            var changes = ChangeSet(model: model)
            changes.author = author
            changes.inserts = records
            if !partners.isEmpty { try partners.apply(to: &changes, snapshot: snapshot, failures: &failures) }
            changes.existing = destinations.references.map(\.id)
            changes.lastPlaces = destinations.lastPlaces
            try applyRules(to: &changes)
            relatedIDs = (0..<changes.updates.count).map { changes.updates.id(at: $0) }
            snapshot.close()
            return try store.commit(changes).generation
        }
    }
}
