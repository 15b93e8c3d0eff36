// The JSON5 extensions of JSON, which cost readers of plain JSON only a comparison. SAFETY: as in the
// scanning of JSON, `base[end]` is always 0, and no loop passes `end` without calling `fill()`.

extension JSONTokenizer {
    // MARK: Space and comments

    /// Skips a comment or a space that only JSON5 allows; returns false for any other byte.
    mutating func skipJSON5Space(_ byte: UInt8) throws(JSONSyntaxError) -> Bool {
        tokenStart = position
        while end - position < 3, try fill() {}
        let (second, third) = (base[position + 1], end - position > 2 ? base[position + 2] : 0)
        switch (byte, second, third) {
        case (0x0B, _, _), (0x0C, _, _): position += 1
        // U+00A0
        case (0xC2, 0xA0, _): position += 2
        // U+2028, U+2029, U+FEFF
        case (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9), (0xEF, 0xBB, 0xBF): position += 3
        case (UInt8(ascii: "/"), UInt8(ascii: "/"), _): try skipLineComment()
        case (UInt8(ascii: "/"), UInt8(ascii: "*"), _): try skipBlockComment()
        case (UInt8(ascii: "/"), _, _): throw errorHere("'/' starts neither a value nor a comment")
        default: return false
        }
        return true
    }

    private mutating func skipLineComment() throws(JSONSyntaxError) {
        while true {
            tokenStart = position
            let byte = base[position]
            if byte == 0x0A || byte == 0x0D { return }
            guard try passCommentByte(byte) else { return }
        }
    }

    private mutating func skipBlockComment() throws(JSONSyntaxError) {
        let start = place(of: position)
        position += 2
        while true {
            tokenStart = position
            let byte = base[position]
            if byte == UInt8(ascii: "*") {
                while end - position < 2, try fill() {}
                if base[position + 1] == UInt8(ascii: "/") {
                    position += 2
                    return
                }
            }
            guard try passCommentByte(byte) else {
                throw JSONSyntaxError(reason: .syntax, position: start, message: "the comment has no end")
            }
        }
    }

    /// Skips one character of a comment; returns false at the end of the text.
    private mutating func passCommentByte(_ byte: UInt8) throws(JSONSyntaxError) -> Bool {
        if byte >= 0x80 {
            try scanMultibyte()
        } else if byte == 0, position == end {
            return try fill()
        } else {
            position += 1
            if byte == 0x0A { beginLine() }
        }
        return true
    }

    private mutating func beginLine() {
        line += 1
        lineStart = position
        discardedColumnCount = 0
    }

    // MARK: Keys and values

    /// Reads a value that only JSON5 allows: a string in single quotes, or a number that starts
    /// with `+`, `.`, `N` or `I`.
    mutating func scanJSON5Value(_ byte: UInt8) throws(JSONSyntaxError) -> Token {
        switch byte {
        case UInt8(ascii: "'"):
            try scanString(quote: byte)
            return .string
        case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "N"), UInt8(ascii: "I"):
            try scanJSON5Number()
            return .number
        default: throw try unexpected("a value")
        }
    }

    /// Reads a key in single quotes or without quotes.
    mutating func scanJSON5Key(_ byte: UInt8, expected: String) throws(JSONSyntaxError) {
        guard byte != UInt8(ascii: "'") else { return try scanString(quote: byte) }
        guard Self.isInName(byte), !JSONNumbers.isDigit(byte) else { throw try unexpected(expected) }
        tokenStart = position
        while true {
            let byte = base[position]
            if byte >= 0x80 {
                try scanMultibyte()
            } else if Self.isInName(byte) {
                position += 1
            } else {
                guard byte == 0, position == end, try fill() else { break }
            }
        }
        isInScratch = true
        scratch.removeAll(keepingCapacity: true)
        copyToScratch(from: tokenStart, to: position)
    }

    /// Whether a byte can be part of an unquoted key, or begins a character that can.
    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
            true
        default: false
        }
    }

    // MARK: Escapes

    /// Reads an escape that only JSON5 allows; returns false for any other escape.
    ///
    /// The backslash is at `position`, and `byte` follows it.
    mutating func scanJSON5Escape(_ byte: UInt8) throws(JSONSyntaxError) -> Bool {
        while end - position < 4, try fill() {}
        switch byte {
        case UInt8(ascii: "'"): scratch.append(byte)
        case UInt8(ascii: "v"): scratch.append(0x0B)
        case UInt8(ascii: "0"): scratch.append(0)
        case UInt8(ascii: "x"):
            guard let code = hexadecimal(at: position + 2, digits: 2), let scalar = Unicode.Scalar(code) else {
                throw errorHere("two hexadecimal digits are expected after '\\x'")
            }
            scratch.append(contentsOf: String(scalar).utf8)
            position += 2
        case 0x0A: continueLine(byteCount: 2)
        case 0x0D:
            if end - position > 2, base[position + 2] == 0x0A {
                continueLine(byteCount: 3)
            } else {
                position += 2
            }
        default: return false
        }
        if byte != 0x0A, byte != 0x0D { position += 2 }
        return true
    }

    /// Skips an escaped line break inside a string, and saves the position of the string's start.
    private mutating func continueLine(byteCount: Int) {
        continuedToken = (tokenByteOffset, tokenPosition)
        position += byteCount
        beginLine()
    }

    // MARK: Numbers

    /// Reads a JSON5 number and writes it to `scratch` as a JSON number.
    ///
    /// Copies the words `Infinity`, `-Infinity` and `NaN`. The sign of a NaN is ignored.
    mutating func scanJSON5Number() throws(JSONSyntaxError) {
        tokenStart = position
        try fillNumber()
        isInScratch = true
        isWhole = true
        scratch.removeAll(keepingCapacity: true)
        if base[position] == UInt8(ascii: "-") { scratch.append(UInt8(ascii: "-")) }
        if base[position] == UInt8(ascii: "-") || base[position] == UInt8(ascii: "+") { position += 1 }
        if pass("Infinity") {
            isWhole = false
            return scratch.append(contentsOf: "Infinity".utf8)
        }
        if pass("NaN") {
            isWhole = false
            return scratch = Array("NaN".utf8)
        }
        if base[position] == UInt8(ascii: "0"), base[position + 1] | 0x20 == UInt8(ascii: "x") {
            return try scanHexadecimal()
        }
        let wholeStart = position
        let wholeCount = passDigits()
        guard wholeCount > 0 || base[position] == UInt8(ascii: ".") else { throw try unexpected("a digit") }
        guard wholeCount <= 1 || base[wholeStart] != UInt8(ascii: "0") else {
            throw error("a number may not start with a zero")
        }
        if wholeCount == 0 { scratch.append(UInt8(ascii: "0")) }
        copyToScratch(from: wholeStart, to: position)
        if base[position] == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            let count = passDigits()
            guard count > 0 || wholeCount > 0 else { throw try unexpected("a digit") }
            copyToScratch(from: position - count - 1, to: position)
            if count == 0 { scratch.append(UInt8(ascii: "0")) }
        }
        if base[position] | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            let start = position
            position += 1
            if base[position] == UInt8(ascii: "-") || base[position] == UInt8(ascii: "+") { position += 1 }
            guard passDigits() > 0 else { throw try unexpected("a digit") }
            copyToScratch(from: start, to: position)
        }
    }

    private mutating func scanHexadecimal() throws(JSONSyntaxError) {
        position += 2
        let start = position
        var value: UInt64 = 0
        while let digit = hexadecimal(at: position, digits: 1) {
            guard value >> 60 == 0 else { throw error("a hexadecimal number has at most 16 digits") }
            value = value << 4 | UInt64(digit)
            position += 1
        }
        guard position > start else { throw try unexpected("a hexadecimal digit") }
        scratch.append(contentsOf: String(value).utf8)
    }

    /// Loads all bytes of the number at `position` into the buffer.
    private mutating func fillNumber() throws(JSONSyntaxError) {
        while true {
            switch base[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                position += 1
            default:
                guard position == end, try fill() else {
                    position = tokenStart
                    return
                }
            }
        }
    }

    private mutating func pass(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard end - position >= count,
            UnsafeBufferPointer(start: base + position, count: count).elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: count))
        else { return false }
        position += count
        return true
    }

    private mutating func passDigits() -> Int {
        let start = position
        while JSONNumbers.isDigit(base[position]) { position += 1 }
        return position - start
    }
}
