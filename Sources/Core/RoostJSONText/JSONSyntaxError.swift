/// A failure to read a JSON text, with its position.
///
/// RoostCore converts this error to a `StoreError`. The caller chooses the code of the `StoreError`
/// and the file name in the message.
package struct JSONSyntaxError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Reason: Sendable {
        /// The text is not JSON, or not the JSON that the reader expects.
        case syntax
        /// A token or a value is longer than its limit.
        case limitExceeded
        /// Memory for a token could not be allocated.
        case outOfMemory
        /// The source failed with the associated error.
        case source(any Error)
        /// The source returned an invalid number of bytes.
        case brokenSource
    }

    /// The kind of failure, for programs.
    package let reason: Reason
    /// The position of the failure.
    package let position: TextPosition
    /// The problem, without the position and without a period.
    package let message: String

    /// The position and the message: `line 3, column 7: …`.
    package var description: String { "\(position): \(message)" }
}

/// A position in a text.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, counted from 1.
    ///
    /// Lines end with U+000A.
    package let line: Int
    /// The number of the character in the line, counted from 1.
    ///
    /// A character is a Unicode scalar.
    package let column: Int

    /// Creates a position.
    package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// Creates the position of the byte at `byteOffset` in a text.
    package init(of byteOffset: Int, in bytes: [UInt8]) {
        var (line, column) = (1, 1)
        for byte in bytes.prefix(max(0, byteOffset)) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.init(line: line, column: column)
    }

    /// The position as text: `line 3, column 7`.
    package var description: String { "line \(line), column \(column)" }
}
