/// The place of one part of a transaction among the entries of a history.
package struct HistoryPlace: Hashable, Sendable, Comparable {
    /// The generation of the store after the transaction.
    package let position: UInt64
    package let part: UInt32

    package init(_ position: UInt64, part: UInt32 = 0) { (self.position, self.part) = (position, part) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.position, left.part) < (right.position, right.part)
    }
}

/// The metadata of a transaction, stored in its first part.
struct HistoryHeader: Sendable {
    var kind: HistoryTransaction.Kind
    /// Microseconds since 2001-01-01.
    var time: Int64
    var author: String?
    var contextName: String?
    /// The number of parts, including the first.
    var partCount: UInt32
    /// The number of bytes of all parts but the first.
    var laterByteCount: UInt64
    /// The number of bytes of all earlier transactions, including removed transactions.
    var precedingByteCount: UInt64

    private static let kinds: [HistoryTransaction.Kind] = [.commit, .load, .wholeLoad, .acceptedChanges]

    func append(to bytes: inout HistoryBytes) {
        bytes.append(UInt8(Self.kinds.firstIndex(of: kind) ?? 0))
        bytes.append(signed: time)
        bytes.append(text: author)
        bytes.append(text: contextName)
        bytes.append(number: UInt64(partCount))
        bytes.append(number: laterByteCount)
        bytes.append(number: precedingByteCount)
    }

    init(
        kind: HistoryTransaction.Kind, time: Int64, author: String?, contextName: String?, partCount: UInt32,
        laterByteCount: UInt64, precedingByteCount: UInt64
    ) {
        self.kind = kind
        self.time = time
        self.author = author
        self.contextName = contextName
        self.partCount = partCount
        self.laterByteCount = laterByteCount
        self.precedingByteCount = precedingByteCount
    }

    init(_ reader: inout HistoryBytesReader) throws(StoreError) {
        kind = Self.kinds[try reader.index(below: Self.kinds.count, what: "an operation")]
        time = try reader.signed()
        author = try reader.text()
        contextName = try reader.text()
        guard let count = UInt32(exactly: try reader.number()), count > 0 else {
            throw HistoryBytesReader.damaged("a transaction has an invalid number of parts")
        }
        partCount = count
        laterByteCount = try reader.number()
        precedingByteCount = try reader.number()
    }
}

/// One part of a transaction: a checksum, the part's place, a header in part 0, and changes.
///
/// See HISTORY-FORMAT.md.
struct HistoryPart {
    /// The size of the changes, in bytes, at which a part is full.
    static let capacityByteCount = 1 << 16

    let place: HistoryPlace
    let header: HistoryHeader?
    /// The low half of the checksum, for tokens.
    let mark: UInt32
    let byteCount: Int
    private let bytes: [UInt8]
    private let changesOffset: Int

    static func bytes(_ place: HistoryPlace, header: HistoryHeader?, changes: [UInt8]) -> [UInt8] {
        var content = HistoryBytes()
        content.append(number: place.position)
        content.append(number: UInt64(place.part))
        header?.append(to: &content)
        content.append(contentsOf: changes)
        var bytes = HistoryBytes()
        bytes.append(littleEndian: content.bytes.historyChecksum(from: 0))
        bytes.append(contentsOf: content.bytes)
        return bytes.bytes
    }

    init(_ bytes: [UInt8], at place: HistoryPlace) throws(StoreError) {
        guard bytes.count > 8 else { throw HistoryBytesReader.damaged("a part of a transaction is too short") }
        let checksum = bytes[0..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard bytes.historyChecksum(from: 8) == checksum else {
            throw HistoryBytesReader.damaged("a part of a transaction does not match its checksum")
        }
        var reader = HistoryBytesReader(bytes, at: 8)
        guard try reader.number() == place.position, try reader.number() == UInt64(place.part) else {
            throw HistoryBytesReader.damaged("a part of a transaction is at the place of another part")
        }
        header = place.part == 0 ? try HistoryHeader(&reader) : nil
        self.place = place
        self.bytes = bytes
        mark = UInt32(truncatingIfNeeded: checksum)
        byteCount = bytes.count
        changesOffset = reader.offset
    }

    var changes: HistoryBytesReader { HistoryBytesReader(bytes, at: changesOffset) }
}
