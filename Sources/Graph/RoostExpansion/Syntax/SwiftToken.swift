#if Macros
    /// A token of Swift source code, with its range in the text.
    struct SwiftToken: Equatable {
        enum Kind: Equatable {
            /// A name or a keyword.
            case word
            /// A string, a number or a regular expression.
            case literal
            /// A single punctuation character, or `->`.
            case symbol
        }

        let kind: Kind
        let range: Range<Int>
        /// Whether this is the first token, or a line ends between the previous token and this one.
        let beginsLine: Bool
        /// Whether this is the first token, or white space or a comment precedes it.
        let followsSpace: Bool
    }

    /// A lexer that splits Swift source code into tokens, without comments and white space.
    ///
    /// Invalid Swift produces arbitrary tokens.
    struct SwiftLexer {
        private let bytes: [UInt8]
        private var position = 0
        private var tokens: [SwiftToken] = []
        /// The previous token, which may be within an interpolation.
        private var previous: (kind: SwiftToken.Kind, range: Range<Int>)?
        /// The nesting depth of interpolations.
        private var depth = 0
        /// The maximum of ``depth``; a deeper interpolation is read as part of the string.
        private static let maximumDepth = 64

        static func tokens(of bytes: [UInt8]) -> [SwiftToken] {
            var lexer = SwiftLexer(bytes: bytes)
            lexer.run()
            return lexer.tokens
        }

        private init(bytes: [UInt8]) { self.bytes = bytes }

        private mutating func run() {
            while position < bytes.count {
                let start = position
                let beginsLine = skipTrivia() || tokens.isEmpty
                guard position < bytes.count else { return }
                let first = position
                let kind = next()
                // Always advance, even for invalid bytes.
                if position == first { position += 1 }
                position = min(position, bytes.count)
                previous = (kind, first..<position)
                tokens.append(
                    SwiftToken(
                        kind: kind, range: first..<position, beginsLine: beginsLine,
                        followsSpace: first > start || tokens.isEmpty))
            }
        }

        private func byte(_ offset: Int = 0) -> UInt8? {
            let index = position + offset
            return index < bytes.count ? bytes[index] : nil
        }

        private func begins(_ text: StaticString, at index: Int? = nil) -> Bool {
            let index = index ?? position
            return text.withUTF8Buffer { index + $0.count <= bytes.count && bytes[index...].starts(with: $0) }
        }

        // MARK: White space and comments

        /// Skips white space and comments, and returns whether they contain a line end.
        private mutating func skipTrivia() -> Bool {
            var endsLine = false
            while let byte = byte() {
                switch byte {
                case 10, 13:
                    endsLine = true
                    position += 1
                case 9, 11, 12, 32: position += 1
                case _ where begins("//"):
                    while let byte = self.byte(), byte != 10, byte != 13 { position += 1 }
                case _ where begins("/*"): endsLine = skipBlockComment() || endsLine
                default: return endsLine
                }
            }
            return endsLine
        }

        private mutating func skipBlockComment() -> Bool {
            var (depth, endsLine) = (0, false)
            repeat {
                if begins("/*") {
                    depth += 1
                    position += 2
                } else if begins("*/") {
                    depth -= 1
                    position += 2
                } else {
                    endsLine = endsLine || byte() == 10 || byte() == 13
                    position += 1
                }
            } while depth > 0 && position < bytes.count
            return endsLine
        }

        // MARK: Tokens

        private static func isLetter(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "$"), 0x80...:
                true
            default: false
            }
        }

        private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

        private mutating func next() -> SwiftToken.Kind {
            guard let first = byte() else { return .symbol }
            switch first {
            case _ where Self.isLetter(first):
                while let byte = byte(), Self.isLetter(byte) || Self.isDigit(byte) { position += 1 }
                return .word
            case UInt8(ascii: "`"):
                position += 1
                while let byte = byte(), byte != UInt8(ascii: "`"), byte != 10, byte != 13 { position += 1 }
                position += 1
                return .word
            case _ where Self.isDigit(first):
                takeNumber()
                return .literal
            case UInt8(ascii: "\""):
                takeString(hashCount: 0)
                return .literal
            case UInt8(ascii: "#"):
                return takeHashes()
            case UInt8(ascii: "/") where mayBeginExpression:
                return takeRegularExpression() ? .literal : .symbol
            case _ where begins("->"):
                position += 2
                return .symbol
            default:
                position += 1
                return .symbol
            }
        }

        /// Skips a number of any base, with its exponent.
        ///
        /// A point belongs to the number only if a digit follows, unlike in `0..<5` and
        /// `1.description`.
        private mutating func takeNumber() {
            let isHexadecimal = begins("0x")
            while let byte = byte() {
                if Self.isDigit(byte) || Self.isLetter(byte) {
                    position += 1
                } else if byte == UInt8(ascii: "."), let next = self.byte(1), Self.isDigit(next) {
                    position += 1
                } else if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"), let last = lastByte,
                    last | 0x20 == UInt8(ascii: "e") && !isHexadecimal || last | 0x20 == UInt8(ascii: "p"),
                    let next = self.byte(1), Self.isDigit(next)
                {
                    position += 1
                } else {
                    return
                }
            }
        }

        private var lastByte: UInt8? { position > 0 ? bytes[position - 1] : nil }

        private mutating func takeHashes() -> SwiftToken.Kind {
            var count = 0
            while byte(count) == UInt8(ascii: "#") { count += 1 }
            switch byte(count) {
            case UInt8(ascii: "\""):
                position += count
                takeString(hashCount: count)
                return .literal
            case UInt8(ascii: "/"):
                position += count + 1
                while position < bytes.count, !(begins("/") && hasHashes(count, at: position + 1)) {
                    position += begins("\\") ? 2 : 1
                }
                position += 1 + count
                return .literal
            default:
                position += 1
                return .symbol
            }
        }

        private func hasHashes(_ count: Int, at index: Int) -> Bool {
            index + count <= bytes.count && bytes[index..<index + count].allSatisfy { $0 == UInt8(ascii: "#") }
        }

        /// Skips a string from its opening quotes, after the opening hashes.
        private mutating func takeString(hashCount: Int) {
            let isMultiline = begins("\"\"\"")
            let quoteCount = isMultiline ? 3 : 1
            position += quoteCount
            while let byte = byte() {
                if byte == UInt8(ascii: "\\"), hasHashes(hashCount, at: position + 1) {
                    position += 1 + hashCount
                    if self.byte() == UInt8(ascii: "("), depth < Self.maximumDepth {
                        depth += 1
                        takeInterpolation()
                        depth -= 1
                    } else {
                        position += 1
                    }
                } else if byte == UInt8(ascii: "\""), !isMultiline || begins("\"\"\""),
                    hasHashes(hashCount, at: position + quoteCount)
                {
                    position += quoteCount + hashCount
                    return
                } else if byte == 10 || byte == 13, !isMultiline {
                    return
                } else {
                    position += 1
                }
            }
        }

        /// Skips an interpolation with its parentheses.
        private mutating func takeInterpolation() {
            var openCount = 0
            while position < bytes.count {
                _ = skipTrivia()
                guard let byte = byte() else { return }
                let start = position
                var kind = SwiftToken.Kind.symbol
                switch byte {
                case UInt8(ascii: "("):
                    openCount += 1
                    position += 1
                case UInt8(ascii: ")"):
                    openCount -= 1
                    position += 1
                    if openCount == 0 { return }
                default:
                    kind = next()
                    if position == start { position += 1 }
                }
                previous = (kind, start..<min(position, bytes.count))
            }
        }

        // MARK: Regular expressions

        /// Whether an expression can begin at the position, so that a slash is not an operator.
        private var mayBeginExpression: Bool {
            guard let previous else { return false }
            switch previous.kind {
            case .literal: return false
            case .symbol: return "(,=:[{;!&|?".utf8.contains(bytes[previous.range.lowerBound])
            case .word:
                return ["return", "case", "in", "try", "await"].contains(
                    String(decoding: bytes[previous.range], as: UTF8.self))
            }
        }

        /// Skips a regular expression on one line and returns true, or skips only the slash and
        /// returns false.
        private mutating func takeRegularExpression() -> Bool {
            let start = position
            position += 1
            guard let next = byte(), next != 32, next != 9, next != UInt8(ascii: "/") else { return false }
            while let byte = byte(), byte != 10, byte != 13 {
                if byte == UInt8(ascii: "/") {
                    position += 1
                    return true
                }
                position += byte == UInt8(ascii: "\\") ? 2 : 1
            }
            position = start + 1
            return false
        }
    }
#endif
