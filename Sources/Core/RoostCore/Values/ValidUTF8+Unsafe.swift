extension UnsafeRawBufferPointer {
    /// Whether the bytes are well-formed UTF-8 by table 3-7 of the Unicode standard: no surrogates,
    /// and no overlong or truncated sequences.
    package var isValidUTF8: Bool { isASCII || isValidBeyondASCII }

    private var isASCII: Bool {
        guard let base = baseAddress else { return true }
        guard count >= 8 else {
            var bits: UInt8 = 0
            for byte in self { bits |= byte }
            return bits < 0x80
        }
        // SAFETY: all words end at or before `count`. The last word may overlap its predecessor.
        let last = count - 8
        var bits = base.loadUnaligned(fromByteOffset: last, as: UInt64.self)
        var offset = 0
        while offset < last {
            bits |= base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    private var isValidBeyondASCII: Bool {
        let high: UInt64 = 0x8080_8080_8080_8080
        var offset = 0
        while offset < count {
            if offset + 8 <= count {
                let others = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)) & high
                if others == 0 {
                    offset += 8
                    continue
                }
                offset += others.trailingZeroBitCount / 8
            }
            let lead = self[offset]
            guard lead >= 0x80 else {
                offset += 1
                continue
            }
            // The range of the second byte excludes overlong sequences, surrogates, and code points
            // beyond U+10FFFF.
            let (length, low, high): (Int, UInt8, UInt8)
            switch lead {
            case 0xC2...0xDF: (length, low, high) = (2, 0x80, 0xBF)
            case 0xE0: (length, low, high) = (3, 0xA0, 0xBF)
            case 0xE1...0xEC, 0xEE...0xEF: (length, low, high) = (3, 0x80, 0xBF)
            case 0xED: (length, low, high) = (3, 0x80, 0x9F)
            case 0xF0: (length, low, high) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, low, high) = (4, 0x80, 0xBF)
            case 0xF4: (length, low, high) = (4, 0x80, 0x8F)
            default: return false
            }
            guard offset + length <= count, self[offset + 1] >= low, self[offset + 1] <= high else { return false }
            for next in offset + 2..<offset + length where self[next] & 0xC0 != 0x80 { return false }
            offset += length
        }
        return true
    }
}
