internal import RoostCore

/// The UTF-8 text of an input, without a byte order mark.
///
/// The reader of the cells validates an input that is already in UTF-8.
struct DecodedInput {
    private let input: ImportInput
    private var encoding: TextEncoding
    private var offset = 0
    /// The first half of a surrogate pair whose second half has not been read yet.
    private var firstHalf: UInt16?
    private var raw: [UInt8] = []
    /// The decoded bytes, already returned up to `decodedStart`.
    private var decoded: [UInt8] = []
    private var decodedStart = 0
    private static let chunkByteCount = 64 << 10

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

    /// Fills the beginning of a buffer with text, and returns the number of bytes, or 0 at the end.
    ///
    /// The buffer must not be empty.
    ///
    /// - Throws: `ioFailure`; `invalidValue` for bytes that are invalid in the encoding.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
        if encoding == .utf8 {
            let count = try input.read(into: buffer, at: offset)
            offset += count
            return count
        }
        while decodedStart == decoded.count {
            guard try decodeMore() else { return 0 }
        }
        let count = min(buffer.count, decoded.count - decodedStart)
        decoded.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[decodedStart..<decodedStart + count]))
        }
        decodedStart += count
        return count
    }

    /// Decodes the next bytes, or returns false at the end.
    private mutating func decodeMore() throws(StoreError) -> Bool {
        decoded.removeAll(keepingCapacity: true)
        decodedStart = 0
        if raw.isEmpty { raw = Array(repeating: 0, count: Self.chunkByteCount) }
        var failure: StoreError?
        let start = offset
        let count = raw.withUnsafeMutableBytes { bytes -> Int in
            do throws(StoreError) { return try input.read(into: bytes, at: start) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        let isWide = encoding == .utf16LittleEndian || encoding == .utf16BigEndian
        guard count > 0 else {
            guard firstHalf == nil else { throw broken("ends in the middle of a character") }
            return false
        }
        guard !isWide || count >= 2 else { throw broken("ends in the middle of a character") }
        let used = isWide ? count & ~1 : count
        offset += used
        if isWide { try decodeWide(used) } else { try decodeBytes(used) }
        return true
    }

    private func broken(_ what: String) -> StoreError {
        StoreError(
            .invalidValue,
            "'\(input.name)' \(what) of \(encoding.rawValue), near byte \(offset). Name the encoding with --encoding.")
    }

    private mutating func decodeBytes(_ count: Int) throws(StoreError) {
        for byte in raw.prefix(count) {
            var scalar = UInt32(byte)
            if encoding == .windows1252, (0x80...0x9F).contains(byte) {
                guard let character = TextEncoding.windowsCharacters[Int(byte) - 0x80] else {
                    throw broken("has the byte \(byte), which is not a character")
                }
                scalar = UInt32(character)
            }
            append(scalar)
        }
    }

    private mutating func decodeWide(_ count: Int) throws(StoreError) {
        for index in stride(from: 0, to: count - 1, by: 2) {
            let (first, second) = (UInt16(raw[index]), UInt16(raw[index + 1]))
            let unit = encoding == .utf16LittleEndian ? second << 8 | first : first << 8 | second
            if let high = firstHalf {
                guard (0xDC00...0xDFFF).contains(unit) else { throw broken("has half a character") }
                firstHalf = nil
                append(0x10000 + (UInt32(high) - 0xD800) << 10 + UInt32(unit) - 0xDC00)
            } else if (0xD800...0xDBFF).contains(unit) {
                firstHalf = unit
            } else {
                guard !(0xDC00...0xDFFF).contains(unit) else { throw broken("has half a character") }
                append(UInt32(unit))
            }
        }
    }

    private mutating func append(_ scalar: UInt32) {
        guard scalar >= 0x80, let character = UnicodeScalar(scalar) else {
            decoded.append(UInt8(truncatingIfNeeded: scalar))
            return
        }
        decoded.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
    }
}
