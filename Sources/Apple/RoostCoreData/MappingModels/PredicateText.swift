internal import RoostCore

/// A printer of archived predicates and expressions in the syntax of Apple's format strings.
///
/// Returns nil for unsupported classes and operators, and the caller warns.
enum PredicateText {
    private static let depthLimit = 64
    /// The maximum size of a text, in bytes.
    ///
    /// A small archive could have a long text, because each reference to a part prints the part.
    private static let byteLimit = 1 << 20

    /// Returns the text of an archived `NSPredicate`, or nil if it is unsupported or nested too
    /// deep.
    static func predicate(_ object: ArchivedObject, depth: Int = 0) throws(StoreError) -> String? {
        try bounded(try predicateText(object, depth: depth), of: object)
    }

    private static func bounded(_ text: String?, of object: ArchivedObject) throws(StoreError) -> String? {
        if let text, text.utf8.count > byteLimit {
            throw StoreError(
                .limitExceeded,
                "\(object.archive.file) has a predicate or an expression of more than \(byteLimit) bytes; it is not read."
            )
        }
        return text
    }

    private static func predicateText(_ object: ArchivedObject, depth: Int) throws(StoreError) -> String? {
        guard depth < depthLimit else { return nil }
        switch try object.className {
        case "NSTruePredicate": return "TRUEPREDICATE"
        case "NSFalsePredicate": return "FALSEPREDICATE"
        case "NSCompoundPredicate":
            var parts: [String] = []
            for node in try object.list("NSSubpredicates") {
                guard let part = node.object, let text = try predicate(part, depth: depth + 1) else { return nil }
                parts.append(try part.className == "NSCompoundPredicate" ? "(\(text))" : text)
            }
            switch try object.integer("NSCompoundPredicateType") {
            case 0 where parts.count == 1: return "NOT \(parts[0])"
            case 1: return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
            case 2: return parts.isEmpty ? "FALSEPREDICATE" : parts.joined(separator: " OR ")
            default: return nil
            }
        case "NSComparisonPredicate":
            guard let left = try object.object("NSLeftExpression"), let right = try object.object("NSRightExpression"),
                let comparison = try object.object("NSPredicateOperator"),
                let leftText = try expression(left, depth: depth + 1),
                let rightText = try expression(right, depth: depth + 1), let symbol = try symbol(comparison),
                let modifier = modifiers[try comparison.integer("NSModifier") ?? 0]
            else { return nil }
            return "\(modifier)\(leftText) \(symbol) \(rightText)"
        default: return nil
        }
    }

    private static let modifiers: [Int64: String] = [0: "", 1: "ALL ", 2: "ANY "]

    private static func symbol(_ comparison: ArchivedObject) throws(StoreError) -> String? {
        let type = try comparison.integer("NSOperatorType") ?? -1
        let names: [Int64: String] = [
            0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE", 8: "BEGINSWITH", 9: "ENDSWITH",
            10: "IN", 99: "CONTAINS", 100: "BETWEEN",
        ]
        guard let symbol = names[type] else { return nil }
        let options = try comparison.comparisonOptions
        let known: [(bit: Int64, letter: String)] = [(1, "c"), (2, "d"), (4, "n"), (8, "l")]
        let letters = known.filter { options & $0.bit != 0 }.map(\.letter).joined()
        return letters.isEmpty ? symbol : "\(symbol)[\(letters)]"
    }

    /// Returns the text of an archived `NSExpression`, or nil if it is unsupported or nested too
    /// deep.
    static func expression(_ object: ArchivedObject, depth: Int = 0) throws(StoreError) -> String? {
        try bounded(try expressionText(object, depth: depth), of: object)
    }

    private static func expressionText(_ object: ArchivedObject, depth: Int) throws(StoreError) -> String? {
        guard depth < depthLimit else { return nil }
        switch try object.className {
        case "NSSelfExpression": return "SELF"
        case "NSVariableExpression": return try object.string("NSVariable").map { "$\($0)" }
        case "NSKeyPathSpecifierExpression": return try object.string("NSKeyPath")
        case "NSConstantValueExpression":
            if let name = try object.string("NSConstantValueClassName") { return name }
            return try constant(try object.node("NSConstantValue"), depth: depth + 1)
        case "NSAggregateExpression":
            guard let parts = try expressions(object.list("NSCollection"), depth: depth + 1) else { return nil }
            return "{\(parts.joined(separator: ", "))}"
        case "NSKeyPathExpression":
            guard let operand = try object.object("NSOperand"),
                let arguments = try expressions(object.list("NSArguments"), depth: depth + 1),
                let path = arguments.first, let base = try expression(operand, depth: depth + 1)
            else { return nil }
            return base == "SELF" ? path : "\(base).\(path)"
        case "NSFunctionExpression":
            guard let selector = try object.string("NSSelectorName"), let operand = try object.object("NSOperand"),
                let arguments = try expressions(object.list("NSArguments"), depth: depth + 1),
                let base = try expression(operand, depth: depth + 1)
            else { return nil }
            if base == "_NSPredicateUtilities" {
                // Archives store `path.@count` of a derived attribute as `count:(path)`.
                let aggregates = [
                    "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
                ]
                if let aggregate = aggregates[selector], arguments.count == 1 { return "\(arguments[0]).\(aggregate)" }
                return "\(selector)(\(arguments.joined(separator: ", ")))"
            }
            return "FUNCTION(\(([base, quoted(selector)] + arguments).joined(separator: ", ")))"
        default: return nil
        }
    }

    private static func expressions(_ nodes: [KeyedArchive.Node], depth: Int) throws(StoreError) -> [String]? {
        var texts: [String] = []
        for node in nodes {
            if let object = node.object {
                guard let text = try expression(object, depth: depth) else { return nil }
                texts.append(text)
            } else {
                guard let text = try constant(node, depth: depth) else { return nil }
                texts.append(text)
            }
        }
        return texts
    }

    private static func constant(_ node: KeyedArchive.Node, depth: Int) throws(StoreError) -> String? {
        switch node {
        case .null: return "nil"
        case .boolean(let value): return value ? "YES" : "NO"
        case .integer(let value): return String(value)
        case .real(let value): return String(value)
        case .string(let text): return quoted(text)
        case .date(let seconds): return "CAST(\(seconds), 'NSDate')"
        case .data: return nil
        case .object(let object):
            let name = try object.className
            guard name.hasSuffix("Array") || name.hasSuffix("Set") else { return nil }
            guard let parts = try expressions(object.members(), depth: depth) else { return nil }
            return "{\(parts.joined(separator: ", "))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): quoted += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): quoted += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: quoted.append(byte)
            }
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }
}

extension ArchivedObject {
    /// The bits for options such as `[cd]` in an archived comparison operator.
    ///
    /// IN and CONTAINS store the bits in `NSFlags`, other operators in `NSOptions`.
    var comparisonOptions: Int64 {
        get throws(StoreError) { (try integer("NSOptions") ?? 0) | (try integer("NSFlags") ?? 0) }
    }
}
