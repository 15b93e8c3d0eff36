public import RoostQuery

/// A value that crosses to or from a statement one at a time, outside the hot paths.
public enum SQLValue: Sendable, Equatable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number.
    ///
    /// A statement keeps the bits of a NaN too, in the form that its database uses. When it reads a
    /// column, it returns a NaN as a number or as a text of ``SQLFloatingText``.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
    /// A string operator with its right side.
    ///
    /// Only a dialect with ``SQLDialectAbilities/matches(_:with:)`` is given one.
    case matcher(StringMatcher)

    /// Whether both are the same; matchers are when they are the same object.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.blob(let a), .blob(let b)): a == b
        case (.matcher(let a), .matcher(let b)): a === b
        default: false
        }
    }
}
