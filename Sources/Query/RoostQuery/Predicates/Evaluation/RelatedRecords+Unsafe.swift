internal import RoostCore

/// Copies of the records that predicates have met through relationships, so that each is read once for many that lead to it.
///
/// A reader stays valid until ``beginRecord()``, which forgets everything once it is more than the limit.
final class RelatedRecords {
    /// The bytes after which everything is forgotten before the next record.
    private static let byteLimit = 8 << 20
    /// How many records are read at once.
    private static let countPerRead = 256

    private let graph: any ObjectGraph
    private let model: ManagedObjectModel
    private let places = RecordPlaces()
    private let memory = RowMemory()
    @exclusivity(unchecked) private var byteCount = 0
    private var batch: RecordBatch
    /// The keys that are to be read; its memory is kept.
    private var missing: [Int64] = []

    init(_ graph: any ObjectGraph, model: ManagedObjectModel) {
        self.graph = graph
        self.model = model
        batch = RecordBatch(model: model)
    }

    /// Says that no reader is in use any more.
    func beginRecord() {
        guard byteCount > Self.byteLimit else { return }
        places.removeAll()
        memory.removeAll()
        byteCount = 0
    }

    /// The record with this key; nil where there is none.
    func record(_ key: Int64, inHierarchyOf root: Int) throws(StoreError) -> RecordReader? {
        if let bytes = places.bytes(of: key, root) { return reader(bytes, key) }
        try load(CollectionOfOne(key), inHierarchyOf: root)
        return loadedRecord(key, inHierarchyOf: root)
    }

    /// The record with this key if it was read before; nil where there is none.
    func loadedRecord(_ key: Int64, inHierarchyOf root: Int) -> RecordReader? {
        places.bytes(of: key, root).flatMap { reader($0, key) }
    }

    /// Reads the records with these keys, as far as they are not here.
    func load(_ keys: some Sequence<Int64>, inHierarchyOf root: Int) throws(StoreError) {
        var missing = missing
        self.missing = []
        missing.removeAll(keepingCapacity: true)
        defer { self.missing = missing }
        // Nothing is there, until it is found.
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        for key in keys where places.insert(nothing, at: key, root) { missing.append(key) }
        for start in stride(from: 0, to: missing.count, by: Self.countPerRead) {
            batch.removeAll()
            do throws(StoreError) {
                let isWhole = missing.count <= Self.countPerRead
                try graph.read(
                    isWhole ? missing : Array(missing[start...].prefix(Self.countPerRead)), inHierarchyOf: root,
                    into: &batch)
            } catch {
                // What was not read is not known to be missing. Nothing is freed: records are being looked at.
                for key in missing[start...] { places.forget(key, root) }
                throw error
            }
            batch.forEachRecord { record in
                places.replace(memory.copy(record.bytes), at: record.key, root)
                byteCount += record.bytes.count
            }
        }
        byteCount += missing.count * 32
    }

    /// Appends the keys of the objects that a to-many relationship leads to.
    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        // One object may lead to as many as there are.
        try FetchCancellation.check()
        try graph.appendDestinations(of: relationship, from: key, to: &keys)
    }

    private func reader(_ bytes: UnsafeRawBufferPointer, _ key: Int64) -> RecordReader? {
        // SAFETY: the bytes are those of a whole record of a batch, whose structure was checked; they stay where they are until they
        // are forgotten, and the model is held here.
        bytes.isEmpty ? nil : RecordReader(unchecked: bytes, key: key, model: model)
    }
}

/// Bytes by hierarchy and key: a table of fixed places, because it is asked for every object of every relationship.
final class RecordPlaces {
    private struct Place {
        var key: Int64 = 0
        /// −1 where nothing was inserted.
        var root: Int32 = -1
        /// −1 where it was forgotten.
        var count: Int32 = 0
        var address: UnsafeRawPointer?
    }

    // SAFETY of all below: `places` has `mask` + 1 initialised places, and every position is taken modulo their number. At most half of
    // them are in use, so that every search ends at one that is not.
    // Exclusivity is not checked at run time: nothing is called that could come back here.
    @exclusivity(unchecked) private var places: UnsafeMutablePointer<Place>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var usedCount = 0

    init() {
        mask = 63
        places = .allocate(capacity: 64)
        places.initialize(repeating: Place(), count: 64)
    }

    deinit { places.deallocate() }

    /// The bytes; nil where nothing was inserted.
    func bytes(of key: Int64, _ root: Int) -> UnsafeRawBufferPointer? {
        let place = places[position(of: key, root)]
        return place.root < 0 || place.count < 0
            ? nil : UnsafeRawBufferPointer(start: place.address, count: Int(place.count))
    }

    /// Adds bytes; false, and nothing happens, where there are some.
    func insert(_ bytes: UnsafeRawBufferPointer, at key: Int64, _ root: Int) -> Bool {
        let position = position(of: key, root)
        let isNew = places[position].root < 0
        guard isNew || places[position].count < 0 else { return false }
        places[position] = Self.place(bytes, key, root)
        guard isNew else { return true }
        usedCount += 1
        if usedCount * 2 > mask { grow() }
        return true
    }

    /// Puts bytes in the place of those that are there.
    func replace(_ bytes: UnsafeRawBufferPointer, at key: Int64, _ root: Int) {
        let position = position(of: key, root)
        guard places[position].root >= 0 else { return }
        places[position] = Self.place(bytes, key, root)
    }

    /// Makes a key one that nothing was inserted at; its place stays taken, because the search for others passes it.
    func forget(_ key: Int64, _ root: Int) {
        let position = position(of: key, root)
        if places[position].root >= 0 { places[position].count = -1 }
    }

    /// Takes everything out and keeps the memory.
    func removeAll() {
        places.update(repeating: Place(), count: mask + 1)
        usedCount = 0
    }

    private static func place(_ bytes: UnsafeRawBufferPointer, _ key: Int64, _ root: Int) -> Place {
        // No record has more bytes than RecordLayout.maximumByteCount, and no model more entities.
        Place(
            key: key, root: Int32(truncatingIfNeeded: root), count: Int32(truncatingIfNeeded: bytes.count),
            address: bytes.baseAddress)
    }

    /// Where a key is, or where it would be inserted.
    private func position(of key: Int64, _ root: Int) -> Int {
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
            places[position(of: old[index].key, Int(old[index].root))] = old[index]
        }
        old.deallocate()
    }
}
