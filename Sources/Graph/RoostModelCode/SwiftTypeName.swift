/// A checker of the Swift types of transformable attributes.
enum SwiftTypeName {
    /// Returns whether a text is a type: identifiers with dots, arrays, dictionaries, generic
    /// arguments, and optionals inside of these.
    ///
    /// Generated code contains the text, so no other syntax is allowed.
    static func isType(_ text: String) -> Bool {
        var rest = Substring(text)
        return takeType(&rest, depth: 0) && rest.isEmpty
    }

    private static func takeType(_ rest: inout Substring, depth: Int) -> Bool {
        guard depth < 16 else { return false }
        skipSpaces(&rest)
        if take("[", rest: &rest) {
            guard takeType(&rest, depth: depth + 1) else { return false }
            if take(":", rest: &rest), !takeType(&rest, depth: depth + 1) { return false }
            guard take("]", rest: &rest) else { return false }
        } else {
            repeat {
                skipSpaces(&rest)
                let name = rest.prefix { !"[]<>,:.? ".contains($0) }
                guard SwiftText.isIdentifier(String(name)) else { return false }
                rest = rest.dropFirst(name.count)
            } while take(".", rest: &rest)
            if take("<", rest: &rest) {
                repeat {
                    guard takeType(&rest, depth: depth + 1) else { return false }
                } while take(",", rest: &rest)
                guard take(">", rest: &rest) else { return false }
            }
        }
        // `?` after the outermost type is refused, because the property is already optional.
        while depth > 0, rest.first == "?" { rest = rest.dropFirst() }
        skipSpaces(&rest)
        return true
    }

    private static func take(_ character: Character, rest: inout Substring) -> Bool {
        skipSpaces(&rest)
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func skipSpaces(_ rest: inout Substring) { rest = rest.drop { $0 == " " } }
}
