package enum Hexadecimal {
    /// The value of each digit in upper or lower case; 255 for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in "0123456789abcdef".utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        for (value, digit) in "ABCDEF".utf8.enumerated() { values[Int(digit)] = UInt8(value + 10) }
        return values
    }()
    private static let upperCaseDigits: StaticString = "0123456789ABCDEF"

    package static func isDigit(_ byte: UInt8) -> Bool { values[Int(byte)] < 16 }

    /// Returns bytes as text, with two lower-case digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String { bytes.map(\.hexadecimal).joined() }

    /// Returns a path for use in a URI: every byte except letters, digits and `-./_~` is written as
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

    /// Decodes the text of a UUID to 16 bytes; returns false for any other text.
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

    /// Encodes a UUID as 36 characters in upper case.
    ///
    /// `output` needs room for two digits per byte and four hyphens. Returns the number of
    /// characters, which is lower for fewer than 16 bytes.
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
    /// The number in lower-case digits, two for each byte, including leading zeros.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
    }

    /// Reads a text like ``hexadecimal``, in upper or lower case; returns nil for any other text.
    package init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == Self.bitWidth / 4, text.utf8.allSatisfy(Hexadecimal.isDigit) else { return nil }
        self.init(text, radix: 16)
    }
}
