package import RoostJSONText

/// Lines of comma-separated values (RFC 4180), or of values with another separator.
package struct CSVText: Sendable {
    /// The byte between two values.
    package var separator = UInt8(ascii: ",")

    /// Creates the form with commas, or with another separator.
    package init(separator: UInt8 = UInt8(ascii: ",")) { self.separator = separator }

    /// The line of the names of columns.
    package func header(_ names: [String]) -> [UInt8] {
        var text = TextBuffer()
        for (index, name) in names.enumerated() {
            if index > 0 { text.append(separator) }
            let start = text.count
            text.append(contentsOf: name.utf8)
            quote(&text, from: start)
        }
        text.append(UInt8(ascii: "\n"))
        return text.bytes
    }

    /// Puts quotes around what was appended from `start` on, if it needs them.
    package func quote(_ text: inout TextBuffer, from start: Int) {
        let separator = separator
        let value = text.withBytes(from: start) { bytes -> [UInt8]? in
            let needsQuotes = bytes.contains { byte in
                byte == UInt8(ascii: "\"") || byte == separator || byte == UInt8(ascii: "\n")
                    || byte == UInt8(ascii: "\r")
            }
            // Blanks at the ends are part of a value; some readers drop them unless they are in
            // quotes.
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
