internal import Roost

/// The parts of an option's list, separated by commas that stand in no brackets and no quotes.
struct ListOption {
    /// One part, without blanks around it.
    struct Part {
        /// Its text without a name.
        let text: String
        /// The name behind `AS`, if there is one.
        let name: String?
        /// How many characters of the option's value stand before it.
        let column: Int

        /// The text with as many blanks before it as there are characters, so that errors name the columns of the whole value.
        var inPlace: String { String(repeating: " ", count: column) + text }
    }

    let parts: [Part]

    /// Splits an option's value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - option: The option's name, for errors.
    ///   - takesNames: Whether a part may end with `AS` and a name.
    /// - Throws: `UsageError` for a part that is empty.
    init(_ value: String, _ option: String, takesNames: Bool = false) throws {
        let characters = Array(value)
        var parts: [Part] = []
        var start = 0
        for end in Self.commas(characters) + [characters.count] {
            var (first, last) = (start, end)
            while first < last, characters[first].isWhitespace { first += 1 }
            while last > first, characters[last - 1].isWhitespace { last -= 1 }
            guard first < last else {
                throw UsageError("option '--\(option)' needs names separated by commas, and one of them is empty")
            }
            var text = characters[first..<last]
            var name: String?
            if takesNames, let word = Self.lastName(text) {
                name = String(text[(word + 4)...].drop(while: \.isWhitespace))
                if let quoted = name, quoted.count > 2, quoted.first == quoted.last, "\"'".contains(quoted.prefix(1)) {
                    name = String(quoted.dropFirst().dropLast())
                }
                text = text[..<word]
                while text.last?.isWhitespace ?? false { text.removeLast() }
                guard !text.isEmpty, name?.isEmpty == false else {
                    throw UsageError("option '--\(option)' needs an expression before AS and a name behind it")
                }
            }
            parts.append(Part(text: String(text), name: name, column: first))
            start = end + 1
        }
        self.parts = parts
    }

    /// Whether each character stands in no brackets and no quotes.
    private static func isOutside(_ text: ArraySlice<Character>) -> [Bool] {
        var result: [Bool] = []
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for character in text {
            var outside = quote == nil && depth == 0
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == open {
                    quote = nil
                }
            } else {
                switch character {
                case "'", "\"":
                    quote = character
                    outside = false
                case "(", "[", "{": depth += 1
                case ")", "]", "}":
                    depth -= 1
                    outside = false
                default: break
                }
            }
            result.append(outside)
        }
        return result
    }

    private static func commas(_ text: [Character]) -> [Int] {
        zip(text.indices, isOutside(text[...])).filter { text[$0] == "," && $1 }.map(\.0)
    }

    /// Where the last ` AS ` is, in any case.
    private static func lastName(_ text: ArraySlice<Character>) -> Int? {
        let outside = isOutside(text)
        return text.indices.dropLast(4).last { index in
            outside[index - text.startIndex] && text[index].isWhitespace && text[index + 3].isWhitespace
                && String(text[index + 1...index + 2]).uppercased() == "AS"
        }
    }
}
