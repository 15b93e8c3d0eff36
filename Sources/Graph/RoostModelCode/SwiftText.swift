enum SwiftText {
    /// Keywords, which get backticks if they name a declaration.
    private static let keywords: Set<String> = [
        "Any", "Self", "any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer", "deinit", "do", "each", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "macro", "nil", "operator",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "some", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]

    /// Words that cannot name a declaration, even in backticks.
    private static let impossible: Set<String> = ["_", "Type", "Protocol"]

    /// Returns whether a text can name a declaration, in backticks if necessary.
    ///
    /// Returns false for names with spaces or other special characters, because not all Swift tools
    /// support such names yet.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isHead(first), !impossible.contains(text) else { return false }
        return text.unicodeScalars.dropFirst().allSatisfy(isCharacter)
    }

    static func quoted(_ identifier: String) -> String {
        keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator:
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                default: result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    /// Returns a text without line ends and other invisible characters, for a one-line comment.
    static func commentText(_ text: String) -> String {
        var result = ""
        result.unicodeScalars.append(
            contentsOf: text.unicodeScalars.filter {
                switch $0.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: false
                default: true
                }
            })
        return result
    }

    /// Returns a raw string literal of several lines.
    ///
    /// The lines cannot end the literal or contain an interpolation, because each delimiter has
    /// more `#` than any run of `#` in the lines.
    ///
    /// The opening delimiter is not indented.
    static func rawLiteral(_ lines: [some StringProtocol], indentation: String) -> String {
        var longest = 0
        for line in lines {
            var run = 0
            for byte in line.utf8 {
                run = byte == UInt8(ascii: "#") ? run + 1 : 0
                longest = max(longest, run)
            }
        }
        let hashes = String(repeating: "#", count: longest + 1)
        let body = lines.map { $0.isEmpty ? "\n" : "\(indentation)\($0)\n" }.joined()
        return "\(hashes)\"\"\"\n\(body)\(indentation)\"\"\"\(hashes)"
    }

    /// Returns a text as a type name.
    ///
    /// Each word begins with an uppercase letter.
    static func typeName(_ text: String) -> String {
        var result = ""
        var beginsWord = true
        for scalar in text.unicodeScalars {
            guard scalar == "_" || isCharacter(scalar) else {
                beginsWord = true
                continue
            }
            result += beginsWord ? scalar.properties.uppercaseMapping : String(scalar)
            beginsWord = false
        }
        guard let first = result.unicodeScalars.first else { return result }
        return isHead(first) ? result : "_\(result)"
    }

    // MARK: The grammar of identifiers, from "The Swift Programming Language", Lexical Structure

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A: true
        case 0xA8, 0xAA, 0xAD, 0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0xFF: true
        case 0x100...0x2FF, 0x370...0x167F, 0x1681...0x180D, 0x180F...0x1DBF: true
        case 0x1E00...0x1FFF, 0x200B...0x200D, 0x202A...0x202E, 0x203F...0x2040, 0x2054, 0x2060...0x206F: true
        case 0x2070...0x20CF, 0x2100...0x218F, 0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF: true
        case 0x3004...0x3007, 0x3021...0x302F, 0x3031...0x303F, 0x3040...0xD7FF: true
        case 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE1F, 0xFE30...0xFE44, 0xFE47...0xFFFD: true
        case 0x10000...0xEFFFD: scalar.value & 0xFFFF <= 0xFFFD
        default: false
        }
    }

    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x300...0x36F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: isHead(scalar)
        }
    }
}
