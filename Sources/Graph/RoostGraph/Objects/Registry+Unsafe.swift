internal import RoostCore

/// The objects of a context by root entity and key, without keeping them alive.
///
/// Open addressing; a slot is a tag of 4 bytes and a pointer of 8. The tag has the hash, so growing
/// touches no object.
///
/// SAFETY: an object leaves the registry in its `deinit`, or when its context ends before it. So
/// every pointer in it is to a living object.
struct Registry: ~Copyable {
    private var tags: UnsafeMutablePointer<UInt32>
    private var objects: UnsafeMutablePointer<Unmanaged<ManagedObject>?>
    private var capacity = 64
    /// The number of objects.
    private(set) var count = 0
    /// The number of slots that are taken or were taken by an object that is removed.
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

    /// Keys that follow each other share a cache line of tags.
    @inline(__always)
    private static func hash(_ root: Int, _ key: Int64) -> UInt32 {
        let bits = UInt64(bitPattern: key)
        var hash = (bits &>> 4) &+ UInt64(truncatingIfNeeded: root) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash &>> 32
        hash = hash &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash &>> 32
        return UInt32(truncatingIfNeeded: (hash & ~15) | (bits & 15)) | 0x8000_0000
    }

    /// Returns the object, or nil.
    @inline(__always)
    func find(_ root: Int, _ key: Int64) -> ManagedObject? {
        let tag = Self.hash(root, key)
        var slot = Int(tag & 0x7FFF_FFFF) & (capacity - 1)
        while tags[slot] != 0 {
            if tags[slot] == tag, let object = objects[slot],
                object._withUnsafeGuaranteedRef({ $0.key == key && $0.root == root })
            {
                return object.takeUnretainedValue()
            }
            slot = (slot + 1) & (capacity - 1)
        }
        return nil
    }

    /// Adds an object that is not in the registry.
    @inline(__always)
    mutating func insert(_ object: ManagedObject, _ root: Int) {
        if usedCount * 4 >= capacity * 3 { grow() }
        place(Unmanaged.passUnretained(object), Self.hash(root, object.key))
        count += 1
    }

    private mutating func place(_ object: Unmanaged<ManagedObject>, _ tag: UInt32) {
        var slot = Int(tag & 0x7FFF_FFFF) & (capacity - 1)
        // The slot of a removed object can be taken, because the new one is not in the registry.
        while tags[slot] != 0, objects[slot] != nil { slot = (slot + 1) & (capacity - 1) }
        if tags[slot] == 0 { usedCount += 1 }
        tags[slot] = tag
        objects[slot] = object
    }

    /// Removes an object, if it is in the registry.
    mutating func remove(_ object: ManagedObject, _ root: Int) {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        var slot = Int(Self.hash(root, object.key) & 0x7FFF_FFFF) & (capacity - 1)
        while tags[slot] != 0 {
            if let found = objects[slot], found.toOpaque() == pointer {
                objects[slot] = nil
                count -= 1
                free(slot)
                return
            }
            slot = (slot + 1) & (capacity - 1)
        }
    }

    /// Frees the slots of removed objects at the end of a run of taken slots, so that runs stay short.
    private mutating func free(_ slot: Int) {
        guard tags[(slot + 1) & (capacity - 1)] == 0 else { return }
        var slot = slot
        while tags[slot] != 0, objects[slot] == nil {
            tags[slot] = 0
            usedCount -= 1
            slot = (slot - 1) & (capacity - 1)
        }
    }

    private mutating func grow() {
        let (oldTags, oldObjects, oldCapacity) = (tags, objects, capacity)
        // Slots of removed objects are not taken along, so the capacity may stay.
        while count * 2 >= capacity { capacity *= 2 }
        tags = .allocate(capacity: capacity)
        tags.initialize(repeating: 0, count: capacity)
        objects = .allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
        usedCount = 0
        for slot in 0..<oldCapacity {
            if let object = oldObjects[slot] { place(object, oldTags[slot]) }
        }
        oldTags.deallocate()
        oldObjects.deallocate()
    }

    /// Returns all objects.
    func all() -> [ManagedObject] {
        (0..<capacity).compactMap { objects[$0]?.takeUnretainedValue() }
    }

    /// Removes all objects.
    mutating func removeAll() {
        tags.update(repeating: 0, count: capacity)
        objects.update(repeating: nil, count: capacity)
        (count, usedCount) = (0, 0)
    }
}
