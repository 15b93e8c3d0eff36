internal import RoostCore

package struct XMLAttribute {
    package var name: String
    package var value: String
}

/// A pull parser for XML elements, attributes and text.
///
/// Refuses entity declarations and document types (except a plain one on request), so nothing is
/// fetched. Supports only character references and the five predefined entities. Parsing takes
/// linear time.
package struct XMLPullParser {
    enum Event {
        case start(name: String, attributes: [XMLAttribute], line: Int)
        case end(name: String, line: Int)
        case text(String)
    }

    package enum Limit {
        package static let byteCount = 4 << 20
        static let attributesPerElement = 64
        static let depth = 32
        static let elements = 250_000
    }

    private let bytes: [UInt8]
    private let file: String
    private let allowsPlainDoctype: Bool
    private var offset = 0
    private(set) var line = 1
    private var open: [String] = []
    private var elementCount = 0
    private var hasRoot = false
    /// The name of an element like `<a/>` whose end event is due next.
    private var pendingEnd: String?

    /// Creates a parser; `allowsPlainDoctype` permits the `<!DOCTYPE …>` of property lists.
    init(_ bytes: [UInt8], file: String, allowsPlainDoctype: Bool = false) throws(StoreError) {
        guard bytes.count <= Limit.byteCount else {
            throw StoreError(
                .limitExceeded, "'\(file)' has \(bytes.count) bytes; at most \(Limit.byteCount) are read.")
        }
        self.bytes = try XMLText.utf8(bytes, file: file)
        self.file = file
        self.allowsPlainDoctype = allowsPlainDoctype
    }

    /// Returns the next event, or nil at the end of a complete document.
    mutating func next() throws(StoreError) -> Event? {
        if let name = pendingEnd {
            pendingEnd = nil
            open.removeLast()
            return .end(name: name, line: line)
        }
        while offset < bytes.count {
            if bytes[offset] != UInt8(ascii: "<") {
                let text = try characters(until: UInt8(ascii: "<"), isAttribute: false)
                if !open.isEmpty { return .text(text) }
                guard text.utf8.allSatisfy(Self.isSpace) else { throw error("text outside the root element") }
            } else if has("<!--") {
                try skip(past: "-->", what: "comment")
            } else if has("<![CDATA["), !open.isEmpty {
                let start = offset + 9
                try skip(past: "]]>", what: "CDATA section")
                return .text(try verbatimText(start..<offset - 3))
            } else if has("<!") {
                try skipDoctype()
            } else if has("<?") {
                try skip(past: "?>", what: "processing instruction")
            } else if has("</") {
                return try endTag()
            } else {
                return try startTag()
            }
        }
        if let name = open.last { throw error("element <\(name)> is not closed; the file may be cut off") }
        guard hasRoot else { throw error("the document has no element; the file is empty or not XML") }
        return nil
    }

    // MARK: Tags

    private mutating func startTag() throws(StoreError) -> Event {
        let startLine = line
        offset += 1
        let name = try self.name()
        guard !open.isEmpty || !hasRoot else { throw error("a second root element <\(name)>") }
        hasRoot = true
        elementCount += 1
        guard elementCount <= Limit.elements else { throw limit("has more than \(Limit.elements) elements") }
        guard open.count < Limit.depth else { throw limit("is nested deeper than \(Limit.depth) elements") }
        var attributes: [XMLAttribute] = []
        while true {
            let hadSpace = skipSpace()
            guard offset < bytes.count else { throw error("element <\(name)> is cut off") }
            switch bytes[offset] {
            case UInt8(ascii: ">"):
                offset += 1
                open.append(name)
                return .start(name: name, attributes: attributes, line: startLine)
            case UInt8(ascii: "/"):
                guard has("/>") else { throw error("'/' without '>' in element <\(name)>") }
                offset += 2
                open.append(name)
                pendingEnd = name
                return .start(name: name, attributes: attributes, line: startLine)
            default:
                guard hadSpace else { throw error("attributes of <\(name)> are not separated") }
                guard attributes.count < Limit.attributesPerElement else {
                    throw limit("has an element <\(name)> with more than \(Limit.attributesPerElement) attributes")
                }
                let attribute = try self.attribute(of: name)
                guard !attributes.contains(where: { $0.name == attribute.name }) else {
                    throw error("attribute '\(attribute.name)' occurs twice in element <\(name)>")
                }
                attributes.append(attribute)
            }
        }
    }

    private mutating func attribute(of element: String) throws(StoreError) -> XMLAttribute {
        let name = try self.name()
        _ = skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
            throw error("attribute '\(name)' of element <\(element)> has no value")
        }
        offset += 1
        _ = skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'") else {
            throw error("the value of attribute '\(name)' of element <\(element)> is not quoted")
        }
        let quote = bytes[offset]
        offset += 1
        let value = try characters(until: quote, isAttribute: true)
        guard offset < bytes.count else { throw error("the value of attribute '\(name)' is cut off") }
        offset += 1
        return XMLAttribute(name: name, value: value)
    }

    private mutating func endTag() throws(StoreError) -> Event {
        offset += 2
        let name = try self.name()
        _ = skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ">") else { throw error("</\(name) without '>'") }
        offset += 1
        guard let expected = open.popLast() else { throw error("</\(name)> closes nothing") }
        guard expected == name else { throw error("</\(name)> where </\(expected)> was expected") }
        return .end(name: name, line: line)
    }

    /// Skips a plain document type if it is allowed, and refuses every other markup declaration.
    private mutating func skipDoctype() throws(StoreError) {
        guard allowsPlainDoctype, !hasRoot, has("<!DOCTYPE") else {
            throw error("document types and entity declarations are refused; remove the <!…> declaration")
        }
        let start = offset
        try skip(past: ">", what: "document type")
        guard !bytes[start..<offset].contains(UInt8(ascii: "[")) else {
            throw error("document types with an internal subset are refused")
        }
    }

    // MARK: Characters

    private mutating func name() throws(StoreError) -> String {
        let start = offset
        while offset < bytes.count, Self.isNameByte(bytes[offset], isFirst: offset == start) { offset += 1 }
        guard offset > start else { throw error("a name was expected") }
        guard offset - start <= 255 else { throw limit("has a name of more than 255 bytes") }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// Reads text up to the byte `end`, which stays unread, or to the end of the file.
    private mutating func characters(until end: UInt8, isAttribute: Bool) throws(StoreError) -> String {
        var text: [UInt8] = []
        while offset < bytes.count, bytes[offset] != end {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "&"):
                text += try reference()
                continue
            case UInt8(ascii: "<") where isAttribute: throw error("'<' inside an attribute's value")
            case UInt8(ascii: "\n"):
                line += 1
                text.append(isAttribute ? UInt8(ascii: " ") : byte)
            case UInt8(ascii: "\r"):
                // Each form of a line end becomes one character.
                if offset + 1 < bytes.count, bytes[offset + 1] == UInt8(ascii: "\n") { break }
                line += 1
                text.append(isAttribute ? UInt8(ascii: " ") : UInt8(ascii: "\n"))
            case UInt8(ascii: "\t"): text.append(isAttribute ? UInt8(ascii: " ") : byte)
            case 0..<0x20: throw error("a control character")
            default: text.append(byte)
            }
            offset += 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the text of a CDATA section, with each form of a line end converted to LF.
    private func verbatimText(_ range: Range<Int>) throws(StoreError) -> String {
        var text: [UInt8] = []
        for index in range {
            switch bytes[index] {
            case UInt8(ascii: "\r"):
                let isPair = index + 1 < range.upperBound && bytes[index + 1] == UInt8(ascii: "\n")
                if !isPair { text.append(UInt8(ascii: "\n")) }
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"): text.append(bytes[index])
            case 0..<0x20: throw error("a control character")
            default: text.append(bytes[index])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a character reference or a predefined entity as UTF-8.
    private mutating func reference() throws(StoreError) -> [UInt8] {
        let limit = min(bytes.count, offset + 12)
        guard let end = bytes[offset..<limit].firstIndex(of: UInt8(ascii: ";")) else {
            throw error("'&' without a character reference; write &amp;")
        }
        let body = String(decoding: bytes[offset + 1..<end], as: UTF8.self)
        let scalar: Unicode.Scalar?
        switch body {
        case "amp": scalar = "&"
        case "lt": scalar = "<"
        case "gt": scalar = ">"
        case "quot": scalar = "\""
        case "apos": scalar = "'"
        default:
            let number: UInt32? =
                body.hasPrefix("#x")
                ? UInt32(body.dropFirst(2), radix: 16)
                : body.hasPrefix("#") ? UInt32(body.dropFirst()) : nil
            guard let number else { throw error("unknown entity '&\(body);'") }
            scalar = number >= 0x20 || number == 9 || number == 10 || number == 13 ? Unicode.Scalar(number) : nil
        }
        guard let scalar else { throw error("an invalid character reference") }
        offset = end + 1
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func skip(past end: String, what: String) throws(StoreError) {
        let pattern = Array(end.utf8)
        while offset + pattern.count <= bytes.count {
            countLineEnd()
            if has(pattern) {
                offset += pattern.count
                return
            }
            offset += 1
        }
        throw error("a \(what) is not closed")
    }

    private mutating func skipSpace() -> Bool {
        let start = offset
        while offset < bytes.count, Self.isSpace(bytes[offset]) {
            countLineEnd()
            offset += 1
        }
        return offset > start
    }

    /// Increments `line` if the current byte ends a line: LF, CR LF or CR.
    private mutating func countLineEnd() {
        let isPair = offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "\n")
        if bytes[offset] == UInt8(ascii: "\n") || bytes[offset] == UInt8(ascii: "\r") && !isPair { line += 1 }
    }

    private func has(_ text: String) -> Bool { has(Array(text.utf8)) }
    private func has(_ pattern: [UInt8]) -> Bool {
        offset + pattern.count <= bytes.count && bytes[offset..<offset + pattern.count].elementsEqual(pattern)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private static func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...0xFF,
            UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    private func error(_ what: String) -> StoreError { StoreError(.invalidModel, "\(file):\(line): \(what).") }
    private func limit(_ what: String) -> StoreError {
        StoreError(.limitExceeded, "\(file):\(line): the file \(what).")
    }
}
