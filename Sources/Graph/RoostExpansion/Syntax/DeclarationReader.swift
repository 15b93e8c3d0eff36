#if Macros
    /// A reader of the parts of declarations that macros need.
    ///
    /// The compiler has already validated the text. Members other than variables are skipped.
    struct DeclarationReader {
        private let source: SourceText
        private let bytes: [UInt8]
        private let tokens: [SwiftToken]
        private var index = 0

        init(_ source: SourceText) {
            self.source = source
            bytes = Array(source.text.utf8)
            tokens = SwiftLexer.tokens(of: bytes)
        }

        static func type(_ source: SourceText) -> TypeSyntax {
            var reader = DeclarationReader(source)
            return reader.readType()
        }

        /// Reads a variable or constant, or returns nil for any other declaration.
        static func variable(_ source: SourceText) -> VariableSyntax? {
            var reader = DeclarationReader(source)
            return reader.readMember(isConditional: false)
        }

        /// Reads the first attribute, or returns nil if the text begins without one.
        static func attribute(_ source: SourceText) -> AttributeSyntax? {
            var reader = DeclarationReader(source)
            return reader.readHead().attributes.first
        }

        // MARK: Tokens

        private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

        private func text(at index: Int) -> String? { tokens.indices.contains(index) ? text(tokens[index].range) : nil }

        private var current: String? { text(at: index) }

        private var isAtEnd: Bool { index >= tokens.count }

        /// Returns the file offset of a token, or of the text's end for an index without a token.
        private func byteOffset(_ index: Int) -> Int {
            source.byteOffset + (tokens.indices.contains(index) ? tokens[index].range.lowerBound : bytes.count)
        }

        /// Returns the text of a range of tokens; nil if the range is empty or exceeds the tokens.
        private func syntax(_ range: Range<Int>) -> SyntaxText? {
            guard !range.isEmpty, range.upperBound <= tokens.count else { return nil }
            let bytes = tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
            return SyntaxText(text: text(bytes), byteOffset: source.byteOffset + bytes.lowerBound)
        }

        private mutating func take(_ text: String) -> Bool {
            guard current == text else { return false }
            index += 1
            return true
        }

        private static let closing = ["(": ")", "[": "]", "{": "}"]

        /// Skips a token, or a group from its opening to its closing bracket.
        private mutating func skip() {
            guard let first = current, var expected = Self.closing[first].map({ [$0] }) else {
                index += 1
                return
            }
            index += 1
            while let text = current, let last = expected.last {
                if let closing = Self.closing[text] {
                    expected.append(closing)
                } else if text == last {
                    expected.removeLast()
                }
                index += 1
            }
        }

        // MARK: Heads

        private static let modifiers: Set<String> = [
            "class", "convenience", "distributed", "dynamic", "fileprivate", "final", "indirect", "internal",
            "isolated",
            "lazy", "mutating", "nonisolated", "nonmutating", "open", "optional", "override", "package", "private",
            "public", "required", "static", "unowned", "weak",
        ]
        private static let introducers: Set<String> = [
            "actor", "associatedtype", "case", "class", "deinit", "enum", "extension", "func", "import", "init", "let",
            "macro", "operator", "precedencegroup", "protocol", "struct", "subscript", "typealias", "var",
        ]

        /// Returns whether a declaration can begin at an index, or the index is after the last
        /// token.
        private func beginsDeclaration(_ index: Int) -> Bool {
            guard let text = text(at: index) else { return true }
            return text == "@" || text == "#" || Self.modifiers.contains(text) || Self.introducers.contains(text)
        }

        private mutating func readHead() -> DeclarationHead {
            var head = DeclarationHead()
            while let text = current {
                if text == "@" {
                    head.attributes.append(readAttribute())
                } else if text == "class" {
                    // The word `class` is a modifier if another modifier or an introducer follows, as in `class var`.
                    guard let next = self.text(at: index + 1),
                        Self.introducers.contains(next) || Self.modifiers.contains(next)
                    else { return head }
                    head.modifiers.append(text)
                    index += 1
                } else if Self.modifiers.contains(text) {
                    head.modifiers.append(text)
                    index += 1
                    if current == "(", tokens[index].followsSpace == false { skip() }
                } else {
                    return head
                }
            }
            return head
        }

        private mutating func readAttribute() -> AttributeSyntax {
            let start = byteOffset(index)
            index += 1
            var name = current ?? ""
            index += 1
            while current == ".", let next = text(at: index + 1) {
                name = next
                index += 2
            }
            if current == "<" { while !isAtEnd, !take(">") { index += 1 } }
            var arguments: [AttributeSyntax.Argument] = []
            if current == "(", tokens[index].followsSpace == false {
                let end = endOfGroup()
                index += 1
                while index < end - 1 { arguments.append(readArgument(before: end - 1)) }
                index = end
            }
            return AttributeSyntax(name: name, byteOffset: start, arguments: arguments)
        }

        /// Returns the index after the closing bracket of the group at the current position.
        private func endOfGroup() -> Int {
            var copy = self
            copy.skip()
            return min(copy.index, tokens.count)
        }

        private mutating func readArgument(before end: Int) -> AttributeSyntax.Argument {
            var label: String?
            if index + 1 < end, tokens[index].kind == .word, text(at: index + 1) == ":" {
                label = current
                index += 2
            }
            let start = index
            while index < end, current != "," { skip() }
            let value = syntax(start..<min(index, end)) ?? SyntaxText(text: "", byteOffset: byteOffset(start))
            _ = take(",")
            return AttributeSyntax.Argument(label: label, value: value)
        }

        // MARK: Types

        private mutating func readType() -> TypeSyntax {
            let head = readHead()
            let keyword = current ?? ""
            index += 1
            let name = syntax(index..<index + 1) ?? SyntaxText(text: "", byteOffset: byteOffset(index))
            index += 1
            let isGeneric = current == "<"
            if isGeneric { skipAngles() }
            var inherited: [SyntaxText] = []
            if take(":") {
                while !isAtEnd, current != "{", current != "where" {
                    let start = index
                    while !isAtEnd, current != ",", current != "{", current != "where" {
                        if current == "<" { skipAngles() } else { skip() }
                    }
                    if let type = syntax(start..<index) { inherited.append(type) }
                    _ = take(",")
                }
            }
            while !isAtEnd, current != "{" { skip() }
            index += 1
            return TypeSyntax(
                head: head, keyword: keyword, name: name, isGeneric: isGeneric, inherited: inherited,
                variables: readVariables())
        }

        private mutating func skipAngles() {
            var depth = 0
            while let text = current {
                if text == "<" { depth += 1 } else if text == ">" { depth -= 1 }
                skip()
                if depth == 0 { return }
            }
        }

        private mutating func readVariables() -> [VariableSyntax] {
            var variables: [VariableSyntax] = []
            var conditionDepth = 0
            while let text = current, text != "}" {
                let start = index
                if text == "#" {
                    let directive = self.text(at: index + 1)
                    if directive == "if" { conditionDepth += 1 }
                    if directive == "endif" { conditionDepth -= 1 }
                    index += 1
                    skipLine()
                } else if let variable = readMember(isConditional: conditionDepth > 0) {
                    variables.append(variable)
                }
                // Always advance, even for invalid text.
                if index == start { index += 1 }
            }
            return variables
        }

        private mutating func skipLine() {
            repeat { skip() } while !isAtEnd && !tokens[index].beginsLine && current != "}"
        }

        // MARK: Members

        /// Reads a whole member, or skips it and returns nil if it is not a variable or constant.
        private mutating func readMember(isConditional: Bool) -> VariableSyntax? {
            while take(";") {}
            let start = index
            let head = readHead()
            guard current == "var" || current == "let" else {
                index += 1
                skipToEnd()
                return nil
            }
            let isConstant = current == "let"
            index += 1
            var isPattern = current == "("
            let nameIndex = index
            skip()
            let name = syntax(nameIndex..<index) ?? SyntaxText(text: "", byteOffset: byteOffset(nameIndex))
            var (type, value): (SyntaxText?, SyntaxText?) = (nil, nil)
            if take(":") { type = readTypeAnnotation() }
            if take("=") { value = readExpression() }
            if take(",") {
                isPattern = true
                skipToEnd()
            }
            let accessors = readAccessors()
            let end = index > start ? tokens[min(index, tokens.count) - 1].range.upperBound : 0
            skipToEnd()
            return VariableSyntax(
                head: head, isConstant: isConstant, name: name, type: type, initialValue: value, accessors: accessors,
                isPattern: isPattern, range: byteOffset(start)..<max(byteOffset(start), source.byteOffset + end),
                isConditional: isConditional)
        }

        private var isAtMemberEnd: Bool {
            guard let text = current else { return true }
            return text == ";" || text == "}" || (tokens[index].beginsLine && beginsDeclaration(index))
        }

        private mutating func skipToEnd() {
            while !isAtMemberEnd { skip() }
            _ = take(";")
        }

        private mutating func readTypeAnnotation() -> SyntaxText? {
            let start = index
            while !isAtMemberEnd, let text = current, text != "=", text != "{", text != "," {
                if text == "<" { skipAngles() } else { skip() }
            }
            return syntax(start..<index)
        }

        private mutating func readExpression() -> SyntaxText? {
            let start = index
            while !isAtMemberEnd, let text = current, text != "," {
                if text == "{", index > start, accessorsAtPosition == .observers { break }
                skip()
            }
            return syntax(start..<index)
        }

        private var accessorsAtPosition: VariableSyntax.Accessors {
            guard current == "{" else { return .none }
            var copy = self
            copy.index += 1
            _ = copy.readHead()
            return copy.current == "willSet" || copy.current == "didSet" ? .observers : .computed
        }

        private mutating func readAccessors() -> VariableSyntax.Accessors {
            let accessors = accessorsAtPosition
            if accessors != .none { skip() }
            return accessors
        }
    }
#endif
