#if Interactive
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostQuery

    /// Help for writing a predicate: errors, and completions at the cursor.
    struct PredicateHelp {
        private struct Completion {
            var text: String
            var kind: String
            var detail = ""

            var json: JSONNode {
                JSONNode(["text": JSONNode(text), "kind": JSONNode(kind), "detail": JSONNode(detail)])
            }
        }

        private static let limit = 40
        private static let comparisons = [
            "==", "!=", "<", "<=", ">", ">=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "IN", "BETWEEN",
        ]
        private static let beginnings = ["NOT", "ANY", "ALL", "NONE", "SELF", "SUBQUERY", "TRUEPREDICATE"]

        private let entity: ManagedObjectModel.Entity
        private let model: ManagedObjectModel
        private let text: String
        /// The text before the cursor.
        private let before: Substring

        /// Creates the help for a predicate, with the position of the cursor in UTF-16 units.
        init(_ text: String, cursor: Int, entity: ManagedObjectModel.Entity, model: ManagedObjectModel) {
            (self.text, self.entity, self.model) = (text, entity, model)
            let units = text.utf16
            let place = units.index(units.startIndex, offsetBy: cursor, limitedBy: units.endIndex) ?? units.endIndex
            before = text[..<(String.Index(place, within: text) ?? text.endIndex)]
        }

        /// Reads a predicate, or throws a ``ViewerError`` with the position of the error, if known.
        static func predicate(
            _ text: String, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
        ) throws(ViewerError) -> FetchRequest.Predicate {
            do throws(StoreError) {
                return try FetchRequest.Predicate(text, for: entity.name, model: model)
            } catch {
                var refusal = ViewerError(.badRequest, code: "invalidPredicate", message: error.message)
                // The message counts characters, but JavaScript counts UTF-16 units.
                refusal.offset = error.textColumn.map { text.prefix($0 - 1).utf16.count }
                throw refusal
            }
        }

        /// Returns the text of a condition that matches the objects with a value.
        ///
        /// An object ID is written as its key alone if the parser reads this as the same condition.
        static func text(
            _ name: String, isEqualTo value: Value, entity: ManagedObjectModel.Entity, model: ManagedObjectModel,
            modifier: FetchRequest.Comparison.Modifier = .direct
        ) throws(StoreError) -> String {
            func condition(_ value: Value) -> FetchRequest.Predicate {
                .comparison(
                    FetchRequest.Comparison(
                        left: .keyPath([name]), operator: .equal, right: .constant(value), modifier: modifier))
            }
            let meant = condition(value)
            if case .objectID(let id) = value, let short = try? condition(.int(id.key)).format(),
                let read = try? FetchRequest.Predicate(short, for: entity.name, model: model), read == meant
            {
                return short
            }
            return try meant.format(for: entity.name, model: model)
        }

        var json: JSONNode {
            var problem: JSONNode = .null
            if text.contains(where: { !$0.isWhitespace }) {
                do throws(ViewerError) { _ = try Self.predicate(text, entity: entity, model: model) } catch {
                    problem = error.json
                }
            }
            let word = self.word
            return JSONNode([
                "error": problem,
                "replace": JSONNode([
                    "offset": JSONNode(before.utf16.count - word.last.utf16.count),
                    "length": JSONNode(word.last.utf16.count),
                ]), "completions": JSONNode(list: completions(word).prefix(Self.limit).map(\.json)),
            ])
        }

        // MARK: The cursor

        /// The path before the cursor: its complete names, and the beginning of the last name.
        private var word: (path: [String], last: String) {
            var start = before.endIndex
            while start > before.startIndex, Self.isPart(before[before.index(before: start)]) {
                start = before.index(before: start)
            }
            var names = before[start...].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let last = names.popLast() ?? ""
            return (names, last)
        }

        private static func isPart(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || "_@.#".contains(character)
        }

        /// The part of a predicate that the cursor is in.
        private enum Position {
            case operand, comparison, connection
        }

        private func position(_ word: (path: [String], last: String)) -> Position {
            let tokens = tokens(before: word)
            guard let last = tokens.last else { return .operand }
            if Self.isOperator(last)
                || ["(", ",", "{", "NOT", "AND", "OR", "&&", "||", "!", "ANY", "ALL", "NONE", "SOME"]
                    .contains(last.uppercased())
            {
                return .operand
            }
            let isRightSide = tokens.dropLast().last.map { Self.isOperator($0) } ?? false
            return isRightSide || last == ")" || last == "}" ? .connection : .comparison
        }

        private func tokens(before word: (path: [String], last: String)) -> [String] {
            Self.tokens(before.dropLast((word.path + [word.last]).joined(separator: ".").count))
        }

        private static func isOperator(_ token: String) -> Bool {
            comparisons.contains(token.uppercased()) || ["=", "<>", "=<", "=>"].contains(token)
        }

        /// Splits a text roughly into words, strings and signs.
        ///
        /// The predicate parser is not used, because it rejects incomplete text.
        private static func tokens(_ text: Substring) -> [String] {
            var tokens: [String] = []
            var rest = text
            while let first = rest.first {
                if first.isWhitespace {
                    rest = rest.dropFirst()
                } else if first == "\"" || first == "'" {
                    let end = BracketNesting.endOfString(rest) ?? rest.endIndex
                    tokens.append(String(rest[..<end]))
                    rest = rest[end...]
                } else if isPart(first) {
                    let part = rest.prefix(while: isPart)
                    tokens.append(String(part))
                    rest = rest[part.endIndex...]
                } else {
                    let signs = "=!<>&|"
                    let part = signs.contains(first) ? rest.prefix { signs.contains($0) } : rest.prefix(1)
                    tokens.append(String(part))
                    rest = rest[part.endIndex...]
                }
            }
            return tokens
        }

        // MARK: Completions

        private func completions(_ word: (path: [String], last: String)) -> [Completion] {
            var all: [Completion] = []
            if isInQuotes { return [] }
            if !word.path.isEmpty {
                all = properties(after: word.path)
            } else {
                switch position(word) {
                case .operand:
                    all =
                        properties(of: entity) + values(word)
                        + Self.beginnings.map { Completion(text: $0, kind: "keyword") }
                case .comparison: all = Self.comparisons.map { Completion(text: $0, kind: "operator") }
                case .connection: all = ["AND", "OR"].map { Completion(text: $0, kind: "keyword") }
                }
            }
            let prefix = word.last.lowercased()
            return all.filter { $0.text.lowercased().hasPrefix(prefix) && $0.text != word.last }
        }

        /// Whether the cursor is inside a string without a closing quote.
        private var isInQuotes: Bool {
            guard let last = Self.tokens(before).last, let quote = last.first, "\"'".contains(quote) else {
                return false
            }
            return BracketNesting.endOfString(last[...]) == nil
        }

        private func properties(of entity: ManagedObjectModel.Entity) -> [Completion] {
            TableColumn.all(of: entity).map { column in
                switch column.content {
                case .attribute(let attribute):
                    Completion(text: column.name, kind: "property", detail: attribute.type.name)
                case .toOne(let relationship):
                    Completion(
                        text: column.name, kind: "property",
                        detail: "to-one \(model.entities[relationship.destination].name)")
                case .toMany(let relationship):
                    Completion(
                        text: column.name, kind: "property",
                        detail: "to-many \(model.entities[relationship.destination].name)")
                }
            }
        }

        private func properties(after path: [String]) -> [Completion] {
            var current = entity
            var isMany = false
            for (position, name) in path.enumerated() {
                if let relationship = current.relationship(name) {
                    isMany = isMany || relationship.isToMany
                    current = model.entities[relationship.destination]
                } else if let attribute = current.attribute(atPath: path[position...].joined(separator: ".")) {
                    return attribute.elements.map {
                        Completion(text: $0.name, kind: "property", detail: $0.type.name)
                    }
                } else {
                    return []
                }
            }
            let operators = isMany ? ["@count", "@sum", "@avg", "@min", "@max"] : []
            return properties(of: current) + operators.map { Completion(text: $0, kind: "function") }
        }

        /// Returns YES and NO for an operand that is compared with a boolean attribute.
        private func values(_ word: (path: [String], last: String)) -> [Completion] {
            let tokens = tokens(before: word)
            guard let comparison = tokens.lastIndex(where: Self.isOperator), comparison > 0 else { return [] }
            // The operand follows its operator directly, or is an element of a list.
            let between = tokens[(comparison + 1)...]
            guard between.isEmpty || between.first == "{" && !between.contains("}"),
                let attribute = entity.attribute(atPath: tokens[comparison - 1]), attribute.type == .boolean
            else { return [] }
            return ["YES", "NO"].map { Completion(text: $0, kind: "value") }
        }
    }
#endif
