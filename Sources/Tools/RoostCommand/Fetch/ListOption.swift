internal import Roost
internal import RoostQuery

/// The parts of an option's list, separated by commas outside of brackets and quotes.
struct ListOption {
    /// One part, without blanks around it.
    struct Part {
        /// The text without `AS` and the name.
        let text: String
        /// The name after `AS`, if any.
        let name: String?
        /// The number of characters before the part in the option's value.
        let column: Int

        /// The text with ``column`` blanks before it, so that errors refer to columns of the whole
        /// value.
        var inPlace: String { String(repeating: " ", count: column) + text }
    }

    let parts: [Part]

    /// Splits an option's value; `takesNames` allows a part to end with `AS` and a name.
    init(_ value: String, option: String, takesNames: Bool = false) throws {
        // The text is read by code points, like predicates, because a quote and a following accent
        // form one character.
        let characters = Array(value.unicodeScalars)
        var parts: [Part] = []
        var start = 0
        // `column` counts the characters before a part, and `passed` counts their code points. `rest`
        // is the text after them.
        var (rest, passed, column) = (value[...], 0, 0)
        for end in Self.commas(characters) + [characters.count] {
            var (first, last) = (start, end)
            while first < last, characters[first].properties.isWhitespace { first += 1 }
            while last > first, characters[last - 1].properties.isWhitespace { last -= 1 }
            guard first < last else {
                throw UsageError("option '--\(option)' needs names separated by commas, and one of them is empty")
            }
            while let character = rest.first, passed + character.unicodeScalars.count <= first {
                passed += character.unicodeScalars.count
                column += 1
                rest = rest.dropFirst()
            }
            var text = characters[first..<last]
            var name: String?
            if takesNames, let word = Self.lastName(text) {
                var quoted = text[(word + 4)...].drop(while: \.properties.isWhitespace)
                if quoted.count > 2, quoted.first == quoted.last, quoted.first == "'" || quoted.first == "\"" {
                    quoted = quoted.dropFirst().dropLast()
                }
                name = Self.string(quoted)
                text = text[..<word]
                while text.last?.properties.isWhitespace ?? false { text.removeLast() }
                guard !text.isEmpty, name?.isEmpty == false else {
                    throw UsageError("option '--\(option)' needs an expression before AS and a name after it")
                }
            }
            parts.append(Part(text: Self.string(text), name: name, column: column))
            start = end + 1
        }
        self.parts = parts
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// Returns whether each character is outside of brackets and quotes.
    private static func isOutside(_ text: ArraySlice<Unicode.Scalar>) -> [Bool] {
        var nesting = BracketNesting()
        return text.map { nesting.take($0) }
    }

    private static func commas(_ text: [Unicode.Scalar]) -> [Int] {
        zip(text.indices, isOutside(text[...])).filter { text[$0] == "," && $1 }.map(\.0)
    }

    /// Returns the index of the last ` AS ` outside of brackets and quotes, ignoring case.
    private static func lastName(_ text: ArraySlice<Unicode.Scalar>) -> Int? {
        let outside = isOutside(text)
        return text.indices.dropLast(4).last { index in
            outside[index - text.startIndex] && text[index].properties.isWhitespace
                && text[index + 3].properties.isWhitespace
                && string(text[index + 1...index + 2]).uppercased() == "AS"
        }
    }
}
