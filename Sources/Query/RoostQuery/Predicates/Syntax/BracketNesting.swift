/// The brackets and quotes that are open at a position in a predicate.
package struct BracketNesting {
    private var depth = 0
    private var quote: Unicode.Scalar?
    private var isEscaped = false

    package init() {}

    package var isOpen: Bool { depth > 0 || quote != nil }

    package var isQuoted: Bool { quote != nil }

    /// Reads the next character.
    ///
    /// - Returns: Whether the character is outside of all brackets and quotes. An outermost opening
    ///   bracket counts as outside; a quote and a closing bracket do not.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        if let open = quote {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == open {
                quote = nil
            }
            return false
        }
        let isOutside = depth == 0
        switch character {
        case "'", "\"":
            quote = character
            return false
        case "(", "[", "{": depth += 1
        case ")", "]", "}":
            // A bracket that closes nothing is reported when the predicate is parsed.
            depth = max(0, depth - 1)
            return false
        default: break
        }
        return isOutside
    }

    /// Returns the end of the quoted string with which a text begins; nil without a closing quote.
    package static func endOfString(_ text: Substring) -> Substring.Index? {
        var nesting = BracketNesting()
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            _ = nesting.take(scalars[index])
            if !nesting.isQuoted { return scalars.index(after: index) }
        }
        return nil
    }
}
