/// Writes JSON texts: valid JSON, UTF-8, with as few escapes as it allows.
package enum JSONWriter {
    /// The text of a node without any space or line break.
    package static func compact(_ node: JSONNode) -> [UInt8] {
        var text: [UInt8] = []
        write(node, depth: 0, blockDepth: 0, isSpaced: false, into: &text)
        return text
    }

    /// The text of a node, with a line per item down to a depth and one line per node below it, and a final line break.
    package static func pretty(_ node: JSONNode, blockDepth: Int) -> [UInt8] {
        var text: [UInt8] = []
        write(node, depth: 0, blockDepth: blockDepth, isSpaced: true, into: &text)
        text.append(UInt8(ascii: "\n"))
        return text
    }

    /// Appends a string with its quotes.
    package static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0x08: text.append(contentsOf: "\\b".utf8)
            case 0x09: text.append(contentsOf: "\\t".utf8)
            case 0x0A: text.append(contentsOf: "\\n".utf8)
            case 0x0C: text.append(contentsOf: "\\f".utf8)
            case 0x0D: text.append(contentsOf: "\\r".utf8)
            case 0..<0x20:
                text.append(contentsOf: "\\u00".utf8)
                text.append(hexDigit(byte >> 4))
                text.append(hexDigit(byte & 15))
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func write(
        _ node: JSONNode, depth: Int, blockDepth: Int, isSpaced: Bool, into text: inout [UInt8]
    ) {
        switch node.content {
        case .null: text.append(contentsOf: "null".utf8)
        case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): text.append(contentsOf: number.utf8)
        case .string(let string): append(string, to: &text)
        case .array(let nodes):
            list(nodes, "[", "]", depth, blockDepth, isSpaced, padding: "", into: &text) { node, text in
                write(node, depth: depth + 1, blockDepth: blockDepth, isSpaced: isSpaced, into: &text)
            }
        case .object(let members):
            let padding = isSpaced ? " " : ""
            list(members, "{", "}", depth, blockDepth, isSpaced, padding: padding, into: &text) { member, text in
                append(member.key, to: &text)
                text.append(contentsOf: (isSpaced ? ": " : ":").utf8)
                write(member.value, depth: depth + 1, blockDepth: blockDepth, isSpaced: isSpaced, into: &text)
            }
        }
    }

    private static func list<Item>(
        _ items: [Item], _ open: String, _ close: String, _ depth: Int, _ blockDepth: Int, _ isSpaced: Bool,
        padding: String, into text: inout [UInt8], _ write: (Item, inout [UInt8]) -> Void
    ) {
        guard !items.isEmpty else {
            text.append(contentsOf: (open + close).utf8)
            return
        }
        let isBlock = depth < blockDepth
        text.append(contentsOf: (open + (isBlock ? "" : padding)).utf8)
        for (index, item) in items.enumerated() {
            if index > 0 { text.append(contentsOf: (isSpaced && !isBlock ? ", " : ",").utf8) }
            if isBlock { breakLine(depth + 1, &text) }
            write(item, &text)
        }
        if isBlock { breakLine(depth, &text) }
        text.append(contentsOf: ((isBlock ? "" : padding) + close).utf8)
    }

    private static func breakLine(_ depth: Int, _ text: inout [UInt8]) {
        text.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { text.append(contentsOf: "  ".utf8) }
    }
}
