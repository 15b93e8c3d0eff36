public import RoostQuery

/// A single value that is passed to a statement or read from a row.
public enum SQLValue: Sendable, Equatable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number.
    ///
    /// A statement must preserve the bits of a NaN. Depending on the database, a NaN is read as a
    /// number or as a text in the form of ``SQLFloatingText``.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
    /// A string operator with its right side, for ``SQLDialectAbilities/matches(_:with:)``.
    case matcher(StringMatcher)

    /// Returns whether two values are equal; matchers are equal only if identical.
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
