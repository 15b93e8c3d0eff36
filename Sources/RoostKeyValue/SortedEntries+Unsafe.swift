internal import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Entries of several spaces in one piece of memory.
///
/// The unit in which the sorter takes and gives.
///
/// An entry is `[key length, 4][value length, 4][position of the space, 1][key][value]`; the key length counts the position. Sorted by
/// space, then key, then value.
struct EntryArena: Sendable {
    /// Where an entry is, and the first sixteen bytes of its key, so that most comparisons need not look there.
    struct Item: Sendable {
        var high: UInt64
        var low: UInt64
        var offset: Int
    }

    /// The bytes before an entry's key.
    static let headerByteCount = 8
    /// The longest value; what is collected here has eight bytes or none.
    static let maximumValueByteCount = 1 << 16

    private(set) var bytes: [UInt8] = []
    private(set) var items: [Item] = []

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }
    /// The memory the entries take.
    var byteCount: Int { bytes.count + items.count * MemoryLayout<Item>.stride }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        items.removeAll(keepingCapacity: true)
    }

    /// Adds an entry.
    mutating func append(_ key: StorageKey, _ value: UnsafeRawBufferPointer, in space: KeySpace) {
        let offset = bytes.count
        append(UInt32(truncatingIfNeeded: key.count + 1))
        append(UInt32(truncatingIfNeeded: value.count))
        bytes.append(UInt8(truncatingIfNeeded: space.position))
        bytes.append(contentsOf: key.bytes)
        bytes.append(contentsOf: value)
        note(offset)
    }

    /// Adds an entry in its encoded form.
    mutating func append(encoded entry: UnsafeRawBufferPointer) {
        let offset = bytes.count
        bytes.append(contentsOf: entry)
        note(offset)
    }

    private mutating func append(_ word: UInt32) {
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func note(_ offset: Int) {
        let (high, low) = bytes.withUnsafeBytes { buffer in
            let entry = Self.entry(at: offset, in: buffer)
            let key = entry.map { Self.key(of: $0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
            return Self.prefix(of: key)
        }
        items.append(Item(high: high, low: low, offset: offset))
    }

    /// The first sixteen bytes of a key as numbers that order like them.
    static func prefix(of key: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) { (word(key, 0), word(key, 8)) }

    /// Eight bytes of a key as a number that orders like them; zeros behind the end.
    private static func word(_ key: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        if key.count >= offset + 8 {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        for index in offset..<offset + 8 { word = word << 8 | (index < key.count ? UInt64(key[index]) : 0) }
        return word
    }

    /// Puts the entries into their order.
    mutating func sort() {
        bytes.withUnsafeBytes { buffer in
            items.sort { left, right in
                if left.high != right.high { return left.high < right.high }
                if left.low != right.low { return left.low < right.low }
                guard let a = Self.entry(at: left.offset, in: buffer), let b = Self.entry(at: right.offset, in: buffer)
                else { return left.offset < right.offset }
                return Self.order(a, b) < 0
            }
        }
    }

    /// Calls `body` for each entry in the present order.
    func forEach(
        _ body: (_ entry: UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (buffer) throws(StoreError) in
            for item in items {
                if let entry = Self.entry(at: item.offset, in: buffer) { try body(entry) }
            }
        }
    }

    /// Calls `body` with the space and the key of each entry in the present order.
    func forEachKey(
        _ body: (_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        try forEach { (entry) throws(StoreError) in
            let key = Self.key(of: entry)
            guard let space = KeySpace(position: Int(key[0])) else { return }
            try body(space, UnsafeRawBufferPointer(rebasing: key.dropFirst()))
        }
    }

    // MARK: Encoded entries

    /// The encoded entry that starts at `offset`; nil if `buffer` does not hold all of it.
    static func entry(at offset: Int, in buffer: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard buffer.count - offset >= headerByteCount else { return nil }
        let keyCount = Int(UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        let valueCount = Int(UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)))
        let end = offset + headerByteCount + keyCount + valueCount
        guard keyCount >= 1, end <= buffer.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: buffer[offset..<end])
    }

    /// The key of an encoded entry, beginning with the position of its space.
    static func key(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let count = Int(UInt32(littleEndian: entry.loadUnaligned(as: UInt32.self)))
        return UnsafeRawBufferPointer(rebasing: entry[headerByteCount..<headerByteCount + count])
    }

    /// The value of an encoded entry.
    static func value(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: entry[(headerByteCount + key(of: entry).count)...])
    }

    /// Negative, zero or positive as `left` comes before, equals or comes after `right`.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let keys = bytewise(key(of: left), key(of: right))
        return keys != 0 ? keys : bytewise(value(of: left), value(of: right))
    }

    /// Compares bytes as unsigned numbers, a prefix before what it is a prefix of.
    static func bytewise(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let result = memcmp(a, b, common)
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }
}

extension KeySpace {
    private static let byPosition = allCases.sorted { $0.position < $1.position }

    /// The space at this position.
    init?(position: Int) {
        guard Self.byPosition.indices.contains(position) else { return nil }
        self = Self.byPosition[position]
    }
}

extension UnsafeRawBufferPointer {
    /// No bytes.
    static var none: Self { Self(start: nil, count: 0) }
}
