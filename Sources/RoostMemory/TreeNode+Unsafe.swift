internal import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A page of a tree: sorted entries, their bytes in one piece of memory, and, unless it is a leaf, a child for each.
///
/// A page belongs to the transaction that made it. Only that one may change it; to every other it is immutable, and whoever
/// wants to change it makes a copy. So pages are shared between any number of snapshots without locks.
final class TreeNode: @unchecked Sendable {
    // Proof of Sendable: a node is changed only by the transaction whose number it carries, which runs on one thread at a time and
    // hands the node to other threads only by publishing its root under the lock of `MemoryContents`, after its last change.
    // Later transactions have other numbers.

    /// One entry: where its bytes are, the key first, then the value.
    struct Slot {
        var offset: Int
        var keyCount: UInt32
        var valueCount: UInt32

        var byteCount: Int { Int(keyCount) + Int(valueCount) }
    }

    /// The bytes after which a page is split.
    static let capacityBytes = 8192
    /// The memory of a page that is to be filled: room for the entry that makes it too large.
    static let pageBytes = capacityBytes + 1024
    /// The children after which an inner page is split.
    static let capacityChildren = 64

    let transaction: UInt64
    private(set) var slots: [Slot] = []
    /// Empty in a leaf; else one per slot, whose key is not after any key below the child.
    private(set) var children: [TreeNode] = []
    let isLeaf: Bool
    private var memory: UnsafeMutableRawBufferPointer
    private var usedByteCount = 0
    /// The bytes of present entries; the rest of what is used is left over from removed ones.
    private(set) var liveByteCount = 0

    init(transaction: UInt64, isLeaf: Bool, capacity: Int = 256) {
        self.transaction = transaction
        self.isLeaf = isLeaf
        memory = .allocate(byteCount: max(16, capacity), alignment: 8)
    }

    deinit { memory.deallocate() }

    var count: Int { slots.count }
    /// Whether the page is too large.
    ///
    /// One entry alone is never too much.
    var isOverfull: Bool { count > 1 && (liveByteCount > Self.capacityBytes || children.count > Self.capacityChildren) }
    /// Whether a leaf that is not empty can take an entry of this size without becoming too large.
    func hasRoom(for byteCount: Int) -> Bool { count > 0 && liveByteCount + byteCount <= Self.capacityBytes }
    /// Whether the page is worth merging with a neighbour.
    var isUnderfull: Bool { liveByteCount < Self.capacityBytes / 4 && children.count < Self.capacityChildren / 4 }
    /// The memory the page takes.
    var byteCount: Int {
        memory.count + slots.capacity * MemoryLayout<Slot>.stride + children.capacity * MemoryLayout<TreeNode>.stride
    }

    // MARK: Reading

    /// The key of an entry.
    ///
    /// Valid until the node changes or goes.
    func key(at index: Int) -> UnsafeRawBufferPointer {
        let slot = slots[index]
        return UnsafeRawBufferPointer(rebasing: memory[slot.offset..<slot.offset + Int(slot.keyCount)])
    }

    /// The value of an entry.
    ///
    /// Valid until the node changes or goes.
    func value(at index: Int) -> UnsafeRawBufferPointer {
        let slot = slots[index]
        let start = slot.offset + Int(slot.keyCount)
        return UnsafeRawBufferPointer(rebasing: memory[start..<start + Int(slot.valueCount)])
    }

    /// Key and value of an entry.
    ///
    /// Valid until the node changes or goes.
    func entry(at index: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let slot = slots[index]
        let middle = slot.offset + Int(slot.keyCount)
        let memory = UnsafeRawBufferPointer(memory)
        return (
            UnsafeRawBufferPointer(rebasing: memory[slot.offset..<middle]),
            UnsafeRawBufferPointer(rebasing: memory[middle..<middle + Int(slot.valueCount)])
        )
    }

    /// The position of the first entry whose key is not before `key`, and whether it is that key.
    func position(of key: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
        // The array and the memory are reached once, not at every step.
        let memory = UnsafeRawBufferPointer(memory)
        return slots.withUnsafeBufferPointer { slots in
            var (low, high) = (0, slots.count)
            while low < high {
                let middle = (low + high) / 2
                let slot = slots[middle]
                let candidate = UnsafeRawBufferPointer(
                    rebasing: memory[slot.offset..<slot.offset + Int(slot.keyCount)])
                let order = Self.order(candidate, key)
                if order == 0 { return (middle, true) }
                if order < 0 { low = middle + 1 } else { high = middle }
            }
            return (low, false)
        }
    }

    /// The position of the child that may hold `key`.
    func childPosition(of key: UnsafeRawBufferPointer) -> Int {
        let (index, isFound) = position(of: key)
        return isFound ? index : max(0, index - 1)
    }

    /// Compares bytes as unsigned numbers, a prefix before what it is a prefix of.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let result = memcmp(a, b, common)
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }

    // MARK: Changing; only by the transaction that made the node

    /// A copy that `transaction` may change, without what was left over.
    func copy(for transaction: UInt64) -> TreeNode {
        let node = TreeNode(
            transaction: transaction, isLeaf: isLeaf, capacity: liveByteCount + 1024)
        node.slots.reserveCapacity(count + 1)
        node.appendEntries(of: self, 0..<count)
        return node
    }

    /// Adds entries of another node, with their children, at the end.
    func appendEntries(of other: TreeNode, _ range: Range<Int>) {
        for index in range {
            insert(other.key(at: index), other.value(at: index), at: count, child: isLeaf ? nil : other.children[index])
        }
    }

    /// Inserts an entry before the one at `index`.
    ///
    /// The bytes may be those of another node, not of this one.
    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, at index: Int, child: TreeNode? = nil) {
        let offset = store(key, value)
        slots.insert(
            Slot(offset: offset, keyCount: UInt32(key.count), valueCount: UInt32(value.count)), at: index)
        if let child { children.insert(child, at: index) }
    }

    /// Replaces the value of the entry at `index`.
    func replaceValue(at index: Int, _ value: UnsafeRawBufferPointer) {
        let slot = slots[index]
        if Int(slot.valueCount) == value.count {
            let start = slot.offset + Int(slot.keyCount)
            UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + value.count]).copyMemory(from: value)
            return
        }
        let key = Array(key(at: index))
        remove(at: index, keepingChild: true)
        key.withUnsafeBytes { insert($0, value, at: index) }
    }

    /// Removes the entry at `index`, and its child.
    func remove(at index: Int) { remove(at: index, keepingChild: false) }

    private func remove(at index: Int, keepingChild: Bool) {
        liveByteCount -= slots[index].byteCount
        slots.remove(at: index)
        if !isLeaf, !keepingChild { children.remove(at: index) }
    }

    /// Removes the entries from `index` on, and their children.
    func truncate(to index: Int) {
        for slot in slots[index...] { liveByteCount -= slot.byteCount }
        slots.removeLast(count - index)
        if !isLeaf { children.removeLast(children.count - index) }
    }

    func setChild(_ child: TreeNode, at index: Int) { children[index] = child }

    /// Copies key and value behind what is used.
    ///
    /// Returns where they are.
    private func store(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int {
        let needed = key.count + value.count
        if usedByteCount + needed > memory.count { makeRoom(needed) }
        let offset = usedByteCount
        UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + key.count]).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: memory[offset + key.count..<offset + needed]).copyMemory(from: value)
        usedByteCount += needed
        liveByteCount += needed
        return offset
    }

    /// Moves the present entries to larger memory, or to the same amount when much is left over.
    private func makeRoom(_ needed: Int) {
        let total = liveByteCount + needed
        var size = total + 1024
        if total <= Self.capacityBytes {
            size = 256
            while size < total { size *= 2 }
            if size >= Self.capacityBytes / 2 { size = Self.pageBytes }
        }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        var end = 0
        for index in slots.indices {
            let slot = slots[index]
            let bytes = UnsafeRawBufferPointer(rebasing: memory[slot.offset..<slot.offset + slot.byteCount])
            UnsafeMutableRawBufferPointer(rebasing: larger[end..<end + slot.byteCount]).copyMemory(from: bytes)
            slots[index].offset = end
            end += slot.byteCount
        }
        memory.deallocate()
        memory = larger
        usedByteCount = end
    }
}
