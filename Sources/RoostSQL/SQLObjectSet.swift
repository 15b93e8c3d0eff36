internal import RoostCore

/// One object of a change set: its table and its key.
struct SQLObjectKey: Hashable, Comparable {
    let table: Int
    let key: Int64

    /// In the order of the tables, and of the rows in them.
    static func < (left: Self, right: Self) -> Bool {
        left.table != right.table ? left.table < right.table : left.key < right.key
    }
}

/// Objects of a change set, in the order of their tables and keys.
///
/// Most change sets have theirs in that order already: then nothing is sorted, and nothing is hashed.
struct SQLObjectSet {
    /// In order; one that the change set has twice is there twice.
    let objects: [SQLObjectKey]

    /// No objects.
    init() { objects = [] }

    init(_ objects: [SQLObjectKey]) {
        var isInOrder = true
        for index in 1..<max(1, objects.count) where objects[index] < objects[index - 1] { isInOrder = false }
        self.objects = isInOrder ? objects : objects.sorted()
    }

    /// The objects of a batch's records.
    init(_ records: RecordBatch, _ schema: SQLSchema) {
        var objects: [SQLObjectKey] = []
        objects.reserveCapacity(records.count)
        for index in 0..<records.count { objects.append(schema.object(records, at: index)) }
        self.init(objects)
    }

    /// An object that is there twice; nil if there is none.
    var repeated: SQLObjectKey? {
        for index in 1..<max(1, objects.count) where objects[index] == objects[index - 1] { return objects[index] }
        return nil
    }

    /// Whether an object is there.
    ///
    /// - Complexity: O(log *n*).
    func contains(_ object: SQLObjectKey) -> Bool {
        var (start, end) = (0, objects.count)
        while start < end {
            let middle = (start + end) / 2
            if objects[middle] < object { start = middle + 1 } else { end = middle }
        }
        return start < objects.count && objects[start] == object
    }
}

extension SQLSchema {
    /// The object of a record of a batch.
    func object(_ records: RecordBatch, at index: Int) -> SQLObjectKey {
        SQLObjectKey(table: tableOfEntity[records.entityNumber(at: index)], key: records.key(at: index))
    }

    /// The object of a reference.
    func object(_ reference: ChangeSet.Reference) throws(StoreError) -> SQLObjectKey {
        SQLObjectKey(
            table: tableOfEntity[try model.requireEntity(reference.id.entity).number], key: reference.id.key)
    }
}
