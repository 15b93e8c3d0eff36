import RoostCore
import RoostFiles
import RoostKeyValue

/// The content of a file: the entries of each key space, in key order.
///
/// Numbers have 8 bytes, little-endian. The head has 40 bytes: the magic bytes, the identity of the
/// store, the number of the commit, and XXH3 of all following bytes. Then each space has the number
/// of its entries and, for each entry, the lengths of key and value, the key, and the value.
struct SortedFile: Sendable {
    static let magic = Array("sorted file 1\r\n\u{1A}".utf8)

    /// A random number that distinguishes the store from another one at the same path.
    let identity: UInt64
    /// The number of the commit that wrote the file, or 0 before the first commit.
    private(set) var commit: UInt64 = 0
    /// The first bytes of the file, which every commit changes.
    private(set) var head: [UInt8] = []
    private var spaces: [[(key: [UInt8], value: [UInt8])]] = KeySpace.allCases.map { _ in [] }

    /// Creates the content of a store before its first commit.
    init() { identity = .random(in: 0 ... .max) }

    subscript(space: KeySpace) -> [(key: [UInt8], value: [UInt8])] {
        get { spaces[space.position] }
        _modify { yield &spaces[space.position] }
    }

    /// Returns the position in `space` of the first key not less than `key`, and whether it equals
    /// `key`.
    func find(_ key: UnsafeRawBufferPointer, in space: KeySpace) -> (position: Int, exists: Bool) {
        let entries = spaces[space.position]
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < entries.count && entries[low].key.elementsEqual(key))
    }

    /// Returns the bytes of the file for the next commit.
    mutating func encodeNext() -> [UInt8] {
        func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        var body: [UInt8] = []
        for entries in spaces {
            body += bytes(UInt64(entries.count))
            for (key, value) in entries { body += bytes(UInt64(key.count)) + bytes(UInt64(value.count)) + key + value }
        }
        commit += 1
        head = Self.magic + bytes(identity) + bytes(commit) + bytes(RecordHash.wide(body).low)
        return head + body
    }

    /// Reads the file at `path`.
    ///
    /// Throws `notFound`, `notAStore`, `corrupted`, or another read error.
    init(at path: String) throws(StoreError) {
        let bytes = try StoreFile.contents(of: path)
        guard bytes.starts(with: Self.magic) else { throw StoreError(.notAStore, "'\(path)' is not a sorted file.") }
        var rest = bytes.dropFirst(Self.magic.count)
        func take(_ count: UInt64) throws(StoreError) -> [UInt8] {
            guard count <= rest.count else { throw StoreError(.corrupted, "'\(path)' is cut off; restore a backup.") }
            defer { rest = rest.dropFirst(Int(count)) }
            return Array(rest.prefix(Int(count)))
        }
        func number() throws(StoreError) -> UInt64 { try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        (identity, commit) = (try number(), try number())
        let checksum = try number()
        guard RecordHash.wide(Array(rest)).low == checksum else {
            throw StoreError(.corrupted, "'\(path)' was changed by something else; restore a backup.")
        }
        head = Array(bytes.prefix(Self.magic.count + 24))
        for space in KeySpace.allCases {
            for _ in 0..<(try number()) {
                let (keyCount, valueCount) = (try number(), try number())
                self[space].append((try take(keyCount), try take(valueCount)))
            }
        }
    }
}
