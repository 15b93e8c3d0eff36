package import Foundation
package import RoostSystem

extension Base64 {
    /// The text of some bytes, padded.
    package static func text(_ data: Data) -> String { data.base64EncodedString() }

    /// The bytes of a text that a person or another program wrote; nil if it is not base64.
    ///
    /// As lenient as Foundation: bits of the last digit that do not fit a byte are dropped, where
    /// ``decode(_:into:)`` refuses the text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - ignoringSpaces: Whether white space is allowed anywhere in the text.
    /// - Returns: The bytes.
    package static func data(_ text: String, ignoringSpaces: Bool = false) -> Data? {
        guard ignoringSpaces else { return Data(base64Encoded: text) }
        let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
        return Data(base64Encoded: Data(text.utf8.filter { !spaces.contains($0) }))
    }
}
