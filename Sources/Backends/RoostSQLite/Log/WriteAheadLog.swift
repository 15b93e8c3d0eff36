internal import RoostCore
internal import RoostFiles

/// The write-ahead log beside a database file, read without SQLite.
///
/// The format is described at <https://www.sqlite.org/walformat.html>. The checksum of each frame
/// continues the checksum of the previous frame. SQLite stops reading at the first frame that does
/// not match, and silently ignores later commits.
///
/// A mismatch can come from a power cut, because a transaction that was never flushed may be on the
/// disk in part, in any order. A writer that flushes each commit begins the next transaction only
/// after the flush. So a frame of a later transaction proves that the earlier frames were on the
/// disk. A mismatch in an earlier frame is then damage. The log's header is flushed before the
/// first frame is written, so a mismatch in the header is damage if a frame follows.
struct WriteAheadLog: ~Copyable {
    /// The content of the log after the last commit that SQLite applies.
    enum Ending: Equatable {
        /// No further frame of this log exists.
        case clean
        /// Further frames do not form a complete transaction.
        case unfinished
        /// The frame at a byte offset is damaged.
        ///
        /// Either it does not match its checksum although frames of a later transaction follow, or
        /// it matches but has the salts of another log. The offset is 0 for the header.
        case damaged(Int)
    }

    struct Content: Equatable {
        /// The number of commits that SQLite applies.
        var commitCount = 0
        /// The end of the last commit, in bytes.
        var committedByteCount = 0
        /// The number of pages of the database after the last commit, or 0 without a commit.
        var databasePageCount = 0
        var ending = Ending.clean
    }

    private struct Header {
        static let byteCount = 32
        let isBigEndian: Bool
        let pageByteCount: Int
        let salts: [UInt8]
        let checksum: LogChecksum
    }

    private static let frameHeaderByteCount = 24
    /// The number of bytes that a disk writes atomically.
    private static let sectorByteCount = 512

    private let file: RegularFile
    private let storePath: String

    private init(_ file: consuming RegularFile, ofStoreAt path: String) {
        self.file = file
        storePath = path
    }

    /// Opens the log of the store at `path`, or returns nil if the log is missing or empty.
    static func open(ofStoreAt path: String) throws(StoreError) -> WriteAheadLog? {
        do throws(StoreError) {
            let file = try RegularFile(at: path + "-wal")
            return file.byteCount > 0 ? WriteAheadLog(file, ofStoreAt: path) : nil
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    // MARK: Frames

    private struct Frame {
        let bytes: [UInt8]
        var page: Int { WriteAheadLog.word(bytes, at: 0) }
        /// The number of pages of the database after the commit, or 0 if the frame does not end a
        /// transaction.
        var databasePageCount: Int { WriteAheadLog.word(bytes, at: 4) }
        var salts: ArraySlice<UInt8> { bytes[8..<16] }
        var checksum: LogChecksum { LogChecksum(bytes, at: 16) }

        func computedChecksum(after seed: LogChecksum, isBigEndian: Bool) -> LogChecksum {
            var checksum = seed
            checksum.add(bytes, range: 0..<8, isBigEndian: isBigEndian)
            checksum.add(bytes, range: WriteAheadLog.frameHeaderByteCount..<bytes.count, isBigEndian: isBigEndian)
            return checksum
        }

        /// Returns whether two frames are equal except for their salts and checksums.
        ///
        /// On some systems SQLite repeats the last frame of a transaction up to the end of a
        /// sector.
        func isRepeated(by other: Frame) -> Bool {
            bytes[..<8] == other.bytes[..<8]
                && bytes[WriteAheadLog.frameHeaderByteCount...] == other.bytes[WriteAheadLog.frameHeaderByteCount...]
        }
    }

    private func frame(at offset: Int, pageByteCount: Int) throws(StoreError) -> Frame? {
        let byteCount = Self.frameHeaderByteCount + pageByteCount
        guard offset <= file.byteCount - byteCount else { return nil }
        let bytes = try file.bytes(at: offset, count: byteCount)
        return bytes.count == byteCount ? Frame(bytes: bytes) : nil
    }

    private static func word(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    // MARK: The header

    private static let magic = 0x377F_0682

    /// Returns the header, or nil if SQLite treats the log as empty.
    private func header() throws(StoreError) -> Header? {
        let bytes = try file.bytes(at: 0, count: Header.byteCount)
        guard bytes.count == Header.byteCount, Self.word(bytes, at: 0) & ~1 == Self.magic,
            let pageByteCount = Self.pageByteCount(bytes)
        else { return nil }
        let isBigEndian = bytes[3] & 1 == 1
        let checksum = LogChecksum(bytes, at: 24)
        guard LogChecksum(of: bytes, range: 0..<24, isBigEndian: isBigEndian) == checksum else { return nil }
        return Header(
            isBigEndian: isBigEndian, pageByteCount: pageByteCount, salts: Array(bytes[16..<24]), checksum: checksum)
    }

    private static func pageByteCount(_ header: [UInt8]) -> Int? {
        let count = word(header, at: 8)
        return (512...65536).contains(count) && count & (count - 1) == 0 ? count : nil
    }

    /// Returns whether frames follow a header that SQLite does not accept.
    private func hasFramesWithoutHeader() throws(StoreError) -> Bool {
        let header = try file.bytes(at: 0, count: Header.byteCount)
        guard header.count == Header.byteCount else { return false }
        let sizes = [
            StoreFile.read(prefix: SQLiteHeader.byteCount, of: storePath).flatMap { SQLiteHeader($0)?.pageByteCount }
        ]
        for size in Set((sizes + [Self.pageByteCount(header)]).compactMap(\.self)) {
            for isBigEndian in [false, true] where try hasFrames(header, pageByteCount: size, isBigEndian: isBigEndian)
            { return true }
        }
        return false
    }

    private func hasFrames(_ header: [UInt8], pageByteCount: Int, isBigEndian: Bool) throws(StoreError) -> Bool {
        var offset = Header.byteCount
        // Either the header's fields or its checksum can be damaged, so the first frame may continue
        // the stored or the computed checksum.
        var seeds = [LogChecksum(header, at: 24), LogChecksum(of: header, range: 0..<24, isBigEndian: isBigEndian)]
        while let frame = try frame(at: offset, pageByteCount: pageByteCount) {
            for seed in seeds
            where frame.page > 0 && frame.computedChecksum(after: seed, isBigEndian: isBigEndian) == frame.checksum {
                return true
            }
            seeds = [frame.checksum]
            offset += frame.bytes.count
        }
        return false
    }

    // MARK: The content

    /// Reads the frames one by one, with at most three of them in memory.
    func content() throws(StoreError) -> Content {
        var content = Content()
        guard let header = try header() else {
            if try hasFramesWithoutHeader() { content.ending = .damaged(0) }
            return content
        }
        content.committedByteCount = Header.byteCount
        var (offset, seed) = (Header.byteCount, header.checksum)
        while let frame = try frame(at: offset, pageByteCount: header.pageByteCount) {
            let computed = frame.computedChecksum(after: seed, isBigEndian: header.isBigEndian)
            guard frame.salts == header.salts[...], frame.page > 0, frame.checksum == computed else {
                if try isFollowedByLaterTransaction(frame, at: offset, computed: computed, header: header) {
                    content.ending = .damaged(offset)
                } else if frame.salts == header.salts[...] {
                    content.ending = .unfinished
                } else if frame.page > 0, frame.checksum == computed {
                    // The matching checksum proves that the frame belongs to this log, but does not
                    // cover the salts. If the disk wrote checksum and salts at once, the salts
                    // changed later.
                    content.ending = Self.isWrittenAsWhole(offset) ? .damaged(offset) : .unfinished
                }
                break
            }
            seed = computed
            offset += frame.bytes.count
            if frame.databasePageCount > 0 {
                content.commitCount += 1
                content.committedByteCount = offset
                content.databasePageCount = frame.databasePageCount
            }
        }
        if content.ending == .clean {
            let isCut = try isFrameCut(at: offset, header: header)
            if isCut || offset > content.committedByteCount { content.ending = .unfinished }
        }
        return content
    }

    /// Returns whether the file ends within a frame of this log.
    private func isFrameCut(at offset: Int, header: Header) throws(StoreError) -> Bool {
        guard file.byteCount < offset + Self.frameHeaderByteCount + header.pageByteCount else { return false }
        let bytes = try file.bytes(at: offset, count: 16)
        // Remains of an earlier log have other salts.
        return !bytes.isEmpty && (bytes.count < 16 || bytes[8...] == header.salts[...])
    }

    /// Returns whether frames of a later transaction follow a frame that SQLite does not accept.
    ///
    /// The search continues the chain from each stored checksum, and from `computed`, the checksum
    /// of the first frame's content. A frame that continues a chain after the end of a transaction
    /// belongs to the next transaction. If a stored checksum does not match its frame, the frame's
    /// commit mark counts only if the disk writes the frame's header atomically. The mark and the
    /// checksum were then written together.
    private func isFollowedByLaterTransaction(
        _ first: Frame, at start: Int, computed: LogChecksum, header: Header
    ) throws(StoreError) -> Bool {
        var (previous, offset) = (first, start)
        var seeds = [
            (checksum: first.checksum, isEnd: first.databasePageCount > 0 && Self.isWrittenAsWhole(start)),
            // Perhaps only the stored checksum is wrong.
            (checksum: computed, isEnd: first.databasePageCount > 0),
        ]
        while true {
            offset += first.bytes.count
            guard let frame = try frame(at: offset, pageByteCount: header.pageByteCount) else { return false }
            var isMatching = false
            if frame.page > 0, frame.salts == header.salts[...] {
                for seed in seeds
                where frame.computedChecksum(after: seed.checksum, isBigEndian: header.isBigEndian) == frame.checksum {
                    if seed.isEnd, !previous.isRepeated(by: frame) { return true }
                    isMatching = true
                }
            }
            let isEnd = frame.databasePageCount > 0 && (isMatching || Self.isWrittenAsWhole(offset))
            seeds = [(frame.checksum, isEnd)]
            previous = frame
        }
    }

    /// Returns whether the header of the frame at `offset` lies in one sector.
    private static func isWrittenAsWhole(_ offset: Int) -> Bool {
        offset % sectorByteCount + frameHeaderByteCount <= sectorByteCount
    }

    // MARK: Against the database

    /// Returns whether the database file already contains all commits of a log that ends cleanly.
    func isInDatabase(_ content: Content) throws(StoreError) -> Bool {
        guard content.ending == .clean else { return false }
        guard content.commitCount > 0, let header = try header() else { return true }
        let database = try RegularFile(at: storePath)
        guard database.byteCount == content.databasePageCount * header.pageByteCount else { return false }
        var isSeen = [Bool](repeating: false, count: content.databasePageCount)
        let frameByteCount = Self.frameHeaderByteCount + header.pageByteCount
        var offset = content.committedByteCount
        // Frames are read from the end, because only the last version of a page must be in the
        // file.
        while offset > Header.byteCount {
            offset -= frameByteCount
            guard let frame = try frame(at: offset, pageByteCount: header.pageByteCount) else { return false }
            let page = frame.page - 1
            guard isSeen.indices.contains(page), !isSeen[page] else { continue }
            isSeen[page] = true
            let bytes = try database.bytes(at: page * header.pageByteCount, count: header.pageByteCount)
            guard bytes[...] == frame.bytes[Self.frameHeaderByteCount...] else { return false }
        }
        return true
    }
}
