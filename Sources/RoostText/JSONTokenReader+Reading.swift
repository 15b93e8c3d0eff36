public import RoostCore

extension JSONTokenReader {
    /// Moves to the next token and gives it; ``Token/end`` at the end of the text, now and ever after.
    ///
    /// - Throws: What the source throws, or an error with ``errorCode`` that says where the text stops being right and why.
    /// - Complexity: O(bytes of the token and the space before it); no allocation but for escapes.
    public mutating func next() throws(StoreError) -> Token {
        let next: Token
        switch state {
        case .start: next = try firstToken()
        case .afterValue: next = depth == 0 ? try tokenAfterDocument() : try tokenAfterElement()
        case .colon:
            guard try skipSpace() == UInt8(ascii: ":") else { throw unexpected("':' after a key") }
            position += 1
            next = try value(try skipSpace())
        case .firstKey:
            let byte = try skipSpace()
            next = byte == UInt8(ascii: "}") ? close() : try key(byte, "a key or '}'")
        case .firstElement:
            let byte = try skipSpace()
            next = byte == UInt8(ascii: "]") ? close() : try value(byte)
        case .value: next = try value(try skipSpace())
        case .end: next = .end
        }
        token = next
        return next
    }

    /// In an object, moves to the next key; false at the object's end, which is read then.
    ///
    /// Call it when the value of the key before was read as a whole; see ``skipRest()``.
    /// - Throws: As ``next()``.
    public mutating func nextKey() throws(StoreError) -> Bool {
        switch try next() {
        case .key: return true
        case .endObject: return false
        default: throw error("a key or the end of the object is expected, not \(tokenDescription)")
        }
    }

    /// As ``nextKey()``, for callers that know the keys there can be and find by themselves one that occurs twice.
    ///
    /// Call it for all keys of an object or for none.
    mutating func nextKnownKey() throws(StoreError) -> Bool {
        notesKeys = false
        let token = try next()
        notesKeys = true
        switch token {
        case .key: return true
        case .endObject: return false
        default: throw error("a key or the end of the object is expected, not \(tokenDescription)")
        }
    }

    /// The error for a key that occurs twice.
    var repeatedKey: StoreError { error("the key occurs twice in this object") }

    /// In an array, moves to the first token of the next element; false at the array's end, which is read then.
    ///
    /// Call it when the element before was read as a whole; see ``skipRest()``.
    /// - Throws: As ``next()``.
    public mutating func nextElement() throws(StoreError) -> Bool {
        try next() != .endArray
    }

    /// Moves to the next token, which must be this one.
    ///
    /// - Parameters:
    ///   - expected: The token.
    ///   - what: What the token is here, for the message: `the list of records`.
    /// - Throws: As ``next()``, and ``errorCode`` for any other token.
    public mutating func expect(_ expected: Token, _ what: @autoclosure () -> String) throws(StoreError) {
        guard try next() == expected else { throw mismatch(what()) }
    }

    /// Passes over the rest of the value whose first token is the current one: nothing but for an object or an array.
    ///
    /// What is passed over is checked like everything else.
    /// - Throws: As ``next()``.
    public mutating func skipRest() throws(StoreError) {
        guard token == .beginObject || token == .beginArray else { return }
        let outside = depth - 1
        while depth > outside { _ = try next() }
    }

    /// Passes over the next value as a whole.
    ///
    /// - Throws: As ``next()``.
    public mutating func skipValue() throws(StoreError) {
        _ = try next()
        try skipRest()
    }

    // MARK: What may follow

    private mutating func firstToken() throws(StoreError) -> Token {
        try refuseOtherEncodings()
        let byte = try skipSpace()
        if isAtEnd {
            guard layout == .lines else { throw unexpected("a value") }
            state = .end
            return .end
        }
        return try value(byte)
    }

    private mutating func tokenAfterDocument() throws(StoreError) -> Token {
        let before = line
        let byte = try skipSpace()
        if isAtEnd {
            state = .end
            return .end
        }
        guard layout == .lines else { throw errorHere("there is text behind the end of the document") }
        guard line > before else { throw errorHere("there is text behind the end of the line's value") }
        return try value(byte)
    }

    private mutating func tokenAfterElement() throws(StoreError) -> Token {
        let byte = try skipSpace()
        let isInObject = objectBits & 1 == 1
        if byte == UInt8(ascii: ",") {
            position += 1
            let byte = try skipSpace()
            if isInObject { return try key(byte, "a key") }
            return try value(byte)
        }
        guard byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw unexpected(isInObject ? "',' or '}'" : "',' or ']'")
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

    private mutating func open(_ token: Token) throws(StoreError) -> Token {
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

    private mutating func key(_ byte: UInt8, _ expected: String) throws(StoreError) -> Token {
        guard byte == UInt8(ascii: "\"") else { throw unexpected(expected) }
        let limit = tokenByteLimit
        tokenByteLimit = min(limit, Self.maximumKeyByteCount)
        try scanString()
        guard position - tokenStart <= tokenByteLimit else { throw tooLong }
        tokenByteLimit = limit
        guard !notesKeys || registerKey() else { throw repeatedKey }
        state = .colon
        return .key
    }

    private mutating func value(_ byte: UInt8) throws(StoreError) -> Token {
        switch byte {
        case UInt8(ascii: "\""):
            try scanString()
            state = .afterValue
            return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try scanNumber()
            state = .afterValue
            return .number
        case UInt8(ascii: "{"): return try open(.beginObject)
        case UInt8(ascii: "["): return try open(.beginArray)
        case UInt8(ascii: "t"): return try word("true", .true)
        case UInt8(ascii: "f"): return try word("false", .false)
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw unexpected("a value")
        }
    }

    private mutating func word(_ word: StaticString, _ token: Token) throws(StoreError) -> Token {
        try scanWord(word)
        state = .afterValue
        return token
    }
}
