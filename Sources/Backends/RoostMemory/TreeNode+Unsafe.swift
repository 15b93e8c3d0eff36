internal import RoostCore
internal import RoostSystem

/// A page of a tree: sorted entries in one block of memory.
///
/// An inner page also has a child for each entry.
///
/// Entries fill the memory from its start. An entry consists of the length of its key (two bytes),
/// the key and the value. Slots with the offsets of the entries fill the memory from its end, in
/// key order.
///
/// The prefix of a page is up to eight bytes with which all of its keys begin. A slot also has the
/// head of its key: the eight bytes after the prefix, as a number. A search compares the heads. It
/// reads an entry only if the entry's head equals the head of the wanted key.
///
/// Only the transaction that created a page may change it. Another transaction changes a copy. So
/// any number of snapshots can share pages without locks.
final class TreeNode: @unchecked Sendable {
    // Proof of Sendable: only the transaction whose number is in `transaction` changes the node. It
    // runs on one thread at a time. Other threads get the node only after its last change, when the
    // transaction publishes the tree's root under the lock of `MemoryContents`. Later transactions
    // have other numbers.

    // SAFETY of all accesses to `memory`: memory is reserved before an entry is added. The entry is
    // written at the offset `usedByteCount`, and the slots grow by one toward lower addresses. Both
    // stay inside `capacity`. This class only uses positions below `count`, and compares positions
    // from callers with `count`.

    /// The place of an entry in the memory, and the head of its key.
    fileprivate struct Slot {
        var head: UInt64
        // 32 bits suffice: values have at most 1 GiB, and a page that is too large is split.
        var offset: UInt32
        var valueCount: UInt32
    }

    /// The size of the entries, in bytes, above which a page is split.
    static let capacityBytes = 8192
    /// The number of children above which an inner page is split.
    static let capacityChildren = 256
    /// The number of bytes of an entry besides its key and value.
    private static let entryOverhead = MemoryLayout<Slot>.stride + keyCountBytes
    private static let keyCountBytes = 2
    private static let smallestPage = 256
    /// The bytes to allocate for a page that will be filled, with room for the entry that overfills
    /// it.
    static let pageBytes = capacityBytes + 1024

    // The properties that a search reads come first, so that they share a cache line.
    let isLeaf: Bool
    private var prefixCount: UInt8 = 8
    private(set) var count = 0
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The first `prefixCount` bytes of every key, then zeros.
    ///
    /// A key of fewer than eight bytes is treated as if zeros followed it.
    private var prefix: UInt64 = 0
    /// The children; empty in a leaf.
    ///
    /// Except for the first child, a child's key is a lower bound of the keys in its subtree.
    private(set) var children: [TreeNode] = []
    let transaction: UInt64
    /// The number of bytes at the start of `memory` that entries use, including removed entries.
    private var usedByteCount = 0
    /// The number of bytes that the present entries use, including their slots.
    private(set) var liveByteCount = 0

    init(transaction: UInt64, isLeaf: Bool, capacity: Int = smallestPage) {
        self.transaction = transaction
        self.isLeaf = isLeaf
        // The slots at the end must be aligned.
        self.capacity = max(Self.smallestPage, (capacity + 15) & ~15)
        memory = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { memory.deallocate() }

    /// Whether the page is too large; a page with one entry never is.
    var isOverfull: Bool { count > 1 && (liveByteCount > Self.capacityBytes || children.count > Self.capacityChildren) }
    /// Returns whether the leaf is nonempty and has room for another entry.
    ///
    /// `byteCount` is the size of the entry's key and value together.
    func hasRoom(for byteCount: Int) -> Bool {
        count > 0 && liveByteCount + byteCount + Self.entryOverhead <= Self.capacityBytes
    }
    /// Returns whether the leaf needs no merge after the entry at `index` is removed.
    func canSpare(_ index: Int) -> Bool { count > 1 && liveByteCount - byteCount(at: index) >= Self.capacityBytes / 4 }
    /// Whether the page should be merged with a neighbor.
    var isUnderfull: Bool { liveByteCount < Self.capacityBytes / 4 && children.count < Self.capacityChildren / 4 }
    var byteCount: Int { capacity + children.capacity * MemoryLayout<TreeNode>.stride }

    // MARK: Reading

    /// Returns a key that is valid until the node changes or is deallocated.
    func key(at index: Int) -> UnsafeRawBufferPointer { entry(at: index).key }

    /// Returns a key and a value that are valid until the node changes or is deallocated.
    @inline(__always)
    func entry(at index: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        precondition(index >= 0 && index < count, "no entry at this position")
        return Self.entry(slot(index).pointee, in: memory)
    }

    /// The entries of a page, for reading many of them while the page does not change.
    struct Entries {
        // SAFETY: copies of the page's properties; valid until the node changes or is deallocated.
        fileprivate let memory: UnsafeMutableRawPointer
        fileprivate let firstSlot: UnsafePointer<Slot>
        let count: Int

        @inline(__always)
        subscript(index: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
            precondition(index >= 0 && index < count, "no entry at this position")
            return TreeNode.entry(firstSlot[-index], in: memory)
        }

        @inline(__always)
        func prepare(_ index: Int) {
            guard index < count else { return }
            let start = memory + Int(firstSlot[-index].offset)
            // A prefetch does not access memory, so the address may be beyond the page.
            croost_prefetch(start)
            croost_prefetch(start + 64)
            croost_prefetch(start + 128)
        }
    }

    var entries: Entries { Entries(memory: memory, firstSlot: UnsafePointer(slot(0)), count: count) }

    func prepareChild(_ index: Int) {
        guard index < children.count else { return }
        // Retaining the child would wait for the memory that is prefetched here.
        croost_prefetch(Unmanaged.passUnretained(children[index]).toOpaque())
    }

    /// Prefetches the parts of a child's memory that are read first.
    ///
    /// Call ``prepareChild(_:)`` earlier, so that the child itself is in the cache.
    func prepareEntriesOfChild(_ index: Int) {
        guard index < children.count else { return }
        // SAFETY: this page holds references to its children.
        unowned(unsafe) let child = children[index]
        let (memory, slots) = (child.memory, UnsafeRawPointer(child.slot(0)))
        croost_prefetch(slots)
        croost_prefetch(slots - 64)
        croost_prefetch(memory)
        croost_prefetch(memory + 64)
        croost_prefetch(memory + 128)
    }

    func byteCount(at index: Int) -> Int {
        let (key, value) = entry(at: index)
        return Self.byteCount(key, value: value)
    }

    /// Returns the position of the first entry whose key is not before `key`.
    func position(of key: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
        // Short keys are padded with zeros. If two padded beginnings differ, the keys have the
        // order of the beginnings.
        let beginning = Self.word(of: key, at: 0) & Self.firstBytes(Int(prefixCount))
        if beginning != prefix, count > 0 { return (beginning < prefix ? 0 : count, false) }
        let head = Self.word(of: key, at: Int(prefixCount))
        var low = firstPosition(ofHead: head)
        var high = count
        // The search starts at `low`, because usually only that entry has this head.
        var middle = low
        while low < high {
            let slot = slot(middle).pointee
            if slot.head != head {
                high = middle
            } else {
                let order = Self.order(Self.entry(slot, in: memory).key, key)
                if order == 0 { return (middle, true) }
                if order < 0 { low = middle + 1 } else { high = middle }
            }
            middle = (low + high) / 2
        }
        return (low, false)
    }

    /// Returns the position of the first entry whose head is not less than `head`.
    ///
    /// When at most 64 slots remain, the search is linear: each binary step would wait for memory.
    private func firstPosition(ofHead head: UInt64) -> Int {
        // The first key of an inner page is skipped: it can even come after the second key.
        var (low, high) = (isLeaf ? 0 : min(1, count), count)
        while high - low > 64 {
            let middle = (low + high) / 2
            if slot(middle).pointee.head < head { low = middle + 1 } else { high = middle }
        }
        // SAFETY: the slots from `low` up to `high` exist. The first slot is at the highest
        // address.
        let end = UnsafePointer(slot(low)) + 1
        var lessCount = 0
        for index in 0..<(high - low) { lessCount &+= end[-1 &- index].head < head ? 1 : 0 }
        return low + lessCount
    }

    func childPosition(of key: UnsafeRawBufferPointer) -> Int {
        let (index, isFound) = position(of: key)
        return isFound ? index : max(0, index - 1)
    }

    func leaf(of key: UnsafeRawBufferPointer) -> TreeNode {
        // This page keeps all pages below it alive, so the descent counts no references.
        var node = Unmanaged.passUnretained(self)
        while true {
            let child = node._withUnsafeGuaranteedRef { node in
                node.isLeaf ? nil : Unmanaged.passUnretained(node.children[node.childPosition(of: key)])
            }
            guard let child else { return node.takeUnretainedValue() }
            node = child
        }
    }

    /// Returns whether a key is between the first and the last key of the page, inclusive.
    ///
    /// Such a key cannot belong to another page of the same level.
    func spans(_ key: UnsafeRawBufferPointer) -> Bool {
        count > 0 && Self.order(self.key(at: 0), key) <= 0 && Self.order(key, self.key(at: count - 1)) <= 0
    }

    /// Compares two keys byte by byte; a prefix comes before a longer key.
    ///
    /// The result is negative if `left` comes first, and zero if the keys are equal.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let result = memcmp(a, b, common)
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }

    @inline(__always)
    private func slot(_ index: Int) -> UnsafeMutablePointer<Slot> {
        (memory + (capacity - (index + 1) * MemoryLayout<Slot>.stride)).assumingMemoryBound(to: Slot.self)
    }

    @inline(__always)
    private static func entry(
        _ slot: Slot, in memory: UnsafeMutableRawPointer
    ) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = memory + Int(slot.offset)
        let keyCount = Int(start.loadUnaligned(as: UInt16.self))
        let key = start + keyCountBytes
        return (
            UnsafeRawBufferPointer(start: key, count: keyCount),
            UnsafeRawBufferPointer(start: key + keyCount, count: Int(slot.valueCount))
        )
    }

    private static func byteCount(_ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int {
        key.count + value.count + entryOverhead
    }

    /// Returns the eight bytes of a key from `offset` on as a big-endian number, padded with zeros.
    private static func word(of key: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        let left = key.count - offset
        if left >= 8 { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        guard left > 0 else { return 0 }
        if key.count >= 8 {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
                << (64 - 8 * left)
        }
        var word: UInt64 = 0
        for index in offset..<key.count { word = word << 8 | UInt64(key[index]) }
        return word << (64 - 8 * left)
    }

    private static func firstBytes(_ count: Int) -> UInt64 { count == 0 ? 0 : UInt64.max << (64 - 8 * count) }

    // MARK: Changing; only by the transaction that created the node

    func copy(for transaction: UInt64) -> TreeNode {
        let slotBytes = count * MemoryLayout<Slot>.stride
        guard usedByteCount + slotBytes - liveByteCount <= Self.capacityBytes else {
            // Removed entries occupy more than `capacityBytes`, so only the present entries are
            // copied.
            let node = TreeNode(transaction: transaction, isLeaf: isLeaf, capacity: liveByteCount)
            node.appendEntries(of: self, range: 0..<count)
            return node
        }
        let node = TreeNode(transaction: transaction, isLeaf: isLeaf, capacity: capacity)
        node.memory.copyMemory(from: memory, byteCount: usedByteCount)
        (node.memory + (capacity - slotBytes)).copyMemory(from: memory + (capacity - slotBytes), byteCount: slotBytes)
        (node.count, node.children, node.prefix, node.prefixCount) = (count, children, prefix, prefixCount)
        (node.usedByteCount, node.liveByteCount) = (usedByteCount, liveByteCount)
        return node
    }

    func appendEntries(of other: TreeNode, range: Range<Int>) {
        for index in range {
            let (key, value) = other.entry(at: index)
            insert(key, value: value, at: count, child: isLeaf ? nil : other.children[index])
        }
    }

    /// Inserts an entry before the entry at `index`.
    ///
    /// The bytes may belong to another node, but not to this one.
    func insert(_ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, at index: Int, child: TreeNode? = nil) {
        precondition(index >= 0 && index <= count, "no entry can be inserted at this position")
        if usedByteCount + count * MemoryLayout<Slot>.stride + Self.byteCount(key, value: value) > capacity {
            makeRoom(Self.byteCount(key, value: value))
        }
        share(key)
        let last = slot(count)
        memmove(last, last + 1, (count - index) * MemoryLayout<Slot>.stride)
        slot(index).initialize(
            to: Slot(
                head: Self.word(of: key, at: Int(prefixCount)), offset: store(key, value: value),
                valueCount: UInt32(value.count)))
        count += 1
        liveByteCount += Self.byteCount(key, value: value)
        if let child { children.insert(child, at: index) }
    }

    /// Replaces the value of the entry at `index`.
    ///
    /// The bytes may belong to another node, but not to this one.
    func replaceValue(at index: Int, value: UnsafeRawBufferPointer) {
        let old = entry(at: index)
        if value.count <= old.value.count {
            let place = UnsafeMutableRawBufferPointer(mutating: old.value)
            place.copyMemory(from: value)
        } else {
            let needed = Self.byteCount(old.key, value: value)
            if usedByteCount + count * MemoryLayout<Slot>.stride + needed > capacity { makeRoom(needed) }
            slot(index).pointee.offset = store(key(at: index), value: value)
        }
        slot(index).pointee.valueCount = UInt32(value.count)
        liveByteCount += value.count - old.value.count
    }

    func remove(at index: Int) {
        liveByteCount -= byteCount(at: index)
        let last = slot(count - 1)
        memmove(last + 1, last, (count - 1 - index) * MemoryLayout<Slot>.stride)
        count -= 1
        if !isLeaf { children.remove(at: index) }
    }

    func truncate(to index: Int) {
        for removed in index..<count { liveByteCount -= byteCount(at: removed) }
        count = index
        if !isLeaf { children.removeLast(children.count - index) }
    }

    func setChild(_ child: TreeNode, at index: Int) { children[index] = child }

    /// Shortens the shared prefix to its common part with `key`.
    private func share(_ key: UnsafeRawBufferPointer) {
        let beginning = Self.word(of: key, at: 0)
        guard count > 0 else { return (prefix, prefixCount) = (beginning, 8) }
        let difference = (beginning ^ prefix) & Self.firstBytes(Int(prefixCount))
        guard difference != 0 else { return }
        prefixCount = UInt8(difference.leadingZeroBitCount / 8)
        prefix &= Self.firstBytes(Int(prefixCount))
        for index in 0..<count { slot(index).pointee.head = Self.word(of: self.key(at: index), at: Int(prefixCount)) }
    }

    /// Writes an entry after the used bytes, in reserved memory, and returns the entry's offset.
    private func store(_ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> UInt32 {
        let offset = usedByteCount
        let start = memory + offset
        start.storeBytes(of: UInt16(key.count), as: UInt16.self)
        UnsafeMutableRawBufferPointer(start: start + Self.keyCountBytes, count: key.count).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(start: start + Self.keyCountBytes + key.count, count: value.count)
            .copyMemory(from: value)
        usedByteCount += Self.keyCountBytes + key.count + value.count
        return UInt32(offset)
    }

    /// Moves the present entries to new memory that has room for `needed` more bytes.
    private func makeRoom(_ needed: Int) {
        let total = liveByteCount + needed
        var size = Self.smallestPage
        while size < total { size *= 2 }
        if total <= Self.pageBytes, size > Self.capacityBytes / 2 { size = Self.pageBytes }
        if size > Self.pageBytes { size = (total + 1024 + 15) & ~15 }
        let (old, oldCapacity) = (memory, capacity)
        let oldSlots = (old + oldCapacity).assumingMemoryBound(to: Slot.self)
        (memory, capacity) = (.allocate(byteCount: size, alignment: 16), size)
        usedByteCount = 0
        for index in 0..<count {
            var slot = oldSlots[-1 - index]
            let start = old + Int(slot.offset)
            let byteCount = Self.keyCountBytes + Int(start.loadUnaligned(as: UInt16.self)) + Int(slot.valueCount)
            (memory + usedByteCount).copyMemory(from: start, byteCount: byteCount)
            slot.offset = UInt32(usedByteCount)
            self.slot(index).initialize(to: slot)
            usedByteCount += byteCount
        }
        old.deallocate()
    }
}
