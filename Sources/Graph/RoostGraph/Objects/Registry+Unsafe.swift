internal import RoostCore

/// A table of a context's objects by root entity and key, which does not keep the objects alive.
///
/// The table uses open addressing. A slot consists of a tag of 4 bytes and a pointer of 8 bytes.
/// The tag contains the hash, so growing does not access the objects. A growing table takes 18 to
/// 29 bytes for each object.
///
/// SAFETY: an object is removed from the registry in its `deinit`, or earlier when it leaves its
/// context. So every pointer in the registry refers to a living object.
struct Registry: ~Copyable {
    private var tags: UnsafeMutablePointer<UInt32>
    private var objects: UnsafeMutablePointer<Unmanaged<ManagedObject>?>
    /// The number of slots: a multiple of 16.
    private var capacity = 64
    private(set) var count = 0
    /// The number of used slots, including those of removed objects.
    private var usedCount = 0

    init() {
        tags = .allocate(capacity: capacity)
        tags.initialize(repeating: 0, count: capacity)
        objects = .allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
    }

    deinit {
        tags.deallocate()
        objects.deallocate()
    }

    /// Returns the hash of a root and a key, which is also the tag.
    ///
    /// The tags of consecutive keys are mostly in the same cache line.
    @inline(__always)
    private static func hash(_ root: Int, key: Int64) -> UInt32 {
        let bits = UInt64(bitPattern: key)
        var hash = (bits &>> 4) &+ UInt64(truncatingIfNeeded: root) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash &>> 32
        hash = hash &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash &>> 32
        return UInt32(truncatingIfNeeded: (hash & ~15) | (bits & 15)) | 0x8000_0000
    }

    /// Returns the slot at which the search for a tag starts.
    @inline(__always)
    private func slot(of tag: UInt32) -> Int {
        // Bits 4 to 30 of the tag, scaled to the capacity, select a group of 16 slots.
        let group = (UInt64(tag & 0x7FFF_FFF0) &* UInt64(truncatingIfNeeded: capacity)) &>> 31
        return Int(truncatingIfNeeded: group & ~15 | UInt64(tag & 15))
    }

    @inline(__always)
    private func slot(after slot: Int) -> Int { slot &+ 1 == capacity ? 0 : slot &+ 1 }

    @inline(__always)
    private func slot(before slot: Int) -> Int { slot == 0 ? capacity &- 1 : slot &- 1 }

    @inline(__always)
    func find(_ root: Int, key: Int64) -> ManagedObject? {
        let tag = Self.hash(root, key: key)
        var slot = slot(of: tag)
        while tags[slot] != 0 {
            if tags[slot] == tag, let object = objects[slot],
                object._withUnsafeGuaranteedRef({ $0.key == key && $0.root == root })
            {
                return object.takeUnretainedValue()
            }
            slot = self.slot(after: slot)
        }
        return nil
    }

    /// Adds an object that is not in the registry.
    @inline(__always)
    mutating func insert(_ object: ManagedObject, root: Int) {
        if usedCount * 3 >= capacity * 2 { grow() }
        place(Unmanaged.passUnretained(object), tag: Self.hash(root, key: object.key))
        count += 1
    }

    private mutating func place(_ object: Unmanaged<ManagedObject>, tag: UInt32) {
        var slot = slot(of: tag)
        // A removed object's slot can be reused, because no later slot contains the new object.
        while tags[slot] != 0, objects[slot] != nil { slot = self.slot(after: slot) }
        if tags[slot] == 0 { usedCount += 1 }
        tags[slot] = tag
        objects[slot] = object
    }

    mutating func remove(_ object: ManagedObject, root: Int) {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        var slot = slot(of: Self.hash(root, key: object.key))
        while tags[slot] != 0 {
            if let found = objects[slot], found.toOpaque() == pointer {
                objects[slot] = nil
                count -= 1
                free(slot)
                return
            }
            slot = self.slot(after: slot)
        }
    }

    /// Frees the slots of removed objects at the end of a run of used slots.
    ///
    /// Short runs make searches fast.
    private mutating func free(_ slot: Int) {
        guard tags[self.slot(after: slot)] == 0 else { return }
        var slot = slot
        while tags[slot] != 0, objects[slot] == nil {
            tags[slot] = 0
            usedCount -= 1
            slot = self.slot(before: slot)
        }
    }

    private mutating func grow() {
        let (oldTags, oldObjects, oldCapacity) = (tags, objects, capacity)
        // Slots of removed objects are not copied, so the old capacity may suffice.
        if count * 8 >= capacity * 5 { capacity = (capacity * 3 / 2 + 15) & ~15 }
        tags = .allocate(capacity: capacity)
        tags.initialize(repeating: 0, count: capacity)
        objects = .allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
        usedCount = 0
        for slot in 0..<oldCapacity {
            if let object = oldObjects[slot] { place(object, tag: oldTags[slot]) }
        }
        oldTags.deallocate()
        oldObjects.deallocate()
    }

    func all() -> [ManagedObject] {
        (0..<capacity).compactMap { objects[$0]?.takeUnretainedValue() }
    }

    mutating func removeAll() {
        tags.update(repeating: 0, count: capacity)
        objects.update(repeating: nil, count: capacity)
        (count, usedCount) = (0, 0)
    }
}
