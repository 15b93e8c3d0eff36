package import RoostCore
package import RoostJSONText

/// Reads the tokens of a text that has a name, for stores and dumps: a ``JSONTokenizer`` whose
/// errors are those of stores.
///
/// After an error the reader must not be used again. Not `Sendable`: use it from one thread at a
/// time.
package struct JSONTokenReader: ~Copyable {
    package typealias Token = JSONTokenizer.Token

    /// Fills the beginning of a buffer with the next bytes of the text, and returns their number; 0
    /// at the end of the text.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

    /// The most bytes that one token may have: those of the longest value that a record can hold,
    /// every byte escaped.
    package static let maximumTokenByteCount = 6 * RecordLayout.maximumByteCount + 2

    /// The name of the text in messages: a path, or `standard input`.
    package let name: String
    /// The code of errors that are about the text.
    package let errorCode: StoreError.Code
    var tokens: JSONTokenizer

    /// Creates a reader of the bytes that `source` returns.
    ///
    /// - Parameters:
    ///   - name: The name of the text in messages: a path, or `standard input`.
    ///   - syntax: The syntax of the text.
    ///   - errorCode: The code of errors that are about the text.
    ///   - computesChecksum: Whether ``checksumBeforeToken()`` is going to be called.
    ///   - source: Returns the bytes; its errors come out of the call that needed them.
    package init(
        name: String, syntax: JSONTokenizer.Syntax = .json, errorCode: StoreError.Code = .corrupted,
        computesChecksum: Bool = false, source: @escaping Source
    ) {
        self.name = name
        self.errorCode = errorCode
        tokens = JSONTokenizer(
            syntax: syntax, limits: .init(tokenByteCount: Self.maximumTokenByteCount),
            computesChecksum: computesChecksum, source: source)
    }

    /// Creates a reader of a text that is in memory.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - name: The name of the text in messages.
    ///   - errorCode: The code of errors that are about the text.
    package init(_ bytes: [UInt8], name: String, errorCode: StoreError.Code = .corrupted) {
        self.name = name
        self.errorCode = errorCode
        tokens = JSONTokenizer(bytes, limits: .init(tokenByteCount: Self.maximumTokenByteCount))
    }

    // MARK: Moving

    /// Runs `body`, and throws its errors as errors of the text.
    @inline(__always)
    private mutating func read<Result>(
        _ body: (inout JSONTokenizer) throws(JSONSyntaxError) -> Result
    ) throws(StoreError) -> Result {
        do throws(JSONSyntaxError) { return try body(&tokens) } catch { throw located(error, code: nil) }
    }

    /// Moves to the next token and returns it; see ``JSONTokenizer/next()``.
    ///
    /// - Throws: The error of the source, or an error with ``errorCode`` that has the place and the
    ///   reason.
    package mutating func next() throws(StoreError) -> Token {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.next() }
    }

    /// Moves to the next key of an object; false at the object's end, which is read then.
    ///
    /// - Throws: As ``next()``.
    package mutating func nextKey() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextKey() }
    }

    /// Moves to the next key of an object, without a look at whether it occurs twice.
    ///
    /// - Throws: As ``next()``.
    mutating func nextKnownKey() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextKnownKey() }
    }

    /// Moves to the first token of the next element of an array; false at the array's end, which is
    /// read then.
    ///
    /// - Throws: As ``next()``.
    package mutating func nextElement() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextElement() }
    }

    /// Moves to the next token, which must be this one.
    ///
    /// - Parameters:
    ///   - expected: The token.
    ///   - what: The meaning of the token here, for the message: `the list of records`.
    /// - Throws: As ``next()``, and ``errorCode`` for any other token.
    package mutating func expect(_ expected: Token, _ what: @autoclosure () -> String) throws(StoreError) {
        guard try next() == expected else { throw mismatch(what()) }
    }

    /// Skips the rest of the value whose first token is the current one; see
    /// ``JSONTokenizer/skipRest()``.
    ///
    /// - Throws: As ``next()``.
    package mutating func skipRest() throws(StoreError) {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.skipRest() }
    }

    /// Skips the next value.
    ///
    /// - Throws: As ``next()``.
    package mutating func skipValue() throws(StoreError) {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.skipValue() }
    }

    /// Skips the next value and returns its text as it is; see
    /// ``JSONTokenizer/captureValue(byteCountLimit:)``.
    ///
    /// - Throws: As ``next()``; code `limitExceeded`.
    package mutating func captureValue(byteCountLimit: Int) throws(StoreError) -> [UInt8] {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.captureValue(byteCountLimit: byteCountLimit) }
    }

    /// The checksum of every byte of the text before the current token; see
    /// ``JSONTokenizer/checksumBeforeToken()``.
    package mutating func checksumBeforeToken() -> (high: UInt64, low: UInt64)? { tokens.checksumBeforeToken() }

    // MARK: The current token

    /// The token that ``next()`` returned last.
    package var token: Token { tokens.token }
    /// The place at which the current token starts.
    package var tokenPosition: TextPosition { tokens.tokenPosition }
    /// The number of bytes before the current token.
    package var tokenByteOffset: Int { tokens.tokenByteOffset }
    /// The kind of the current token, for messages; never its text.
    package var tokenDescription: String { tokens.tokenDescription }

    /// Runs `body` with the text of the current key, string or number; see
    /// ``JSONTokenizer/withText(_:)``.
    package func withText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try tokens.withText(body)
    }

    /// The text of the current key, string or number as a string of its own.
    package var text: String { tokens.text }
    /// The position of the current key or string among known names; nil when it is none of them.
    package func index(in names: JSONNameTable) -> Int? { tokens.index(in: names) }
    /// The number as a whole number of 64 bits; nil for any other token.
    package var integer: Int64? { tokens.integer }
    /// The number, or the string that stands for one, as the nearest double; nil for any other
    /// token.
    package var double: Double? { tokens.double }
    /// The number, or the string that stands for one, as the nearest float; nil for any other
    /// token.
    package var float: Float? { tokens.float }

    // MARK: Errors

    /// Returns an error about the current token, with its place.
    ///
    /// - Parameters:
    ///   - message: The problem, without a full stop; after a semicolon the remedy.
    ///   - code: The error's code; ``errorCode`` by default.
    /// - Returns: The error, whose message starts with ``name``, line and column.
    package func error(_ message: String, code: StoreError.Code? = nil) -> StoreError {
        located(tokens.error(message), code: code)
    }

    /// Returns an error that says that the current token is not the expected one.
    ///
    /// - Parameter expected: The expected part of the text: `the list of records`.
    /// - Returns: The error, with the token's place.
    package func mismatch(_ expected: String) -> StoreError { located(tokens.mismatch(expected), code: nil) }

    /// Returns the error for a token where a whole number is expected, which may be one that is out
    /// of range.
    ///
    /// - Parameter expected: The expected number: `a whole number of 64 bits`.
    /// - Returns: The error, with the token's place.
    package func integerMismatch(_ expected: String) -> StoreError {
        guard token == .number else { return mismatch(expected) }
        return error("\(expected) is expected, and \(tokens.descriptionOfWrongInteger)")
    }

    /// The error for a key that occurs twice.
    var repeatedKey: StoreError { located(tokens.repeatedKey, code: nil) }

    @inline(never)
    private func located(_ error: JSONSyntaxError, code: StoreError.Code?) -> StoreError {
        StoreError(error, in: name, code: code ?? errorCode)
    }
}
