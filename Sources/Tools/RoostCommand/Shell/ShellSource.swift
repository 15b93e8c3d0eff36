/// A reference to objects, as written in a statement: `Album`, `Album/5`, `a`, `a[0].artist.name`.
struct ShellSource {
    /// A step to one of the objects, to related objects, or to a value.
    enum Step {
        case position(Int)
        /// The name of a relationship or, in the last steps, of an attribute or composite element.
        case name(String)
    }

    let name: String
    /// The key after the name of an entity, or nil.
    let key: Int64?
    /// The steps, each with its position in the statement.
    let steps: [(step: Step, column: Int)]
    /// The position of the source in the statement.
    let column: Int
    /// The position after the source.
    let end: Int

    /// Reads the source at a position of a statement.
    init(_ text: ShellText, from start: Int) throws(ShellSyntaxError) {
        let end = text.endOfName(from: start)
        guard end > start else { throw ShellSyntaxError("the name of an entity or a variable is expected", at: start) }
        name = text.string(start..<end)
        column = start
        var place = end
        (key, place) = try Self.key(text, from: place)
        var steps: [(step: Step, column: Int)] = []
        while let (step, next) = try Self.step(text, from: place) {
            steps.append((step, place))
            place = next
        }
        self.steps = steps
        self.end = place
    }

    /// Reads a text that consists of one source, or returns nil.
    init?(whole text: String) {
        let scanned = ShellText(text)
        guard let source = try? ShellSource(scanned, from: 0), source.end == scanned.count else { return nil }
        self = source
    }

    /// Reads the key in `Album/5` or `Album/p5`, from the slash on.
    ///
    /// - Returns: The key and the position after it. Without a slash, nil and `start`.
    private static func key(_ text: ShellText, from start: Int) throws(ShellSyntaxError) -> (Int64?, Int) {
        guard start < text.count, text.characters[start] == "/" else { return (nil, start) }
        var first = start + 1
        if first < text.count, text.characters[first] == "p" { first += 1 }
        let end = number(text, from: first)
        guard let key = Int64(text.string(first..<end)), key != 0 else {
            throw ShellSyntaxError("the key of an object is expected, as in Album/5", at: start + 1)
        }
        return (key, end)
    }

    private static func number(_ text: ShellText, from start: Int) -> Int {
        var end = start
        if end < text.count, text.characters[end] == "-" { end += 1 }
        while end < text.count, text.characters[end].isASCII, text.characters[end].isNumber { end += 1 }
        return end
    }

    private static func step(_ text: ShellText, from start: Int) throws(ShellSyntaxError) -> (Step, Int)? {
        guard start < text.count else { return nil }
        switch text.characters[start] {
        case ".":
            let end = text.endOfName(from: start + 1)
            guard end > start + 1 else {
                throw ShellSyntaxError("the name of a property is expected after the period", at: start + 1)
            }
            return (.name(text.string(start + 1..<end)), end)
        case "[":
            let first = text.skipBlanks(from: start + 1)
            let end = number(text, from: first)
            let close = text.skipBlanks(from: end)
            guard let position = Int(text.string(first..<end)), position >= 0, close < text.count,
                text.characters[close] == "]"
            else { throw ShellSyntaxError("a position is expected, from 0 on, as in a[0]", at: start + 1) }
            return (.position(position), close + 1)
        default: return nil
        }
    }
}
