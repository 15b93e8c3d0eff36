internal import RoostCore

/// The objects of a destination that are in memory: new objects, and objects of the store that were
/// looked at or changed.
///
/// A reference, since reading one part must not keep another from being changed. For one thread.
final class BufferedObjects {
    /// The state of an object: a record of the batch, and the values that were set since.
    struct Pending {
        /// Whether it is not in the store yet.
        var isNew: Bool
        /// New values by field; no field is there twice.
        var changes: [(field: RecordLayout.Field, value: Value)] = []
        /// Its position among ``settled`` with these values; nil if it is not there.
        var settledPosition: Int?
    }

    private struct Place: Hashable {
        var root: Int
        var key: Int64
    }

    /// The bytes of values set after which objects are written, beside those of a batch.
    private static let changedByteLimit = 1 << 20

    /// By entity: the root of its hierarchy.
    private let roots: [Int]
    /// The records, as they were before anything was set.
    private(set) var records: RecordBatch
    /// The state of each record, by its position.
    private(set) var pending: [Pending] = []
    /// Objects with the values that were set since, for requests that are answered without
    /// writing them.
    private(set) var settled: RecordBatch
    /// The positions by key; nil until one is looked for.
    private var positions: [Place: Int]?
    /// By root: the positions of objects that are not what the store has.
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
    /// Whether there is a batch of objects to write.
    var isFull: Bool { records.isFull || changedByteCount > Self.changedByteLimit }
    /// Whether the objects must be written before more are read or made in one callback.
    var isOverfull: Bool { records.byteCount + changedByteCount > 4 * RecordBatch.capacityBytes }

    // MARK: Adding

    /// Adds a new object, whose record `body` appends; returns its position.
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

    /// Adds a copy of a record of the store; returns its position.
    func keep(_ found: RecordBatch, at index: Int) -> Int {
        records.append(found, at: index)
        pending.append(Pending(isNew: false))
        let place = Place(root: roots[found.entityNumber(at: index)], key: found.key(at: index))
        positions?[place] = pending.count - 1
        return pending.count - 1
    }

    // MARK: Finding

    /// Returns the position of an object; nil if it is not in memory.
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

    /// Returns the value of a field, with what was set.
    func value(_ field: RecordLayout.Field, at position: Int) throws(StoreError) -> Value {
        let changes = pending[position].changes
        if changes.isEmpty || field.kind != .composite {
            if let change = changes.first(where: { $0.field.index == field.index }) { return change.value }
            return records.withRecord(at: position) { $0.value(field) }
        }
        // A composite is itself and its elements.
        var current = RecordBatch(model: records.model)
        try records.withRecord(at: position) { (record) throws(StoreError) in
            try current.append(record, replacing: changes)
        }
        return current.withRecord(at: 0) { $0.value(field) }
    }

    /// Sets the value of a field.
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

    /// Puts the changed objects of a hierarchy into ``settled``, with the values that were set.
    func settle(root: Int) throws(StoreError) {
        // An object that was set again is there twice, which must not fill the memory.
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

    /// Appends an object to a batch, with the values that were set.
    func append(_ index: Int, to batch: inout RecordBatch) throws(StoreError) {
        let changes = pending[index].changes
        guard !changes.isEmpty else { return batch.append(records, at: index) }
        try records.withRecord(at: index) { (record) throws(StoreError) in
            try batch.append(record, replacing: changes)
        }
    }

    /// Moves all objects into an empty batch, with the values that were set; call ``removeAll()``
    /// next.
    func move(into batch: inout RecordBatch) throws(StoreError) {
        if pending.allSatisfy({ $0.changes.isEmpty }) {
            swap(&records, &batch)
        } else {
            for index in pending.indices { try append(index, to: &batch) }
        }
    }

    /// Removes everything, which was written.
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
    /// The approximate number of bytes that the value takes in memory beside itself.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text), .uri(let text): text.utf8.count
        case .data(let data): data.count
        default: 0
        }
    }
}
