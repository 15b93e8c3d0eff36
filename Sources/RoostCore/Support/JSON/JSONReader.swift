/// Reads a JSON text as a tree: strict, with positions, and with every number kept as text.
///
/// Refused besides broken syntax: invalid UTF-8, unpaired surrogates, a key that occurs twice in an object, and nesting
/// deeper than ``maximumDepth``. Foundation's reader on Linux has none of these and rounds numbers.
package struct JSONReader {
    /// How deep arrays and objects may nest.
    package static let maximumDepth = 128

    private let bytes: [UInt8]
    private let acceptsJSON5: Bool
    private var offset = 0

    private init(_ bytes: [UInt8], acceptsJSON5: Bool) {
        self.bytes = bytes
        self.acceptsJSON5 = acceptsJSON5
    }

    /// Reads a whole text.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - acceptsJSON5: Whether comments, unquoted keys, single quotes, trailing commas and JSON5's numbers are fine.
    /// - Returns: The tree of the text.
    /// - Throws: The first thing that is wrong, with its place.
    package static func read(_ bytes: [UInt8], acceptsJSON5: Bool = false) throws(JSONSyntaxError) -> JSONNode {
        var reader = JSONReader(bytes, acceptsJSON5: acceptsJSON5)
        if let offset = reader.firstInvalidByte() { throw reader.error(at: offset, "the text is not valid UTF-8") }
        try reader.skipSpace()
        let node = try reader.value(depth: 0)
        try reader.skipSpace()
        guard reader.peek == nil else { throw reader.error("there is text after the end of the document") }
        return node
    }

    // MARK: Bytes

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func byte(after distance: Int) -> UInt8? {
        offset + distance < bytes.count ? bytes[offset + distance] : nil
    }

    private func starts(with text: StaticString) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount else { return false }
        return "\(text)".utf8.elementsEqual(bytes[offset..<offset + text.utf8CodeUnitCount])
    }

    private func error(at place: Int? = nil, _ message: String) -> JSONSyntaxError {
        JSONSyntaxError(position: JSONPosition(of: place ?? offset, in: bytes), message: message)
    }

    private func unexpected(_ wanted: String) -> JSONSyntaxError {
        error(peek == nil ? "the text ends where \(wanted) is expected" : "\(wanted) is expected")
    }

    private func firstInvalidByte() -> Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var (decoder, iterator, valid) = (UTF8(), bytes.makeIterator(), 0)
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
        return valid
    }

    private mutating func skipSpace() throws(JSONSyntaxError) {
        while let byte = peek {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case 0x0B where acceptsJSON5, 0x0C where acceptsJSON5: offset += 1
            case 0xC2 where acceptsJSON5 && starts(with: "\u{A0}"): offset += 2
            case 0xE2 where acceptsJSON5 && (starts(with: "\u{2028}") || starts(with: "\u{2029}")): offset += 3
            case 0xEF where acceptsJSON5 && starts(with: "\u{FEFF}"): offset += 3
            case UInt8(ascii: "/") where acceptsJSON5: try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONSyntaxError) {
        if starts(with: "//") {
            while let byte = peek, byte != 0x0A, byte != 0x0D { offset += 1 }
        } else if starts(with: "/*") {
            let start = offset
            offset += 2
            while !starts(with: "*/") {
                guard peek != nil else { throw error(at: start, "the comment has no end") }
                offset += 1
            }
            offset += 2
        } else {
            throw error("'/' starts neither a value nor a comment")
        }
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONNode {
        guard depth < Self.maximumDepth else { throw error("the document nests deeper than \(Self.maximumDepth)") }
        let start = offset
        guard let first = peek else { throw unexpected("a value") }
        let content: JSONNode.Content
        switch first {
        case UInt8(ascii: "{"): content = .object(try object(depth: depth))
        case UInt8(ascii: "["): content = .array(try array(depth: depth))
        case UInt8(ascii: "\""): content = .string(try string())
        case UInt8(ascii: "'") where acceptsJSON5: content = .string(try string())
        case UInt8(ascii: "t") where starts(with: "true"): content = word(.bool(true), 4)
        case UInt8(ascii: "f") where starts(with: "false"): content = word(.bool(false), 5)
        case UInt8(ascii: "n") where starts(with: "null"): content = word(.null, 4)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = .number(try number())
        case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "N"), UInt8(ascii: "I"):
            guard acceptsJSON5 else { throw unexpected("a value") }
            content = .number(try number())
        default: throw unexpected("a value")
        }
        return JSONNode(content, byteOffset: start)
    }

    private mutating func word(_ content: JSONNode.Content, _ count: Int) -> JSONNode.Content {
        offset += count
        return content
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONNode] {
        var nodes: [JSONNode] = []
        offset += 1
        try skipSpace()
        while peek != UInt8(ascii: "]") {
            nodes.append(try value(depth: depth + 1))
            guard try separator(before: "]") else { break }
        }
        offset += 1
        return nodes
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> [JSONMember] {
        var members: [JSONMember] = []
        // As Swift compares strings: a dictionary could not hold two spellings of one key either.
        var keys: Set<String> = []
        offset += 1
        try skipSpace()
        while peek != UInt8(ascii: "}") {
            let start = offset
            let key = try key()
            guard keys.insert(key).inserted else { throw error(at: start, "the key '\(key)' occurs twice") }
            try skipSpace()
            guard peek == UInt8(ascii: ":") else { throw unexpected("':'") }
            offset += 1
            try skipSpace()
            members.append(JSONMember(key, try value(depth: depth + 1), keyOffset: start))
            guard try separator(before: "}") else { break }
        }
        offset += 1
        return members
    }

    /// Whether another item follows; leaves the offset there, or at the closing bracket.
    private mutating func separator(before end: Unicode.Scalar) throws(JSONSyntaxError) -> Bool {
        try skipSpace()
        if peek == UInt8(ascii: end) { return false }
        guard peek == UInt8(ascii: ",") else { throw unexpected("',' or '\(end)'") }
        offset += 1
        try skipSpace()
        if peek == UInt8(ascii: end), !acceptsJSON5 { throw error("a comma may not stand before '\(end)'") }
        return true
    }

    private mutating func key() throws(JSONSyntaxError) -> String {
        if peek == UInt8(ascii: "\"") || (acceptsJSON5 && peek == UInt8(ascii: "'")) { return try string() }
        let start = offset
        while acceptsJSON5, let byte = peek, isIdentifier(byte, first: offset == start) { offset += 1 }
        guard offset > start else { throw unexpected("a key") }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private func isIdentifier(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...0xFF:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !first
        default: false
        }
    }

    // MARK: Strings

    private mutating func string() throws(JSONSyntaxError) -> String {
        let start = offset
        let quote = bytes[offset]
        offset += 1
        var text: [UInt8] = []
        while let byte = peek {
            offset += 1
            switch byte {
            case quote: return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20:
                offset -= 1
                throw error("a control character in a string must be written as an escape")
            default: text.append(byte)
            }
        }
        throw error(at: start, "the string has no end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        let start = offset - 1
        guard let byte = peek else { throw error(at: start, "the string has no end") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): try unicodeEscape(from: start, into: &text)
        case UInt8(ascii: "'") where acceptsJSON5: text.append(byte)
        case UInt8(ascii: "v") where acceptsJSON5: text.append(0x0B)
        case UInt8(ascii: "0") where acceptsJSON5: text.append(0)
        case UInt8(ascii: "x") where acceptsJSON5:
            text.append(contentsOf: String(Unicode.Scalar(UInt8(try hex(2)))).utf8)
        case 0x0A where acceptsJSON5: break
        case 0x0D where acceptsJSON5: if peek == 0x0A { offset += 1 }
        default: throw error(at: start, "the escape is not one of JSON's")
        }
    }

    private mutating func unicodeEscape(from start: Int, into text: inout [UInt8]) throws(JSONSyntaxError) {
        var code = UInt32(try hex(4))
        if (0xD800...0xDBFF).contains(code) {
            guard peek == UInt8(ascii: "\\"), byte(after: 1) == UInt8(ascii: "u") else {
                throw error(at: start, "the surrogate has no partner")
            }
            offset += 2
            let low = UInt32(try hex(4))
            guard (0xDC00...0xDFFF).contains(low) else { throw error(at: start, "the surrogate has no partner") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error(at: start, "the surrogate has no partner") }
        text.append(contentsOf: String(scalar).utf8)
    }

    private mutating func hex(_ count: Int) throws(JSONSyntaxError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<count {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\(count) hexadecimal digits are expected")
            }
            value = value << 4 | UInt16(digit)
            offset += 1
        }
        return value
    }

    // MARK: Numbers

    private mutating func digits() -> Int {
        let start = offset
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        return offset - start
    }

    /// The number's text in JSON's own spelling: JSON5's are rewritten.
    private mutating func number() throws(JSONSyntaxError) -> String {
        let start = offset
        var text = ""
        if peek == UInt8(ascii: "-") { text = "-" }
        if peek == UInt8(ascii: "-") || peek == UInt8(ascii: "+") { offset += 1 }
        if acceptsJSON5 {
            for (word, count) in [("Infinity", 8), ("NaN", 3)] as [(StaticString, Int)] where starts(with: word) {
                offset += count
                return count == 3 ? "NaN" : text + "Infinity"
            }
            if starts(with: "0x") || starts(with: "0X") { return text + (try hexadecimal()) }
        }
        let whole = offset
        let wholeCount = digits()
        guard wholeCount > 0 || (acceptsJSON5 && peek == UInt8(ascii: ".")) else { throw unexpected("a digit") }
        guard wholeCount <= 1 || bytes[whole] != UInt8(ascii: "0") else {
            throw error(at: start, "a number may not start with a zero")
        }
        text += wholeCount == 0 ? "0" : String(decoding: bytes[whole..<offset], as: UTF8.self)
        if peek == UInt8(ascii: ".") {
            offset += 1
            let fraction = offset
            let count = digits()
            guard count > 0 || (acceptsJSON5 && wholeCount > 0) else { throw unexpected("a digit") }
            text += "." + (count == 0 ? "0" : String(decoding: bytes[fraction..<offset], as: UTF8.self))
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            let exponent = offset
            offset += 1
            if peek == UInt8(ascii: "-") || peek == UInt8(ascii: "+") { offset += 1 }
            guard digits() > 0 else { throw unexpected("a digit") }
            text += String(decoding: bytes[exponent..<offset], as: UTF8.self)
        }
        return text
    }

    private mutating func hexadecimal() throws(JSONSyntaxError) -> String {
        let start = offset
        offset += 2
        var value: UInt64 = 0
        while let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue {
            guard value >> 60 == 0 else { throw error(at: start, "a hexadecimal number has at most 16 digits") }
            value = value << 4 | UInt64(digit)
            offset += 1
        }
        guard offset > start + 2 else { throw unexpected("a hexadecimal digit") }
        return String(value)
    }
}
