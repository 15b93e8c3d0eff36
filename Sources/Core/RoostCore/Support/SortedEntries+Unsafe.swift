internal import RoostSystem

/// Consecutive encoded entries that a sorter returns.
package struct EncodedEntries: Sendable {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }
    package var byteCount: Int { bytes.count }

    mutating func append(_ entry: UnsafeRawBufferPointer) { bytes.append(contentsOf: entry) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Calls `body` with each encoded entry; see ``EntryArena``.
    package func forEach(_ body: (_ entry: UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (buffer) throws(StoreError) in
            var offset = 0
            while let entry = EntryArena.entry(at: offset, in: buffer) {
                try body(entry)
                offset += entry.count
            }
        }
    }
}

/// A contiguous buffer of entries, which a sorter sorts in memory.
///
/// An entry is `[key length, 4][value length, 4][group, 1][key][value]`; the key length includes
/// the group. Entries are sorted by group, then key, then value.
package struct EntryArena: Sendable {
    /// The offset of an entry and the first 16 bytes of its key, enough for most comparisons.
    package struct Item: Sendable {
        package var high: UInt64
        package var low: UInt64
        package var offset: Int

        package init(high: UInt64, low: UInt64, offset: Int) {
            (self.high, self.low, self.offset) = (high, low, offset)
        }
    }

    /// The number of bytes before an entry's group and key.
    static let headerByteCount = 8

    private(set) var bytes: [UInt8] = []
    private(set) var items: [Item] = []

    package init() {}

    package var isEmpty: Bool { items.isEmpty }
    package var count: Int { items.count }
    package var byteCount: Int { bytes.count + items.count * MemoryLayout<Item>.stride }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        items.removeAll(keepingCapacity: true)
    }

    package mutating func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in group: UInt8) {
        let offset = bytes.count
        let lengths =
            UInt64(UInt32(truncatingIfNeeded: key.count + 1)) | UInt64(UInt32(truncatingIfNeeded: value.count)) << 32
        withUnsafeBytes(of: (lengths.littleEndian, group)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: value)
        let (high, low) = bytes.withUnsafeBytes { buffer in
            Self.prefix(
                of: UnsafeRawBufferPointer(rebasing: buffer[(offset + Self.headerByteCount)...].prefix(key.count + 1)))
        }
        items.append(Item(high: high, low: low, offset: offset))
    }

    /// Returns the first 16 bytes of a key as numbers that compare like the bytes.
    static func prefix(of key: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        (word(key, offset: 0), word(key, offset: 8))
    }

    /// Returns eight bytes as a big-endian number; bytes after the key's end are zero.
    private static func word(_ key: UnsafeRawBufferPointer, offset: Int) -> UInt64 {
        let count = key.count - offset
        // SAFETY: all bytes that are read are before the end of the key.
        if count >= 8 { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        guard count > 0 else { return 0 }
        // Loads the last eight bytes of the key, and shifts out the bytes before the offset.
        if key.count >= 8 {
            let last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
            return last << UInt64(64 - 8 * count)
        }
        var word: UInt64 = 0
        for index in offset..<key.count { word = word << 8 | UInt64(key[index]) }
        return word << UInt64(64 - 8 * count)
    }

    /// Sorts by the keys' first 16 bytes; entries that agree in these are compared as a whole.
    package mutating func sort() {
        items.sortByPrefix()
        bytes.withUnsafeBytes { buffer in
            var start = 0
            while start < items.count {
                var end = start + 1
                while end < items.count, items[end].low == items[start].low, items[end].high == items[start].high {
                    end += 1
                }
                if end - start > 1 { items[start..<end].sort { Self.precedes($0, right: $1, in: buffer) } }
                start = end
            }
        }
    }

    /// Whether `left` comes before `right`; both keys have the same first 16 bytes.
    private static func precedes(_ left: Item, right: Item, in buffer: UnsafeRawBufferPointer) -> Bool {
        guard let a = entry(at: left.offset, in: buffer), let b = entry(at: right.offset, in: buffer) else {
            return left.offset < right.offset
        }
        return order(a, b) < 0
    }

    package func forEach(
        _ body: (_ entry: UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (buffer) throws(StoreError) in
            for item in items {
                if let entry = Self.entry(at: item.offset, in: buffer) { try body(entry) }
            }
        }
    }

    func withEntry(
        at position: Int, _ body: (_ entry: UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (buffer) throws(StoreError) in
            if let entry = Self.entry(at: items[position].offset, in: buffer) { try body(entry) }
        }
    }

    // MARK: Encoded entries

    /// Returns the encoded entry at `offset`; nil if `buffer` does not contain the whole entry.
    static func entry(at offset: Int, in buffer: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard buffer.count - offset >= headerByteCount else { return nil }
        let keyCount = Int(UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        let valueCount = Int(UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)))
        let end = offset + headerByteCount + keyCount + valueCount
        guard keyCount >= 1, end <= buffer.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: buffer[offset..<end])
    }

    /// Returns the key of an encoded entry, starting with its group.
    package static func key(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let count = Int(UInt32(littleEndian: entry.loadUnaligned(as: UInt32.self)))
        return UnsafeRawBufferPointer(rebasing: entry[headerByteCount..<headerByteCount + count])
    }

    package static func value(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: entry[(headerByteCount + key(of: entry).count)...])
    }

    /// Compares two entries; the result is negative if `left` comes first, and 0 if they are equal.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let keys = bytewise(key(of: left), key(of: right))
        return keys != 0 ? keys : bytewise(value(of: left), value(of: right))
    }

    /// Compares bytes as unsigned numbers; a prefix comes before a longer sequence.
    static func bytewise(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let result = memcmp(a, b, common)
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }
}

extension [EntryArena.Item] {
    /// Sorts by the first 16 bytes of the keys, with a radix sort from the last byte to the first.
    ///
    /// The sort skips each byte position at which all keys are equal, usually most positions. Each
    /// other position takes O(*n*). The sort temporarily doubles the items' memory.
    package mutating func sortByPrefix() {
        guard count > 64 else {
            return sort { ($0.high, $0.low, $0.offset) < ($1.high, $1.low, $1.offset) }
        }
        var differing: (high: UInt64, low: UInt64) = (0, 0)
        for item in self {
            differing.high |= item.high ^ self[0].high
            differing.low |= item.low ^ self[0].low
        }
        var scratch = [Element](repeating: self[0], count: count)
        for digit in 0..<16 {
            let shift = UInt64(digit & 7) * 8
            let isLow = digit < 8
            guard (isLow ? differing.low : differing.high) >> shift & 0xFF != 0 else { continue }
            scratch.withUnsafeMutableBufferPointer { target in
                withUnsafeBufferPointer { source in
                    // SAFETY: a digit has 256 values, and each item is counted once, so every place
                    // is valid.
                    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
                        places.initialize(repeating: 0)
                        for item in source { places[Int((isLow ? item.low : item.high) >> shift & 0xFF)] += 1 }
                        var place = 0
                        for value in 0..<256 { (places[value], place) = (place, place + places[value]) }
                        for item in source {
                            let value = Int((isLow ? item.low : item.high) >> shift & 0xFF)
                            target[places[value]] = item
                            places[value] += 1
                        }
                    }
                }
            }
            swap(&self, &scratch)
        }
    }
}
