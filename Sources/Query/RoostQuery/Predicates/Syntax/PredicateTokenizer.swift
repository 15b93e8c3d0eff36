internal import RoostCore

/// Splits a predicate's text into tokens, one at a time.
struct PredicateTokenizer {
    private let text: String
    private let scalars: String.UnicodeScalarView
    private var position: String.UnicodeScalarIndex
    let noun: String

    private struct Interpolation {
        let range: Range<String.Index>
        let isKey: Bool
    }

    /// The interpolations that have not been read yet, in reverse order.
    private var interpolations: [Interpolation] = []
    /// Whether values are interpolated, so that `%@` is not allowed.
    let isInterpolated: Bool

    init(_ source: PredicateText) {
        text = source.text
        noun = source.noun
        scalars = text.unicodeScalars
        position = scalars.startIndex
        isInterpolated = source.marks != nil
        for mark in (source.marks ?? []).reversed() {
            let start = text.utf8.index(text.startIndex, offsetBy: mark.byteOffset)
            let end = text.utf8.index(start, offsetBy: PredicateText.Mark.text.utf8.count)
            interpolations.append(Interpolation(range: start..<end, isKey: mark.isKey))
        }
    }

    /// Returns the next token; at the end, every call returns ``PredicateToken/Kind/end``.
    mutating func next() throws(StoreError) -> PredicateToken {
        while let scalar = peek, scalar.properties.isWhitespace { advance() }
        let start = position
        guard let scalar = peek else { return PredicateToken(kind: .end, position: start) }
        if isAtInterpolation, let interpolation = interpolations.popLast() {
            position = interpolation.range.upperBound
            return PredicateToken(
                kind: .argument(interpolation.isKey ? "K" : "@"), position: start, isInterpolated: true)
        }
        let kind: PredicateToken.Kind
        switch scalar {
        case "\"", "'": kind = .string(try string())
        case "0"..."9": kind = .number(try number())
        case "#": kind = .name(try escapedName("a property"))
        case "$": kind = .variable(try escapedName("a variable"))
        case "%": kind = .argument(try argument())
        default:
            if PredicateLanguage.isNameStart(scalar) {
                kind = .word(word())
            } else if let sign = sign() {
                kind = .sign(sign)
            } else {
                throw error(at: start, message: "A name, a value or an operator is expected, not this character.")
            }
        }
        if let next = interpolations.last, next.range.lowerBound < position {
            throw interpolationInside(at: next.range.lowerBound)
        }
        return PredicateToken(kind: kind, position: start)
    }

    private var isAtInterpolation: Bool { interpolations.last.map { $0.range.lowerBound == position } ?? false }

    private func interpolationInside(at place: String.Index) -> StoreError {
        error(
            at: place,
            message:
                "A value cannot be interpolated inside of quotes or a name. Leave the quotes out: the value is bound.")
    }

    func error(at place: String.Index, message: String) -> StoreError {
        StoreError(.invalidRequest, "The \(noun) cannot be read at column \(column(place)): \(message)")
            .with { $0.textColumn = column(place) }
    }

    /// Returns an error for a feature of Core Data's language that this language lacks.
    func unsupported(at place: String.Index, message: String) -> StoreError {
        StoreError(.unsupported, "At column \(column(place)) of the \(noun): \(message)")
            .with { $0.textColumn = column(place) }
    }

    func locate(_ error: StoreError, at place: String.Index) -> StoreError {
        error.located(in: "At column \(column(place)) of the \(noun)").with { $0.textColumn = column(place) }
    }

    private func column(_ place: String.Index) -> Int { text[..<place].count + 1 }

    // MARK: Characters

    private var peek: Unicode.Scalar? { position < scalars.endIndex ? scalars[position] : nil }

    private mutating func advance() { position = scalars.index(after: position) }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        advance()
        return true
    }

    private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = peek, condition(scalar) { advance() }
        return String(scalars[start..<position])
    }

    // MARK: Tokens

    private mutating func word() -> String {
        let word = take(while: PredicateLanguage.isNamePart)
        // UTI-CONFORMS-TO and UTI-EQUALS are the only keywords with hyphens.
        guard word.uppercased() == "UTI", peek == "-" else { return word }
        let start = position
        let rest = take { $0 == "-" || PredicateLanguage.isNamePart($0) }
        if ["-CONFORMS-TO", "-EQUALS"].contains(rest.uppercased()) { return word + rest }
        position = start
        return word
    }

    /// Reads a `#` or `$` and the name after it, which may be in quotes.
    private mutating func escapedName(_ what: String) throws(StoreError) -> String {
        let start = position
        advance()
        if scalars[start] == "$", peek == "#" { advance() }
        let mark = text[start..<position]
        guard !isAtInterpolation else { throw interpolationInside(at: position) }
        guard let scalar = peek else {
            throw error(at: position, message: "The name of \(what) is expected after '\(mark)'.")
        }
        if scalar == "\"" || scalar == "'" { return try string() }
        guard PredicateLanguage.isNameStart(scalar) else {
            throw error(at: position, message: "The name of \(what) is expected after '\(mark)'.")
        }
        return take(while: PredicateLanguage.isNamePart)
    }

    /// Reads `%@`, `%K`, or a conversion specifier of C's printf.
    private mutating func argument() throws(StoreError) -> String {
        let start = position
        guard !isInterpolated else {
            throw error(
                at: start,
                message:
                    "Nothing is bound to '%' in a literal. Interpolate the value, \\(value), or the name of a property, \\(key: name)."
            )
        }
        advance()
        if take("@") { return "@" }
        if take("%") {
            throw error(at: start, message: "'%%' is allowed only in quotes; write a remainder as modulus:by:(a, b).")
        }
        var letters = take { $0 == "l" || $0 == "h" || $0 == "q" || $0 == "z" }
        if let letter = peek, letter.isASCII, letter.properties.isAlphabetic {
            letters.unicodeScalars.append(letter)
            advance()
        }
        guard ["K", "d", "i", "u", "x", "X", "f", "g", "e", "s", "c"].contains(letters.suffix(1)),
            letters.utf8.count <= 3, letters.utf8.count == 1 || !["K", "s", "c"].contains(letters.suffix(1)),
            peek.map({ !PredicateLanguage.isNamePart($0) }) ?? true
        else {
            throw error(at: start, message: "After '%', one of @ K d i u x ld lu lld llu f lf g e s c is expected.")
        }
        return letters
    }

    private mutating func sign() -> String? {
        guard let first = peek else { return nil }
        switch first {
        case ":":
            advance()
            return take("=") ? ":=" : ":"
        case "(", ")", "{", "}", "[", "]", ",", ".", "@", "+", "/", "-":
            advance()
            return String(first)
        case "*":
            advance()
            return take("*") ? "**" : "*"
        case "=":
            advance()
            for second: Unicode.Scalar in ["=", "<", ">"] where take(second) { return "=\(second)" }
            return "="
        case "<":
            advance()
            for second: Unicode.Scalar in ["=", ">"] where take(second) { return "<\(second)" }
            return "<"
        case ">", "!":
            advance()
            return take("=") ? "\(first)=" : String(first)
        case "&", "|":
            let before = position
            advance()
            if take(first) { return "\(first)\(first)" }
            position = before
            return nil
        default: return nil
        }
    }

    private mutating func number() throws(StoreError) -> String {
        let start = position
        var text = take { ("0"..."9").contains($0) }
        if text == "0", let letter = peek, let radix = ["x": 16, "o": 8, "b": 2][letter.properties.lowercaseMapping] {
            advance()
            let digits = take(while: PredicateLanguage.isNamePart)
            guard let number = UInt64(digits, radix: radix) else {
                throw error(at: start, message: "A whole number of at most 64 bits in base \(radix) is expected.")
            }
            return "\(number)"
        }
        if take(".") {
            let fraction = take { ("0"..."9").contains($0) }
            guard !fraction.isEmpty else { throw error(at: position, message: "A digit is expected after the point.") }
            text += "." + fraction
        }
        if peek == "e" || peek == "E" {
            advance()
            text += "e"
            if take("-") { text += "-" } else { _ = take("+") }
            let exponent = take { ("0"..."9").contains($0) }
            guard !exponent.isEmpty else { throw error(at: position, message: "A digit is expected in the exponent.") }
            text += exponent
        }
        if let scalar = peek, PredicateLanguage.isNamePart(scalar) {
            throw error(at: position, message: "An operator is expected after the number, not a letter.")
        }
        return text
    }

    // MARK: Strings

    private mutating func string() throws(StoreError) -> String {
        let start = position
        guard let quote = peek else { return "" }
        advance()
        var result = String.UnicodeScalarView()
        while let scalar = peek {
            guard !isAtInterpolation else { throw interpolationInside(at: position) }
            if scalar == quote {
                advance()
                return String(result)
            }
            if scalar == "\\" {
                result.append(try escape())
            } else {
                result.append(scalar)
                advance()
            }
        }
        throw error(at: start, message: "The string that starts here has no closing quote.")
    }

    private mutating func escape() throws(StoreError) -> Unicode.Scalar {
        let start = position
        advance()
        guard !isAtInterpolation else { throw interpolationInside(at: position) }
        guard let letter = peek else { throw error(at: start, message: "An escape is expected after the backslash.") }
        advance()
        switch letter {
        case "\\", "'", "\"", "/": return letter
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "a": return "\u{7}"
        case "b": return "\u{8}"
        case "v": return "\u{B}"
        case "f": return "\u{C}"
        case "x": return try code(start, digits: 2, radix: 16)
        case "u": return try unicode(start)
        case "0"..."7":
            position = scalars.index(before: position)
            return try code(start, digits: 3, radix: 8)
        default:
            throw error(
                at: start,
                message: "An escape is expected: \\\\ \\' \\\" \\n \\t \\r \\a \\b \\v \\f \\x12 \\u1234 \\123.")
        }
    }

    private mutating func unit(_ start: String.Index, digits: Int, radix: Int) throws(StoreError) -> UInt32 {
        var text = ""
        while text.utf8.count < digits, let scalar = peek, scalar.isASCII, scalar.properties.isHexDigit {
            text.unicodeScalars.append(scalar)
            advance()
        }
        guard text.utf8.count == digits, let number = UInt32(text, radix: radix) else {
            throw error(at: start, message: "\(digits) digits in base \(radix) are expected in the escape.")
        }
        return number
    }

    private mutating func code(_ start: String.Index, digits: Int, radix: Int) throws(StoreError) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(try unit(start, digits: digits, radix: radix)) else {
            throw error(at: start, message: "No character has this code.")
        }
        return scalar
    }

    /// Reads an escape such as `\u1234`, or two of them for a character beyond U+FFFF.
    private mutating func unicode(_ start: String.Index) throws(StoreError) -> Unicode.Scalar {
        let first = try unit(start, digits: 4, radix: 16)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else {
            throw loneSurrogate(at: start)
        }
        let second = try unit(start, digits: 4, radix: 16)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw loneSurrogate(at: start) }
        return scalar
    }

    private func loneSurrogate(at start: String.Index) -> StoreError {
        error(
            at: start,
            message: "This \\u escape is one half of a surrogate pair; write both halves, the high one first.")
    }
}
