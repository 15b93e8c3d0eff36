internal import RoostSystem

/// Reads a JSON text token by token: strict (RFC 8259), streaming, with line and column of every
/// problem.
///
/// The text comes in chunks from a closure and is never held as a whole: memory is that of one
/// chunk, or of the longest single token. Nesting costs one bit a level, so no input causes
/// recursion. Refused, besides broken syntax: invalid UTF-8, a byte order mark, UTF-16, unpaired
/// surrogates, a key that occurs twice in an object, nesting deeper than ``maximumDepth``, and
/// tokens and keys that are longer than their limits.
///
/// ``next()`` returns the tokens. The text of a key, string or number is valid until the next call,
/// without a copy where it has no escapes. After an error the tokenizer must not be used again.
///
/// Not `Sendable`: use it from one thread at a time.
@usableFromInline
package struct JSONTokenizer: ~Copyable {
    /// The syntax of the text as a whole.
    @usableFromInline
    package enum Syntax: Sendable {
        /// One value.
        case json
        /// JSON Lines: any number of values, each on one line of its own; empty lines are skipped.
        case lines
        /// One value of JSON5, which people write more easily.
        ///
        /// Accepts comments, unquoted keys, single quotes, trailing commas, more escapes and space,
        /// and numbers such as `+1`, `.5`, `0x1F` and `Infinity`, which ``text`` spells as JSON
        /// does.
        case json5
    }

    /// The most bytes that parts of a text may have.
    package struct Limits: Sendable {
        /// The most bytes of one token.
        package var tokenByteCount: Int
        /// The most bytes of the text of a key.
        package var keyByteCount: Int

        /// Creates limits; a key may have 1 MiB by default, far more than any name.
        package init(tokenByteCount: Int, keyByteCount: Int = 1 << 20) {
            (self.tokenByteCount, self.keyByteCount) = (tokenByteCount, keyByteCount)
        }
    }

    /// A part of the text.
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
        /// The name of an object's member; the next token begins its value.
        case key
        /// A string that is a value.
        case string
        /// A number, in JSON's spelling.
        case number
        /// `true`
        case `true`
        /// `false`
        case `false`
        /// `null`
        case null
        /// The end of the text, now and ever after.
        case end
    }

    /// Fills the beginning of a buffer with the next bytes of the text, and returns their number; 0
    /// at the end of the text.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws -> Int

    /// The deepest nesting of arrays and objects.
    package static let maximumDepth = 128
    /// The bytes that are asked for at once.
    static let chunkByteCount = 128 * 1024

    /// The memory after the capacity: the byte 0 that ends the bytes, and the seven bytes that a
    /// load of eight reads too.
    static let slackByteCount = 8

    /// The part of the text that comes next.
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

    @usableFromInline let syntax: Syntax
    let limits: Limits
    let source: Source

    // The bytes base[0 ..< end] are there, and base[end] is 0, so that loops over bytes end without
    // counting.
    @usableFromInline package internal(set) var base: UnsafeMutablePointer<UInt8>
    var capacity: Int
    @usableFromInline package internal(set) var end = 0
    var isAtSourceEnd = false
    /// The next byte to be read.
    @usableFromInline package internal(set) var position = 0
    /// The start of the current token; everything before it may be thrown away.
    @usableFromInline package internal(set) var tokenStart = 0
    /// The start of a value that is kept as it is, whatever its length.
    var captureStart: Int?
    /// The bytes that were thrown away.
    var discardedByteCount = 0

    @usableFromInline package internal(set) var state = State.start
    /// The token that ``next()`` returned last; ``Token/end`` before the first call.
    @usableFromInline package internal(set) var token = Token.end
    /// The number of open arrays and objects.
    @usableFromInline package internal(set) var depth = 0
    /// One bit for each open array or object, the innermost lowest: 1 for an object.
    @usableFromInline var objectBits: UInt128 = 0
    /// Whether the text of the string, key or number is in `scratch`, because it is not spelled as
    /// it is meant.
    @usableFromInline package internal(set) var isInScratch = false
    /// Whether the number has neither a fraction nor an exponent.
    @usableFromInline package internal(set) var isWhole = false
    @usableFromInline package internal(set) var scratch: [UInt8] = []
    var keys = JSONKeyStack()
    /// The most bytes of the token that is being read.
    var tokenByteLimit: Int
    /// Whether a key that is read is compared with the others of its object.
    var notesKeys = true

    /// The line of `position`, from 1.
    @usableFromInline var line = 1
    /// The start of that line, if it was not thrown away; else 0.
    @usableFromInline var lineStart = 0
    /// The characters of that line that were thrown away.
    @usableFromInline var discardedColumnCount = 0
    /// The place of a JSON5 string that continues on another line, and its offset in the text.
    var continuedToken: (byteOffset: Int, position: TextPosition)?

    /// The hash of everything that was thrown away, and how much of the buffer is in it already.
    var checksum: TextChecksum?
    var checkedEnd = 0

    deinit { free(base) }
}
