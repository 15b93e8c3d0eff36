internal import RoostCore
package import RoostJSONText

package enum DateForm: String, CaseIterable, Sendable {
    /// `2024-05-01T12:30:00Z`, exact to the last bit.
    case iso
    /// The seconds since 2001-01-01.
    case seconds

    /// Appends a date as JSON.
    ///
    /// A date for which ``DateText/text(_:)`` returns nil is written as a number in both forms.
    package func append(_ seconds: Double, to text: inout TextBuffer) {
        guard self == .iso, let date = DateText.text(seconds) else { return JSONText.append(seconds, to: &text) }
        JSONText.append(date, to: &text)
    }
}
