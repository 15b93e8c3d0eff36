package import RoostJSONText

/// The quotes of comma-separated values (RFC 4180).
package enum CSVText {
    /// Puts quotes around what was appended from `start` on, if it needs them.
    package static func quote(_ text: inout TextBuffer, from start: Int) {
        let value = text.withBytes(from: start) { bytes -> [UInt8]? in
            let needsQuotes = bytes.contains { byte in
                byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n")
                    || byte == UInt8(ascii: "\r")
            }
            // Blanks at the ends are part of a value; some readers drop them unless they are in quotes.
            let hasBlankEnds = bytes.first == UInt8(ascii: " ") || bytes.last == UInt8(ascii: " ")
            return needsQuotes || hasBlankEnds || bytes.isEmpty ? Array(bytes) : nil
        }
        guard let value else { return }
        text.removeLast(value.count)
        text.append(UInt8(ascii: "\""))
        for byte in value {
            if byte == UInt8(ascii: "\"") { text.append(byte) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }
}
