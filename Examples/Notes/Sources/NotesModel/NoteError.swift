import Roost

/// A failure and its remedy, in words for users.
public struct NoteError: Error, Sendable, CustomStringConvertible {
    /// The failure, one line for each reason.
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ error: StoreError) {
        // A save reports all broken rules at once.
        let reasons = error.failures.map(Self.reason)
        switch error.code {
        case _ where !reasons.isEmpty: description = reasons.joined(separator: "\n")
        case .objectNotFound: description = "The note was deleted meanwhile. Discard the draft."
        case .constraintViolation: description = "Another note has the same number by now."
        default: description = error.message
        }
    }

    private static func reason(_ failure: ValidationFailure) -> String {
        switch (failure.entity, failure.property, failure.kind) {
        case ("Note", "text", .missing), ("Note", "text", .tooShort): "The note is empty. Write a text."
        case ("Note", "text", .tooLong): "The text is too long. Use at most 200 characters."
        case ("Tag", "name", _): "A tag is not valid. Use small letters, digits and hyphens."
        default: failure.message
        }
    }
}
