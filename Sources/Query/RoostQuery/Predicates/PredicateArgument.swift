public import Foundation
public import RoostCore

/// A Swift value that can be used in a predicate: for a placeholder such as `%@`, in an
/// interpolation, or as the right side of a comparison.
///
/// Strings, numbers, booleans, dates, data, UUIDs, URLs, object IDs, ``Value`` itself, and arrays,
/// sets and optionals of them conform. A value is never converted to another type: a string, for
/// example, does not become a date.
///
/// ```swift
/// enum Genre: String, PredicateArgument {
///     case folk, jazz
///     var predicateExpression: FetchRequest.Expression { rawValue.predicateExpression }
/// }
/// let albums = try store.fetch("Album", where: "genre == \(Genre.jazz)")
/// ```
public protocol PredicateArgument: Sendable {
    /// The value as an expression, for example a constant or a list of constants.
    var predicateExpression: FetchRequest.Expression { get }
}

extension Value: PredicateArgument {
    /// The value as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(self) }
}

extension Bool: PredicateArgument {
    /// The value as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.bool(self)) }
}

extension FixedWidthInteger where Self: PredicateArgument {
    /// The number as a constant: a 64-bit integer if it fits, otherwise a decimal or a double.
    public var predicateExpression: FetchRequest.Expression {
        if let number = Int64(exactly: self) { return .constant(.int(number)) }
        if let number = DecimalNumber(utf8: String(self).utf8) { return .constant(.decimal(number.decimal)) }
        return .constant(.double(Double(String(self)) ?? .nan))
    }
}

extension Int: PredicateArgument {}
extension Int64: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int8: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt64: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt8: PredicateArgument {}

extension Double: PredicateArgument {
    /// The number as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.double(self)) }
}

extension Float: PredicateArgument {
    /// The exact number as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.double(Double(self))) }
}

extension Decimal: PredicateArgument {
    /// The number as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.decimal(self)) }
}

extension String: PredicateArgument {
    /// The text as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.string(self)) }
}

extension Substring: PredicateArgument {
    /// The text as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.string(String(self))) }
}

extension Character: PredicateArgument {
    /// The character as text.
    public var predicateExpression: FetchRequest.Expression { .constant(.string(String(self))) }
}

extension Data: PredicateArgument {
    /// The bytes as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.data(self)) }
}

extension Date: PredicateArgument {
    /// The date as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.date(self)) }
}

extension UUID: PredicateArgument {
    /// The UUID as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.uuid(self)) }
}

extension URL: PredicateArgument {
    /// The URL's text as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.uri(absoluteString)) }
}

extension ObjectID: PredicateArgument {
    /// The object as a constant.
    public var predicateExpression: FetchRequest.Expression { .constant(.objectID(self)) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
    /// The wrapped value, or null.
    public var predicateExpression: FetchRequest.Expression { self?.predicateExpression ?? .constant(.null) }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    /// The elements as a list.
    public var predicateExpression: FetchRequest.Expression { .aggregate(map(\.predicateExpression)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
    /// The elements as a list, in unspecified order.
    public var predicateExpression: FetchRequest.Expression { .aggregate(map(\.predicateExpression)) }
}
