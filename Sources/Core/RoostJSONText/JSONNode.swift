/// A value in a JSON text, with its position in the text.
///
/// Numbers are stored as text, so that they are not rounded.
package struct JSONNode: Sendable {
    /// The value of a node.
    package enum Content: Sendable {
        /// `null`
        case null
        /// `true` or `false`
        case bool(Bool)
        /// A number in JSON syntax, or `NaN`, `Infinity` or `-Infinity` from JSON5.
        case number(String)
        /// Text.
        case string(String)
        /// A list.
        case array([JSONNode])
        /// Members in the order of the text, with unique keys.
        case object([JSONMember])
    }

    /// The value of the node.
    package var content: Content
    /// The offset of the value in the text; zero for a node created in memory.
    package var byteOffset: Int

    /// Creates a node.
    package init(_ content: Content, byteOffset: Int = 0) {
        self.content = content
        self.byteOffset = byteOffset
    }

    /// Whether the node is a number of any size, without a fraction and without an exponent.
    package var isWholeNumber: Bool {
        guard case .number(let text) = content else { return false }
        return text.utf8.dropFirst(text.utf8.first == UInt8(ascii: "-") ? 1 : 0).allSatisfy(JSONNumbers.isDigit)
    }

    /// A description of the value's kind, for messages.
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
    /// The offset of the key in the text.
    package var keyOffset: Int
    /// The value.
    package var value: JSONNode

    /// Creates a member.
    package init(_ key: String, _ value: JSONNode, keyOffset: Int = 0) {
        self.key = key
        self.keyOffset = keyOffset
        self.value = value
    }

    /// Creates a member that has no position in a text.
    package init(_ key: String, _ content: JSONNode.Content) { self.init(key, JSONNode(content)) }
}
