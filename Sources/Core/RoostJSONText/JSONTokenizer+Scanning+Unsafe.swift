// SAFETY: `base[end]` is always 0, and no loop passes `end` without calling `fill()`, which reports
// the end of the text.

extension JSONTokenizer {
    /// Skips space and returns the next byte without consuming it; 0 at the end of the text.
    mutating func skipSpace() throws(JSONSyntaxError) -> UInt8 {
        var index = position
        while true {
            let byte = base[index]
            switch byte {
            case 0x20, 0x09, 0x0D: index += 1
            case 0x0A:
                if syntax == .lines, depth > 0 {
                    position = index
                    throw errorHere("the line ends inside a value; every line is one value")
                }
                index += 1
                line += 1
                lineStart = index
                discardedColumnCount = 0
            case UInt8(ascii: "/"), 0x0B, 0x0C, 0xC2, 0xE2, 0xEF:
                position = index
                guard syntax == .json5, try skipJSON5Space(byte) else { return byte }
                index = position
            default:
                position = index
                guard byte == 0, index == end else { return byte }
                tokenStart = index
                guard try fill() else { return 0 }
                index = position
            }
        }
    }

    /// Refuses a text that seems to be UTF-16 or UTF-32, or starts with a byte order mark (except
    /// in JSON5).
    mutating func refuseOtherEncodings() throws(JSONSyntaxError) {
        while end < 4, try fill() {}
        let (a, b, c) = (base[0], end > 1 ? base[1] : 0xFF, end > 2 ? base[2] : 0xFF)
        if a == 0xEF, b == 0xBB, c == 0xBF, syntax != .json5 {
            throw errorHere("the text starts with a byte order mark; remove it")
        }
        if end > 1, (a == 0xFE && b == 0xFF) || (a == 0xFF && b == 0xFE) || (a == 0) != (b == 0) {
            throw errorHere("the text is not UTF-8 but seems to be UTF-16 or UTF-32; convert it")
        }
    }

    mutating func scanWord(_ word: StaticString) throws(JSONSyntaxError) {
        tokenStart = position
        for index in 0..<word.utf8CodeUnitCount {
            if position == end { _ = try fill() }
            guard base[position] == word.utf8Start[index] else {
                position = tokenStart
                throw try unexpected("a value")
            }
            position += 1
        }
    }

    // MARK: Numbers

    mutating func scanNumber() throws(JSONSyntaxError) {
        tokenStart = position
        isWhole = true
        isInScratch = false
        if base[position] == UInt8(ascii: "-") { position += 1 }
        let first = try peek()
        let count = try scanDigits()
        guard count > 0 else { throw try unexpected("a digit") }
        guard count == 1 || first != UInt8(ascii: "0") else { throw error("a number may not start with a zero") }
        if try peek() == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            guard try scanDigits() > 0 else { throw try unexpected("a digit") }
        }
        if try peek() | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            position += 1
            let sign = try peek()
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { position += 1 }
            guard try scanDigits() > 0 else { throw try unexpected("a digit") }
        }
    }

    /// Returns the next byte without consuming it; 0 at the end.
    mutating func peek() throws(JSONSyntaxError) -> UInt8 {
        if position == end { _ = try fill() }
        return base[position]
    }

    private mutating func scanDigits() throws(JSONSyntaxError) -> Int {
        var count = 0
        while true {
            var index = position
            while JSONNumbers.isDigit(base[index]) { index += 1 }
            count += index - position
            position = index
            guard index == end, try fill() else { return count }
        }
    }

    // MARK: Strings

    /// Reads the string that starts at `position` and ends with `quote`.
    ///
    /// On return, the text is after the quote at `tokenStart`, or in `scratch` if it had escapes.
    mutating func scanString(quote: UInt8 = UInt8(ascii: "\"")) throws(JSONSyntaxError) {
        tokenStart = position
        isInScratch = false
        var index = position + 1
        // The offset, from the token's start, of the first byte that is not copied to `scratch`
        // yet.
        var copied = 0
        while true {
            index = quote == UInt8(ascii: "\"") ? plainEnd(from: index) : plainEndInSingleQuotes(from: index)
            let byte = base[index]
            if byte >= 0x80 {
                position = index
                try scanMultibyte()
                index = position
            } else if byte == quote {
                position = index + 1
                if isInScratch { copyToScratch(from: tokenStart + copied, to: index) }
                return
            } else if byte == UInt8(ascii: "\\") {
                if !isInScratch {
                    isInScratch = true
                    scratch.removeAll(keepingCapacity: true)
                    copied = 1
                }
                copyToScratch(from: tokenStart + copied, to: index)
                position = index
                try scanEscape()
                index = position
                copied = index - tokenStart
            } else if index == end {
                position = index
                guard try fill() else { throw error("the string has no end") }
                index = position
            } else {
                position = index
                throw errorHere("a control character in a string must be written as an escape")
            }
        }
    }

    /// Returns the index of the first byte from `index` on that is not plain ASCII text: a byte
    /// above ASCII, a quote, a backslash or a control character.
    ///
    /// The byte 0 at `base[end]` is a control character, so the loop ends there at the latest.
    /// Bytes after `end` do not change the result.
    @inline(__always)
    private func plainEnd(from index: Int) -> Int {
        var index = index
        let bytes = UnsafeRawPointer(base)
        while true {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let others = JSONText.special(word) | word & 0x8080_8080_8080_8080
            guard others == 0 else { return index + others.trailingZeroBitCount / 8 }
            index += 8
        }
    }

    private func plainEndInSingleQuotes(from index: Int) -> Int {
        var index = index
        while (0x20..<0x80).contains(base[index]), base[index] != UInt8(ascii: "'"),
            base[index] != UInt8(ascii: "\\")
        { index += 1 }
        return index
    }

    mutating func copyToScratch(from start: Int, to end: Int) {
        scratch.append(contentsOf: UnsafeBufferPointer(start: base + start, count: end - start))
    }

    /// Skips one character of two to four bytes.
    mutating func scanMultibyte() throws(JSONSyntaxError) {
        let count = try multibyteCount()
        position += count
    }

    /// Returns the number of bytes of the character at `position`; throws for invalid UTF-8.
    mutating func multibyteCount() throws(JSONSyntaxError) -> Int {
        let lead = base[position]
        guard lead >= 0x80 else { return 1 }
        let count = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
        while end - position < count, try fill() {}
        // If the text ends inside the character, the byte 0 at `end` makes the character invalid.
        let second = base[position + 1]
        let isValid: Bool
        switch lead {
        case 0xC2...0xDF: isValid = second & 0xC0 == 0x80
        case 0xE0...0xEF:
            isValid =
                second & 0xC0 == 0x80 && (lead != 0xE0 || second >= 0xA0) && (lead != 0xED || second < 0xA0)
                && base[position + 2] & 0xC0 == 0x80
        case 0xF0...0xF4:
            isValid =
                second & 0xC0 == 0x80 && (lead != 0xF0 || second >= 0x90) && (lead != 0xF4 || second < 0x90)
                && base[position + 2] & 0xC0 == 0x80 && base[position + 3] & 0xC0 == 0x80
        default: isValid = false
        }
        guard isValid else { throw errorHere("the text is not valid UTF-8") }
        return count
    }

    private mutating func scanEscape() throws(JSONSyntaxError) {
        while end - position < 2, try fill() {}
        let byte = base[position + 1]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scratch.append(byte)
        case UInt8(ascii: "b"): scratch.append(0x08)
        case UInt8(ascii: "f"): scratch.append(0x0C)
        case UInt8(ascii: "n"): scratch.append(0x0A)
        case UInt8(ascii: "r"): scratch.append(0x0D)
        case UInt8(ascii: "t"): scratch.append(0x09)
        case UInt8(ascii: "u"): return try scanUnicodeEscape()
        default:
            guard end - position >= 2 else { throw error("the string has no end") }
            guard syntax == .json5, try scanJSON5Escape(byte) else {
                throw errorHere("the escape is not valid in JSON")
            }
            return
        }
        position += 2
    }

    private mutating func scanUnicodeEscape() throws(JSONSyntaxError) {
        while end - position < 12, try fill() {}
        guard var code = hexadecimal(at: position + 2) else {
            throw errorHere("four hexadecimal digits are expected after '\\u'")
        }
        var count = 6
        if code & 0xFC00 == 0xD800, end - position >= 12, base[position + 6] == UInt8(ascii: "\\"),
            base[position + 7] == UInt8(ascii: "u"), let low = hexadecimal(at: position + 8), low & 0xFC00 == 0xDC00
        {
            code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
            count = 12
        }
        guard let encoded = Unicode.Scalar(code).flatMap(UTF8.encode) else {
            throw errorHere("the surrogate has no partner")
        }
        scratch.append(contentsOf: encoded)
        position += count
    }

    func hexadecimal(at index: Int, digits: Int = 4) -> UInt32? {
        guard end - index >= digits else { return nil }
        var value: UInt32 = 0
        for byte in UnsafeBufferPointer(start: base + index, count: digits) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }

    // MARK: Keys

    /// Records the current key; returns false if the object already has the key.
    mutating func registerKey() -> Bool {
        let bytes =
            isInScratch
            ? nil : UnsafeRawBufferPointer(start: base + tokenStart + 1, count: position - tokenStart - 2)
        if let bytes { return keys.insert(bytes) }
        return scratch.withUnsafeBytes { keys.insert($0) }
    }
}
