extension FetchRequest {
    /// A column of the rows of ``StoreSnapshot/rows(_:)``: a name and an expression.
    public struct FetchedProperty: Hashable, Sendable {
        /// The column's name, unique in a request.
        public var name: String
        /// The value of the column: a key path through to-one relationships, or any expression that
        /// has one value.
        ///
        /// An aggregate, such as `sum(length)` or `@sum.length`, has one value for all objects of a
        /// group.
        public var expression: Expression

        /// Creates a column with the value of an expression.
        public init(_ name: String, expression: Expression) {
            self.name = name
            self.expression = expression
        }

        /// Creates a column that has the value and the name of a key path.
        public init(_ keyPath: String) {
            self.init(keyPath, expression: .keyPath(keyPath.names))
        }
    }
}

extension FetchRequest.FetchedProperty: ExpressibleByStringLiteral {
    /// Creates a column that has the value and the name of a key path.
    public init(stringLiteral keyPath: String) { self.init(keyPath) }
}

extension String {
    /// The names in a key path.
    package var names: [String] {
        // Most paths are one name and need no splitting.
        utf8.contains(UInt8(ascii: "."))
            ? split(separator: ".", omittingEmptySubsequences: false).map(String.init) : [self]
    }
}
