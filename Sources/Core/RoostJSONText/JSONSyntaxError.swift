/// The place where a text stops being JSON, and the reason.
///
/// RoostCore makes a `StoreError` of it, with the name of the file and the code that its caller
/// wants.
package struct JSONSyntaxError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Reason: Sendable {
        /// The text is not JSON, or not what the reader expects.
        case syntax
        /// A token or a value is longer than its limit.
        case limitExceeded
        /// The system refused the memory for a token.
        case outOfMemory
        /// The source failed; its error passes through.
        case source(any Error)
        /// The source broke its contract.
        case brokenSource
    }

    /// The kind of failure, for programs.
    package let reason: Reason
    /// The place of the failure.
    package let position: TextPosition
    /// The problem, without the place and without a full stop.
    package let message: String

    /// The place and the message: `line 3, column 7: …`.
    package var description: String { "\(position): \(message)" }
}

/// A place in a text.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    ///
    /// Lines end with U+000A.
    package let line: Int
    /// The character in the line, from 1.
    ///
    /// A character is a Unicode scalar: a byte of the text that does not continue another one.
    package let column: Int

    /// Creates a place.
    package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// Creates the place of a byte of a text.
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

    /// The place for people: `line 3, column 7`.
    package var description: String { "line \(line), column \(column)" }
}
