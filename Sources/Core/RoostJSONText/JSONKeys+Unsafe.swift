internal import CXXHash
internal import RoostSystem

/// The keys of all open objects, for finding duplicate keys.
///
/// One table contains the keys of all these objects. The innermost object ends first, so the keys
/// that were added last are removed first. The random seed of the hashes prevents crafted
/// collisions.
struct JSONKeyStack {
    private struct Entry {
        var hash: UInt64
        var offset: Int
        var slot: Int
    }

    private static let seed = UInt64.random(in: 0...UInt64.max)
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// The counts of `entries` and `bytes` at the start of each open object.
    private var frames: [(entries: Int, bytes: Int)] = []
    /// A hash table of indexes into `entries`; −1 in a free slot.
    private var slots: [Int32] = []

    mutating func push() { frames.append((entries.count, bytes.count)) }

    mutating func pop() {
        guard let frame = frames.popLast() else { return }
        while entries.count > frame.entries, let entry = entries.popLast() { slots[entry.slot] = -1 }
        bytes.removeLast(bytes.count - frame.bytes)
    }

    /// Adds a key to the innermost object; returns false if the object already has the key.
    mutating func insert(_ key: UnsafeRawBufferPointer) -> Bool {
        if entries.count * 2 >= slots.count { grow() }
        let hash = XXH3_64bits_withSeed(key.baseAddress, key.count, Self.seed)
        let mask = slots.count - 1
        let first = frames.last?.entries ?? 0
        var slot = Int(truncatingIfNeeded: hash >> 20) & mask
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if index >= first, entries[index].hash == hash, isEqual(index, key: key) { return false }
            slot = (slot + 1) & mask
        }
        slots[slot] = Int32(truncatingIfNeeded: entries.count)
        entries.append(Entry(hash: hash, offset: bytes.count, slot: slot))
        bytes.append(contentsOf: key)
        return true
    }

    private func isEqual(_ index: Int, key: UnsafeRawBufferPointer) -> Bool {
        let start = entries[index].offset
        let end = index + 1 < entries.count ? entries[index + 1].offset : bytes.count
        return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[start..<end]).hasSameBytes(as: key) }
    }

    private mutating func grow() {
        slots = [Int32](repeating: -1, count: max(256, slots.count * 2))
        let mask = slots.count - 1
        for index in entries.indices {
            var slot = Int(truncatingIfNeeded: entries[index].hash >> 20) & mask
            while slots[slot] >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(truncatingIfNeeded: index)
            entries[index].slot = slot
        }
    }
}

/// A table of known names, for looking up a key's bytes without creating a string.
package final class JSONNameTable: Sendable {
    package let names: [String]
    /// The bytes of all names, and the end of each name.
    private let bytes: [UInt8]
    private let ends: [Int]
    private let slots: [Int32]

    /// Creates a table in which the index of a name is its first position in `names`.
    package init(_ names: [String]) {
        self.names = names
        var bytes: [UInt8] = []
        var ends: [Int] = []
        var count = 8
        while count < names.count * 4 { count *= 2 }
        var slots = [Int32](repeating: -1, count: count)
        for (index, name) in names.enumerated() {
            let name = Array(name.utf8)
            bytes.append(contentsOf: name)
            ends.append(bytes.count)
            var slot = name.withUnsafeBytes { Self.slot(of: $0, mask: count - 1) }
            while slots[slot] >= 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: index)
        }
        self.bytes = bytes
        self.ends = ends
        self.slots = slots
    }

    /// Whether the name at `index` has the given bytes; false if no name has this index.
    package func holds(_ name: UnsafeRawBufferPointer, at index: Int) -> Bool {
        guard index >= 0, index < ends.count else { return false }
        let (start, end) = (index == 0 ? 0 : ends[index - 1], ends[index])
        return end - start == name.count
            && bytes.withUnsafeBytes({ UnsafeRawBufferPointer(rebasing: $0[start..<end]).hasSameBytes(as: name) })
    }

    package func index(of name: UnsafeRawBufferPointer) -> Int? {
        let mask = slots.count - 1
        var slot = Self.slot(of: name, mask: mask)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            let (start, end) = (index == 0 ? 0 : ends[index - 1], ends[index])
            if end - start == name.count,
                bytes.withUnsafeBytes({ UnsafeRawBufferPointer(rebasing: $0[start..<end]).hasSameBytes(as: name) })
            {
                return index
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private static func slot(of name: UnsafeRawBufferPointer, mask: Int) -> Int {
        Int(truncatingIfNeeded: XXH3_64bits(name.baseAddress, name.count) >> 20) & mask
    }
}

extension UnsafeRawBufferPointer {
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count > 0, let left = baseAddress, let right = other.baseAddress else { return true }
        // SAFETY: both buffers have `count` bytes.
        return memcmp(left, right, count) == 0
    }
}
