package import RoostCore
package import RoostJSONText

/// A reader of the tokens of a named text, such as a dump: a ``JSONTokenizer`` that throws store
/// errors.
///
/// After an error, do not use the reader again. Use it from one thread at a time.
package struct JSONTokenReader: ~Copyable {
    package typealias Token = JSONTokenizer.Token

    /// A function like ``JSONTokenizer/Source`` that throws store errors.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

    /// The maximum number of bytes of a token: the longest value of a record with every byte
    /// escaped.
    package static let maximumTokenByteCount = 6 * RecordLayout.maximumByteCount + 2

    /// The name of the text in messages: a path, or `standard input`.
    package let name: String
    /// The code of errors about the text.
    package let errorCode: StoreError.Code
    var tokens: JSONTokenizer

    /// Creates a reader of the bytes that `source` provides.
    ///
    /// - Parameters:
    ///   - name: The name of the text in messages: a path, or `standard input`.
    ///   - syntax: The syntax of the text.
    ///   - errorCode: The code of errors about the text.
    ///   - computesChecksum: Whether ``checksumBeforeToken()`` will be called.
    ///   - source: A function that provides the bytes. The reader's methods throw the errors of
    ///     `source`.
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

    /// Creates a reader of a text in memory.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - name: The name of the text in messages.
    ///   - errorCode: The code of errors about the text.
    package init(_ bytes: [UInt8], name: String, errorCode: StoreError.Code = .corrupted) {
        self.name = name
        self.errorCode = errorCode
        tokens = JSONTokenizer(bytes, limits: .init(tokenByteCount: Self.maximumTokenByteCount))
    }

    // MARK: Moving

    /// Runs `body`, and converts its errors to store errors.
    @inline(__always)
    private mutating func read<Result>(
        _ body: (inout JSONTokenizer) throws(JSONSyntaxError) -> Result
    ) throws(StoreError) -> Result {
        do throws(JSONSyntaxError) { return try body(&tokens) } catch { throw located(error, code: nil) }
    }

    /// Moves to the next token and returns it; see ``JSONTokenizer/next()``.
    ///
    /// - Throws: The error of the source; `limitExceeded`; or an error with ``errorCode`` that
    ///   contains the position and the reason.
    package mutating func next() throws(StoreError) -> Token {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.next() }
    }

    /// Moves to the next key of an object; see ``JSONTokenizer/nextKey()``.
    ///
    /// - Throws: The errors of ``next()``.
    package mutating func nextKey() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextKey() }
    }

    /// Moves to the next key of an object, without checking for duplicate keys.
    ///
    /// - Throws: The errors of ``next()``.
    mutating func nextKnownKey() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextKnownKey() }
    }

    /// Moves to the first token of the next element of an array; see
    /// ``JSONTokenizer/nextElement()``.
    ///
    /// - Throws: The errors of ``next()``.
    package mutating func nextElement() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextElement() }
    }

    /// Moves to the next token, which must be `expected`.
    ///
    /// - Parameters:
    ///   - expected: The token.
    ///   - what: A description of the expected token for the message: `the list of records`.
    /// - Throws: The errors of ``next()``, and ``errorCode`` for any other token.
    package mutating func expect(_ expected: Token, _ what: @autoclosure () -> String) throws(StoreError) {
        guard try next() == expected else { throw mismatch(what()) }
    }

    /// Skips the rest of the value that starts with the current token; see
    /// ``JSONTokenizer/skipRest()``.
    ///
    /// - Throws: The errors of ``next()``.
    package mutating func skipRest() throws(StoreError) {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.skipRest() }
    }

    /// Skips the next value.
    ///
    /// - Throws: The errors of ``next()``.
    package mutating func skipValue() throws(StoreError) {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.skipValue() }
    }

    /// Skips the next value and returns its text unchanged; see
    /// ``JSONTokenizer/captureValue(byteCountLimit:)``.
    ///
    /// - Throws: The errors of ``next()``; `limitExceeded`.
    package mutating func captureValue(byteCountLimit: Int) throws(StoreError) -> [UInt8] {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.captureValue(byteCountLimit: byteCountLimit) }
    }

    /// Returns the checksum of all bytes before the current token; see
    /// ``JSONTokenizer/checksumBeforeToken()``.
    package mutating func checksumBeforeToken() -> (high: UInt64, low: UInt64)? { tokens.checksumBeforeToken() }

    // MARK: The current token

    /// The token that ``next()`` returned last.
    package var token: Token { tokens.token }
    /// The position at which the current token starts.
    package var tokenPosition: TextPosition { tokens.tokenPosition }
    /// The number of bytes before the current token.
    package var tokenByteOffset: Int { tokens.tokenByteOffset }
    /// The kind of the current token, for messages.
    package var tokenDescription: String { tokens.tokenDescription }

    /// Runs `body` with the text of the current key, string or number; see
    /// ``JSONTokenizer/withText(_:)``.
    package func withText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try tokens.withText(body)
    }

    /// The text of the current key, string or number, as a new string.
    package var text: String { tokens.text }
    /// Returns the index of the current key or string in a table of names; nil for an unknown name.
    package func index(in names: JSONNameTable) -> Int? { tokens.index(in: names) }
    /// The current number as a 64-bit integer; nil for anything else.
    package var integer: Int64? { tokens.integer }
    /// The double nearest to the current number or special string such as `"NaN"`; nil for anything
    /// else.
    package var double: Double? { tokens.double }
    /// The float nearest to the current number or special string such as `"NaN"`; nil for anything
    /// else.
    package var float: Float? { tokens.float }

    // MARK: Errors

    /// Returns an error about the current token, with its position.
    ///
    /// - Parameters:
    ///   - message: The problem without a period, and optionally the remedy after a semicolon.
    ///   - code: The error's code; ``errorCode`` by default.
    /// - Returns: The error. Its message starts with ``name``, line and column.
    package func error(_ message: String, code: StoreError.Code? = nil) -> StoreError {
        located(tokens.error(message), code: code)
    }

    /// Returns the error for a current token that is not the expected one.
    ///
    /// - Parameter expected: A description of the expected part of the text: `the list of records`.
    /// - Returns: The error, with the position of the token.
    package func mismatch(_ expected: String) -> StoreError { located(tokens.mismatch(expected), code: nil) }

    /// Returns the error for a current token that is not an integer, or not in the expected range.
    ///
    /// - Parameter expected: A description of the expected number: `a whole number of 64 bits`.
    /// - Returns: The error, with the position of the token.
    package func integerMismatch(_ expected: String) -> StoreError {
        guard token == .number else { return mismatch(expected) }
        return error("\(expected) is expected, and \(tokens.descriptionOfWrongInteger)")
    }

    var repeatedKey: StoreError { located(tokens.repeatedKey, code: nil) }

    @inline(never)
    private func located(_ error: JSONSyntaxError, code: StoreError.Code?) -> StoreError {
        StoreError(error, in: name, code: code ?? errorCode)
    }
}
