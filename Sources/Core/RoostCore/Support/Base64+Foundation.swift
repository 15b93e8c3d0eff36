package import Foundation
package import RoostSystem

extension Base64 {
    /// Returns the text of some data, padded.
    package static func text(_ data: Data) -> String { text(of: [UInt8](data)) }

    /// Returns the data of a text that a person or another program wrote; nil if it is not base64.
    ///
    /// - Parameter text: The text.
    /// - Returns: What ``bytes(_:ignoringSpaces:)`` returns, as data.
    package static func data(_ text: String) -> Data? { bytes(text).map { Data($0) } }
}
