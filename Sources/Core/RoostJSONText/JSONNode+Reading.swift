extension JSONNode {
    /// Reads a whole text as a tree.
    ///
    /// Keys are compared as Swift strings, so canonically equivalent keys are refused as
    /// duplicates. Throws the first problem, with its position.
    package init(_ text: [UInt8], acceptsJSON5: Bool = false) throws(JSONSyntaxError) {
        // The text is already in memory, so the length of keys and values needs no limit.
        var tokens = JSONTokenizer(
            text, syntax: acceptsJSON5 ? .json5 : .json,
            limits: JSONTokenizer.Limits(tokenByteCount: .max, keyByteCount: .max))
        _ = try tokens.next()
        self = try JSONNode(from: &tokens)
        _ = try tokens.next()
    }

    /// Reads the value that starts with the current token.
    ///
    /// On return, the current token is the last token of the value. ``JSONTokenizer/maximumDepth``
    /// limits the recursion.
    package init(from tokens: inout JSONTokenizer) throws(JSONSyntaxError) {
        let byteOffset = tokens.tokenByteOffset
        let content: Content
        switch tokens.token {
        case .null: content = .null
        case .true: content = .bool(true)
        case .false: content = .bool(false)
        case .number: content = .number(tokens.text)
        case .string: content = .string(tokens.text)
        case .beginArray:
            var nodes: [JSONNode] = []
            while try tokens.nextElement() { nodes.append(try JSONNode(from: &tokens)) }
            content = .array(nodes)
        case .beginObject: content = .object(try Self.members(from: &tokens))
        // The tokenizer never returns these tokens at the start of a value.
        case .endObject, .endArray, .key, .end: throw tokens.mismatch("a value")
        }
        self.init(content, byteOffset: byteOffset)
    }

    private static func members(from tokens: inout JSONTokenizer) throws(JSONSyntaxError) -> [JSONMember] {
        var members: [JSONMember] = []
        var keys: Set<String> = []
        while try tokens.nextKnownKey() {
            let (key, keyOffset) = (tokens.text, tokens.tokenByteOffset)
            guard keys.insert(key).inserted else { throw tokens.repeatedKey }
            _ = try tokens.next()
            members.append(JSONMember(key, try JSONNode(from: &tokens), keyOffset: keyOffset))
        }
        return members
    }
}
