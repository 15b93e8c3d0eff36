package import RoostCore
internal import RoostJSONText
internal import RoostSystem

extension JSONTokenReader {
    /// The string as a decimal number, or the number in its own digits; nil when it is neither or
    /// out of range.
    package var decimal: DecimalNumber? {
        guard token == .string || token == .number else { return nil }
        return withText { DecimalNumber(utf8: $0) }
    }

    /// Writes the bytes that the string has in base64; `bytes` has room for three for every four of
    /// the text.
    ///
    /// Strict: padded, without space, and no bits in the last digit that would be lost. Returns the
    /// number of bytes, or nil if the string is not base64.
    func decodeBase64(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard token == .string else { return nil }
        return withText { Base64.decode($0, into: bytes) }
    }

    /// Writes the 16 bytes of the UUID in the string; returns false if it is not a UUID.
    func decodeUUID(into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard token == .string, bytes.count == 16 else { return false }
        return withText { Hexadecimal.decodeUUID($0, into: bytes) }
    }
}
