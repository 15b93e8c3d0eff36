extension JSONText {
    /// The spaces and line breaks in a text.
    package struct Style: Sendable {
        /// The depth of the deepest items that have their own lines.
        let blockDepth: Int
        /// The text between two items on the same line.
        let separator: StaticString
        let colon: StaticString
        /// The space after `{` and before `}` of an object on one line.
        let padding: StaticString
        /// The text after the whole tree.
        var ending: StaticString = ""

        package static let compact = Style(
            blockDepth: 0, separator: ",", colon: ":", padding: "")
        package static let lines = Style(blockDepth: .max, separator: ",", colon: ": ", padding: "")

        /// Returns a style that starts a line for each item down to `blockDepth`, and ends the text
        /// with a line break.
        ///
        /// An item at `blockDepth` is on one line with everything in it.
        package static func pretty(blockDepth: Int) -> Style {
            Style(
                blockDepth: blockDepth, separator: ", ", colon: ": ", padding: " ", ending: "\n")
        }
    }

    package static func bytes(_ node: JSONNode, style: Style = .compact) -> [UInt8] {
        var text = TextBuffer()
        append(node, style: style, depth: 0, to: &text)
        text.append(style.ending)
        return text.bytes
    }

    /// Appends a node on one line, without spaces.
    package static func append(_ node: JSONNode, to text: inout TextBuffer) {
        append(node, style: .compact, depth: 0, to: &text)
    }

    private static func append(_ node: JSONNode, style: Style, depth: Int, to text: inout TextBuffer) {
        switch node.content {
        case .null: text.append("null")
        case .bool(let value): text.append(value ? "true" : "false")
        case .number(let number): text.append(contentsOf: number.utf8)
        case .string(let string): append(string, to: &text)
        case .array(let nodes):
            text.append(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                begin(index, style: style, depth: depth, padding: "", text: &text)
                append(node, style: style, depth: depth + 1, to: &text)
            }
            end(nodes.isEmpty, style: style, depth: depth, padding: "", text: &text)
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                begin(index, style: style, depth: depth, padding: style.padding, text: &text)
                append(member.key, to: &text)
                text.append(style.colon)
                append(member.value, style: style, depth: depth + 1, to: &text)
            }
            end(members.isEmpty, style: style, depth: depth, padding: style.padding, text: &text)
            text.append(UInt8(ascii: "}"))
        }
    }

    /// Appends the separator, line break or padding before an item.
    private static func begin(
        _ index: Int, style: Style, depth: Int, padding: StaticString, text: inout TextBuffer
    ) {
        if depth < style.blockDepth {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            breakLine(depth + 1, text: &text)
        } else {
            text.append(index > 0 ? style.separator : padding)
        }
    }

    /// Appends the text between the last item and the closing bracket.
    private static func end(
        _ isEmpty: Bool, style: Style, depth: Int, padding: StaticString, text: inout TextBuffer
    ) {
        guard !isEmpty else { return }
        if depth < style.blockDepth { breakLine(depth, text: &text) } else { text.append(padding) }
    }

    private static func breakLine(_ depth: Int, text: inout TextBuffer) {
        text.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { text.append("  ") }
    }
}
