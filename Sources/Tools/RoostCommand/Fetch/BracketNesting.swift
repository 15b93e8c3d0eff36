/// The brackets and quotes that are open at a position in a predicate.
struct BracketNesting {
    private var depth = 0
    private var quote: Unicode.Scalar?
    private var isEscaped = false

    /// Whether a bracket or a quote is open.
    var isOpen: Bool { depth > 0 || quote != nil }

    /// Whether a quote is open.
    var isQuoted: Bool { quote != nil }

    /// Reads the next character.
    ///
    /// - Returns: Whether the character is outside of all brackets and quotes. An outermost opening
    ///   bracket counts as outside; a quote and a closing bracket do not.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
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
}
