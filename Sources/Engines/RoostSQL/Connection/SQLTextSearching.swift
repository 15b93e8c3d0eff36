/// A dialect of a database that searches texts itself, but cannot call a `StringMatcher`.
///
/// Used if `SQLDialect.matches(_:with:)` returns nil.
package protocol SQLTextSearching: SQLDialect {
    /// Returns the condition that a text contains a pattern; null for null.
    ///
    /// - Parameters:
    ///   - pattern: The text to find, compared by code points.
    ///   - parameter: The parameter that has the pattern as its value.
    ///   - atEnd: Whether the text must end with the pattern.
    ///   - text: The text in SQL.
    /// - Returns: The condition; nil if the database cannot search for this pattern.
    func finds(_ pattern: String, parameter: String, atEnd: Bool, in text: String) -> String?

    /// Returns a text with its ASCII letters in lower case, and the condition that the text has
    /// characters beyond ASCII.
    ///
    /// The lowercased text is used only if the text has no such characters.
    func lowercasedASCII(_ text: String) -> (text: String, isOther: String)
}
