extension JSONTokenizer {
    /// Moves to the next token and returns it.
    ///
    /// Returns ``Token/end`` at the end of the text and on every later call.
    ///
    /// - Throws: An error with position and reason, for an invalid text, an exceeded limit or a
    ///   failed source.
    /// - Complexity: O(bytes of the token and the space before it).
    package mutating func next() throws(JSONSyntaxError) -> Token {
        let next: Token
        switch state {
        case .start: next = try firstToken()
        case .afterValue: next = depth == 0 ? try tokenAfterDocument() : try tokenAfterElement()
        case .colon:
            guard try skipSpace() == UInt8(ascii: ":") else { throw try unexpected("':' after a key") }
            position += 1
            next = try value(try skipSpace())
        case .firstKey:
            let byte = try skipSpace()
            next = byte == UInt8(ascii: "}") ? close() : try key(byte, expected: "a key or '}'")
        case .firstElement:
            let byte = try skipSpace()
            next = byte == UInt8(ascii: "]") ? close() : try value(byte)
        case .value: next = try value(try skipSpace())
        case .end: next = .end
        }
        token = next
        return next
    }

    /// Moves to the next key of an object; returns false at the end of the object.
    ///
    /// The previous value must have been read completely; see ``skipRest()``.
    package mutating func nextKey() throws(JSONSyntaxError) -> Bool {
        switch try next() {
        case .key: return true
        case .endObject: return false
        default: throw error("a key or the end of the object is expected, not \(tokenDescription)")
        }
    }

    /// Moves to the next key like ``nextKey()``, for callers that check for duplicate keys
    /// themselves.
    ///
    /// Use this method for all keys of an object or for none.
    package mutating func nextKnownKey() throws(JSONSyntaxError) -> Bool {
        notesKeys = false
        let token = try next()
        notesKeys = true
        switch token {
        case .key: return true
        case .endObject: return false
        default: throw error("a key or the end of the object is expected, not \(tokenDescription)")
        }
    }

    /// Moves to the first token of an array's next element; returns false at the end of the array.
    ///
    /// The previous element must have been read completely; see ``skipRest()``.
    package mutating func nextElement() throws(JSONSyntaxError) -> Bool {
        try next() != .endArray
    }

    /// Skips and validates the rest of the value that starts with the current token.
    package mutating func skipRest() throws(JSONSyntaxError) {
        guard token == .beginObject || token == .beginArray else { return }
        let outside = depth - 1
        while depth > outside { _ = try next() }
    }

    package mutating func skipValue() throws(JSONSyntaxError) {
        _ = try next()
        try skipRest()
    }

    // MARK: Expected tokens

    private mutating func firstToken() throws(JSONSyntaxError) -> Token {
        try refuseOtherEncodings()
        let byte = try skipSpace()
        if isAtEnd {
            guard syntax == .lines else { throw try unexpected("a value") }
            state = .end
            return .end
        }
        return try value(byte)
    }

    private mutating func tokenAfterDocument() throws(JSONSyntaxError) -> Token {
        let before = line
        let byte = try skipSpace()
        if isAtEnd {
            state = .end
            return .end
        }
        guard syntax == .lines else {
            _ = try multibyteCount()
            throw errorHere("there is text after the end of the document")
        }
        guard line > before else { throw errorHere("there is text after the end of the line's value") }
        return try value(byte)
    }

    private mutating func tokenAfterElement() throws(JSONSyntaxError) -> Token {
        let byte = try skipSpace()
        let isInObject = objectBits & 1 == 1
        if byte == UInt8(ascii: ",") {
            position += 1
            let byte = try skipSpace()
            if byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                guard syntax == .json5 else {
                    throw errorHere("a comma is not allowed before '\(isInObject ? "}" : "]")'")
                }
                return close()
            }
            if isInObject { return try key(byte, expected: "a key") }
            return try value(byte)
        }
        guard byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw try unexpected(isInObject ? "',' or '}'" : "',' or ']'")
        }
        return close()
    }

    private mutating func close() -> Token {
        let isObject = objectBits & 1 == 1
        tokenStart = position
        position += 1
        if isObject { keys.pop() }
        objectBits >>= 1
        depth -= 1
        state = .afterValue
        return isObject ? .endObject : .endArray
    }

    private mutating func open(_ token: Token) throws(JSONSyntaxError) -> Token {
        guard depth < Self.maximumDepth else {
            throw errorHere("the text nests deeper than \(Self.maximumDepth) arrays and objects")
        }
        tokenStart = position
        position += 1
        depth += 1
        objectBits <<= 1
        if token == .beginObject {
            objectBits |= 1
            keys.push()
            state = .firstKey
        } else {
            state = .firstElement
        }
        return token
    }

    private mutating func key(_ byte: UInt8, expected: String) throws(JSONSyntaxError) -> Token {
        let limit = tokenByteLimit
        tokenByteLimit = min(limit, keyByteLimit)
        if byte == UInt8(ascii: "\"") {
            try scanString()
        } else {
            guard syntax == .json5 else { throw try unexpected(expected) }
            try scanJSON5Key(byte, expected: expected)
        }
        guard position - tokenStart <= tokenByteLimit else { throw tooLong }
        tokenByteLimit = limit
        guard !notesKeys || registerKey() else {
            token = .key
            throw repeatedKey
        }
        state = .colon
        return .key
    }

    private mutating func value(_ byte: UInt8) throws(JSONSyntaxError) -> Token {
        switch byte {
        case UInt8(ascii: "\""):
            try scanString()
            state = .afterValue
            return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            if syntax == .json5 { try scanJSON5Number() } else { try scanNumber() }
            state = .afterValue
            return .number
        case UInt8(ascii: "{"): return try open(.beginObject)
        case UInt8(ascii: "["): return try open(.beginArray)
        case UInt8(ascii: "t"): return try word("true", token: .true)
        case UInt8(ascii: "f"): return try word("false", token: .false)
        case UInt8(ascii: "n"): return try word("null", token: .null)
        default:
            guard syntax == .json5 else { throw try unexpected("a value") }
            let token = try scanJSON5Value(byte)
            state = .afterValue
            return token
        }
    }

    private mutating func word(_ word: StaticString, token: Token) throws(JSONSyntaxError) -> Token {
        try scanWord(word)
        state = .afterValue
        return token
    }
}
