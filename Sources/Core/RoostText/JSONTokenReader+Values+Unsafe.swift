package import RoostCore
internal import RoostJSONText
internal import RoostSystem

extension JSONTokenReader {
    /// The exact decimal value of the current string or number; nil if it is not a decimal number
    /// or is out of range.
    package var decimal: DecimalNumber? {
        guard token == .string || token == .number else { return nil }
        return withText { DecimalNumber(utf8: $0) }
    }

    /// Decodes the current string; returns the number of bytes, or nil if it is not base64.
    ///
    /// `bytes` must have room for three bytes per four characters. Padding is required, and space
    /// and extra bits in the last digit are refused.
    func decodeBase64(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard token == .string else { return nil }
        return withText { Base64.decode($0, into: bytes) }
    }

    /// Decodes the UUID in the current string; returns false for any other token.
    ///
    /// `bytes` must have 16 bytes.
    func decodeUUID(into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard token == .string, bytes.count == 16 else { return false }
        return withText { Hexadecimal.decodeUUID($0, into: bytes) }
    }
}
