extension FetchRequest {
    /// One level of an order.
    ///
    /// Nulls count as smaller than everything, NaN as greater than every number; text goes by code point unless ``options`` say otherwise.
    public struct SortDescriptor: Hashable, Sendable {
        /// An attribute, the dotted path of a composite's element, or a path to one through to-one relationships, as `album.artist.name`.
        ///
        /// Where there is no object on the way, the value is null. In the rows of ``StoreSnapshot/rows(_:)`` it may be a column's name.
        public var key: String
        /// Whether small values come first.
        public var isAscending: Bool
        /// How text is made alike and compared; without effect on other values.
        ///
        /// `caseInsensitive` and `diacriticInsensitive` fold the text first. `localized` compares in the localized standard order:
        /// without case and diacritics, runs of ASCII digits as numbers; what is equal then goes with diacritics, and then by code
        /// point. It is the same in every locale.
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
