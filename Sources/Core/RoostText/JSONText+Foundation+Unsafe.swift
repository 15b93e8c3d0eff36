package import Foundation
package import RoostJSONText

extension JSONText {
    /// Appends bytes as a string in padded base64.
    package static func append(data: Data, to text: inout TextBuffer) {
        data.withUnsafeBytes { append(base64: $0, to: &text) }
    }
}
