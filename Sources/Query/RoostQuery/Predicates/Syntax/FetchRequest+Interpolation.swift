public import RoostCore

extension FetchRequest {
    /// The text and the interpolated values of a predicate, an expression or assignments.
    ///
    /// The Swift compiler creates an interpolation for each literal that contains interpolated
    /// values:
    ///
    /// ```swift
    /// let prefix = "Blue"
    /// let request = FetchRequest("Track", where: "title BEGINSWITH \(prefix) AND plays > \(3)")
    /// let newest = FetchRequest("Track", where: "\(key: "album.year") >= \(2024)")
    /// ```
    ///
    /// An interpolated value is bound: it is compared unchanged, and never parsed as part of the
    /// predicate.
    public struct Interpolation: StringInterpolationProtocol, Sendable {
        var source = PredicateText()

        /// Creates an empty text.
        public init(literalCapacity: Int, interpolationCount: Int) {
            source.text.reserveCapacity(literalCapacity + PredicateText.Mark.text.utf8.count * interpolationCount)
            source.arguments.reserveCapacity(interpolationCount)
        }

        /// Appends text in the language of predicates.
        public mutating func appendLiteral(_ literal: String) { source.text += literal }

        // The parameter is optional, because otherwise the compiler would warn about optional
        // values.
        /// Binds a value or a list of values; nil becomes null.
        public mutating func appendInterpolation<Argument: PredicateArgument>(_ value: Argument?) {
            append(value, isKey: false)
        }

        /// Inserts the name of a property, or a dotted path of names.
        public mutating func appendInterpolation(key: String) { append(key, isKey: true) }

        private mutating func append(_ argument: some PredicateArgument, isKey: Bool) {
            source.marks?.append(.init(byteOffset: source.text.utf8.count, isKey: isKey))
            source.arguments.append(argument)
            source.text += PredicateText.Mark.text
        }
    }
}

extension FetchRequest.Predicate: ExpressibleByStringInterpolation {
    /// Parses a predicate from a literal in the predicate language.
    ///
    /// See ``init(stringInterpolation:)``. For text that is not a Swift literal, use
    /// ``init(format:_:)``, which throws.
    public init(stringLiteral text: String) { self.init(stringInterpolation: FetchRequest.Interpolation(text)) }

    /// Parses a predicate from a literal with interpolated values.
    ///
    /// ```swift
    /// let often: FetchRequest.Predicate = "title BEGINSWITH \(prefix) AND plays > \(limit)"
    /// ```
    ///
    /// The language is that of ``init(format:_:)``, with interpolations instead of `%@` and `%K`.
    ///
    /// If the text cannot be parsed, each request with the predicate throws the error before
    /// reading or writing, usually with code `invalidRequest`. The column in the message counts
    /// characters. Each interpolation counts as the four characters `\(…)`.
    ///
    /// - Complexity: O(*n*) in the length of the text, each time the literal is evaluated.
    public init(stringInterpolation text: FetchRequest.Interpolation) {
        do throws(StoreError) {
            self = try PredicateParser.read(text.source) { (parser) throws(StoreError) in
                let syntax = try parser.predicate()
                return try PredicateBinding(scope: nil, tokenizer: parser.tokenizer).predicate(syntax)
            }
        } catch {
            self = .comparison(.init(left: .unreadable(error), operator: .equal, right: .constant(.null)))
        }
    }
}

extension FetchRequest.Expression: ExpressibleByStringInterpolation {
    /// Parses an expression from a literal in the predicate language.
    ///
    /// See ``init(stringInterpolation:)``. For text that is not a Swift literal, use
    /// ``init(format:_:)``, which throws.
    public init(stringLiteral text: String) { self.init(stringInterpolation: FetchRequest.Interpolation(text)) }

    /// Parses an expression from a literal with interpolated values.
    ///
    /// ```swift
    /// let more: FetchRequest.Expression = "plays + \(count)"
    /// ```
    ///
    /// A word without quotes is the name of a property. For the other rules and the errors, see
    /// ``FetchRequest/Predicate/init(stringInterpolation:)``.
    public init(stringInterpolation text: FetchRequest.Interpolation) {
        do throws(StoreError) {
            var source = text.source
            source.noun = "expression"
            self = try PredicateParser.read(source) { (parser) throws(StoreError) in
                let syntax = try parser.expression()
                return try PredicateBinding(scope: nil, tokenizer: parser.tokenizer).expression(syntax)
            }
        } catch {
            self = .unreadable(error)
        }
    }
}

extension FetchRequest.Interpolation {
    init(_ text: String) {
        self.init(literalCapacity: text.utf8.count, interpolationCount: 0)
        appendLiteral(text)
    }
}
