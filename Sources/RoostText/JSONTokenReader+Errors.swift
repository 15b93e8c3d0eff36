public import RoostCore

/// A place in a text.
public struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    ///
    /// Lines end with U+000A.
    public let line: Int
    /// The character in the line, from 1.
    ///
    /// A character is a Unicode scalar: a byte of the text that does not continue another one.
    public let column: Int

    /// Makes a place.
    public init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// `line 3, column 7`.
    public var description: String { "line \(line), column \(column)" }
}

extension JSONTokenReader {
    /// Where the current token starts.
    public var tokenPosition: TextPosition { place(of: tokenStart) }

    /// How many bytes of the text are before the current token.
    public var tokenByteOffset: Int { discardedByteCount + tokenStart }

    /// What the current token is, for messages; never what it says.
    public var tokenDescription: String {
        switch token {
        case .beginObject: "an object"
        case .endObject: "the end of an object"
        case .beginArray: "an array"
        case .endArray: "the end of an array"
        case .key: "a key"
        case .string: "a string"
        case .number: "a number"
        case .true: "true"
        case .false: "false"
        case .null: "null"
        case .end: "the end of the text"
        }
    }

    /// An error about the current token, with its place.
    ///
    /// - Parameters:
    ///   - message: What is wrong, without a full stop; after a semicolon the remedy.
    ///   - code: The error's code; ``errorCode`` unless given.
    /// - Returns: The error, whose message starts with ``name``, line and column.
    public func error(_ message: String, code: StoreError.Code? = nil) -> StoreError {
        located(message, place(of: tokenStart), code)
    }

    /// An error that says that the current token is not what stands here.
    ///
    /// - Parameter expected: What is expected: `the list of records`.
    /// - Returns: The error, with the token's place.
    public func mismatch(_ expected: String) -> StoreError {
        error("\(expected) is expected, not \(tokenDescription)")
    }

    /// As ``mismatch(_:)``, where a whole number is expected: says so where the current token is
    /// one, and out of range.
    ///
    /// - Parameter expected: What is expected: `a whole number of 64 bits`.
    /// - Returns: The error, with the token's place.
    public func integerMismatch(_ expected: String) -> StoreError {
        guard token == .number else { return mismatch(expected) }
        return error("\(expected) is expected, and \(descriptionOfWrongInteger)")
    }

    /// The current token where a whole number is expected, as the end of a sentence.
    var descriptionOfWrongInteger: String {
        guard token == .number else { return "\(tokenDescription) stands here" }
        return isWhole ? Self.outOfRange : "a number with a fraction or an exponent stands here"
    }

    /// The current token where a decimal number is expected, as the end of a sentence.
    var descriptionOfWrongDecimal: String {
        switch token {
        case .number: return Self.outOfRange
        case .string:
            let isNumber = withText { text in
                text.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                    && text.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
            }
            return isNumber ? Self.outOfRange : "a string that is no decimal number stands here"
        default: return "\(tokenDescription) stands here"
        }
    }

    /// The problem with a number of the right kind.
    static let outOfRange = "the number that stands here is out of range"

    /// An error about the next byte to be read.
    func errorHere(_ message: String) -> StoreError { located(message, place(of: position), nil) }

    /// An error about the next byte to be read, which does not start what is expected.
    func unexpected(_ expected: String) -> StoreError {
        errorHere(isAtEnd ? "the text ends where \(expected) is expected" : "\(expected) is expected")
    }

    @inline(never)
    private func located(_ message: String, _ place: TextPosition, _ code: StoreError.Code?) -> StoreError {
        StoreError(code ?? errorCode, "\(name), \(place): \(message)\(message.hasSuffix("?") ? "" : ".")")
    }
}
