internal import RoostCore

/// The text of a predicate, an expression or assignments, with the values for its placeholders.
struct PredicateText: Sendable {
    /// An interpolation in the text.
    struct Mark: Sendable {
        /// The characters that represent each interpolation in ``PredicateText/text``.
        static let text = #"\(…)"#
        /// The characters that represent an interpolated property name in messages.
        static let key = #"\(key: …)"#

        /// The number of bytes of UTF-8 before the mark.
        let byteOffset: Int
        /// Whether the interpolation is the name of a property.
        let isKey: Bool
    }

    var text = ""
    var arguments: [any PredicateArgument] = []
    /// The interpolations from left to right; nil if the text has placeholders such as `%@`.
    var marks: [Mark]?
    /// The word for the text in messages, such as "predicate" or "expression".
    var noun = "predicate"

    /// Creates an empty text for a Swift literal with interpolations instead of `%@`.
    init() { marks = [] }

    init(_ text: String, arguments: [any PredicateArgument]) {
        self.text = text
        self.arguments = arguments
    }
}
