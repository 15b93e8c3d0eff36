public import RoostCore

/// The new values of properties in an update.
///
/// Write a string literal in the language of predicates, or a dictionary literal of values:
///
/// ```swift
/// let played: Assignments = "plays = plays + 1, lastPlayed = \(now)"
/// let reset: Assignments = ["plays": 0, "lastPlayed": nil]
/// ```
///
/// Expressions read an object's values before the update, so `a = b, b = a` exchanges two values.
/// In a string literal, an interpolated value is assigned unchanged, and `\(key: name)` inserts the
/// name of a property. The notation of a value in the text determines its type. Write an
/// element of a composite attribute as a dotted path.
public struct Assignments: Sendable {
    private enum Content: Sendable {
        case expressions([String: FetchRequest.Expression])
        case unreadable(StoreError)
    }

    private let content: Content

    private init(_ body: () throws(StoreError) -> [String: FetchRequest.Expression]) {
        do throws(StoreError) { content = .expressions(try body()) } catch { content = .unreadable(error) }
    }

    /// Creates assignments of constant values.
    public init(_ values: [String: Value]) { self.init(expressions: values.mapValues { .constant($0) }) }

    /// Creates assignments of expressions.
    public init(expressions: [String: FetchRequest.Expression]) { content = .expressions(expressions) }

    /// Parses assignments from text that is not a Swift literal.
    ///
    /// - Parameters:
    ///   - format: Comma-separated assignments. Inside quotes, `%` is an ordinary character.
    ///   - arguments: The values for `%@`, and the key paths for `%K`, from left to right.
    /// - Throws: `invalidRequest` for text that is not a list of assignments, and for a property
    ///   that is set twice; the errors of `FetchRequest.Predicate.init(format:_:)`.
    public init(format: String, _ arguments: any PredicateArgument...) throws(StoreError) {
        content = .expressions(try Self.read(PredicateText(format, arguments: arguments)))
    }

    /// The new values, by property name.
    ///
    /// - Throws: The error of a literal that cannot be parsed, or that sets a property twice.
    public var expressions: [String: FetchRequest.Expression] {
        get throws(StoreError) {
            switch content {
            case .unreadable(let error): throw error
            case .expressions(let expressions):
                for expression in expressions.values {
                    if let error = expression.readingError { throw error }
                }
                return expressions
            }
        }
    }

    private static func read(_ source: PredicateText) throws(StoreError) -> [String: FetchRequest.Expression] {
        var source = source
        source.noun = "assignments"
        return try PredicateParser.read(source) { (parser) throws(StoreError) in
            let assignments = try parser.assignments()
            let binding = PredicateBinding(scope: nil, tokenizer: parser.tokenizer)
            var expressions: [String: FetchRequest.Expression] = [:]
            for (name, operand) in assignments {
                try add(try binding.expression(operand), for: name, to: &expressions)
            }
            return expressions
        }
    }

    private static func add(
        _ expression: FetchRequest.Expression, for name: String, to expressions: inout [String: FetchRequest.Expression]
    ) throws(StoreError) {
        guard expressions.updateValue(expression, forKey: name) == nil else {
            throw StoreError(.invalidRequest, "'\(name)' is set twice.")
        }
    }
}

extension Assignments: ExpressibleByStringInterpolation {
    /// Parses assignments from a literal; see ``init(stringInterpolation:)``.
    public init(stringLiteral text: String) { self.init(stringInterpolation: FetchRequest.Interpolation(text)) }

    /// Parses assignments from a literal with interpolated values.
    ///
    /// If the text cannot be parsed, an update with these assignments throws the error.
    public init(stringInterpolation text: FetchRequest.Interpolation) {
        self.init { () throws(StoreError) in try Self.read(text.source) }
    }
}

extension Assignments: ExpressibleByDictionaryLiteral {
    /// Creates assignments of constant values.
    ///
    /// If a property has two values, an update with these assignments throws `invalidRequest`.
    public init(dictionaryLiteral values: (String, Value)...) {
        self.init { () throws(StoreError) in
            var expressions: [String: FetchRequest.Expression] = [:]
            for (name, value) in values { try Self.add(.constant(value), for: name, to: &expressions) }
            return expressions
        }
    }
}
