internal import RoostCore

/// A sorter of objects by the hashes of their unique values, in bounded memory.
struct ClaimSorter {
    /// A source object and the entity plan that reads it.
    struct Claim {
        let entityPlan: Int
        let key: Int64
    }

    private let sorter: ExternalSorter

    init(directories: [String]) { sorter = ExternalSorter(directories: directories) }

    func append(_ claim: Claim, hash: Int) throws(StoreError) {
        let value = (UInt64(truncatingIfNeeded: claim.entityPlan).bigEndian, UInt64(bitPattern: claim.key).bigEndian)
        // SAFETY: `hash` is one word, and `value` is two words without padding. The sorter copies their bytes.
        try withUnsafeBytes(of: UInt64(bitPattern: Int64(hash)).bigEndian) { (hash) throws(StoreError) in
            try withUnsafeBytes(of: value) { (value) throws(StoreError) in try sorter.append(hash, value, in: 0) }
        }
    }

    /// Calls `body` with all objects, grouped by hash, and empties the sorter.
    func drain(_ body: (_ hash: Int, Claim) throws(StoreError) -> Void) throws(StoreError) {
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                // SAFETY: The entries have the format of ``append(_:hash:)``. The first byte of a
                // key is the group.
                let hash = EntryArena.key(of: entry).loadUnaligned(fromByteOffset: 1, as: UInt64.self)
                let value = EntryArena.value(of: entry)
                let entityPlan = UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
                let key = UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                try body(
                    Int(truncatingIfNeeded: UInt64(bigEndian: hash)),
                    Claim(entityPlan: Int(truncatingIfNeeded: entityPlan), key: Int64(bitPattern: key)))
            }
        }
    }
}
