public import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension JSONTokenReader {
    /// Makes a reader of the bytes that `source` gives.
    ///
    /// - Parameters:
    ///   - name: What the text is called in messages: a path, or `standard input`.
    ///   - layout: Whether the text is one value or JSON Lines.
    ///   - errorCode: The code of errors that are about the text.
    ///   - computesChecksum: Whether ``checksumBeforeToken()`` is going to be asked for.
    ///   - source: Gives the bytes; its errors come out of the call that needed them.
    public init(
        name: String, layout: Layout = .document, errorCode: StoreError.Code = .corrupted,
        computesChecksum: Bool = false, source: @escaping Source
    ) {
        self.name = name
        self.layout = layout
        self.errorCode = errorCode
        self.source = source
        checksum = computesChecksum ? TextChecksum() : nil
        capacity = Self.chunkByteCount
        // As wherever Swift itself allocates, there is nothing left to do without this much memory.
        guard let memory = malloc(capacity + Self.slackByteCount) else { preconditionFailure("out of memory") }
        base = memory.bindMemory(to: UInt8.self, capacity: capacity + Self.slackByteCount)
        base[0] = 0
    }

    /// Makes a reader of a text that is in memory.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - name: What the text is called in messages.
    ///   - layout: Whether the text is one value or JSON Lines.
    ///   - errorCode: The code of errors that are about the text.
    ///   - computesChecksum: Whether ``checksumBeforeToken()`` is going to be asked for.
    public init(
        _ bytes: [UInt8], name: String, layout: Layout = .document, errorCode: StoreError.Code = .corrupted,
        computesChecksum: Bool = false
    ) {
        var offset = 0
        self.init(name: name, layout: layout, errorCode: errorCode, computesChecksum: computesChecksum) { buffer in
            let count = min(buffer.count, bytes.count - offset)
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
            }
            offset += count
            return count
        }
    }

    /// Whether everything was read.
    ///
    /// Right only after ``skipSpace()``, or where a byte 0 was met: both have asked the source for more then.
    var isAtEnd: Bool { position == end && isAtSourceEnd }

    /// Gets more bytes behind `end`, throwing away those before the current token; false at the end of the text.
    ///
    /// Positions move with the bytes, so nobody may keep one across this call but in the reader's own properties.
    mutating func fill() throws(StoreError) -> Bool {
        guard !isAtSourceEnd else { return false }
        discard(min(tokenStart, captureStart ?? tokenStart))
        if end == capacity { try grow() }
        let room = capacity - end
        let count = try source(UnsafeMutableRawBufferPointer(start: base + end, count: room))
        guard count >= 0, count <= room else {
            throw StoreError(.internalInconsistency, "The source of '\(name)' gave more bytes than it was asked for.")
        }
        isAtSourceEnd = count == 0
        end += count
        base[end] = 0
        return count > 0
    }

    /// Throws the first `count` bytes of the buffer away.
    private mutating func discard(_ count: Int) {
        guard count > 0 else { return }
        check(upTo: count)
        checkedEnd -= min(checkedEnd, count)
        if count > lineStart {
            discardedColumnCount += Self.characterCount(base + lineStart, count - lineStart)
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

    private mutating func grow() throws(StoreError) {
        guard end - tokenStart <= tokenByteLimit, capacity < Self.maximumTokenByteCount else { throw tooLong }
        let larger = min(capacity * 2, Self.maximumTokenByteCount)
        // How much is asked for depends on the text, so that a refusal is an error and no trap.
        guard let memory = realloc(base, larger + Self.slackByteCount) else {
            throw error("there is not enough memory for a value of this length", code: .outOfResources)
        }
        base = memory.bindMemory(to: UInt8.self, capacity: larger + Self.slackByteCount)
        capacity = larger
    }

    /// The error about a token that is too long.
    var tooLong: StoreError {
        let what = tokenByteLimit == Self.maximumKeyByteCount ? "a key" : "a value"
        return error("\(what) is longer than \(tokenByteLimit) bytes", code: .limitExceeded)
    }

    // MARK: Places

    /// Where a byte of the current line is.
    func place(of index: Int) -> TextPosition {
        let before = index > lineStart ? Self.characterCount(base + lineStart, index - lineStart) : 0
        return TextPosition(line: line, column: discardedColumnCount + before + 1)
    }

    private static func characterCount(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        var characters = 0
        for byte in UnsafeBufferPointer(start: start, count: count) where byte & 0xC0 != 0x80 { characters += 1 }
        return characters
    }

    // MARK: Checksum

    /// The checksum of every byte of the text before the current token: XXH3-128, high half first.
    ///
    /// For a reader that was made with `computesChecksum`; nil for any other.
    public mutating func checksumBeforeToken() -> (high: UInt64, low: UInt64)? {
        check(upTo: tokenStart)
        return checksum?.value
    }

    /// Brings the checksum up to a place in the buffer.
    private mutating func check(upTo index: Int) {
        guard checksum != nil, index > checkedEnd else { return }
        checksum?.add(UnsafeRawBufferPointer(start: base + checkedEnd, count: index - checkedEnd))
        checkedEnd = index
    }

    // MARK: The current token

    /// Runs `body` with the text of the current key, string or number; with the bytes as they stand of any other token.
    ///
    /// Text is valid UTF-8, without quotes and with escapes resolved. The bytes are valid only inside `body`.
    public func withText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard token == .string || token == .key else {
            return try body(UnsafeRawBufferPointer(start: base + tokenStart, count: position - tokenStart))
        }
        if hasEscapes { return try scratch.span.bytes.withUnsafeBytes(body) }
        return try body(UnsafeRawBufferPointer(start: base + tokenStart + 1, count: position - tokenStart - 2))
    }

    /// The text of the current key, string or number as a string of its own.
    public var text: String { withText { String(decoding: $0, as: UTF8.self) } }

    /// The position of the current key, or of a string that is a value, among known names; nil when it is none of them.
    ///
    /// - Complexity: O(length); nothing is allocated.
    public func index(in names: JSONNameTable) -> Int? { withText { names.index(of: $0) } }

    /// Passes over the next value and gives its text as it stands.
    ///
    /// For values that something else reads: a model, metadata. The whole text is in memory then.
    /// - Parameter byteCountLimit: The bytes after which the value is refused.
    /// - Returns: The bytes of the value, without space around it.
    /// - Throws: As ``next()``; code `limitExceeded`.
    public mutating func captureValue(byteCountLimit: Int) throws(StoreError) -> [UInt8] {
        let limit = tokenByteLimit
        tokenByteLimit = min(limit, byteCountLimit)
        defer { tokenByteLimit = limit }
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
            throw error("the value is longer than \(byteCountLimit) bytes", code: .limitExceeded)
        }
        return Array(UnsafeBufferPointer(start: base + start, count: position - start))
    }
}
