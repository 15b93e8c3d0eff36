/// A value in a JSON text, with its position.
///
/// Numbers are stored as text, so that they are not rounded.
package struct JSONNode: Sendable {
    package enum Content: Sendable {
        case null
        case bool(Bool)
        /// A number in JSON syntax, or `NaN`, `Infinity` or `-Infinity` from JSON5.
        case number(String)
        case string(String)
        case array([JSONNode])
        /// Members in the order of the text, with unique keys.
        case object([JSONMember])
    }

    package var content: Content
    /// The offset of the value in the text; zero for a node created in memory.
    package var byteOffset: Int

    package init(_ content: Content, byteOffset: Int = 0) {
        self.content = content
        self.byteOffset = byteOffset
    }

    /// Whether the node is a number with neither a fraction nor an exponent.
    package var isWholeNumber: Bool {
        guard case .number(let text) = content else { return false }
        return text.utf8.dropFirst(text.utf8.first == UInt8(ascii: "-") ? 1 : 0).allSatisfy(JSONNumbers.isDigit)
    }

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
    package var key: String
    /// The offset of the key in the text.
    package var keyOffset: Int
    package var value: JSONNode

    package init(_ key: String, _ value: JSONNode, keyOffset: Int = 0) {
        self.key = key
        self.keyOffset = keyOffset
        self.value = value
    }

    package init(_ key: String, _ content: JSONNode.Content) { self.init(key, JSONNode(content)) }
}
