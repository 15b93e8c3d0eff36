internal import RoostCore

/// Objects that claim unique values, sorted by the hashes of those values in bounded memory.
struct ClaimSorter {
    /// An object of the source, and the maker that takes it.
    struct Claim {
        let maker: Int
        let key: Int64
    }

    private let sorter: ExternalSorter

    /// - Parameter directories: Where a file may be made, the best first.
    init(directories: [String]) { sorter = ExternalSorter(directories: directories) }

    /// Adds an object.
    ///
    /// - Throws: `noSpace` and `ioFailure`, of the file for what does not fit into memory.
    func append(_ claim: Claim, hash: Int) throws(StoreError) {
        let value = (UInt64(truncatingIfNeeded: claim.maker).bigEndian, UInt64(bitPattern: claim.key).bigEndian)
        // SAFETY: one word, and two words without padding between them; both are copied.
        try withUnsafeBytes(of: UInt64(bitPattern: Int64(hash)).bigEndian) { (hash) throws(StoreError) in
            try withUnsafeBytes(of: value) { (value) throws(StoreError) in try sorter.append(hash, value, in: 0) }
        }
    }

    /// Calls `body` with all objects, those of one hash side by side, and forgets them.
    ///
    /// - Throws: As ``append(_:hash:)``, and what `body` throws.
    func drain(_ body: (_ hash: Int, Claim) throws(StoreError) -> Void) throws(StoreError) {
        try sorter.drain { (entries) throws(StoreError) in
            try entries.forEach { (entry) throws(StoreError) in
                // SAFETY: as ``append(_:hash:)`` wrote them; the first byte of a key is the group.
                let hash = EntryArena.key(of: entry).loadUnaligned(fromByteOffset: 1, as: UInt64.self)
                let value = EntryArena.value(of: entry)
                let maker = UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
                let key = UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                try body(
                    Int(truncatingIfNeeded: UInt64(bigEndian: hash)),
                    Claim(maker: Int(truncatingIfNeeded: maker), key: Int64(bitPattern: key)))
            }
        }
    }
}
