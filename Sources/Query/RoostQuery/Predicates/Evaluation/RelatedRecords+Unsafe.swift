internal import RoostCore

/// Copies of records that predicates have reached through relationships.
///
/// A returned reader is valid until ``beginRecord()``, which may discard all copies.
final class RelatedRecords {
    /// The number of bytes above which ``beginRecord()`` discards the copies.
    private static let byteLimit = 8 << 20
    private static let countPerRead = 256

    private let graph: any ObjectGraph
    private let model: ManagedObjectModel
    private let places = RecordPlaces()
    private let memory = RowMemory()
    @exclusivity(unchecked) private var byteCount = 0
    private var batch: RecordBatch
    /// A reusable buffer for the keys to read.
    private var missing: [Int64] = []

    init(_ graph: any ObjectGraph, model: ManagedObjectModel) {
        self.graph = graph
        self.model = model
        batch = RecordBatch(model: model)
    }

    /// Discards all copies if they exceed the limit; no reader may be in use.
    func beginRecord() {
        guard byteCount > Self.byteLimit else { return }
        places.removeAll()
        memory.removeAll()
        byteCount = 0
    }

    func record(_ key: Int64, inHierarchyOf root: Int) throws(StoreError) -> RecordReader? {
        if let bytes = places.bytes(of: key, root: root) { return reader(bytes, key: key) }
        try load(CollectionOfOne(key), inHierarchyOf: root)
        return loadedRecord(key, inHierarchyOf: root)
    }

    /// Returns the record with the given key if it exists and was already read.
    func loadedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        places.bytes(of: key, root: root).flatMap { reader($0, key: key) }
    }

    /// Reads the records with the given keys that have not been read yet.
    func load(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) throws(StoreError) {
        var missing = missing
        self.missing = []
        missing.removeAll(keepingCapacity: true)
        defer { self.missing = missing }
        // Mark all keys as missing until their records are found.
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        for key in keys where places.insert(nothing, at: key, root: root) { missing.append(key) }
        for start in stride(from: 0, to: missing.count, by: Self.countPerRead) {
            batch.removeAll()
            do throws(StoreError) {
                let isWhole = missing.count <= Self.countPerRead
                try graph.read(
                    isWhole ? missing : Array(missing[start...].prefix(Self.countPerRead)), inHierarchyOf: root,
                    into: &batch)
            } catch {
                // Whether the remaining keys exist is unknown, so remove their marks. No memory is freed, because
                // records are in use.
                for key in missing[start...] { places.forget(key, root: root) }
                throw error
            }
            batch.forEachRecord { record in
                places.replace(memory.copy(record.bytes), at: record.key, root: root)
                byteCount += record.bytes.count
            }
        }
        byteCount += missing.count * 32
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        // Checks for cancellation, because one object may have any number of destinations.
        try FetchCancellation.check()
        try graph.appendDestinations(of: relationship, from: key, to: &keys)
    }

    private func reader(_ bytes: UnsafeRawBufferPointer, key: Int64) -> RecordReader? {
        // SAFETY: the bytes are a whole record, whose structure was checked. They do not move until
        // they are discarded, and `self` retains the model.
        bytes.isEmpty ? nil : RecordReader(unchecked: bytes, key: key, model: model)
    }
}

/// A hash table of record bytes by hierarchy and key.
final class RecordPlaces {
    private struct Place {
        var key: Int64 = 0
        /// The root of the key's hierarchy; −1 for a free place.
        var root: Int32 = -1
        /// The number of bytes; −1 after ``forget(_:root:)``.
        var count: Int32 = 0
        var address: UnsafeRawPointer?
    }

    // SAFETY of all methods below: `places` has `mask` + 1 initialized places, and every index is
    // taken modulo that number. At most half of the places are in use, so every search ends at a
    // free place. Exclusivity is not checked at run time, because no code is called that could access
    // the table.
    @exclusivity(unchecked) private var places: UnsafeMutablePointer<Place>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var usedCount = 0

    init() {
        mask = 63
        places = .allocate(capacity: 64)
        places.initialize(repeating: Place(), count: 64)
    }

    deinit { places.deallocate() }

    func bytes(of key: Int64, root: Int) -> UnsafeRawBufferPointer? {
        let place = places[position(of: key, root: root)]
        return place.root < 0 || place.count < 0
            ? nil : UnsafeRawBufferPointer(start: place.address, count: Int(place.count))
    }

    /// Inserts the bytes of a key; returns false, and changes nothing, if the key already has
    /// bytes.
    func insert(_ bytes: UnsafeRawBufferPointer, at key: Int64, root: Int) -> Bool {
        let position = position(of: key, root: root)
        let isNew = places[position].root < 0
        guard isNew || places[position].count < 0 else { return false }
        places[position] = Self.place(bytes, key: key, root: root)
        guard isNew else { return true }
        usedCount += 1
        if usedCount * 2 > mask { grow() }
        return true
    }

    /// Replaces the bytes of a key, if the key has a place.
    func replace(_ bytes: UnsafeRawBufferPointer, at key: Int64, root: Int) {
        let position = position(of: key, root: root)
        guard places[position].root >= 0 else { return }
        places[position] = Self.place(bytes, key: key, root: root)
    }

    /// Removes the bytes of a key.
    ///
    /// Its place stays in use, because a search for another key may have to pass it.
    func forget(_ key: Int64, root: Int) {
        let position = position(of: key, root: root)
        if places[position].root >= 0 { places[position].count = -1 }
    }

    /// Removes all keys and keeps the memory.
    func removeAll() {
        places.update(repeating: Place(), count: mask + 1)
        usedCount = 0
    }

    private static func place(_ bytes: UnsafeRawBufferPointer, key: Int64, root: Int) -> Place {
        // The sizes of records and the number of entities are limited, so both fit into 32 bits.
        Place(
            key: key, root: Int32(truncatingIfNeeded: root), count: Int32(truncatingIfNeeded: bytes.count),
            address: bytes.baseAddress)
    }

    /// Returns the position of a key, or the free position for it.
    private func position(of key: Int64, root: Int) -> Int {
        var bits = (UInt64(bitPattern: key) ^ UInt64(truncatingIfNeeded: root) << 48) &* 0x9E37_79B9_7F4A_7C15
        bits ^= bits >> 32
        var position = Int(truncatingIfNeeded: bits) & mask
        while places[position].root >= 0, places[position].key != key || Int(places[position].root) != root {
            position = (position + 1) & mask
        }
        return position
    }

    private func grow() {
        let (old, count) = (places, mask + 1)
        mask = 2 * count - 1
        places = .allocate(capacity: 2 * count)
        places.initialize(repeating: Place(), count: 2 * count)
        for index in 0..<count where old[index].root >= 0 {
            places[position(of: old[index].key, root: Int(old[index].root))] = old[index]
        }
        old.deallocate()
    }
}
