package import RoostCore

/// A check for unique values that two objects of a load may share.
///
/// The check needs bounded memory and reads no store. It compares 128-bit hashes; if two are equal,
/// the store must compare the values themselves.
package final class UniqueValueCheck {
    private let plan: StorePlan
    private let sorter: ExternalSorter
    private var values: [UInt8] = []

    /// Creates a check for records of a store's model; nil if no entity has a constraint.
    package init?(_ store: KeyValueStore) {
        guard !store.model.uniquenessConstraints.isEmpty else { return nil }
        plan = store.plan
        sorter = ExternalSorter(memoryByteCount: 8 << 20, directories: store.spillDirectories)
    }

    /// Adds the unique values of a record.
    ///
    /// - Throws: `noSpace` and `ioFailure` of a temporary file, if the values exceed the memory.
    package func add(_ record: RecordReader) throws(StoreError) {
        for constraint in plan.entities[record.entityNumber].constraints
        where plan.encode(constraint, of: record, isConstraint: true, into: &values) {
            let hash = RecordHash.wide(values)
            let key = (UInt64(constraint.number).bigEndian, hash.high, hash.low)
            try withUnsafeBytes(of: key) { (key) throws(StoreError) in
                try sorter.append(key, UnsafeRawBufferPointer(start: nil, count: 0), in: 0)
            }
        }
    }

    /// Returns whether any two added hashes are equal; after this call, no record can be added.
    ///
    /// - Throws: The errors of ``add(_:)``.
    package func hasRepeated() throws(StoreError) -> Bool {
        let entries = try sorter.entries()
        var (last, isRepeated): ([UInt8], Bool) = ([], false)
        var hasMore = true
        while hasMore, !isRepeated {
            hasMore = try entries.next { (entry) throws(StoreError) in
                let key = EntryArena.key(of: entry)
                if key.elementsEqual(last) { isRepeated = true }
                last.removeAll(keepingCapacity: true)
                last.append(contentsOf: key)
            }
        }
        return isRepeated
    }
}
