public import RoostCore

/// Keys that are durably reserved and not yet given to callers.
struct KeyBlock: Sendable {
    var next: Int64
    /// The first key after the block.
    var limit: Int64
    /// The number of keys to reserve next time.
    var size: Int64 = KeyBlock.smallestSize

    static let smallestSize: Int64 = 64
    static let largestSize: Int64 = 4096

    var remaining: Int64 { limit - next }

    mutating func take(_ count: Int64) -> Range<Int64>? {
        guard count <= remaining else { return nil }
        defer { next += count }
        return next..<next + count
    }
}

extension KeyValueStore {
    /// Reserves keys for new objects in the hierarchy of `entity`.
    ///
    /// No other caller in any process gets these keys.
    ///
    /// The store marks a block of 64 to 4096 keys (or `count`, if higher) as used. Later calls take
    /// keys from this block in memory, so most calls write nothing. ``close()`` returns the unused
    /// keys to the store. After a crash, they remain a gap.
    ///
    /// - Throws: `closed`; `readOnly`; `unknownEntity`; `invalidRequest` if `count` is below 1;
    ///   `limitExceeded` if the keys are exhausted; `busy`.
    public func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try requireWritable()
        let root = try model.requireEntity(entity).root
        guard count >= 1 else {
            throw StoreError(.invalidRequest, "\(count) keys cannot be reserved; ask for at least one.")
        }
        let wanted = Int64(count)
        let (taken, size): (Range<Int64>?, Int64) = state.withLock { state in
            let size = state.blocks[root]?.size ?? KeyBlock.smallestSize
            // A closed store has returned its unused keys. During a load, the loader owns them.
            guard !state.isClosed, state.load == nil else { return (nil, size) }
            return (state.blocks[root]?.take(wanted), size)
        }
        if let taken { return taken }
        var block = try setAside(wanted, atBest: max(wanted, size), root: root, entity: entity)
        block.size = min(size * 4, KeyBlock.largestSize)
        return state.withLock { [block] state in
            var block = block
            // A block that directly follows the old block takes over its unused keys. If another thread has stored a
            // block with higher keys in the meantime, that block is kept, and the rest of this block becomes a gap.
            if let old = state.blocks[root], old.limit == block.next { block.next = old.next }
            let first = block.next
            block.next += wanted
            if (state.blocks[root].map { $0.limit < block.limit }) ?? true { state.blocks[root] = block }
            return first..<first + wanted
        }
    }

    /// Marks further keys as used: `best` keys, or all remaining keys if fewer are left.
    ///
    /// - Throws: `limitExceeded` if fewer than `least` keys are left; the errors of a write.
    private func setAside(_ least: Int64, atBest best: Int64, root: Int, entity: EntityName) throws(StoreError)
        -> KeyBlock
    {
        try write { (writer) throws(StoreError) in
            let last = try MetaSpace.readLastKey(root: root, reader: writer)
            // `Int64.max` is never used as a key, so that the upper bound of each range is an `Int64` too.
            let left = Int64.max - 1 - last
            guard left >= least else {
                throw StoreError(.limitExceeded, "Fewer than \(least) keys are left for entity '\(entity)'.")
            }
            let count = min(best, left)
            try MetaSpace.writeLastKey(last + count, root: root, writer: writer)
            return KeyBlock(next: last + 1, limit: last + 1 + count)
        }
    }

    /// Skips the reserved keys up to the highest key that a commit or load uses.
    ///
    /// Commits and loads may use keys that were not reserved, so any lower key may be taken too.
    /// Call this method before the storage commits: a view can show the new objects before the
    /// storage returns, and the outcome of the commit can be unknown.
    func noteUsedKeys(_ highest: [(root: Int, key: Int64)]) {
        state.withLock { state in
            for (root, key) in highest {
                guard let block = state.blocks[root], key >= block.next else { continue }
                state.blocks[root]?.next = min(key, block.limit - 1) + 1
            }
        }
    }

    /// Returns unused keys to the store, unless one of them or a higher key was used or reserved in
    /// the meantime.
    ///
    /// Keys that are not returned are only gaps, so errors are ignored.
    func returnKeys(_ blocks: [Int: KeyBlock]) {
        let unused = blocks.filter { $0.value.remaining > 0 }.sorted { $0.key < $1.key }
        guard !isReadOnly, !unused.isEmpty else { return }
        do throws(StoreError) {
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for (root, block) in unused
                where try MetaSpace.readLastKey(root: root, reader: writer) == block.limit - 1 {
                    // Another program may have inserted an object with a key that it did not reserve.
                    let cursor = try writer.cursor(in: .records)
                    if try cursor.seek(to: StorageKey(record: block.next, root: root)), cursor.key.keyNumber == root {
                        continue
                    }
                    try MetaSpace.writeLastKey(block.next - 1, root: root, writer: writer)
                }
            }
        } catch {
            return
        }
    }
}
