internal import RoostCore

/// The version of the document that a journal continues.
///
/// The version is a checksum and a byte count. Both cover the bytes before the key `checksum`, or
/// the whole document if it lacks that key.
struct DocumentVersion: Hashable, Sendable {
    var high: UInt64
    var low: UInt64
    var byteCount: Int
}

/// The header of a journal, which FORMAT.md describes.
struct JournalHeader: Hashable, Sendable {
    static let byteCount = 72
    /// The format version that is written, and the newest that can be read.
    static let formatVersion: UInt32 = 1
    /// The text `RoostJnl`.
    static let magic: UInt64 = 0x6C6E_4A74_736F_6F52

    var storeUUID: StoreUUID
    /// The version of the document to which the frames are applied.
    var document: DocumentVersion
    /// The document's generation, which only informs people who read the file.
    var generation: Generation

    /// The header's bytes, which end with their checksum: the first frame's ``JournalFrame/chain``.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(word: Self.magic)
        bytes.append(half: Self.formatVersion)
        bytes.append(half: UInt32(Self.byteCount))
        bytes.append(storeUUID)
        bytes.append(word: document.high)
        bytes.append(word: document.low)
        bytes.append(word: UInt64(document.byteCount))
        bytes.append(word: generation.number)
        bytes.append(word: bytes.checksum(0..<bytes.count))
        return bytes
    }

    /// Returns whether a journal can begin with `bytes`.
    ///
    /// After a crash, the header may be truncated or contain only zeros.
    static func canBegin(_ bytes: [UInt8]) -> Bool {
        var magic: [UInt8] = []
        magic.append(word: Self.magic)
        return bytes.isZero(0..<bytes.count) || magic.prefix(bytes.count).elementsEqual(bytes.prefix(magic.count))
    }

    /// Returns whether a file with these first bytes belongs to another program.
    ///
    /// Returns false for a damaged or unfinished journal.
    static func isForeign(_ bytes: [UInt8]) -> Bool {
        guard !canBegin(bytes) else { return false }
        return bytes.count < byteCount || bytes.half(at: 12) != UInt32(byteCount)
    }

    static func foreign(_ path: String) -> StoreError {
        StoreError(
            .notAStore,
            "'\(path)' is not a journal of Roost, but the store beside it needs this name for its journal; move the file away."
        )
    }

    /// Returns the checksum that is stored in a header's bytes.
    static func check(_ bytes: [UInt8]) -> UInt64 { bytes.word(at: byteCount - 8) }

    init(_ bytes: [UInt8], path: String) throws(StoreError) {
        guard bytes.count >= Self.byteCount, !Self.isForeign(bytes) else { throw Self.foreign(path) }
        guard bytes.word(at: 0) == Self.magic, bytes.checksum(0..<Self.byteCount - 8) == Self.check(bytes) else {
            throw StoreError(
                .corrupted,
                "The journal '\(path)' is damaged at byte 0: the checksum of its header does not match. Restore it from a copy."
            )
        }
        let version = bytes.half(at: 8)
        guard version <= Self.formatVersion else {
            throw StoreError(
                .unsupportedVersion,
                "The journal '\(path)' is written in format version \(version); this program reads up to \(Self.formatVersion). Use a newer program."
            )
        }
        storeUUID = bytes.storeUUID(at: 16)
        document = DocumentVersion(
            high: bytes.word(at: 32), low: bytes.word(at: 40), byteCount: Int(clamping: bytes.word(at: 48)))
        generation = Generation(number: bytes.word(at: 56))
    }

    init(storeUUID: StoreUUID, document: DocumentVersion, generation: Generation) {
        (self.storeUUID, self.document, self.generation) = (storeUUID, document, generation)
    }
}

/// The head of a frame; each frame holds one transaction.
struct JournalFrame: Sendable {
    static let headByteCount = 40

    /// The check of the previous frame, or of the journal's header.
    ///
    /// This check ties the frame to one position in one journal.
    var chain: UInt64
    var payloadByteCount: Int
    /// The number of payload pieces that contain only zeros.
    ///
    /// The boundaries of the file's 512-byte sectors divide the payload into pieces.
    var zeroPieceCount: Int
    var payloadChecksum: UInt64

    /// Creates the head of a frame at `offset` in the journal.
    init(of payload: [UInt8], at offset: Int, chain: UInt64) {
        self.chain = chain
        payloadByteCount = payload.count
        zeroPieceCount = Self.zeroPieces(payload, at: offset + Self.headByteCount)
        payloadChecksum = payload.checksum(0..<payload.count)
    }

    /// The head's bytes, which end with the frame's check: the checksum of the other bytes.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(word: chain)
        bytes.append(word: UInt64(payloadByteCount))
        bytes.append(word: UInt64(zeroPieceCount))
        bytes.append(word: payloadChecksum)
        bytes.append(word: bytes.checksum(0..<bytes.count))
        return bytes
    }

    static func check(_ bytes: [UInt8], at offset: Int = 0) -> UInt64 { bytes.word(at: offset + headByteCount - 8) }

    /// Reads the head at `offset`, or returns nil if the bytes end too early or the check does not
    /// match.
    init?(_ bytes: [UInt8], at offset: Int = 0) {
        guard offset >= 0, bytes.count - offset >= Self.headByteCount,
            bytes.checksum(offset..<offset + Self.headByteCount - 8) == Self.check(bytes, at: offset)
        else { return nil }
        chain = bytes.word(at: offset)
        payloadByteCount = Int(clamping: bytes.word(at: offset + 8))
        zeroPieceCount = Int(clamping: bytes.word(at: offset + 16))
        payloadChecksum = bytes.word(at: offset + 24)
    }

    // MARK: Remains of a crash

    /// The number of bytes that a disk writes atomically.
    static let sectorByteCount = 512

    /// Returns the ``zeroPieceCount`` of a payload that begins at `offset` in the journal.
    static func zeroPieces(_ bytes: [UInt8], at offset: Int) -> Int {
        var (start, count) = (0, 0)
        while start < bytes.count {
            let end = min(bytes.count, start + sectorByteCount - (offset + start) % sectorByteCount)
            if bytes.isZero(start..<end) { count += 1 }
            start = end
        }
        return count
    }
}
