internal import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A storage key while it is built.
///
/// Its memory is used again for the next key.
///
/// All parts are big-endian, so that the order of the bytes is the order of the parts. FORMAT.md lists every key.
struct StorageKey: Sendable, Hashable {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(64) }

    /// A key that starts with the number of a hierarchy, relationship, constraint or index.
    init(number: Int) {
        self.init()
        append(number: number)
    }

    /// The key of a record.
    init(record key: Int64, root: Int) {
        self.init(number: root)
        append(key: key)
    }

    /// A key of these bytes.
    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    var count: Int { bytes.count }

    /// Starts again with the number of a hierarchy, relationship, constraint or index.
    mutating func start(number: Int) {
        bytes.removeAll(keepingCapacity: true)
        append(number: number)
    }

    /// Starts again with the key of a record.
    mutating func start(record key: Int64, root: Int) {
        start(number: root)
        append(key: key)
    }

    /// Adds two bytes.
    ///
    /// Models have fewer than 65 536 entities, relationships, constraints and indexes; see ``StorePlan``.
    mutating func append(number: Int) { append(UInt16(truncatingIfNeeded: number)) }

    /// Adds the key of an object, eight bytes.
    ///
    /// Keys are positive, so their bytes are in their order.
    mutating func append(key: Int64) { append(UInt64(bitPattern: key)) }

    /// Adds a place in an ordered relationship, eight bytes.
    ///
    /// The sign is turned, so that negative places come first.
    mutating func append(place: Int64) { append(UInt64(bitPattern: place) ^ 1 << 63) }

    mutating func append(_ word: UInt16) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(bytes more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Removes bytes at the end.
    mutating func truncate(to count: Int) {
        if count < bytes.count { bytes.removeLast(bytes.count - count) }
    }

    /// Runs `body` with the key's bytes.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try body(bytes) }
    }
}

/// The key of a record: the number of its hierarchy's root and its own, ten bytes that need no memory of their own.
///
/// The same bytes as `StorageKey(record:root:)`.
struct RecordKey: Sendable {
    static let byteCount = 10
    private let words: (UInt64, UInt64)

    init(_ key: Int64, root: Int) {
        let key = UInt64(bitPattern: key)
        words = ((UInt64(UInt16(truncatingIfNeeded: root)) << 48 | key >> 16).bigEndian, (key << 48).bigEndian)
    }

    /// Runs `body` with the key's bytes.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withUnsafeBytes(of: words) { (bytes) throws(StoreError) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<Self.byteCount]))
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The number at the start of a key; nil if the key is shorter.
    var keyNumber: Int? {
        guard count >= 2 else { return nil }
        return Int(UInt16(bigEndian: loadUnaligned(as: UInt16.self)))
    }

    /// The object key that starts at `offset`; nil if the bytes end before it does.
    func objectKey(at offset: Int) -> Int64? {
        guard offset >= 0, count >= 8, offset <= count - 8 else { return nil }
        return Int64(bitPattern: UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    /// The place that starts at `offset`; nil if the bytes end before it does.
    func place(at offset: Int) -> Int64? {
        objectKey(at: offset).map { Int64(bitPattern: UInt64(bitPattern: $0) ^ 1 << 63) }
    }

    /// The little-endian number of eight bytes at `offset`; nil if the bytes end before it does.
    func littleEndian64(at offset: Int) -> UInt64? {
        objectKey(at: offset).map { UInt64(bitPattern: $0).byteSwapped }
    }

    /// Whether the bytes begin with those of `prefix`.
    func begins(with prefix: [UInt8]) -> Bool {
        guard count >= prefix.count else { return false }
        return prefix.span.bytes.withUnsafeBytes { prefix in
            guard let start = baseAddress, let expected = prefix.baseAddress else { return true }
            return memcmp(start, expected, prefix.count) == 0
        }
    }
}

extension UInt64 {
    /// The number's bytes, least significant first.
    var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
