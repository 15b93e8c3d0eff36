package import Foundation
package import RoostSystem

extension Base64 {
    package static func text(_ data: Data) -> String { text(of: [UInt8](data)) }

    /// Decodes base64 that a person or another program wrote; returns nil for any other text.
    package static func data(_ text: String) -> Data? { bytes(text).map { Data($0) } }
}
