internal import RoostCore

/// The records of an entity and its subentities in key order: a range of the space `records`.
final class EntityRecordCursor: FillingRecordCursor, RecordVisitor {
    private let snapshot: KeyValueSnapshot
    private let cursor: any KeyValueCursor
    private let entity: ManagedObjectModel.Entity
    /// Whether to return records, by entity number; nil to return all records.
    private let wanted: [Bool]?
    private var position: Position

    private enum Position {
        /// Before the first record whose key is greater than this key.
        case before(Int64)
        case atShown
        case atEnd
    }

    init(_ snapshot: KeyValueSnapshot, entity: ManagedObjectModel.Entity, after key: Int64) throws(StoreError) {
        self.snapshot = snapshot
        self.entity = entity
        cursor = try snapshot.reader.cursor(in: .records)
        let model = snapshot.model
        wanted =
            entity.selfAndSubentities.count == model.entities[entity.root].selfAndSubentities.count
            ? nil : model.entities.map { entity.includes($0.number) }
        position = .before(max(0, key))
        super.init(model: model)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        try visitNext { record in
            batch.append(record)
            return !batch.isFull
        }
    }

    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        try snapshot.requireOpen()
        return try visitNext(body)
    }

    /// Calls `body` with the next records; returns false if all records were visited.
    private func visitNext(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        do throws(StoreError) {
            guard try moveOn() else {
                position = .atEnd
                return false
            }
            position = .atShown
            // Local copies are faster than reading this class's properties for each record.
            let (model, wanted, root) = (snapshot.model, wanted, entity.root)
            let (verifier, keys) = (snapshot.verifier(root: root), RecordKeyReader(root: root))
            var isPastEnd = false
            let shouldContinue = try cursor.visit { (storageKey, value) throws(StoreError) in
                let key: Int64
                if let common = keys.key(storageKey) {
                    key = common
                } else if let other = try Self.key(storageKey, root: root, model: model) {
                    key = other
                } else {
                    isPastEnd = true
                    return false
                }
                // Damage can change the entity in a record, so records of unwanted entities are verified too.
                let record = try verifier.record(value, key: key)
                return !(wanted?[record.entityNumber] ?? true) || body(record)
            }
            if isPastEnd || !shouldContinue { position = .atEnd }
            return shouldContinue && !isPastEnd
        } catch {
            // The cursor continues after a damaged record.
            if error.damagedObject == nil { position = .atEnd }
            throw error
        }
    }

    /// Returns the object key in a storage key; nil if the record is not of the hierarchy `root`.
    @inline(never)
    private static func key(
        _ storageKey: UnsafeRawBufferPointer, root: Int, model: ManagedObjectModel
    ) throws(StoreError) -> Int64? {
        var parts = KeyParts(storageKey)
        guard parts.number() == root else { return nil }
        guard let key = parts.key(), parts.isAtEnd else {
            throw StoreError(.corrupted, "A record of '\(model.entities[root].name)' has a key of the wrong form.")
        }
        return key
    }

    /// Moves to the next record that was not visited; returns false at the end.
    private func moveOn() throws(StoreError) -> Bool {
        switch position {
        case .atEnd: false
        case .atShown: try cursor.next()
        case .before(.max): false
        case .before(let key): try cursor.seek(to: StorageKey(record: key + 1, root: entity.root))
        }
    }
}

/// The records of given objects, in the given order.
final class SelectedRecordCursor: FillingRecordCursor, RecordVisitor {
    private let snapshot: KeyValueSnapshot
    private let ids: [ObjectID]
    private var index = 0

    init(_ snapshot: KeyValueSnapshot, ids: [ObjectID]) {
        self.snapshot = snapshot
        self.ids = ids
        super.init(model: snapshot.model)
    }

    override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

    override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
        try visitNext { record in
            batch.append(record)
            return !batch.isFull
        }
    }

    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        try snapshot.requireOpen()
        return try visitNext(body)
    }

    private func visitNext(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        let (ids, reader) = (ids, snapshot.reader)
        var next = index
        defer { index = next }
        do throws(StoreError) {
            var shouldContinue = true
            while shouldContinue, next < ids.count {
                // Most successive IDs have the same entity, so each run of such IDs looks up the entity once.
                let name = ids[next].entity
                let entity = try snapshot.entity(name)
                let (number, root) = (entity.number, entity.root)
                let verifier = snapshot.verifier(root: root)
                repeat {
                    let key = ids[next].key
                    next += 1
                    try ShortKey(record: key, root: root).withBytes { (storageKey) throws(StoreError) in
                        try reader.withValue(of: storageKey, in: .records) { (value) throws(StoreError) in
                            guard let value else { return }
                            let record = try verifier.record(value, key: key)
                            if record.entityNumber == number || entity.includes(record.entityNumber) {
                                shouldContinue = body(record)
                            }
                        }
                    }
                } while shouldContinue && next < ids.count && ids[next].entity == name
            }
            return !shouldContinue
        } catch {
            if error.damagedObject == nil { next = ids.count }
            throw error
        }
    }
}

/// The records with the keys of a source, in the source's order.
///
/// The visitor skips keys without a record, and records outside the entity and its subentities.
final class KeyedRecordVisitor: RecordVisitor {
    private let snapshot: KeyValueSnapshot
    private let entity: ManagedObjectModel.Entity
    /// The source of the keys; nil at the end.
    private var source: (any KeySource)?
    private var keys: [Int64] = []
    private var index = 0
    /// The cursor over the records, if the keys are close together.
    private var cursor: (any KeyValueCursor)?

    init(_ snapshot: KeyValueSnapshot, entity: ManagedObjectModel.Entity, source: any KeySource) {
        self.snapshot = snapshot
        self.entity = entity
        self.source = source
    }

    func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        try snapshot.requireOpen()
        do throws(StoreError) {
            while let source {
                if index < keys.count, try !(areClose ? walk(body) : show(body)) { return true }
                index = 0
                if try !source.next(into: &keys) { self.source = nil }
            }
            return false
        } catch {
            if error.damagedObject == nil { source = nil }
            throw error
        }
    }

    /// Whether reading all records between the keys is faster than looking up each key.
    private var areClose: Bool {
        guard source is ListedKeys, let first = keys[index...].first, let last = keys.last else { return false }
        let count = keys.count - index
        return count >= 64 && (last - first) / 8 <= count
    }

    /// Calls `body` like ``show(_:)``, but reads all records from the first key to the last.
    ///
    /// The keys must be ascending.
    private func walk(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        let cursor: any KeyValueCursor
        if let known = self.cursor { cursor = known } else { cursor = try snapshot.reader.cursor(in: .records) }
        self.cursor = cursor
        let (keys, entity, verifier) = (keys, entity, snapshot.verifier(root: entity.root))
        var (next, shouldContinue) = (index, true)
        defer { index = next }
        guard try cursor.seek(to: StorageKey(record: keys[next], root: entity.root)) else {
            next = keys.count
            return true
        }
        let isMore = try cursor.visit { (storageKey, value) throws(StoreError) in
            var parts = KeyParts(storageKey)
            guard parts.number() == entity.root else {
                next = keys.count
                return false
            }
            guard let key = parts.key(), parts.isAtEnd else { throw .damagedEntry(.records) }
            while next < keys.count, keys[next] < key { next += 1 }
            guard next < keys.count else { return false }
            guard keys[next] == key else { return true }
            next += 1
            let record = try verifier.record(value, key: key)
            if record.entityNumber == entity.number || entity.includes(record.entityNumber) {
                shouldContinue = body(record)
            }
            return shouldContinue
        }
        if !isMore { next = keys.count }
        return shouldContinue
    }

    private func show(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        let (keys, entity, reader, verifier) = (keys, entity, snapshot.reader, snapshot.verifier(root: entity.root))
        var (next, shouldContinue) = (index, true)
        defer { index = next }
        while shouldContinue, next < keys.count {
            let key = keys[next]
            next += 1
            try ShortKey(record: key, root: entity.root).withBytes { (storageKey) throws(StoreError) in
                try reader.withValue(of: storageKey, in: .records) { (value) throws(StoreError) in
                    guard let value else { return }
                    let record = try verifier.record(value, key: key)
                    if record.entityNumber == entity.number || entity.includes(record.entityNumber) {
                        shouldContinue = body(record)
                    }
                }
            }
        }
        return shouldContinue
    }
}
