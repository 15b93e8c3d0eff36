internal import RoostCore
internal import RoostJSONText
internal import RoostSystem

/// A scanner of values in text with exactly the format of ``RecordTextWriter``.
///
/// Every mutating method moves past the text that it reads. It returns nil or false, without
/// moving, if the text has another format, is invalid, or is cut off by the end of the buffer. A
/// cut-off number is read, but skipping the text after it then fails. After a failure, a
/// ``JSONTokenReader`` reads the record again and reports any problem.
struct WrittenTextScanner {
    // SAFETY: as in `JSONTokenizer`, the bytes up to `end` exist, the byte at `end` is 0, and eight
    // bytes from `end` on can be loaded. No value contains a byte 0, so loops over bytes end
    // without counting. Comparisons of whole texts check the count first.
    private(set) var place: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    init(_ place: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        self.place = place
        self.end = end
    }

    /// Skips the given bytes; returns false if other bytes are next.
    @inline(__always)
    mutating func skip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard end - place >= bytes.count, let start = bytes.baseAddress, memcmp(place, start, bytes.count) == 0 else {
            return false
        }
        place += bytes.count
        return true
    }

    @inline(__always)
    mutating func skip(_ text: StaticString) -> Bool {
        skip(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Reads a whole number of at most 18 digits.
    @inline(__always)
    mutating func integer() -> Int64? {
        let isNegative = place[0] == UInt8(ascii: "-")
        let first = place + (isNegative ? 1 : 0)
        var (next, value) = (first, Int64(0))
        while JSONNumbers.isDigit(next[0]) {
            value = value &* 10 &+ Int64(next[0] &- UInt8(ascii: "0"))
            next += 1
        }
        let count = next - first
        guard count > 0, count <= 18, count == 1 || first[0] != UInt8(ascii: "0") else { return nil }
        place = next
        return isNegative ? -value : value
    }

    /// Reads any JSON number as the nearest double.
    @inline(__always)
    mutating func double() -> Double? {
        let isNegative = place[0] == UInt8(ascii: "-")
        let first = place + (isNegative ? 1 : 0)
        var (next, mantissa) = (first, Int64(0))
        while JSONNumbers.isDigit(next[0]) {
            mantissa = mantissa &* 10 &+ Int64(next[0] &- UInt8(ascii: "0"))
            next += 1
        }
        let wholeCount = next - first
        guard wholeCount > 0, wholeCount == 1 || first[0] != UInt8(ascii: "0") else { return nil }
        var fractionCount = 0
        if next[0] == UInt8(ascii: ".") {
            next += 1
            let start = next
            while JSONNumbers.isDigit(next[0]) {
                mantissa = mantissa &* 10 &+ Int64(next[0] &- UInt8(ascii: "0"))
                next += 1
            }
            fractionCount = next - start
            guard fractionCount > 0 else { return nil }
        }
        guard next[0] | 0x20 != UInt8(ascii: "e"), wholeCount + fractionCount <= 18, mantissa < 1 << 53 else {
            return longDouble()
        }
        // The mantissa has at most 18 digits, so the power of ten is exact.
        guard let value = JSONNumbers.double(mantissa, fractionDigits: fractionCount) else { return longDouble() }
        place = next
        return isNegative ? -value : value
    }

    /// Reads a number with an exponent or with many digits.
    @inline(never)
    private mutating func longDouble() -> Double? {
        guard let text = number(), let value = JSONNumbers.double(text) else { return nil }
        place += text.count
        return value
    }

    @inline(never)
    mutating func float() -> Float? {
        guard let text = number(), let value = JSONNumbers.float(text) else { return nil }
        place += text.count
        return value
    }

    /// Returns the bytes of the JSON number at `place`, without moving, or nil.
    private func number() -> UnsafeRawBufferPointer? {
        var next = place
        func digits() -> Int {
            let start = next
            while JSONNumbers.isDigit(next[0]) { next += 1 }
            return next - start
        }
        if next[0] == UInt8(ascii: "-") { next += 1 }
        let first = next[0]
        let wholeCount = digits()
        guard wholeCount > 0, wholeCount == 1 || first != UInt8(ascii: "0") else { return nil }
        if next[0] == UInt8(ascii: ".") {
            next += 1
            guard digits() > 0 else { return nil }
        }
        if next[0] | 0x20 == UInt8(ascii: "e") {
            next += 1
            if next[0] == UInt8(ascii: "-") || next[0] == UInt8(ascii: "+") { next += 1 }
            guard digits() > 0 else { return nil }
        }
        return UnsafeRawBufferPointer(start: place, count: next - place)
    }

    /// Reads a string without escapes; returns nil for other text.
    @inline(__always)
    mutating func string() -> UnsafeRawBufferPointer? {
        guard place[0] == UInt8(ascii: "\"") else { return nil }
        let start = UnsafeRawPointer(place + 1)
        var (index, seen) = (0, UInt64(0))
        while true {
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let found = JSONText.special(word)
            guard found == 0 else {
                let bits = found.trailingZeroBitCount & ~7
                seen |= word & (1 << UInt64(bits) &- 1)
                index += bits / 8
                break
            }
            seen |= word
            index += 8
        }
        guard start.load(fromByteOffset: index, as: UInt8.self) == UInt8(ascii: "\"") else { return nil }
        let text = UnsafeRawBufferPointer(start: start, count: index)
        guard seen & 0x8080_8080_8080_8080 == 0 || text.isValidUTF8 else { return nil }
        place += index + 2
        return text
    }

    /// Reads a string up to the next quote; the caller must validate the bytes.
    @inline(__always)
    mutating func quoted() -> UnsafeRawBufferPointer? {
        guard place[0] == UInt8(ascii: "\""), let quote = memchr(place + 1, 0x22, end - place - 1) else { return nil }
        let text = UnsafeRawBufferPointer(
            start: place + 1, count: UnsafeRawPointer(quote) - UnsafeRawPointer(place + 1))
        place += text.count + 2
        return text
    }
}
