#if Macros
    /// The type of a property, parsed from its text.
    struct PropertyType: Equatable {
        /// The simple types, which the macro recognizes by their names.
        enum Scalar: String, CaseIterable {
            case int16 = "Int16"
            case int32 = "Int32"
            case int64 = "Int64"
            case int = "Int"
            case double = "Double"
            case float = "Float"
            case bool = "Bool"
            case date = "Date"
            case text = "String"
            case data = "Data"
            case uuid = "UUID"
            case decimal = "Decimal"

            /// The last part of the accessors' names, as in `optionalText(slot:)`.
            var accessor: String {
                switch self {
                case .int: "Int64"
                case .text: "Text"
                default: rawValue
                }
            }

            /// The name of a mandatory attribute's getter.
            var getter: String {
                switch self {
                case .int: "int64"
                case .text: "text"
                case .uuid: "uuid"
                default: rawValue.lowercased()
                }
            }
        }

        enum Kind: Equatable {
            case scalar(Scalar)
            case objectID
            case composite
            case toMany(of: String, isOrdered: Bool)
            /// A class of managed objects, a `Codable` type or an enumeration.
            ///
            /// Only the compiler can distinguish these types: it selects an overload of the
            /// accessor.
            case other
        }

        let kind: Kind
        /// The type, or the wrapped type if the type is optional.
        let text: String
        let isOptional: Bool
        /// Whether the type ends with an exclamation point.
        let isImplicitlyUnwrapped: Bool

        init(_ source: String) {
            var text = source
            isImplicitlyUnwrapped = text.hasSuffix("!")
            if text.hasSuffix("?") || isImplicitlyUnwrapped {
                text = String(text.dropLast())
                isOptional = true
            } else if let wrapped = Self.argument(of: ["Optional", "Swift.Optional"], in: text) {
                text = wrapped
                isOptional = true
            } else {
                isOptional = false
            }
            while text.last == " " { text.removeLast() }
            self.text = text
            kind = Self.kind(of: text)
        }

        private static func kind(of text: String) -> Kind {
            var name = Substring(text)
            for module in ["Swift.", "Foundation."] where name.hasPrefix(module) { name = name.dropFirst(module.count) }
            if let scalar = Scalar(rawValue: String(name)) { return .scalar(scalar) }
            if let element = argument(of: ["ToMany", "Roost.ToMany", "RoostGraph.ToMany"], in: text) {
                return .toMany(of: element, isOrdered: false)
            }
            if let element = argument(
                of: ["OrderedToMany", "Roost.OrderedToMany", "RoostGraph.OrderedToMany"], in: text)
            {
                return .toMany(of: element, isOrdered: true)
            }
            switch text.filter({ !$0.isWhitespace }) {
            case "ObjectID", "Roost.ObjectID", "RoostCore.ObjectID": return .objectID
            case "[String:Value]", "Dictionary<String,Value>": return .composite
            default: return .other
            }
        }

        /// Returns the generic argument of a type with one of the given names, or nil.
        private static func argument(of names: [String], in text: String) -> String? {
            for name in names where text.hasPrefix("\(name)<") && text.hasSuffix(">") {
                return String(text.dropFirst(name.count + 1).dropLast())
            }
            return nil
        }

        /// Creates the type of a Boolean, string or number literal; nil for any other expression.
        init?(ofLiteral text: String) {
            let bytes = Array(text.utf8)
            var tokens = SwiftLexer.tokens(of: bytes)[...]
            if let first = tokens.first, bytes[first.range] == [UInt8(ascii: "-")] { tokens.removeFirst() }
            guard tokens.count == 1, let token = tokens.first else { return nil }
            let literal = String(decoding: bytes[token.range], as: UTF8.self)
            switch (token.kind, literal) {
            case (.word, "true"), (.word, "false"): self.init("Bool")
            case (.literal, _) where literal.drop(while: { $0 == "#" }).first == "\"": self.init("String")
            case (.literal, _) where literal.first?.isNumber == true:
                let exponentMarks = literal.hasPrefix("0x") ? "pP" : "eE"
                let isDecimal = literal.contains(".") || literal.contains(where: exponentMarks.contains)
                self.init(isDecimal ? "Double" : "Int")
            default: return nil
            }
        }
    }
#endif
