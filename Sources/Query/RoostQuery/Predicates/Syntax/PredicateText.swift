internal import RoostCore

/// The text of a predicate, an expression or assignments, and the values for its placeholders.
struct PredicateText: Sendable {
    /// An interpolation in the text.
    struct Mark: Sendable {
        /// The text that represents an interpolation.
        static let text = #"\(…)"#
        /// The text that represents an interpolated property name in messages.
        static let key = #"\(key: …)"#

        /// The number of bytes of UTF-8 before the mark.
        let byteOffset: Int
        /// Whether the interpolation is the name of a property instead of a value.
        let isKey: Bool
    }

    /// The text, with each interpolation as ``Mark/text``.
    var text = ""
    /// The values for the placeholders, from left to right.
    var arguments: [any PredicateArgument] = []
    /// The interpolations from left to right; nil if the placeholders are `%@` and so on.
    var marks: [Mark]?
    /// The noun for the text in messages.
    var noun = "predicate"

    /// Creates the text of a literal, in which placeholders are interpolations instead of `%@`.
    init() { marks = [] }

    /// Creates a text with placeholders such as `%@`.
    init(_ text: String, arguments: [any PredicateArgument]) {
        self.text = text
        self.arguments = arguments
    }
}
