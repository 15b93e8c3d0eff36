package import RoostCore
package import RoostJSONText

/// A ``JSONTokenizer`` of a named text, such as a dump, that throws store errors.
///
/// Members without a comment work like those of ``JSONTokenizer``. After an error, do not use the
/// reader again. Use it from one thread at a time.
package struct JSONTokenReader: ~Copyable {
    package typealias Token = JSONTokenizer.Token

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
    /// The reader's methods throw the errors of `source`.
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
    package init(_ bytes: [UInt8], name: String, errorCode: StoreError.Code = .corrupted) {
        self.name = name
        self.errorCode = errorCode
        tokens = JSONTokenizer(bytes, limits: .init(tokenByteCount: Self.maximumTokenByteCount))
    }

    // MARK: Moving

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

    package mutating func nextKey() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextKey() }
    }

    mutating func nextKnownKey() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextKnownKey() }
    }

    package mutating func nextElement() throws(StoreError) -> Bool {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.nextElement() }
    }

    /// Moves to the next token, which must be `expected`.
    ///
    /// `what` describes the expected token in the message, such as `the list of records`.
    package mutating func expect(_ expected: Token, _ what: @autoclosure () -> String) throws(StoreError) {
        guard try next() == expected else { throw mismatch(what()) }
    }

    package mutating func skipRest() throws(StoreError) {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.skipRest() }
    }

    package mutating func skipValue() throws(StoreError) {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.skipValue() }
    }

    package mutating func captureValue(byteCountLimit: Int) throws(StoreError) -> [UInt8] {
        try read { (tokens) throws(JSONSyntaxError) in try tokens.captureValue(byteCountLimit: byteCountLimit) }
    }

    package mutating func checksumBeforeToken() -> (high: UInt64, low: UInt64)? { tokens.checksumBeforeToken() }

    // MARK: The current token

    package var token: Token { tokens.token }
    package var tokenPosition: TextPosition { tokens.tokenPosition }
    package var tokenByteOffset: Int { tokens.tokenByteOffset }
    package var tokenDescription: String { tokens.tokenDescription }

    package func withText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try tokens.withText(body)
    }

    package var text: String { tokens.text }
    package func index(in names: JSONNameTable) -> Int? { tokens.index(in: names) }
    package var integer: Int64? { tokens.integer }
    package var double: Double? { tokens.double }
    package var float: Float? { tokens.float }

    // MARK: Errors

    /// Returns an error about the current token.
    ///
    /// The message starts with ``name``, line and column. The default code is ``errorCode``.
    package func error(_ message: String, code: StoreError.Code? = nil) -> StoreError {
        located(tokens.error(message), code: code)
    }

    package func mismatch(_ expected: String) -> StoreError { located(tokens.mismatch(expected), code: nil) }

    /// Returns the error for an unexpected token; `expected` is a text such as `a whole number of
    /// 64 bits`.
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
