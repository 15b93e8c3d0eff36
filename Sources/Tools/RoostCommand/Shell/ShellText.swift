internal import RoostCore
internal import RoostQuery

/// A part of a statement, with its position.
struct ShellFragment {
    /// The text, without blanks around it.
    let text: String
    /// The number of characters before the fragment in the statement.
    let column: Int

    /// Creates a fragment, without blanks around it.
    init(_ characters: [Character], range: Range<Int>) {
        var (first, last) = (range.lowerBound, range.upperBound)
        while first < last, characters[first].isWhitespace { first += 1 }
        while last > first, characters[last - 1].isWhitespace { last -= 1 }
        text = String(characters[first..<last])
        column = first
    }

    init(_ text: String, column: Int) { (self.text, self.column) = (text, column) }

    var isEmpty: Bool { text.isEmpty }
}

struct ShellSyntaxError: Error {
    let message: String
    /// The number of characters before the error, or nil if unknown.
    let column: Int?

    init(_ message: String, at column: Int? = nil) { (self.message, self.column) = (message, column) }
}

/// The characters of a statement, with the nesting of brackets and quotes.
struct ShellText {
    let characters: [Character]
    /// For each character, whether it is outside of brackets and quotes.
    let isOutside: [Bool]

    init(_ text: String) {
        characters = Array(text)
        var nesting = BracketNesting()
        isOutside = characters.map { character in
            var isOutside = true
            for scalar in character.unicodeScalars { isOutside = nesting.take(scalar) && isOutside }
            return isOutside
        }
    }

    var count: Int { characters.count }

    /// Returns the index of the first nonblank character from `start` on.
    func skipBlanks(from start: Int) -> Int {
        var index = start
        while index < count, characters[index].isWhitespace { index += 1 }
        return index
    }

    /// Returns the end of the name at `start`, or `start` without a name there.
    func endOfName(from start: Int) -> Int {
        guard start < count, Self.isNameStart(characters[start]) else { return start }
        var index = start
        while index < count, Self.isNamePart(characters[index]) { index += 1 }
        return index
    }

    func string(_ range: Range<Int>) -> String { String(characters[range]) }

    func fragment(_ range: Range<Int>) -> ShellFragment { ShellFragment(characters, range: range) }

    static func isNameStart(_ character: Character) -> Bool { character == "_" || character.isLetter }
    static func isNamePart(_ character: Character) -> Bool { isNameStart(character) || character.isNumber }
}

/// A buffer that combines lines into statements.
///
/// A statement ends with the line, unless a bracket or a quote is open. Between statements, a line
/// that begins with `--` or `#` is a comment, and a line that begins with a period is a command.
struct ShellStatementBuffer {
    static let byteLimit = 16 << 20

    private var lines = ""
    private var nesting = BracketNesting()
    /// The line number at which the statement begins.
    private(set) var firstLine = 0
    private var lineCount = 0

    /// Whether the lines so far end in an incomplete statement.
    private(set) var isOpen = false

    /// Adds a line.
    ///
    /// - Returns: The complete statements, or nil after a comment, a blank line or an incomplete
    ///   statement.
    /// - Throws: `ShellSyntaxError` for a statement that is too long.
    mutating func append(_ line: String) throws(ShellSyntaxError) -> String? {
        lineCount += 1
        if !isOpen {
            firstLine = lineCount
            let first = line.drop(while: \.isWhitespace)
            if first.isEmpty || first.hasPrefix("--") || first.hasPrefix("#") { return nil }
            if first.hasPrefix(".") { return String(first) }
        }
        guard lines.utf8.count + line.utf8.count < Self.byteLimit else {
            clear()
            throw ShellSyntaxError("the statement has more than \(ByteCountText.text(Self.byteLimit))")
        }
        if isOpen {
            lines.append("\n")
            _ = nesting.take("\n")
        }
        lines.append(line)
        for scalar in line.unicodeScalars { _ = nesting.take(scalar) }
        isOpen = nesting.isOpen
        guard !isOpen else { return nil }
        defer { clear() }
        return lines
    }

    mutating func clear() {
        (lines, nesting, isOpen) = ("", BracketNesting(), false)
    }

    /// Splits a text at semicolons into statements.
    static func statements(_ text: String) -> [ShellFragment] {
        if text.hasPrefix(".") { return [ShellFragment(text, column: 0)] }
        let scanned = ShellText(text)
        var statements: [ShellFragment] = []
        var start = 0
        for index in 0...scanned.count
        where index == scanned.count || scanned.isOutside[index] && scanned.characters[index] == ";" {
            let statement = scanned.fragment(start..<index)
            if !statement.isEmpty { statements.append(statement) }
            start = index + 1
        }
        return statements
    }
}
