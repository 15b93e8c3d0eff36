internal import Foundation
internal import RoostAppleModels
internal import RoostCore
internal import RoostMigration
internal import RoostQuery

/// A translator of archived `NSExpression`s into Roost's expressions.
///
/// All expressions that Xcode's mapping editor writes for attributes and relationships have a
/// counterpart in Roost. So do functions of a policy and known functions of the migration manager.
/// Other expressions that could fetch objects or run code are refused.
struct ArchivedExpression {
    enum Limit {
        static let depth = 64
        static let nodes = 10_000
    }

    private var nodeCount = 0

    /// Counts a part of the expression, and throws if the parts are too many or nest too deeply.
    mutating func enter(depth: Int) throws(StoreError) {
        nodeCount += 1
        guard depth < Limit.depth, nodeCount <= Limit.nodes else {
            throw StoreError(
                .limitExceeded, "it nests deeper than \(Limit.depth) or has more than \(Limit.nodes) parts")
        }
    }

    /// Returns the expression in an archive, with SELF translated to `$source`.
    static func expression(in archive: KeyedArchive) throws(StoreError) -> FetchRequest.Expression {
        var reading = ArchivedExpression()
        return try reading.expression(.object(try archive.rootObject()), depth: 0).ofSource
    }

    /// Translates a node; a node that is not an object is a constant.
    mutating func expression(
        _ node: KeyedArchive.Node, depth: Int
    ) throws(StoreError) -> FetchRequest.Expression {
        try enter(depth: depth)
        guard let object = node.object else { return .constant(try Self.constant(node)) }
        switch try object.className {
        case "NSSelfExpression": return .evaluatedObject
        case "NSVariableExpression":
            return .variable(try Self.required(try object.string("NSVariable"), what: "a variable"))
        case "NSConstantValueExpression": return try constant(try object.node("NSConstantValue"), depth: depth + 1)
        case "NSAggregateExpression":
            return .aggregate(try expressions(try object.list("NSCollection"), depth: depth + 1))
        case "NSKeyPathExpression": return try keyPath(object, depth: depth + 1)
        case "NSFunctionExpression": return try function(object, depth: depth + 1)
        case "NSSetExpression":
            let operations: [Int64: FetchRequest.SetOperation] = [5: .union, 6: .intersect, 7: .minus]
            let operation = try object.integer("NSExpressionType").flatMap { operations[$0] }
            return .setOperation(
                try Self.required(operation, what: "an operation on sets"),
                try expression(try object.node("NSLeftExpression"), depth: depth + 1),
                try expression(try object.node("NSRightExpression"), depth: depth + 1))
        case "NSSubqueryExpression": return try subquery(object, depth: depth + 1)
        case "NSTernaryExpression":
            return .conditional(
                try predicate(try Self.part(object, field: "NSPredicate", of: "TERNARY"), depth: depth + 1),
                try expression(
                    .object(try Self.part(object, field: "NSTrueExpression", of: "TERNARY")), depth: depth + 1),
                try expression(
                    .object(try Self.part(object, field: "NSFalseExpression", of: "TERNARY")), depth: depth + 1))
        case "NSFetchRequestExpression": throw Self.untranslatable("FETCH, which looks through a whole store,")
        case let name: throw Self.untranslatable("an expression of class \(name)")
        }
    }

    private mutating func expressions(
        _ nodes: [KeyedArchive.Node], depth: Int
    ) throws(StoreError) -> [FetchRequest.Expression] {
        var expressions: [FetchRequest.Expression] = []
        for node in nodes { expressions.append(try expression(node, depth: depth)) }
        return expressions
    }

    private mutating func subquery(_ object: ArchivedObject, depth: Int) throws(StoreError) -> FetchRequest.Expression {
        // The field contains the variable's name, or an expression with the name.
        let variable = try object.string("NSVariable", or: "NSVariable", inner: "NSVariable")
        return .subquery(
            try expression(.object(try Self.part(object, field: "NSExpression", of: "SUBQUERY")), depth: depth),
            variable: try Self.required(variable, what: "the variable of SUBQUERY"),
            try predicate(try Self.part(object, field: "NSSubpredicate", of: "SUBQUERY"), depth: depth))
    }

    // MARK: Paths and functions

    private mutating func keyPath(_ object: ArchivedObject, depth: Int) throws(StoreError) -> FetchRequest.Expression {
        let operand = try expression(
            .object(try Self.required(try object.object("NSOperand"), what: "a key path")), depth: depth)
        let specifier = try object.list("NSArguments").first?.object
        let text = try Self.required(try specifier?.string("NSKeyPath"), what: "a key path")
        return MappingPath.expression(from: operand, text: text)
    }

    private mutating func function(_ object: ArchivedObject, depth: Int) throws(StoreError) -> FetchRequest.Expression {
        let name = try Self.required(try object.string("NSSelectorName"), what: "a function")
        let target = try Self.required(try object.object("NSOperand"), what: "function '\(name)'")
        let arguments = try expressions(try object.list("NSArguments"), depth: depth)
        if let className = try target.string("NSConstantValueClassName") {
            guard className == "_NSPredicateUtilities" else {
                throw Self.untranslatable("function '\(name)' of class \(className)")
            }
            return try Self.languageFunction(name, arguments: arguments)
        }
        let operand = try expression(.object(target), depth: depth)
        switch operand {
        case .variable(MappingVariable.entityPolicy.rawValue): return .registered(name, [operand] + arguments)
        case .variable(MappingVariable.manager.rawValue):
            guard MappingFunction(rawValue: name) != nil else {
                throw Self.untranslatable("function '\(name)' of $manager")
            }
            return .registered(name, [operand] + arguments)
        default:
            // A function that reads a property by name or path becomes a key path.
            guard name == MappingFunction.value.rawValue || name == "valueForKeyPath:",
                case .constant(.string(let path))? = arguments.first, arguments.count == 1, !path.isEmpty
            else { throw Self.untranslatable("function '\(name)', which the classes of a program would run,") }
            return MappingPath.expression(from: operand, text: path)
        }
    }

    /// Translates a function of the predicate language.
    private static func languageFunction(
        _ name: String, arguments: [FetchRequest.Expression]
    ) throws(StoreError) -> FetchRequest.Expression {
        if name == "castObject:toType:", arguments.count == 2, case .constant(.string(let type)) = arguments[1],
            let type = FetchRequest.CastType(rawValue: type)
        {
            return .cast(arguments[0], type)
        }
        guard let function = FetchRequest.Function(name: name), function.argumentCounts.contains(arguments.count) else {
            throw untranslatable("function '\(name)' with \(arguments.count) arguments")
        }
        return .function(function, arguments)
    }

    // MARK: Constants

    /// Translates a constant; a list becomes an aggregate.
    private mutating func constant(
        _ node: KeyedArchive.Node, depth: Int
    ) throws(StoreError) -> FetchRequest.Expression {
        if let object = node.object {
            let name = try object.className
            if name.hasSuffix("Array") || name.hasSuffix("Set") {
                return .aggregate(try expressions(try object.members(), depth: depth))
            }
        }
        return .constant(try Self.constant(node))
    }

    private static func constant(_ node: KeyedArchive.Node) throws(StoreError) -> Value {
        switch node {
        case .null: return .null
        case .boolean(let value): return .bool(value)
        case .integer(let value): return .int(value)
        case .real(let value): return .double(value)
        case .string(let text): return .string(text)
        case .data(let bytes): return .data(Data(bytes))
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .object(let object):
            switch try object.className {
            case "NSNull": return .null
            case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
                if let value = try ModelArchive.decimal(object) { return .decimal(value.decimal) }
            case "NSUUID":
                if case .data(let bytes) = try object.node("NS.uuidbytes"), let uuid = StoreUUID(bytes: bytes) {
                    return .uuid(uuid.uuid)
                }
            case "NSURL":
                if let text = try object.string("NS.relative") { return .uri(text) }
            default: break
            }
            throw untranslatable("a constant of class \(try object.className)")
        }
    }

    static func part(_ object: ArchivedObject, field: String, of what: String) throws(StoreError) -> ArchivedObject {
        try required(try object.object(field), what: what)
    }

    static func required<T>(_ value: T?, what: String) throws(StoreError) -> T {
        guard let value else { throw StoreError(.corrupted, "\(what) in it is incomplete") }
        return value
    }

    static func untranslatable(_ what: String) -> StoreError {
        StoreError(
            .invalidModel, "\(what) has no counterpart in Roost; compute the value in an EntityMigrationPolicy instead")
    }
}

/// A parser of key paths in mapping models.
enum MappingPath {
    static func expression(from operand: FetchRequest.Expression, text: String) -> FetchRequest.Expression {
        let names = text.split(separator: ".").map { name in operators[String(name)] ?? String(name) }
        switch operand {
        case _ where names.isEmpty: return operand
        case .evaluatedObject: return .keyPath(names)
        // Two consecutive paths become one path.
        case .path(of: let start, let first): return .path(of: start, first + names)
        default: return .path(of: operand, names)
        }
    }

    /// Translates a key path from the editor; `country` and `SELF.country` mean `$source.country`.
    static func expression(_ text: String) -> FetchRequest.Expression {
        let text = text.trimmingSpaces
        let names = text.split(separator: ".", maxSplits: 1)
        if names.first?.lowercased() == "self" {
            let source = FetchRequest.Expression.variable(MappingVariable.source.rawValue)
            return names.count > 1 ? expression(from: source, text: String(names[1])) : source
        }
        guard text.hasPrefix("$") else {
            return expression(from: .variable(MappingVariable.source.rawValue), text: String(text))
        }
        let parts = text.dropFirst().split(separator: ".", maxSplits: 1).map(String.init)
        let variable = FetchRequest.Expression.variable(parts.first ?? "")
        return parts.count > 1 ? expression(from: variable, text: parts[1]) : variable
    }

    /// The operators on flat lists, by the equivalent operators on nested collections.
    ///
    /// Key paths in Roost return flat lists.
    private static let operators = [
        "@distinctUnionOfSets": "@distinctUnionOfObjects", "@distinctUnionOfArrays": "@distinctUnionOfObjects",
        "@unionOfSets": "@unionOfObjects", "@unionOfArrays": "@unionOfObjects",
    ]
}
