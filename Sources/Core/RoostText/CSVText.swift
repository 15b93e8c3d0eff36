package import RoostJSONText

/// A format for lines of comma-separated values (RFC 4180), or of values with another separator.
package struct CSVText: Sendable {
    package var separator = UInt8(ascii: ",")
    /// Whether null in a table of one column is written as a separator, because many readers skip
    /// empty lines.
    package var marksNullLines = false

    package init(separator: UInt8 = UInt8(ascii: ","), marksNullLines: Bool = false) {
        (self.separator, self.marksNullLines) = (separator, marksNullLines)
    }

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

    /// Ends the line that begins at `start`.
    package func endLine(_ text: inout TextBuffer, from start: Int) {
        if marksNullLines, text.count == start { text.append(separator) }
        text.append(UInt8(ascii: "\n"))
    }

    /// Quotes the value from `start` to the end of the text, if necessary.
    package func quote(_ text: inout TextBuffer, from start: Int) {
        let separator = separator
        let value = text.withBytes(from: start) { bytes -> [UInt8]? in
            let needsQuotes = bytes.contains { byte in
                byte == UInt8(ascii: "\"") || byte == separator || byte == UInt8(ascii: "\n")
                    || byte == UInt8(ascii: "\r")
            }
            // Some readers remove spaces at the ends of a value unless the value is quoted. An empty
            // value is quoted, because an empty cell means null.
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
