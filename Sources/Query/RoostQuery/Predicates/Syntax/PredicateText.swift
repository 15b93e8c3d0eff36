internal import RoostCore

/// The text of a predicate, an expression or assignments, and the values for the places in it.
struct PredicateText: Sendable {
    /// An interpolation in the text.
    struct Mark: Sendable {
        /// The characters that the text has for an interpolation.
        static let text = #"\(…)"#
        /// An interpolated name of a property in messages.
        static let key = #"\(key: …)"#

        /// The number of bytes of UTF-8 before the mark.
        let byteOffset: Int
        /// Whether the interpolation gives the name of a property instead of a value.
        let isKey: Bool
    }

    /// The text; each interpolation is written as ``Mark/text``.
    var text = ""
    /// The values for the places in the text, from left to right.
    var arguments: [any PredicateArgument] = []
    /// The interpolations from left to right; nil if places are written as `%@` and the like.
    var marks: [Mark]?
    /// The noun that messages use for the text.
    var noun = "predicate"

    /// Creates the text of a literal, which has interpolations instead of `%@`.
    init() { marks = [] }

    /// Creates a text in which `%@` and the like are the places of arguments.
    init(_ text: String, arguments: [any PredicateArgument]) {
        self.text = text
        self.arguments = arguments
    }
}
