internal import RoostCore

/// The text of an input as UTF-8, from its beginning.
///
/// A byte order mark is left out. Whether bytes in UTF-8 are valid is checked by the reader of the
/// cells.
struct DecodedInput {
    private let input: ImportInput
    private var encoding: TextEncoding
    private var offset = 0
    /// The first half of a pair of surrogates, whose second half comes next.
    private var firstHalf: UInt16?
    private var raw: [UInt8] = []
    /// The characters before what is read next, for messages.
    private var characterCount = 0

    /// - Parameters:
    ///   - input: The bytes.
    ///   - encoding: The encoding; nil for what a byte order mark says, otherwise UTF-8.
    /// - Throws: `ioFailure`.
    init(_ input: ImportInput, encoding: TextEncoding?) throws(StoreError) {
        self.input = input
        var start: [UInt8] = [0, 0, 0]
        var failure: StoreError?
        let count = start.withUnsafeMutableBytes { buffer -> Int in
            do throws(StoreError) { return try input.read(into: buffer, at: 0) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        let mark = start.prefix(count)
        let usual = encoding ?? .utf8
        if mark.starts(with: [0xEF, 0xBB, 0xBF]), usual == .utf8 {
            (self.encoding, offset) = (.utf8, 3)
        } else if mark.starts(with: [0xFF, 0xFE]), [nil, .utf16, .utf16LittleEndian].contains(encoding) {
            (self.encoding, offset) = (.utf16LittleEndian, 2)
        } else if mark.starts(with: [0xFE, 0xFF]), [nil, .utf16, .utf16BigEndian].contains(encoding) {
            (self.encoding, offset) = (.utf16BigEndian, 2)
        } else {
            self.encoding = usual == .utf16 ? .utf16LittleEndian : usual
        }
    }

    /// Fills the beginning of a buffer with the next bytes of the text.
    ///
    /// - Parameter buffer: Memory of 16 bytes at least.
    /// - Returns: The number of bytes; 0 at the end.
    /// - Throws: `ioFailure`; `invalidValue` for what the encoding cannot have.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
        if encoding == .utf8 {
            let count = try input.read(into: buffer, at: offset)
            offset += count
            return count
        }
        while true {
            // One byte becomes three at most, two bytes of UTF-16 three.
            let wanted = max(2, buffer.count / 3) & ~1
            if raw.count != wanted { raw = Array(repeating: 0, count: wanted) }
            var failure: StoreError?
            let at = offset
            let count = raw.withUnsafeMutableBytes { bytes -> Int in
                do throws(StoreError) { return try input.read(into: bytes, at: at) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            let isWide = encoding == .utf16LittleEndian || encoding == .utf16BigEndian
            guard count > 0 else {
                guard firstHalf == nil else { throw broken("ends in the middle of a character") }
                return 0
            }
            guard !isWide || count >= 2 else { throw broken("ends in the middle of a character") }
            let used = isWide ? count & ~1 : count
            offset += used
            let written = try isWide ? decodeWide(used, into: buffer) : decodeBytes(used, into: buffer)
            // Nothing comes of half a pair alone.
            if written > 0 { return written }
        }
    }

    private func broken(_ what: String) -> StoreError {
        StoreError(
            .invalidValue,
            "'\(input.name)' \(what) of \(encoding.rawValue), near byte \(offset). Name the encoding with --encoding.")
    }

    private mutating func decodeBytes(
        _ count: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(StoreError) -> Int {
        var written = 0
        for byte in raw.prefix(count) {
            var scalar = UInt32(byte)
            if encoding == .windows1252, (0x80...0x9F).contains(byte) {
                guard let character = TextEncoding.windowsCharacters[Int(byte) - 0x80] else {
                    throw broken("has the byte \(byte), which is not a character")
                }
                scalar = UInt32(character)
            }
            Self.append(scalar, to: buffer, &written)
        }
        return written
    }

    private mutating func decodeWide(
        _ count: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(StoreError) -> Int {
        var written = 0
        for index in stride(from: 0, to: count - 1, by: 2) {
            let (first, second) = (UInt16(raw[index]), UInt16(raw[index + 1]))
            let unit = encoding == .utf16LittleEndian ? second << 8 | first : first << 8 | second
            if let high = firstHalf {
                guard (0xDC00...0xDFFF).contains(unit) else { throw broken("has half a character") }
                firstHalf = nil
                Self.append(0x10000 + (UInt32(high) - 0xD800) << 10 + UInt32(unit) - 0xDC00, to: buffer, &written)
            } else if (0xD800...0xDBFF).contains(unit) {
                firstHalf = unit
            } else {
                guard !(0xDC00...0xDFFF).contains(unit) else { throw broken("has half a character") }
                Self.append(UInt32(unit), to: buffer, &written)
            }
        }
        return written
    }

    /// Writes a character in UTF-8.
    private static func append(_ scalar: UInt32, to buffer: UnsafeMutableRawBufferPointer, _ written: inout Int) {
        // SAFETY: the caller decodes no more than a third of the buffer's bytes, or of its pairs of bytes; a character of four bytes
        // comes of two pairs. So there is always room.
        func put(_ byte: UInt32) {
            buffer[written] = UInt8(truncatingIfNeeded: byte)
            written += 1
        }
        switch scalar {
        case ..<0x80: put(scalar)
        case ..<0x800:
            put(0xC0 | scalar >> 6)
            put(0x80 | scalar & 0x3F)
        case ..<0x10000:
            put(0xE0 | scalar >> 12)
            put(0x80 | scalar >> 6 & 0x3F)
            put(0x80 | scalar & 0x3F)
        default:
            put(0xF0 | scalar >> 18)
            put(0x80 | scalar >> 12 & 0x3F)
            put(0x80 | scalar >> 6 & 0x3F)
            put(0x80 | scalar & 0x3F)
        }
    }
}
