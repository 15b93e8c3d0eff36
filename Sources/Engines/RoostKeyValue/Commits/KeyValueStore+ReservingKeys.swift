public import RoostCore

/// Keys that are set aside durably and not yet handed out.
struct KeyBlock: Sendable {
    /// The next key to hand out, and the first that is not set aside.
    var next: Int64
    var limit: Int64
    /// The number of keys to set aside next time.
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
    /// Sets keys aside for new objects of the hierarchy that `entity` belongs to; no other caller,
    /// in any process, gets them again.
    ///
    /// The store records blocks of 64 to 4096 keys as used and gives keys out from memory, so most
    /// calls write nothing. ``close()`` returns the rest of a block; a crash leaves a gap.
    /// - Throws: `unknownEntity`; `invalidRequest` when `count` is below 1; `limitExceeded` when
    ///   the keys run out; `busy`.
    public func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try requireWritable()
        let root = try model.requireEntity(entity).root
        guard count >= 1 else {
            throw StoreError(.invalidRequest, "\(count) keys cannot be reserved; ask for at least one.")
        }
        let wanted = Int64(count)
        let (taken, size): (Range<Int64>?, Int64) = state.withLock { state in
            let size = state.blocks[root]?.size ?? KeyBlock.smallestSize
            // A closed store has returned its unused keys, and a running load owns the unused keys.
            guard !state.isClosed, state.load == nil else { return (nil, size) }
            return (state.blocks[root]?.take(wanted), size)
        }
        if let taken { return taken }
        var block = try setAside(wanted, atBest: max(wanted, size), root: root, entity: entity)
        block.size = min(size * 4, KeyBlock.largestSize)
        return state.withLock { [block] state in
            var block = block
            // A larger block that another thread set aside meanwhile is kept; the rest of this one
            // becomes a gap. A block that starts where the old one ends, as it does without other
            // programs, includes the rest of the old one.
            if let old = state.blocks[root], old.limit == block.next { block.next = old.next }
            let first = block.next
            block.next += wanted
            if (state.blocks[root].map { $0.limit < block.limit }) ?? true { state.blocks[root] = block }
            return first..<first + wanted
        }
    }

    /// Records that at least `least` and at best `best` more keys are used.
    private func setAside(_ least: Int64, atBest best: Int64, root: Int, entity: EntityName) throws(StoreError)
        -> KeyBlock
    {
        try write { (writer) throws(StoreError) in
            let last = try MetaSpace.readLastKey(root: root, reader: writer)
            // `Int64.max` is never given out, so that the end of each range is an `Int64` too.
            let left = Int64.max - 1 - last
            guard left >= least else {
                throw StoreError(.limitExceeded, "The hierarchy of entity '\(entity)' has no \(least) keys left.")
            }
            let count = min(best, left)
            try MetaSpace.writeLastKey(last + count, root: root, writer: writer)
            return KeyBlock(next: last + 1, limit: last + 1 + count)
        }
    }

    /// Notes the highest keys that were used, so that no key up to them is handed out later.
    ///
    /// The used keys need not be reserved ones. A block skips its keys up to the highest used key,
    /// since keys below that may be used too.
    func noteUsedKeys(_ highest: [(root: Int, key: Int64)]) {
        state.withLock { state in
            for (root, key) in highest {
                guard let block = state.blocks[root], key >= block.next else { continue }
                state.blocks[root]?.next = min(key, block.limit - 1) + 1
            }
        }
    }

    /// Gives back keys that were set aside and not handed out, unless more were set aside since.
    ///
    /// Unused keys are only gaps, so nothing is lost if a store that cannot be written now keeps
    /// its mark.
    func returnKeys(_ blocks: [Int: KeyBlock]) {
        let unused = blocks.filter { $0.value.remaining > 0 }.sorted { $0.key < $1.key }
        guard !isReadOnly, !unused.isEmpty else { return }
        do throws(StoreError) {
            try storage.write(timeoutSeconds: 0) { (writer) throws(StoreError) in
                for (root, block) in unused
                where try MetaSpace.readLastKey(root: root, reader: writer) == block.limit - 1 {
                    // Another program may have inserted an object under a key of its own choice.
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
