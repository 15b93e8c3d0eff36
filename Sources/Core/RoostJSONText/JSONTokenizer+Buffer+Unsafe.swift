internal import RoostSystem

extension JSONTokenizer {
    /// Creates a tokenizer of the bytes that `source` provides.
    ///
    /// If `source` throws, the tokenizer's methods throw an error with the reason `source`. Only a
    /// tokenizer with `computesChecksum` supports ``checksumBeforeToken()``.
    package init(
        syntax: Syntax = .json, limits: Limits, computesChecksum: Bool = false, source: @escaping Source
    ) {
        self.init(
            syntax, limits: limits, computesChecksum: computesChecksum, capacity: Self.chunkByteCount, source: source)
    }

    /// Creates a tokenizer of a text in memory.
    package init(_ bytes: [UInt8], syntax: Syntax = .json, limits: Limits, computesChecksum: Bool = false) {
        var offset = 0
        // The additional byte ensures that the buffer has room when the source is called at the
        // end.
        let capacity = min(Self.chunkByteCount, bytes.count + 1)
        self.init(syntax, limits: limits, computesChecksum: computesChecksum, capacity: capacity) { buffer in
            let count = min(buffer.count, bytes.count - offset)
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
            }
            offset += count
            return count
        }
    }

    private init(
        _ syntax: Syntax, limits: Limits, computesChecksum: Bool, capacity: Int, source: @escaping Source
    ) {
        self.syntax = syntax
        self.limits = limits
        self.source = source
        self.capacity = capacity
        tokenByteLimit = limits.tokenByteCount
        keyByteLimit = limits.keyByteCount
        checksum = computesChecksum ? TextChecksum() : nil
        // A failure of this small allocation is fatal, as in Swift itself.
        guard let memory = malloc(capacity + Self.slackByteCount) else { preconditionFailure("out of memory") }
        base = memory.bindMemory(to: UInt8.self, capacity: capacity + Self.slackByteCount)
        base[0] = 0
    }

    /// Whether the whole text was read.
    ///
    /// Valid only after ``skipSpace()``, or after a byte 0 was found and ``fill()`` was called.
    var isAtEnd: Bool { position == end && isAtSourceEnd }

    /// Discards the bytes before the current token or captured value, and loads more bytes after
    /// `end`.
    ///
    /// Returns false at the end of the text. Bytes may move within the buffer. The tokenizer's
    /// properties are adjusted, but indexes in other variables become invalid.
    mutating func fill() throws(JSONSyntaxError) -> Bool {
        guard !isAtSourceEnd else { return false }
        discard(min(tokenStart, captureStart ?? tokenStart))
        if end == capacity { try grow() }
        let room = capacity - end
        let count: Int
        do {
            count = try source(UnsafeMutableRawBufferPointer(start: base + end, count: room))
        } catch {
            throw JSONSyntaxError(reason: .source(error), position: tokenPosition, message: "the source failed")
        }
        guard count >= 0, count <= room else {
            throw self.error("the source gave more bytes than it was asked for", reason: .brokenSource)
        }
        isAtSourceEnd = count == 0
        end += count
        base[end] = 0
        return count > 0
    }

    private mutating func discard(_ count: Int) {
        guard count > 0 else { return }
        check(upTo: count)
        checkedEnd -= min(checkedEnd, count)
        if count > lineStart {
            discardedColumnCount += Self.characterCount(base + lineStart, count: count - lineStart)
            lineStart = 0
        } else {
            lineStart -= count
        }
        memmove(base, base + count, end - count)
        end -= count
        position -= count
        tokenStart -= count
        if let start = captureStart { captureStart = start - count }
        discardedByteCount += count
    }

    private mutating func grow() throws(JSONSyntaxError) {
        guard end - tokenStart <= tokenByteLimit, capacity < limits.tokenByteCount else { throw tooLong }
        let larger = min(capacity * 2, limits.tokenByteCount)
        // The size depends on the text, so a failed allocation is an error, not a trap.
        guard let memory = realloc(base, larger + Self.slackByteCount) else {
            throw error("there is not enough memory for a value of this length", reason: .outOfMemory)
        }
        base = memory.bindMemory(to: UInt8.self, capacity: larger + Self.slackByteCount)
        capacity = larger
    }

    var tooLong: JSONSyntaxError {
        let what = tokenByteLimit == limits.keyByteCount ? "a key" : "a value"
        return error("\(what) is longer than \(tokenByteLimit) bytes", reason: .limitExceeded)
    }

    // MARK: Positions

    /// Returns the text position of a byte in the current line.
    func place(of index: Int) -> TextPosition {
        let last = lastPlace.byteOffset - discardedByteCount
        let column: Int
        if last > lineStart, last <= index {
            // Counting from the last position avoids quadratic time when the positions of all tokens
            // in a long line are computed.
            column = lastPlace.column + Self.characterCount(base + last, count: index - last)
        } else {
            let before = index > lineStart ? Self.characterCount(base + lineStart, count: index - lineStart) : 0
            column = discardedColumnCount + before + 1
        }
        lastPlace.byteOffset = discardedByteCount + index
        lastPlace.column = column
        return TextPosition(line: line, column: column)
    }

    private static func characterCount(_ start: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
        var characters = 0
        for byte in UnsafeBufferPointer(start: start, count: count) where byte & 0xC0 != 0x80 { characters += 1 }
        return characters
    }

    // MARK: Checksum

    /// Returns the XXH3-128 checksum of all bytes before the current token; nil without
    /// `computesChecksum`.
    package mutating func checksumBeforeToken() -> (high: UInt64, low: UInt64)? {
        check(upTo: tokenStart)
        return checksum?.value
    }

    private mutating func check(upTo index: Int) {
        guard checksum != nil, index > checkedEnd else { return }
        checksum?.add(UnsafeRawBufferPointer(start: base + checkedEnd, count: index - checkedEnd))
        checkedEnd = index
    }

    // MARK: The current token

    /// Runs `body` with the text of the current key, string or number, or the bytes of any other
    /// token.
    ///
    /// The text is valid UTF-8, without quotes and with escapes resolved. The bytes are valid only
    /// inside `body`.
    @inlinable
    package func withText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch token {
        case .string, .key:
            if isInScratch { return try scratch.span.bytes.withUnsafeBytes(body) }
            return try body(UnsafeRawBufferPointer(start: base + tokenStart + 1, count: position - tokenStart - 2))
        case .number where isInScratch: return try scratch.span.bytes.withUnsafeBytes(body)
        default: return try body(UnsafeRawBufferPointer(start: base + tokenStart, count: position - tokenStart))
        }
    }

    package var text: String { withText { String(decoding: $0, as: UTF8.self) } }

    /// Returns the index of the current key or string in a table of names; nil for an unknown name.
    ///
    /// Allocates no memory.
    package func index(in names: JSONNameTable) -> Int? { withText { names.index(of: $0) } }

    /// Skips the next value and returns its text unchanged, without surrounding space.
    ///
    /// The whole value is in memory. Keys in the value may be longer than ``Limits/keyByteCount``.
    ///
    /// - Throws: The errors of ``next()``; `limitExceeded`.
    package mutating func captureValue(byteCountLimit: Int) throws(JSONSyntaxError) -> [UInt8] {
        let (limit, keyLimit) = (tokenByteLimit, keyByteLimit)
        tokenByteLimit = min(limit, byteCountLimit)
        // The limit of the whole value already protects the memory.
        keyByteLimit = tokenByteLimit
        defer { (tokenByteLimit, keyByteLimit) = (limit, keyLimit) }
        _ = try next()
        captureStart = tokenStart
        defer { captureStart = nil }
        if token == .beginObject || token == .beginArray {
            let outside = depth - 1
            while depth > outside {
                _ = try next()
                guard position - (captureStart ?? position) <= byteCountLimit else { break }
            }
        }
        let start = captureStart ?? tokenStart
        guard position - start <= byteCountLimit else {
            throw error("the value is longer than \(byteCountLimit) bytes", reason: .limitExceeded)
        }
        return Array(UnsafeBufferPointer(start: base + start, count: position - start))
    }
}

// MARK: Text that Roost wrote

extension JSONTokenizer {
    /// Whether the next token is an element of an array or the end of the array; false in JSON5 and
    /// JSON Lines.
    @inlinable
    package var isBetweenElements: Bool {
        syntax == .json && (state == .firstElement || (state == .afterValue && depth > 0 && objectBits & 1 == 0))
    }

    /// The bytes in the buffer that were not read yet; a byte 0 follows at `end`.
    ///
    /// Reading eight bytes from `end` on is safe. The pointers are valid until the next token is
    /// read.
    @inlinable
    package var bytesAtHand: (start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        (UnsafePointer(base + position), UnsafePointer(base + end))
    }

    /// Skips an element that the caller has read from ``bytesAtHand``.
    ///
    /// The element ends at `place`, and its line starts at `lineStart`. The skipped text must have
    /// exactly one line break, before the element.
    @inlinable
    package mutating func pass(to place: UnsafePointer<UInt8>, lineStart: UnsafePointer<UInt8>) {
        line += 1
        self.lineStart = lineStart - UnsafePointer(base)
        discardedColumnCount = 0
        position = place - UnsafePointer(base)
        tokenStart = position
        state = .afterValue
        token = .endObject
    }
}
