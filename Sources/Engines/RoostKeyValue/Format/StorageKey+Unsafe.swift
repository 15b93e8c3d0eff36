internal import RoostCore
internal import RoostSystem

/// A storage key under construction, with reusable memory.
///
/// Comparing keys byte by byte gives the same order as comparing them part by part, although parts
/// have different lengths. FORMAT.md lists all keys.
struct StorageKey: Sendable, Hashable {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(64) }

    /// Creates a key that starts with the number of a hierarchy, relationship, constraint or index.
    init(number: Int) {
        self.init()
        append(number: number)
    }

    init(record key: Int64, root: Int) {
        self.init()
        append(ShortKey(record: key, root: root))
    }

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    var count: Int { bytes.count }

    var number: Int? { bytes.withUnsafeBytes { $0.keyNumber } }

    mutating func start(number: Int) {
        bytes.removeAll(keepingCapacity: true)
        append(number: number)
    }

    mutating func start(record key: Int64, root: Int) { start(ShortKey(record: key, root: root)) }

    mutating func start(_ parts: ShortKey) {
        bytes.removeAll(keepingCapacity: true)
        append(parts)
    }

    mutating func append(number: Int) {
        var part = ShortKey()
        part.append(number: number)
        append(part)
    }

    mutating func append(key: Int64) {
        var part = ShortKey()
        part.append(key: key)
        append(part)
    }

    mutating func append(place: Int64) {
        var part = ShortKey()
        part.append(place: place)
        append(part)
    }

    private mutating func append(_ parts: ShortKey) { parts.withBytes { bytes.append(contentsOf: $0) } }

    /// Appends an object key as the last part, in eight bytes, so that it can be read from the end.
    mutating func append(lastKey key: Int64) { append(UInt64(bitPattern: key)) }

    mutating func append(_ word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(bytes more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    mutating func truncate(to count: Int) {
        if count < bytes.count { bytes.removeLast(bytes.count - count) }
    }

    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try body(bytes) }
    }
}

/// A storage key of a record, reference or link, built without heap memory.
struct ShortKey: Sendable {
    /// Space for the longest key: a number, two object keys and a place, 3 + 9 + 9 + 9 bytes.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private(set) var count = 0

    init() {}

    init(record key: Int64, root: Int) {
        append(number: root)
        append(key: key)
    }

    /// Creates the key of an entry in the space `links`, `inverseLinks` or `references`.
    init(_ relationship: Int, from: Int64, place: Int64, to: Int64) {
        append(number: relationship)
        append(key: from)
        append(place: place)
        append(key: to)
    }

    /// Appends a number: one byte, or three bytes from 255 on.
    ///
    /// ``StorePlan`` ensures that numbers are below 65 536.
    mutating func append(number: Int) {
        guard number >= KeyParts.wideNumber else {
            return append(UInt64(UInt8(truncatingIfNeeded: number)) << 56, byteCount: 1)
        }
        append(UInt64(KeyParts.wideNumber) << 56 | UInt64(UInt16(truncatingIfNeeded: number)) << 40, byteCount: 3)
    }

    /// Appends the key of an object: the number of its bytes, then the bytes.
    ///
    /// A greater key never has fewer bytes, so the encodings are in the order of the keys. Stored
    /// keys are 1 or more; the encoding of 0 precedes all of them.
    mutating func append(key: Int64) { append(UInt64(bitPattern: key), counted: 0) }

    /// Appends a place in an ordered relationship; 0, the place in an unordered relationship, has
    /// no bytes.
    ///
    /// After place 0, the next byte is the first byte of an object key, 1 … 8. A negative place
    /// starts with a lower byte, and a positive place with a greater byte.
    mutating func append(place: Int64) {
        if place > 0 { return append(UInt64(bitPattern: place), counted: KeyParts.positivePlace) }
        guard place < 0 else { return }
        append(UInt64(KeyParts.negativePlace) << 56, byteCount: 1)
        append(UInt64(bitPattern: place), byteCount: 8)
    }

    /// Appends a byte with `base` plus the length of a number, then the number without leading
    /// zeros.
    private mutating func append(_ number: UInt64, counted base: UInt8) {
        let byteCount = (71 - number.leadingZeroBitCount) / 8
        append(UInt64(base + UInt8(truncatingIfNeeded: byteCount)) << 56, byteCount: 1)
        // For 0, the shift by 64 bits gives 0.
        append(number << UInt64(64 - 8 * byteCount), byteCount: byteCount)
    }

    /// Appends the `byteCount` most significant bytes of a word, in big-endian order.
    private mutating func append(_ word: UInt64, byteCount: Int) {
        precondition(count <= 24, "a short key has at most 32 bytes")
        // SAFETY: the 8 written bytes end at offset 32 or earlier. The next part overwrites the bytes
        // beyond `byteCount`.
        withUnsafeMutableBytes(of: &words) {
            $0.storeBytes(of: word.bigEndian, toByteOffset: count, as: UInt64.self)
        }
        count += byteCount
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: `count` is at most 32; see `append(_:byteCount:)`.
        try withUnsafeBytes(of: words) { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }
}

/// A reader of the parts of a key, from its beginning.
///
/// Each part has only one encoding. For any other bytes, a method returns nil.
struct KeyParts {
    /// The first byte of a number that has two more bytes.
    static let wideNumber = 255
    /// The first byte of a negative place, which has eight more bytes.
    static let negativePlace: UInt8 = 0
    /// The first byte of a positive place, minus the number of bytes that follow.
    static let positivePlace: UInt8 = 0x80

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == bytes.count }

    @inline(__always)
    private var byte: UInt8? { offset >= 0 && offset < bytes.count ? bytes[offset] : nil }

    @inline(__always)
    mutating func number() -> Int? {
        guard let first = byte else { return nil }
        offset += 1
        guard Int(first) == Self.wideNumber else { return Int(first) }
        guard bytes.count - offset >= 2 else { return nil }
        // SAFETY: at least two bytes remain at `offset`.
        let number = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        offset += 2
        return number >= Self.wideNumber ? number : nil
    }

    /// Reads the key of an object, 1 or more.
    @inline(__always)
    mutating func key() -> Int64? {
        guard let count = byte else { return nil }
        return positive(byteCount: Int(count))
    }

    mutating func place() -> Int64? {
        guard let first = byte else { return nil }
        if first > Self.positivePlace { return positive(byteCount: Int(first - Self.positivePlace)) }
        guard first == Self.negativePlace else { return 0 }
        guard let place = bytes.bigEndian64(at: offset + 1), place < 0 else { return nil }
        offset += 9
        return place
    }

    /// Reads a positive number of `byteCount` bytes after the current byte.
    @inline(__always)
    private mutating func positive(byteCount: Int) -> Int64? {
        let start = offset + 1
        guard byteCount >= 1, byteCount <= 8, bytes.count - start >= byteCount, bytes[start] != 0 else { return nil }
        offset = start + byteCount
        // Most numbers are short and end at least four bytes after the start of the key. One load of the four bytes up
        // to the number's end reads such a number.
        if byteCount <= 4, offset >= 4 {
            // SAFETY: four bytes precede `offset`, which is not past the end.
            let word = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset - 4, as: UInt32.self))
            let shift = UInt32(truncatingIfNeeded: 32 - 8 * byteCount)
            return Int64((word &<< shift) &>> shift)
        }
        var number: UInt64 = 0
        for index in start..<offset { number = number << 8 | UInt64(bytes[index]) }
        return Int64(exactly: number)
    }
}

/// A fast reader of one hierarchy's record keys in their most common form.
struct RecordKeyReader {
    /// The first byte of the hierarchy's keys; 256, which equals no byte, if the hierarchy's number
    /// has three bytes.
    private let first: Int

    init(root: Int) { first = root < KeyParts.wideNumber ? root : 256 }

    /// Returns the object key of a short storage key in the hierarchy; otherwise nil, and the
    /// caller must use ``KeyParts``.
    @inline(__always)
    func key(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.count >= 4, Int(bytes[0]) == first else { return nil }
        return bytes.lastShortKey(behind: 1)
    }
}

extension UnsafeRawBufferPointer {
    var keyNumber: Int? {
        var parts = KeyParts(self)
        return parts.number()
    }

    /// The hierarchy and the object of a key in the space `records`, or nil.
    var recordPlace: ObjectPlace? {
        var parts = KeyParts(self)
        guard let root = parts.number(), let key = parts.key(), parts.isAtEnd else { return nil }
        return ObjectPlace(root: root, key: key)
    }

    /// Returns the object key at `offset` if it is short and ends the storage key; otherwise nil,
    /// and the caller must use ``KeyParts``.
    @inline(__always)
    func lastShortKey(behind offset: Int) -> Int64? {
        let byteCount = count - offset - 1
        guard count >= 4, offset >= 0, byteCount >= 1, byteCount <= 4, Int(self[offset]) == byteCount,
            self[offset + 1] != 0
        else { return nil }
        // SAFETY: there are at least four bytes. The bytes before the number are shifted out.
        let word = UInt32(bigEndian: loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        let shift = UInt32(truncatingIfNeeded: 32 - 8 * byteCount)
        return Int64((word &<< shift) &>> shift)
    }

    /// The object key in the last eight bytes; nil if there are fewer bytes.
    var lastKey: Int64? { bigEndian64(at: count - 8) }

    func bigEndian64(at offset: Int) -> Int64? {
        guard offset >= 0, count >= 8, offset <= count - 8 else { return nil }
        return Int64(bitPattern: UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    func littleEndian64(at offset: Int) -> UInt64? {
        bigEndian64(at: offset).map { UInt64(bitPattern: $0).byteSwapped }
    }

    func precedes(_ other: [UInt8]) -> Bool {
        other.span.bytes.withUnsafeBytes { other in
            let common = Swift.min(count, other.count)
            if common > 0, let start = baseAddress, let expected = other.baseAddress {
                let result = memcmp(start, expected, common)
                if result != 0 { return result < 0 }
            }
            return count < other.count
        }
    }

    func begins(with prefix: [UInt8]) -> Bool {
        guard count >= prefix.count else { return false }
        return prefix.span.bytes.withUnsafeBytes { prefix in
            guard let start = baseAddress, let expected = prefix.baseAddress else { return true }
            return memcmp(start, expected, prefix.count) == 0
        }
    }
}

extension UInt64 {
    var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}

extension [UInt8] {
    mutating func append(littleEndian word: UInt64) {
        Swift.withUnsafeBytes(of: word.littleEndian) { append(contentsOf: $0) }
    }
}
