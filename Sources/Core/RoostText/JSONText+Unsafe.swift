package import RoostCore
package import RoostJSONText
internal import RoostSystem

extension JSONText {
    /// Appends bytes as a string in padded base64.
    package static func append(base64 bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        let digitCount = Base64.digitCount(ofByteCount: bytes.count)
        // SAFETY: there is room for the digits and two quotes.
        let output = text.room(for: digitCount + 2)
        output[0] = UInt8(ascii: "\"")
        Base64.encode(bytes, into: output + 1)
        output[digitCount + 1] = UInt8(ascii: "\"")
        text.count += digitCount + 2
    }

    /// Appends the 16 bytes of a UUID as an uppercase string.
    package static func append(uuid bytes: UnsafeRawBufferPointer, to text: inout TextBuffer) {
        // Two digits for each byte, four hyphens, two quotes.
        let byteCount = bytes.count * 2 + 6
        let output = text.room(for: byteCount)
        output[0] = UInt8(ascii: "\"")
        let count = Hexadecimal.encodeUUID(bytes, into: output + 1)
        output[count + 1] = UInt8(ascii: "\"")
        // Fewer than 11 bytes give fewer than four hyphens.
        text.count += count + 2
    }

    /// Appends a decimal's ``DecimalNumber/description`` as a string.
    package static func append(_ number: DecimalNumber, to text: inout TextBuffer) {
        text.append(UInt8(ascii: "\""))
        text.append(contentsOf: number.description.utf8)
        text.append(UInt8(ascii: "\""))
    }
}
