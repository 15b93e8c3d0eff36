internal import Foundation
internal import RoostCore
internal import RoostJSONText
internal import RoostSystem

/// Writes predicates as text, with parentheses only if the meaning requires them.
///
/// Writes a value as a literal if ``PredicateBinding`` would resolve the literal to the same value,
/// and otherwise as a cast.
struct PredicatePrinter {
    private var binding: PredicateBinding
    private var text = ""

    private init(_ scope: PredicateBinding.Scope?) { binding = PredicateBinding(scope: scope, tokenizer: nil) }

    /// Returns the text that `body` prints.
    ///
    /// If the tree is too deep for the caller's stack, runs `body` again on a larger stack.
    ///
    /// The second argument of `body` is an assumed depth above the tree's root. In the first
    /// attempt, this depth leaves only ``DeepStack/shallowDepth`` levels for the tree.
    static func text(
        _ scope: PredicateBinding.Scope?, _ body: @escaping @Sendable (inout Self, Int) throws(StoreError) -> Void
    ) throws(StoreError) -> String {
        do throws(StoreError) {
            var printer = Self(scope)
            try body(&printer, PredicateSyntax.deepest - DeepStack.shallowDepth)
            return printer.text
        } catch {
            guard error.code == .invalidRequest else { throw error }
        }
        return try DeepStack.run { () throws(StoreError) in
            var printer = Self(scope)
            try body(&printer, 0)
            return printer.text
        }
    }

    private typealias Strength = PredicateParser.Strength

    // MARK: Conditions

    mutating func print(_ condition: PredicateSyntax.Condition) throws(StoreError) {
        try print(condition, inside: .anything)
    }

    /// Prints a condition; an AND or OR is in parentheses unless its precedence exceeds `strength`.
    private mutating func print(
        _ condition: PredicateSyntax.Condition, inside strength: Strength
    ) throws(StoreError) {
        switch condition {
        case .constant(let truth): text += truth ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): try print(comparison)
        case .and(let members):
            try print(members, own: .and, ofNothing: "TRUEPREDICATE", connective: " AND ", inside: strength)
        case .or(let members):
            try print(members, own: .or, ofNothing: "FALSEPREDICATE", connective: " OR ", inside: strength)
        case .not(let member):
            text += "NOT "
            try print(member, inside: .not)
        }
    }

    private mutating func print(
        _ members: [PredicateSyntax.Condition], own: Strength, ofNothing: String, connective: String,
        inside strength: Strength
    ) throws(StoreError) {
        switch members.count {
        case 0: text += ofNothing
        case 1: try print(members[0], inside: strength)
        default:
            // Without parentheses at equal precedence, the parser would merge the inner list into
            // the outer list.
            let needsBrackets = strength >= own
            if needsBrackets { text += "(" }
            for (index, member) in members.enumerated() {
                if index > 0 { text += connective }
                try print(member, inside: own)
            }
            if needsBrackets { text += ")" }
        }
    }

    private mutating func print(_ comparison: PredicateSyntax.Comparison) throws(StoreError) {
        switch comparison.modifier {
        case .direct: break
        case .any: text += "ANY "
        case .all: text += "ALL "
        }
        let targets = try binding.targets(of: comparison)
        try print(comparison.left, from: .setOperation, meeting: targets.left)
        text += " \(PredicateLanguage.text(comparison.operator))"
        let letters = PredicateLanguage.options.filter { comparison.options.contains($0.option) }.map(\.letter)
        if !letters.isEmpty { text += "[\(String(letters))]" }
        text += " "
        try print(comparison.right, from: .setOperation, meeting: targets.right)
    }

    // MARK: Operands

    mutating func print(_ operand: PredicateSyntax.Operand) throws(StoreError) {
        try print(operand, from: .setOperation, meeting: nil)
    }

    /// Prints an operand, in parentheses if its precedence is lower than `strength`.
    private mutating func print(
        _ operand: PredicateSyntax.Operand, from strength: Strength, meeting target: PredicateBinding.Target?
    ) throws(StoreError) {
        let needsBrackets = Self.strength(operand) < strength
        if needsBrackets { text += "(" }
        switch operand {
        case .literal(let literal, _): try print(literal, meeting: target)
        case .evaluatedObject: text += "SELF"
        case .variable(let name, _): text += Self.variable(name)
        case .keyPath(let names, _): try printPath(names)
        case .path(let base, let names, _):
            try printBase(base, ofPath: true, meeting: nil)
            text += "."
            try printPath(names)
        case .aggregate(let members):
            text += "{"
            try printList(members, meeting: target)
            text += "}"
        case .element(let base, let index): try printElement(base, index: index, meeting: target, of: operand)
        case .function(let function, let arguments):
            try printFunction(function, arguments: arguments, operand: operand, meeting: target)
        case .registered(let name, let arguments): try printRegistered(name, arguments: arguments)
        case .setOperation(let operation, let first, let second):
            let target = try binding.target(ofMembersOf: operand, meeting: target)
            try print(first, from: .setOperation, meeting: target)
            text += " \(operation.rawValue) "
            try print(second, from: .sum, meeting: target)
        default: try printCall(operand, meeting: target)
        }
        if needsBrackets { text += ")" }
    }

    /// Returns the precedence of the outermost operator in an operand's text.
    private static func strength(_ operand: PredicateSyntax.Operand) -> Strength {
        switch operand {
        case .setOperation: .setOperation
        case .function(.add, let arguments) where arguments.count == 2: .sum
        case .function(.subtract, let arguments) where arguments.count == 2: .sum
        case .function(.multiply, let arguments) where arguments.count == 2: .product
        case .function(.divide, let arguments) where arguments.count == 2: .product
        case .function(.power, let arguments) where arguments.count == 2: .power
        default: .sign
        }
    }

    private mutating func printFunction(
        _ function: FetchRequest.Function, arguments: [PredicateSyntax.Operand], operand: PredicateSyntax.Operand,
        meeting target: PredicateBinding.Target?
    ) throws(StoreError) {
        let target = try binding.target(ofMembersOf: operand, meeting: target)
        if let sign = function.sign, arguments.count == 2 {
            let own = Self.strength(operand)
            try print(arguments[0], from: own, meeting: target)
            text += " \(sign) "
            try print(arguments[1], from: own.next, meeting: target)
        } else if function == .negate, arguments.count == 1 {
            text += "-"
            // Without parentheses, the minus sign would become part of the number.
            let isLiteral = if case .literal = arguments[0] { true } else { false }
            if isLiteral { text += "(" }
            try print(arguments[0], from: .sign, meeting: target)
            if isLiteral { text += ")" }
        } else {
            text += function.rawValue + "("
            try printList(arguments, meeting: target)
            text += ")"
        }
    }

    private mutating func printRegistered(
        _ name: String, arguments: [PredicateSyntax.Operand]
    ) throws(StoreError) {
        guard let target = arguments.first else {
            throw StoreError(.unsupported, "A call of a program's own function without a target cannot be written.")
        }
        text += "FUNCTION("
        try print(target)
        text += ", " + Self.quoted(name)
        if arguments.count > 1 {
            text += ", "
            try printList(Array(arguments.dropFirst()), meeting: nil)
        }
        text += ")"
    }

    private mutating func printElement(
        _ base: PredicateSyntax.Operand, index: PredicateSyntax.Index, meeting target: PredicateBinding.Target?,
        of operand: PredicateSyntax.Operand
    ) throws(StoreError) {
        try printBase(
            base, ofPath: false, meeting: try binding.target(ofMembersOf: operand, meeting: target))
        text += "["
        switch index {
        case .first: text += "FIRST"
        case .last: text += "LAST"
        case .size: text += "SIZE"
        case .position(let position): try print(position)
        }
        text += "]"
    }

    private mutating func printBase(
        _ base: PredicateSyntax.Operand, ofPath: Bool, meeting target: PredicateBinding.Target?
    ) throws(StoreError) {
        let needsBrackets =
            switch base {
            case .literal, .setOperation: true
            case .keyPath, .evaluatedObject, .path: ofPath
            case .function(let function, _): function.sign != nil || function == .negate
            default: false
            }
        if needsBrackets { text += "(" }
        try print(base, from: .setOperation, meeting: target)
        if needsBrackets { text += ")" }
    }

    /// Prints `CAST`, `SUBQUERY` or `TERNARY`.
    private mutating func printCall(
        _ operand: PredicateSyntax.Operand, meeting target: PredicateBinding.Target?
    ) throws(StoreError) {
        switch operand {
        case .cast(let operand, let type):
            // Without parentheses, the cast of a literal would be a notation for a constant.
            let isLiteral = if case .literal = operand { true } else { false }
            text += isLiteral ? "CAST((" : "CAST("
            try print(operand)
            text += "\(isLiteral ? ")" : ""), \(Self.quoted(type.rawValue)))"
        case .subquery(let collection, let variable, let condition):
            text += "SUBQUERY("
            try print(collection)
            text += ", "
            try print(.variable(variable, "".startIndex))
            text += ", "
            let outer = binding
            binding = try binding.inside(collection, variable: variable)
            try print(condition)
            binding = outer
            text += ")"
        case .conditional(let condition, let first, let second):
            text += "TERNARY("
            try print(condition)
            let target = try binding.target(ofMembersOf: operand, meeting: target)
            for branch in [first, second] {
                text += ", "
                try print(branch, from: .setOperation, meeting: target)
            }
            text += ")"
        default: break
        }
    }

    private mutating func printList(
        _ members: [PredicateSyntax.Operand], meeting target: PredicateBinding.Target?
    ) throws(StoreError) {
        for (index, member) in members.enumerated() {
            if index > 0 { text += ", " }
            try print(member, from: .setOperation, meeting: target)
        }
    }

    // MARK: Names

    private mutating func printPath(_ names: [String]) throws(StoreError) {
        guard !names.isEmpty else {
            throw StoreError(.invalidRequest, "A key path without names cannot be written; the object itself is SELF.")
        }
        text += Self.path(names)
    }

    static func path(_ names: [String]) -> String { names.map(name).joined(separator: ".") }

    static func variable(_ name: String) -> String {
        "$" + (PredicateLanguage.isPlainName(name) ? name : quoted(name))
    }

    private static func name(_ name: String) -> String {
        if FetchRequest.CollectionOperator(rawValue: name) != nil { return name }
        guard PredicateLanguage.isPlainName(name) else { return "#" + quoted(name) }
        return PredicateLanguage.isReserved(name) ? "#" + name : name
    }

    // MARK: Values

    private mutating func print(
        _ literal: PredicateLiteral, meeting target: PredicateBinding.Target?
    ) throws(StoreError) {
        guard case .typed(let value) = literal else { return }
        if let plain = Self.literal(value),
            (try? binding.value(plain, meeting: target, at: "".startIndex)) == value
        {
            text += Self.text(plain)
            return
        }
        switch value {
        case .null: text += "NULL"
        case .bool(let flag): cast(flag ? "TRUE" : "FALSE", type: .number)
        case .int(let number): cast("\(number)", type: .number)
        case .double(let number): cast(number.isFinite ? "\(number)" : Self.special(number), type: .number)
        case .decimal(let decimal): cast(Self.quoted(Self.digits(decimal)), type: .decimal)
        case .string(let string): cast(Self.quoted(string), type: .string)
        case .data(let data): cast(Self.quoted(Base64.text(data)), type: .data)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            cast(seconds.isFinite ? "\(seconds)" : Self.special(seconds), type: .date)
        case .uuid(let uuid): cast(Self.quoted(uuid.uuidString), type: .uuid)
        case .uri(let uri): cast(Self.quoted(uri), type: .uri)
        case .objectID(let id): cast(Self.quoted("\(id.entity)/\(id.key)"), type: .objectID)
        case .composite:
            throw StoreError(.unsupported, "A composite cannot be written as a value of a predicate.")
        }
    }

    /// Returns the literal for a value; nil if no literal can express the value.
    private static func literal(_ value: Value) -> PredicateLiteral? {
        switch value {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .int(let number): .number("\(number)")
        case .double(let number): number.isFinite ? .number("\(number)") : nil
        case .decimal(let decimal): decimal.isNaN ? nil : .number(digits(decimal))
        case .string(let string): .string(string)
        default: nil
        }
    }

    private static func text(_ literal: PredicateLiteral) -> String {
        switch literal {
        case .null: "NULL"
        case .bool(let flag): flag ? "TRUE" : "FALSE"
        case .number(let text): text
        case .string(let text): quoted(text)
        case .cast, .typed: ""
        }
    }

    private static func digits(_ decimal: Decimal) -> String {
        DecimalNumber(decimal)?.description ?? decimal.description
    }

    private static func special(_ number: Double) -> String {
        if case .string(let text) = JSONNode.Content.double(number) { return quoted(text) }
        return "\(number)"
    }

    private mutating func cast(_ literal: String, type: FetchRequest.CastType) {
        text += "CAST(\(literal), \"\(type.rawValue)\")"
    }

    private static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\x" + UInt8(scalar.value).hexadecimal
            // Escape other line separators, because the text must be on one line.
            case "\u{85}": result += "\\x85"
            case "\u{2028}", "\u{2029}": result += "\\u" + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
