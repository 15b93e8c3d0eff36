internal import RoostSystem

/// A strict, streaming reader of JSON text (RFC 8259) that reports problems with line and column.
///
/// Only the keys of open objects and one chunk of the text are in memory. The chunk grows if a
/// token is longer. No input causes recursion. Besides invalid syntax, the tokenizer refuses
/// invalid UTF-8, a byte order mark (except in JSON5), UTF-16, unpaired surrogates, a duplicate key
/// in an object, nesting deeper than ``maximumDepth``, and tokens and keys longer than their
/// limits.
///
/// The text of a key, string or number is valid until the next token is read. After an error, do
/// not use the tokenizer again. Use it from one thread at a time.
@usableFromInline
package struct JSONTokenizer: ~Copyable {
    @usableFromInline
    package enum Syntax: Sendable {
        /// One value.
        case json
        /// JSON Lines: any number of values, each on its own line; empty lines are skipped.
        case lines
        /// One value of JSON5.
        ///
        /// Accepts comments, unquoted keys, single quotes, trailing commas, more escapes, more
        /// kinds of space, and numbers such as `+1`, `.5`, `0x1F` and `Infinity`. ``text`` converts
        /// numbers to JSON syntax, except NaN and infinities.
        case json5
    }

    package struct Limits: Sendable {
        package var tokenByteCount: Int
        /// The maximum number of bytes of a key, including its quotes.
        package var keyByteCount: Int

        package init(tokenByteCount: Int, keyByteCount: Int = 1 << 20) {
            (self.tokenByteCount, self.keyByteCount) = (tokenByteCount, keyByteCount)
        }
    }

    @usableFromInline
    package enum Token: UInt8, Sendable {
        /// `{`
        case beginObject
        /// `}`
        case endObject
        /// `[`
        case beginArray
        /// `]`
        case endArray
        /// The key of a member, whose value begins with the next token.
        case key
        /// A string that is a value.
        case string
        case number
        case `true`
        case `false`
        case null
        /// The end of the text.
        case end
    }

    /// A function that fills the beginning of a buffer with the next bytes of the text and returns
    /// their number; 0 at the end of the text.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws -> Int

    /// The maximum nesting of arrays and objects.
    package static let maximumDepth = 128
    /// The number of bytes to request from the source at once.
    static let chunkByteCount = 128 * 1024

    /// The number of bytes that are allocated in addition to `capacity`.
    ///
    /// The byte at `end` is 0, and seven bytes follow it, because eight bytes are loaded at once.
    static let slackByteCount = 8

    /// The part of the text that is expected next.
    @usableFromInline
    package enum State: UInt8 {
        case start
        case value
        case firstElement
        case firstKey
        case colon
        case afterValue
        case end
    }

    /// The offset and the column of a byte.
    ///
    /// The type is a class, so that nonmutating methods of the tokenizer can change it.
    final class ComputedPlace {
        var byteOffset = 0
        var column = 1
    }

    @usableFromInline let syntax: Syntax
    let limits: Limits
    let source: Source

    // The bytes base[0 ..< end] are valid. base[end] is 0, so loops need not compare with `end`.
    @usableFromInline package internal(set) var base: UnsafeMutablePointer<UInt8>
    var capacity: Int
    @usableFromInline package internal(set) var end = 0
    var isAtSourceEnd = false
    /// The index of the next byte to be read.
    @usableFromInline package internal(set) var position = 0
    /// The start of the current token; earlier bytes may be discarded.
    @usableFromInline package internal(set) var tokenStart = 0
    /// The start of the value that ``captureValue(byteCountLimit:)`` is reading, if any.
    var captureStart: Int?
    var discardedByteCount = 0

    @usableFromInline package internal(set) var state = State.start
    /// The token that ``next()`` returned last; ``Token/end`` before the first call.
    @usableFromInline package internal(set) var token = Token.end
    /// The number of open arrays and objects.
    @usableFromInline package internal(set) var depth = 0
    /// One bit for each open array or object, the innermost in the lowest bit: 1 for an object.
    @usableFromInline var objectBits: UInt128 = 0
    /// Whether `scratch` contains the current token's text, which the source may spell differently.
    @usableFromInline package internal(set) var isInScratch = false
    /// Whether the current number has neither a fraction nor an exponent.
    @usableFromInline package internal(set) var isWhole = false
    @usableFromInline package internal(set) var scratch: [UInt8] = []
    var keys = JSONKeyStack()
    /// The maximum number of bytes of the token that is being read.
    var tokenByteLimit: Int
    /// The maximum number of bytes of a key, including its quotes.
    ///
    /// In a captured value, it equals `tokenByteLimit`.
    var keyByteLimit: Int
    /// Whether duplicate keys in an object are detected.
    var notesKeys = true

    /// The line of `position`, counted from 1.
    @usableFromInline var line = 1
    /// The index of the start of the current line, or 0 if the start was discarded.
    @usableFromInline var lineStart = 0
    /// The number of characters of the current line that were discarded.
    @usableFromInline var discardedColumnCount = 0
    /// The position that was computed last.
    let lastPlace = ComputedPlace()
    /// The position and offset of a JSON5 string that continues on another line.
    var continuedToken: (byteOffset: Int, position: TextPosition)?

    /// The checksum of all discarded bytes and of the first `checkedEnd` bytes in the buffer.
    var checksum: TextChecksum?
    var checkedEnd = 0

    deinit { free(base) }
}
