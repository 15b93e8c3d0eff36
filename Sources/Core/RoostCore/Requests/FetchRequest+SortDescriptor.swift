extension FetchRequest {
    /// One level of an order.
    ///
    /// Nulls count as smaller than everything, NaN as greater than every number; text is ordered by
    /// code point unless ``options`` change that.
    public struct SortDescriptor: Hashable, Sendable {
        /// An attribute, the dotted path of a composite's element, or a path to one through to-one
        /// relationships, as `album.artist.name`.
        ///
        /// If an object along the path is missing, the value is null. In the rows of
        /// ``StoreSnapshot/rows(_:)`` it may be a column's name.
        public var key: String
        /// Whether small values come first.
        public var isAscending: Bool
        /// The options for folding and comparing text; without effect on other values.
        ///
        /// `caseInsensitive` and `diacriticInsensitive` fold the text first. `localized` compares
        /// in the localized standard order: without case and diacritics, runs of ASCII digits as
        /// numbers; equal texts are then ordered with diacritics, and then by code point. It is the
        /// same in every locale.
        public var options: Comparison.Options

        /// Makes one level of an order.
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
