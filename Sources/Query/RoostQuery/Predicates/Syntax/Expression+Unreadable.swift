package import RoostCore

/// Texts that could not be read.
///
/// A literal cannot throw, so its expression keeps the error until a request is compiled. It is a
/// call of a function with a name that no text has, and the error's code and message as arguments.
/// So everything that passes expressions on passes the error on.
extension FetchRequest.Expression {
    private static let unreadable = "\u{0}unreadable"

    /// An expression that keeps the error of a text.
    static func unreadable(_ error: StoreError) -> Self {
        .registered(
            unreadable, [.constant(.string(error.code.description)), .constant(.string(error.message))])
    }

    /// The error of the text that this expression was read from; nil for a readable text.
    package var readingError: StoreError? {
        guard case .registered(Self.unreadable, let arguments) = self, arguments.count == 2,
            case .constant(.string(let code)) = arguments[0], case .constant(.string(let message)) = arguments[1]
        else { return nil }
        return StoreError(StoreError.Code(code), message)
    }
}
