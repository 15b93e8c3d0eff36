/// Bytes and numbers as hexadecimal text: the one alphabet of the package.
package enum Hexadecimal {
    /// The value of each digit of either case; 255 for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in "0123456789abcdef".utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        for (value, digit) in "ABCDEF".utf8.enumerated() { values[Int(digit)] = UInt8(value + 10) }
        return values
    }()
    private static let upperCaseDigits: StaticString = "0123456789ABCDEF"

    /// Whether a byte is a hexadecimal digit of either case.
    package static func isDigit(_ byte: UInt8) -> Bool { values[Int(byte)] < 16 }

    /// The text of some bytes, two digits of lower case for each.
    package static func text(_ bytes: some Sequence<UInt8>) -> String { bytes.map(\.hexadecimal).joined() }

    /// Returns a path as it is written in a URI: every byte but letters, digits and `-./_~` as
    /// `%XX`.
    package static func percentEncoded(_ path: String) -> String {
        var result = ""
        for byte in path.utf8 {
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2D, 0x2E, 0x2F, 0x5F, 0x7E].contains(byte)
            if isPlain {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + byte.hexadecimal.uppercased()
            }
        }
        return result
    }

    /// Writes the 16 bytes of a UUID's text; returns false for any other text.
    package static func decodeUUID(_ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard text.count == 36, bytes.count == 16 else { return false }
        return values.withUnsafeBufferPointer { values in
            var (index, offset) = (0, 0)
            while index < 36 {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    guard text[index] == UInt8(ascii: "-") else { return false }
                    index += 1
                }
                let (high, low) = (values[Int(text[index])], values[Int(text[index + 1])])
                guard high | low < 16 else { return false }
                bytes[offset] = high << 4 | low
                index += 2
                offset += 1
            }
            return true
        }
    }

    /// Writes the 36 characters of a UUID, in upper case.
    ///
    /// - Parameters:
    ///   - bytes: The 16 bytes of the UUID.
    ///   - output: The place of the characters, with room for two for each byte and four hyphens.
    /// - Returns: The number of characters; fewer bytes have fewer hyphens.
    package static func encodeUUID(
        _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let digits = upperCaseDigits.utf8Start
        var place = 0
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                output[place] = UInt8(ascii: "-")
                place += 1
            }
            output[place] = digits[Int(byte >> 4)]
            output[place + 1] = digits[Int(byte & 15)]
            place += 2
        }
        return place
    }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    /// The digits of all bits, in lower case: two for each byte, leading zeros included.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
    }

    /// Reads what ``hexadecimal`` writes, in either case; nil for fewer or more digits, or a sign.
    package init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == Self.bitWidth / 4, text.utf8.allSatisfy(Hexadecimal.isDigit) else { return nil }
        self.init(text, radix: 16)
    }
}
