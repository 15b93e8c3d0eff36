public import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads a JSON text token by token: strict (RFC 8259), streaming, with line and column of everything that is wrong.
///
/// The text comes in chunks from a closure and is never held as a whole: memory is that of one
/// chunk, or of the longest single token. Nesting costs one bit a level, so no input causes
/// recursion. Refused, besides broken syntax: invalid UTF-8, a byte order mark, UTF-16, unpaired
/// surrogates, a key that occurs twice in an object, nesting deeper than ``maximumDepth``, a token
/// longer than ``maximumTokenByteCount``, and a key longer than ``maximumKeyByteCount``.
///
/// ``next()`` gives the tokens; the text of a key, string or number can be looked at until the next call, without a copy where
/// it has no escapes. After an error the reader stands at an undefined place and must not be used again.
///
/// Not `Sendable`: use it from one thread at a time.
public struct JSONTokenReader: ~Copyable {
    /// What the text as a whole is.
    public enum Layout: Sendable {
        /// One value.
        case document
        /// JSON Lines: any number of values, each on one line of its own; empty lines are passed over.
        case lines
    }

    /// A part of the text.
    public enum Token: UInt8, Sendable {
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

    /// Fills the beginning of a buffer with the next bytes of the text, and gives their number; 0 at the end of the text.
    public typealias Source = (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int

    /// How deep arrays and objects may nest.
    public static let maximumDepth = 128
    /// The most bytes that one token may have: those of the longest value that a record can hold, every byte escaped.
    public static let maximumTokenByteCount = 6 * RecordLayout.maximumByteCount + 2
    /// The most bytes that the text of a key may have: far more than any name, and few enough to be
    /// refused at once.
    public static let maximumKeyByteCount = 1 << 20
    /// The bytes that are asked for at once.
    static let chunkByteCount = 128 * 1024

    /// The memory behind the capacity: the byte 0 that ends the bytes, and what a load of eight of them may touch behind it.
    static let slackByteCount = 8

    /// What comes next.
    enum State: UInt8 {
        case start
        case value
        case firstElement
        case firstKey
        case colon
        case afterValue
        case end
    }

    /// What the text is called in messages: a path, or `standard input`.
    public let name: String
    /// The code of the errors that are about the text.
    public let errorCode: StoreError.Code
    let layout: Layout
    let source: Source

    // The bytes base[0 ..< end] are there, and base[end] is 0, so that loops over bytes end without counting.
    var base: UnsafeMutablePointer<UInt8>
    var capacity: Int
    var end = 0
    var isAtSourceEnd = false
    /// The next byte to be read.
    var position = 0
    /// Where the current token starts; everything before it may be thrown away.
    var tokenStart = 0
    /// Where a value starts that is kept as it stands, whatever its length.
    var captureStart: Int?
    /// The bytes that were thrown away.
    var discardedByteCount = 0

    var state = State.start
    /// The token that ``next()`` gave last; ``Token/end`` before the first call.
    public internal(set) var token = Token.end
    /// How many arrays and objects are open.
    public internal(set) var depth = 0
    /// One bit for each open array or object, the innermost lowest: 1 for an object.
    var objectBits: UInt128 = 0
    /// Whether the string or key has escapes, so that its text is in `scratch`.
    var hasEscapes = false
    /// Whether the number has neither a fraction nor an exponent.
    var isWhole = false
    var scratch: [UInt8] = []
    var keys = JSONKeyStack()
    /// The most bytes of the token that is being read.
    var tokenByteLimit = maximumTokenByteCount
    /// Whether a key that is read is compared with the others of its object.
    var notesKeys = true

    /// The line of `position`, from 1.
    var line = 1
    /// Where that line starts, if its start was not thrown away; else 0.
    var lineStart = 0
    /// The characters of that line that were thrown away.
    var discardedColumnCount = 0

    /// The hash of everything that was thrown away, and how much of the buffer is in it already.
    var checksum: TextChecksum?
    var checkedEnd = 0

    deinit { free(base) }
}
