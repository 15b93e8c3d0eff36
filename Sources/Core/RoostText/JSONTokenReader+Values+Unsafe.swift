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

    /// Decodes the current string from base64 into `bytes`, which must have room for three bytes
    /// per four characters.
    ///
    /// Decoding is strict: padding is required, and space and extra bits in the last digit are
    /// refused. Returns the number of bytes, or nil if the string is not base64.
    func decodeBase64(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard token == .string else { return nil }
        return withText { Base64.decode($0, into: bytes) }
    }

    /// Decodes the UUID in the current string into `bytes`, which must have 16 bytes.
    ///
    /// Returns false if the current token is not a string that contains a UUID.
    func decodeUUID(into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard token == .string, bytes.count == 16 else { return false }
        return withText { Hexadecimal.decodeUUID($0, into: bytes) }
    }
}
