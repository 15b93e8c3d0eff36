internal import RoostCore

/// A name whose ASCII letters are compared without case, as in SQLite.
struct SchemaName: Hashable {
    private let folded: [UInt8]

    init(_ text: String) {
        folded = text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }

    /// Returns whether two names have the same bytes.
    static func isSame(_ name: String, as other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }

    func hasPrefix(_ prefix: String) -> Bool { folded.starts(with: prefix.utf8) }

    /// Returns the rest of the name in lowercase, or nil if the prefix is missing.
    func suffix(after prefix: SchemaName) -> String? {
        guard folded.starts(with: prefix.folded) else { return nil }
        return String(decoding: folded.dropFirst(prefix.folded.count), as: UTF8.self)
    }
}

/// The positions of tables or columns by their names.
///
/// A name is found by its bytes, or without case if exactly one name matches.
struct SchemaNames {
    private var exact: [[UInt8]: Int] = [:]
    private var folded: [SchemaName: [Int]] = [:]

    mutating func add(_ name: String, position: Int) {
        exact[Array(name.utf8)] = position
        folded[SchemaName(name), default: []].append(position)
    }

    func position(of name: String) -> Int? {
        if let position = exact[Array(name.utf8)] { return position }
        guard let positions = folded[SchemaName(name)], positions.count == 1 else { return nil }
        return positions.first
    }
}

/// Reads small pieces of SQL.
enum SchemaText {
    /// Returns the bytes given by pairs of hexadecimal digits, or nil for other text.
    static func bytes(ofHexadecimal digits: some Sequence<UInt8>) -> [UInt8]? {
        var (result, high): ([UInt8], UInt8?) = ([], nil)
        for digit in digits {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue.map({ UInt8($0) }) else { return nil }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? result : nil
    }

    /// Returns the words of a statement in capital letters, without quoted text and comments.
    static func words(_ sql: String) -> Set<String> {
        var (words, word): (Set<String>, [UInt8]) = ([], [])
        let bytes = Array(sql.utf8)
        var place = 0
        func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }
        func endWord() {
            if !word.isEmpty { words.insert(String(decoding: word, as: UTF8.self).uppercased()) }
            word = []
        }
        /// Skips a quoted text or comment that ends with `end`.
        func skip(to end: [UInt8]) {
            place += 1
            while place < bytes.count, !bytes[place...].starts(with: end) { place += 1 }
            place = min(place + end.count, bytes.count)
        }
        while place < bytes.count {
            let current = bytes[place]
            let isWord = current == UInt8(ascii: "_") || current >= 0x80 || isLetterOrDigit(current)
            if isWord {
                word.append(current)
                place += 1
                continue
            }
            endWord()
            switch (current, byte(place + 1)) {
            case (UInt8(ascii: "'"), _), (UInt8(ascii: "\""), _), (UInt8(ascii: "`"), _): skip(to: [current])
            case (UInt8(ascii: "["), _): skip(to: [UInt8(ascii: "]")])
            case (UInt8(ascii: "-"), UInt8(ascii: "-")): skip(to: [10])
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                place += 1
                skip(to: Array("*/".utf8))
            default: place += 1
            }
        }
        endWord()
        return words
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}

/// A literal in a column's DEFAULT clause.
enum SchemaLiteral: Equatable {
    case null
    case number(String)
    case text(String)
    case blob([UInt8])
    case boolean(Bool)

    /// Reads a literal, or returns nil for an expression such as `CURRENT_TIMESTAMP`.
    init?(_ text: String) {
        let text = text.drop { $0.isWhitespace }
        let bytes = Array(text.utf8)
        switch text.uppercased() {
        case "NULL": self = .null
        case "TRUE": self = .boolean(true)
        case "FALSE": self = .boolean(false)
        default:
            if let first = bytes.first, first == UInt8(ascii: "'"), let content = Self.unquoted(bytes[...]) {
                self = .text(String(decoding: content, as: UTF8.self))
            } else if bytes.starts(with: "x'".utf8) || bytes.starts(with: "X'".utf8),
                let digits = Self.unquoted(bytes.dropFirst()), let blob = SchemaText.bytes(ofHexadecimal: digits)
            {
                self = .blob(blob)
            } else if DecimalNumber(utf8: bytes) != nil, bytes.first != UInt8(ascii: "N") {
                self = .number(String(text))
            } else {
                return nil
            }
        }
    }

    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let quote = UInt8(ascii: "'")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
        var (result, isQuote): ([UInt8], Bool) = ([], false)
        for byte in bytes.dropFirst().dropLast() {
            if byte == quote, !isQuote {
                isQuote = true
                continue
            }
            guard !isQuote || byte == quote else { return nil }
            isQuote = false
            result.append(byte)
        }
        return isQuote ? nil : result
    }

}
