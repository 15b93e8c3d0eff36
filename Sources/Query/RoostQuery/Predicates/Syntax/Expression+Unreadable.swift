package import RoostCore

/// Expressions that store a parsing error.
///
/// A Swift literal cannot throw, so compiling a request with the expression throws the error. The
/// expression is a call of a function whose name begins with U+0000.
extension FetchRequest.Expression {
    private static let unreadable = "\u{0}unreadable"

    static func unreadable(_ error: StoreError) -> Self {
        .registered(
            unreadable, [.constant(.string(error.code.description)), .constant(.string(error.message))])
    }

    /// The stored parsing error, if any.
    package var readingError: StoreError? {
        guard case .registered(Self.unreadable, let arguments) = self, arguments.count == 2,
            case .constant(.string(let code)) = arguments[0], case .constant(.string(let message)) = arguments[1]
        else { return nil }
        return StoreError(StoreError.Code(code), message)
    }
}
