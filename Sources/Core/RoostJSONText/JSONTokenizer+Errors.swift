extension JSONTokenizer {
    package var tokenPosition: TextPosition {
        if let continuedToken, continuedToken.byteOffset == tokenByteOffset { return continuedToken.position }
        return place(of: tokenStart)
    }

    /// The line of ``tokenPosition``, without the cost of counting characters.
    package var tokenLine: Int {
        if let continuedToken, continuedToken.byteOffset == tokenByteOffset { return continuedToken.position.line }
        return line
    }

    package var tokenByteOffset: Int { discardedByteCount + tokenStart }

    /// The kind of the current token, without the token's text, for messages.
    package var tokenDescription: String {
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

    /// Returns an error about the current token, with its position.
    ///
    /// `message` has no period, and may end with a remedy after a semicolon.
    package func error(_ message: String, reason: JSONSyntaxError.Reason = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, position: tokenPosition, message: message)
    }

    /// Returns the error for an unexpected token; `expected` is a text such as `the list of
    /// records`.
    package func mismatch(_ expected: String) -> JSONSyntaxError {
        error("\(expected) is expected, not \(tokenDescription)")
    }

    package var repeatedKey: JSONSyntaxError {
        error("the key '\(Self.printable(text))' occurs twice in this object")
    }

    /// Returns the first 60 characters of a key for a message, with control characters replaced.
    package static func printable(_ key: String) -> String {
        let scalars = key.unicodeScalars.prefix(60).map { scalar in
            scalar.properties.generalCategory == .control ? "\u{FFFD}" : String(scalar)
        }
        return scalars.joined() + (key.unicodeScalars.count > 60 ? "…" : "")
    }

    /// The end of a message about a token that is not the expected integer.
    package var descriptionOfWrongInteger: String {
        guard token == .number else { return "\(tokenDescription) was found" }
        return isWhole ? Self.outOfRange : "a number with a fraction or an exponent was found"
    }

    /// The end of a message about a token that is not the expected decimal.
    package var descriptionOfWrongDecimal: String {
        switch token {
        case .number: return Self.outOfRange
        case .string:
            let isNumber = withText { text in
                text.contains(where: JSONNumbers.isDigit)
                    && text.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
            }
            return isNumber ? Self.outOfRange : "a string that is not a decimal number was found"
        default: return "\(tokenDescription) was found"
        }
    }

    package static let outOfRange = "the number here is out of range"

    /// Returns an error about the next byte to be read.
    func errorHere(_ message: String) -> JSONSyntaxError {
        JSONSyntaxError(reason: .syntax, position: place(of: position), message: message)
    }

    /// Returns the error for a text that does not continue with the expected part.
    mutating func unexpected(_ expected: String) throws(JSONSyntaxError) -> JSONSyntaxError {
        // Throws if the byte is invalid UTF-8, as in a file with another encoding.
        _ = try multibyteCount()
        return errorHere(isAtEnd ? "the text ends where \(expected) is expected" : "\(expected) is expected")
    }
}
