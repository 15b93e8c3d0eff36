/// A dialect of a database that searches texts itself, but cannot call a `StringMatcher`.
///
/// Used if `SQLDialect.matches(_:with:)` returns nil.
package protocol SQLTextSearching: SQLDialect {
    /// Returns the condition that a text contains a pattern, compared by code points; null for
    /// null.
    ///
    /// `parameter` has the pattern as its value. If `atEnd`, the text must end with the pattern.
    ///
    /// - Returns: The condition; nil if the database cannot search for this pattern.
    func finds(_ pattern: String, parameter: String, atEnd: Bool, in text: String) -> String?

    /// Returns a text with its ASCII letters in lower case, and the condition that the text has
    /// non-ASCII characters.
    ///
    /// For a text with such characters, the lowercased text is not used.
    func lowercasedASCII(_ text: String) -> (text: String, isOther: String)
}
