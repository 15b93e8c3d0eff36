package enum Base64 {
    /// The 64 digits, in the order of their values.
    private static let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    /// The value of each digit; 255 for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.description.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// Returns the number of digits, including padding, that encode `byteCount` bytes.
    package static func digitCount(ofByteCount byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    /// Encodes bytes as padded digits; `output` needs room for ``digitCount(ofByteCount:)``.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>) {
        // SAFETY: each iteration reads three bytes before `whole` and writes four digits. One or two
        // remaining bytes also give four digits, with padding.
        let digits = digits.utf8Start
        let (whole, rest) = (bytes.count / 3 * 3, bytes.count % 3)
        var (index, place) = (0, 0)
        while index < whole {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            output[place] = digits[Int(group >> 18)]
            output[place + 1] = digits[Int(group >> 12 & 63)]
            output[place + 2] = digits[Int(group >> 6 & 63)]
            output[place + 3] = digits[Int(group & 63)]
            index += 3
            place += 4
        }
        guard rest > 0 else { return }
        let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
        output[place] = digits[Int(group >> 18)]
        output[place + 1] = digits[Int(group >> 12 & 63)]
        output[place + 2] = rest == 2 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "=")
        output[place + 3] = UInt8(ascii: "=")
    }

    package static func text(of bytes: [UInt8]) -> String {
        let count = digitCount(ofByteCount: bytes.count)
        return String(unsafeUninitializedCapacity: count) { output in
            // SAFETY: the output has room for `count` digits, and `encode` writes all of them.
            guard count > 0, let start = output.baseAddress else { return 0 }
            bytes.withUnsafeBytes { encode($0, into: start) }
            return count
        }
    }

    /// Decodes base64 that a person or another program wrote; returns nil for any other text.
    ///
    /// The text must be padded. Extra bits in the last digit and too many padding characters are
    /// ignored, because some programs write them. With `ignoringSpaces`, white space is ignored
    /// too.
    package static func bytes(_ text: String, ignoringSpaces: Bool = false) -> [UInt8]? {
        var digits = Array(text.utf8)
        if ignoringSpaces { digits.removeAll { $0 == 0x20 || (0x09...0x0D).contains($0) } }
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let needed = (4 - (digits.count - padding) % 4) % 4
        if padding > needed, padding < digits.count { digits.removeLast(padding - needed) }
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 4 * 3) { bytes, count in
            // SAFETY: `decode` writes the first bytes of the buffer and returns their number.
            let written = digits.withUnsafeBytes { digits in
                decode(digits, into: UnsafeMutableRawBufferPointer(bytes), ignoringLastBits: true)
            }
            isValid = written != nil
            count = written ?? 0
        }
        return isValid ? bytes : nil
    }

    /// Decodes padded base64 without spaces; returns the number of bytes, or nil for any other
    /// text.
    ///
    /// `bytes` needs room for three bytes for every four digits. Without `ignoringLastBits`, extra
    /// bits in the last digit are refused, so that each sequence of bytes has only one valid text.
    package static func decode(
        _ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer, ignoringLastBits: Bool = false
    ) -> Int? {
        guard text.count % 4 == 0, text.count / 4 * 3 <= bytes.count else { return nil }
        guard !text.isEmpty else { return 0 }
        let padding = text[text.count - 1] != UInt8(ascii: "=") ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
        return values.withUnsafeBufferPointer { values in
            let whole = text.count - (padding > 0 ? 4 : 0)
            var (index, offset) = (0, 0)
            while index < whole {
                let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
                let (c, d) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
                guard (a | b | c | d) < 64 else { return nil }
                bytes[offset] = a << 2 | b >> 4
                bytes[offset + 1] = b << 4 | c >> 2
                bytes[offset + 2] = c << 6 | d
                index += 4
                offset += 3
            }
            guard padding > 0 else { return offset }
            let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
            let c = padding == 1 ? values[Int(text[index + 2])] : 0
            guard (a | b | c) < 64 else { return nil }
            guard ignoringLastBits || (padding == 1 ? c & 3 == 0 : b & 15 == 0) else { return nil }
            bytes[offset] = a << 2 | b >> 4
            if padding == 1 { bytes[offset + 1] = b << 4 | c >> 2 }
            return offset + 3 - padding
        }
    }
}
