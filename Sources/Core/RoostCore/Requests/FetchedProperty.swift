extension FetchRequest {
    /// A column of the rows that ``StoreSnapshot/rows(_:)`` gives: a name and an expression.
    public struct FetchedProperty: Hashable, Sendable {
        /// The column's name; no two columns of a request have the same.
        public var name: String
        /// The value of the column: a key path through to-one relationships, or any expression that
        /// has one value.
        ///
        /// A function over many values whose argument has one value for each object, as
        /// `sum(length)`, is an aggregate: it has one value for all objects of a group. So are key
        /// paths that begin with an operator, as `@sum.length`.
        public var expression: Expression

        /// A column with the value of an expression.
        public init(_ name: String, expression: Expression) {
            self.name = name
            self.expression = expression
        }

        /// A column with the value of a key path, named like it.
        public init(_ keyPath: String) {
            self.init(keyPath, expression: .keyPath(keyPath.names))
        }
    }
}

extension FetchRequest.FetchedProperty: ExpressibleByStringLiteral {
    /// A column with the value of a key path, named like it.
    public init(stringLiteral keyPath: String) { self.init(keyPath) }
}

extension String {
    /// The names in a key path.
    package var names: [String] {
        // Most paths are one name.
        utf8.contains(UInt8(ascii: "."))
            ? split(separator: ".", omittingEmptySubsequences: false).map(String.init) : [self]
    }
}
