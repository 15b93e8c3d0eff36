extension FetchRequest {
    /// One level of a sort order.
    ///
    /// Null is less than every value, and NaN is greater than every number. Text is ordered by code
    /// point unless ``options`` change this.
    public struct SortDescriptor: Hashable, Sendable {
        /// The sort key: an attribute, the dotted path of a composite's element, or a path to an
        /// attribute through to-one relationships, such as `album.artist.name`.
        ///
        /// If an object on the path is missing, the value is null. In a request for rows, the key
        /// may be a column name.
        public var key: String
        /// Whether small values come first.
        public var isAscending: Bool
        /// The options for comparing text; they have no effect on other values.
        ///
        /// `caseInsensitive` and `diacriticInsensitive` remove case and diacritics before the
        /// comparison. `localized` uses the localized standard order, the same in every locale: it
        /// ignores case and diacritics, and compares runs of ASCII digits as numbers. Texts that
        /// are equal by these rules are ordered by diacritics, then by code point.
        public var options: Comparison.Options

        /// Creates one level of a sort order.
        public init(_ key: String, ascending: Bool = true, options: Comparison.Options = []) {
            self.key = key
            self.isAscending = ascending
            self.options = options
        }
    }
}

extension FetchRequest.SortDescriptor: ExpressibleByStringLiteral {
    /// Creates an ascending order by a property.
    ///
    /// - Parameter key: The name of the property, or a path through to-one relationships.
    public init(stringLiteral key: String) { self.init(key) }
}
