import Foundation
import Roost

/// A note.
///
/// The generated class `_Note` declares the properties. This class trims the text.
final class Note: _Note {
    override class var validatedProperties: [String] { ["text"] }

    /// Removes white space at both ends of the text, before its length is checked.
    override func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {
        guard case .string(let text) = value else { return }
        value = .string(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
