/// The parsed expression of a derived attribute.
package enum DerivationExpression: Hashable, Sendable {
    /// A function of a string.
    package enum Function: String, Sendable, CaseIterable {
        /// Removes case and diacritics.
        case canonical
        case uppercase
        case lowercase
    }

    /// A value computed from the objects of a to-many relationship.
    package enum Aggregate: String, Sendable, CaseIterable {
        case count
        case sum
        case min
        case max
        case avg
    }

    /// `name`, `author.name`: the value at a path without to-many relationships.
    case path([String])
    /// `canonical:(author.name)`: a function of the string at such a path.
    case function(Function, [String])
    /// `friends.@count`, `articles.wordCount.@sum`: an aggregate over the values at a path.
    ///
    /// The path contains exactly one to-many relationship.
    case aggregate([String], Aggregate)
    /// `now()`: the time of the save.
    case now

    package init?(_ text: String) {
        let text = text.filter { !$0.isWhitespace }
        if text == "now()" {
            self = .now
            return
        }
        for function in Function.allCases where text.hasPrefix(function.rawValue + ":(") && text.hasSuffix(")") {
            guard let path = Self.path(text.dropFirst(function.rawValue.count + 2).dropLast()) else { return nil }
            self = .function(function, path)
            return
        }
        guard let marker = text.lastIndex(of: "@") else {
            guard let path = Self.path(text[...]) else { return nil }
            self = .path(path)
            return
        }
        guard let aggregate = Aggregate(rawValue: String(text[text.index(after: marker)...])),
            text[..<marker].last == ".", let path = Self.path(text[..<marker].dropLast())
        else { return nil }
        self = .aggregate(path, aggregate)
    }

    private static func path(_ text: Substring) -> [String]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && !part.contains { "@:(){}[]\"',+-*/$#".contains($0) }
        }
        return isPlain ? parts.map(String.init) : nil
    }
}
