/// A value of a JSON text, with the place it came from.
///
/// Numbers stay text, so that none is rounded.
package struct JSONNode: Sendable {
    /// What a node holds.
    package enum Content: Sendable {
        /// `null`
        case null
        /// `true` or `false`
        case bool(Bool)
        /// A number in JSON's own spelling, or `NaN`, `Infinity`, `-Infinity` where JSON5 was read.
        case number(String)
        /// Text.
        case string(String)
        /// A list.
        case array([JSONNode])
        /// Members in the order of the text; no key occurs twice.
        case object([JSONMember])
    }

    /// What the node holds.
    package var content: Content
    /// Where its text starts; zero for a node made in memory.
    package var byteOffset: Int

    /// Makes a node.
    package init(_ content: Content, byteOffset: Int = 0) {
        self.content = content
        self.byteOffset = byteOffset
    }

    /// Whether the node is a number without a fraction and an exponent, of any size.
    package var isWholeNumber: Bool {
        guard case .number(let text) = content else { return false }
        return text.utf8.dropFirst(text.utf8.first == UInt8(ascii: "-") ? 1 : 0)
            .allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// What kind of value this is, for messages.
    package var kindDescription: String {
        switch content {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A key of a JSON object with its value.
package struct JSONMember: Sendable {
    /// The key.
    package var key: String
    /// Where the key's text starts.
    package var keyOffset: Int
    /// The value.
    package var value: JSONNode

    /// Makes a member.
    package init(_ key: String, _ value: JSONNode, keyOffset: Int = 0) {
        self.key = key
        self.keyOffset = keyOffset
        self.value = value
    }

    /// Makes a member of content without a place.
    package init(_ key: String, _ content: JSONNode.Content) { self.init(key, JSONNode(content)) }
}

/// Where a JSON text stops being one.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    /// The place, for people.
    package let position: JSONPosition
    /// What is wrong there.
    package let message: String

    /// The place and the message: `line 3, column 7: …`.
    package var description: String { "\(position): \(message)" }
}

/// A place in a text: line and column, both counted from 1, the column in characters (Unicode scalars).
package struct JSONPosition: Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    /// The character in the line, from 1.
    package let column: Int

    /// The place of a byte of a text.
    package init(of byteOffset: Int, in bytes: [UInt8]) {
        var (line, column) = (1, 1)
        for byte in bytes.prefix(max(0, byteOffset)) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }

    /// The place for people: `line 3, column 7`.
    package var description: String { "line \(line), column \(column)" }
}
