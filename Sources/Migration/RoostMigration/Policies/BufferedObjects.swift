internal import RoostCore

/// The destination objects in memory: new objects, and objects of the store that were read or
/// changed.
///
/// The type is a class, so that one part can be read while another part is changed. Use an instance
/// on one thread only.
final class BufferedObjects {
    /// The state of an object whose record is in the batch.
    struct Pending {
        /// Whether the object is not yet in the store.
        var isNew: Bool
        /// The changed values by field, at most one for each field.
        var changes: [(field: RecordLayout.Field, value: Value)] = []
        /// The index of the object's current values in ``settled``, or nil if absent.
        var settledPosition: Int?
    }

    private struct Place: Hashable {
        var root: Int
        var key: Int64
    }

    /// The size of changed values, in bytes, above which objects are written even if no batch is
    /// full.
    private static let changedByteLimit = 1 << 20

    /// The root entities, by entity number.
    private let roots: [Int]
    /// The records as first read or created.
    private(set) var records: RecordBatch
    private(set) var pending: [Pending] = []
    /// Changed objects with their current values, for requests that search memory.
    private(set) var settled: RecordBatch
    /// The positions by key, or nil until the next lookup.
    private var positions: [Place: Int]?
    /// The positions of objects that differ from the store, by root.
    private(set) var changedPositions: [Int: [Int]] = [:]
    private var changedByteCount = 0
    /// The number of times that the objects were removed from memory.
    private(set) var generation = 0

    init(model: ManagedObjectModel) {
        roots = model.entities.map(\.root)
        records = RecordBatch(model: model)
        settled = RecordBatch(model: model)
    }

    var isEmpty: Bool { pending.isEmpty }
    var isFull: Bool { records.isFull || changedByteCount > Self.changedByteLimit }
    /// Whether the objects must be written before a callback reads or creates more objects.
    var isOverfull: Bool { records.byteCount + changedByteCount > 4 * RecordBatch.capacityBytes }

    // MARK: Adding

    /// Adds a new object, for which `body` appends the record, and returns the object's position.
    func add(
        entity: Int, key: Int64, _ body: (inout RecordBatch) throws(StoreError) -> Void
    ) throws(StoreError) -> Int {
        try body(&records)
        pending.append(Pending(isNew: true))
        let root = roots[entity]
        positions?[Place(root: root, key: key)] = pending.count - 1
        changedPositions[root, default: []].append(pending.count - 1)
        return pending.count - 1
    }

    /// Adds a copy of a stored record, and returns its position.
    func keep(_ found: RecordBatch, at index: Int) -> Int {
        records.append(found, at: index)
        pending.append(Pending(isNew: false))
        let place = Place(root: roots[found.entityNumber(at: index)], key: found.key(at: index))
        positions?[place] = pending.count - 1
        return pending.count - 1
    }

    // MARK: Finding

    func position(entity: Int, key: Int64) -> Int? {
        if positions == nil {
            var positions: [Place: Int] = [:]
            for index in pending.indices {
                positions[Place(root: roots[records.entityNumber(at: index)], key: records.key(at: index))] = index
            }
            self.positions = positions
        }
        return positions?[Place(root: roots[entity], key: key)]
    }

    // MARK: Values

    func value(_ field: RecordLayout.Field, at position: Int) throws(StoreError) -> Value {
        let changes = pending[position].changes
        if changes.isEmpty || field.kind != .composite {
            if let change = changes.first(where: { $0.field.index == field.index }) { return change.value }
            return records.withRecord(at: position) { $0.value(field) }
        }
        // A composite consists of its own field and its elements.
        var current = RecordBatch(model: records.model)
        try records.withRecord(at: position) { (record) throws(StoreError) in
            try current.append(record, replacing: changes)
        }
        return current.withRecord(at: 0) { $0.value(field) }
    }

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

    /// Copies the changed objects of a hierarchy to ``settled``, with their current values.
    func settle(root: Int) throws(StoreError) {
        // An object is added again after each change, so the size must be limited.
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

    // MARK: Writing

    func append(_ index: Int, to batch: inout RecordBatch) throws(StoreError) {
        let changes = pending[index].changes
        guard !changes.isEmpty else { return batch.append(records, at: index) }
        try records.withRecord(at: index) { (record) throws(StoreError) in
            try batch.append(record, replacing: changes)
        }
    }

    /// Moves all objects with their current values into an empty batch.
    ///
    /// Call ``removeAll()`` next.
    func move(into batch: inout RecordBatch) throws(StoreError) {
        if pending.allSatisfy({ $0.changes.isEmpty }) {
            swap(&records, &batch)
        } else {
            for index in pending.indices { try append(index, to: &batch) }
        }
    }

    func removeAll() {
        records.removeAll()
        settled.removeAll()
        changedPositions.removeAll(keepingCapacity: true)
        pending.removeAll(keepingCapacity: true)
        positions = nil
        changedByteCount = 0
        generation += 1
    }
}

extension Value {
    /// The approximate additional memory of the value, in bytes.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text), .uri(let text): text.utf8.count
        case .data(let data): data.count
        default: 0
        }
    }
}
