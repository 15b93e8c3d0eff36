/// A failure to read a JSON text, with its position.
///
/// RoostCore converts this error to a `StoreError`.
package struct JSONSyntaxError: Error, Sendable, CustomStringConvertible {
    package enum Reason: Sendable {
        /// The text is not JSON, or not the JSON that the reader expects.
        case syntax
        /// A token or a value is longer than its limit.
        case limitExceeded
        case outOfMemory
        /// The source threw this error.
        case source(any Error)
        /// The source returned an invalid number of bytes.
        case brokenSource
    }

    package let reason: Reason
    package let position: TextPosition
    /// The problem, without its position and without a period.
    package let message: String

    /// The position and the message: `line 3, column 7: …`.
    package var description: String { "\(position): \(message)" }
}

package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, counted from 1; lines end with U+000A.
    package let line: Int
    /// The number of the Unicode scalar in the line, counted from 1.
    package let column: Int

    package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

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

    package var description: String { "line \(line), column \(column)" }
}
