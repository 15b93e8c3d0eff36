/// The checksum of write-ahead logs, see <https://www.sqlite.org/walformat.html>.
struct LogChecksum: Equatable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    /// Reads the big-endian checksum at `offset`, or zero if the bytes end too early.
    init(_ bytes: [UInt8], at offset: Int) {
        guard offset >= 0, offset <= bytes.count - 8 else { return }
        first = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        second = bytes[offset + 4..<offset + 8].reduce(0) { $0 << 8 | UInt32($1) }
    }

    init(of bytes: [UInt8], range: Range<Int>, isBigEndian: Bool) { add(bytes, range: range, isBigEndian: isBigEndian) }

    /// Adds a range of bytes, eight at a time, and ignores remaining bytes at the end.
    ///
    /// `isBigEndian` determines the byte order of the words that the checksum adds.
    mutating func add(_ bytes: [UInt8], range: Range<Int>, isBigEndian: Bool) {
        let range = range.clamped(to: bytes.indices)
        bytes.withUnsafeBytes { bytes in
            var (first, second) = (first, second)
            var offset = range.lowerBound
            while offset <= range.upperBound - 8 {
                // SAFETY: 8 bytes follow `offset` within the range, which lies within the array.
                let words = (
                    bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self),
                    bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                )
                first = first &+ (isBigEndian ? UInt32(bigEndian: words.0) : UInt32(littleEndian: words.0)) &+ second
                second = second &+ (isBigEndian ? UInt32(bigEndian: words.1) : UInt32(littleEndian: words.1)) &+ first
                offset += 8
            }
            (self.first, self.second) = (first, second)
        }
    }
}
