package import RoostCore

extension FetchRequest.Expression {
    /// Returns the expression with the source object as its evaluated object, or nil if it needs
    /// another variable.
    ///
    /// `$source.title` and `FUNCTION($source, "valueForKey:", "title")` become `title`.
    package func ofSourceObject() -> Self? { rebased(bound: []) }

    fileprivate func rebased(bound: Set<String>) -> Self? {
        switch self {
        case .constant, .evaluatedObject, .keyPath: return self
        case .variable(let name):
            if bound.contains(name) { return self }
            return name == MappingVariable.source.rawValue ? .evaluatedObject : nil
        case .path(let base, let names):
            guard let base = base.rebased(bound: bound) else { return nil }
            return base == .evaluatedObject ? .keyPath(names) : .path(of: base, names)
        case .aggregate(let members): return Self.all(members, bound: bound).map { .aggregate($0) }
        case .function(let function, let arguments):
            return Self.all(arguments, bound: bound).map { .function(function, $0) }
        case .registered(MappingFunction.value.rawValue, let arguments):
            guard arguments.count == 2, case .constant(.string(let name)) = arguments[1] else { return nil }
            return Self.path(of: arguments[0], [name]).rebased(bound: bound)
        case .registered(let name, let arguments):
            return Self.all(arguments, bound: bound).map { .registered(name, $0) }
        case .cast(let operand, let type): return operand.rebased(bound: bound).map { .cast($0, type) }
        case .subquery(let collection, let variable, let predicate):
            guard let collection = collection.rebased(bound: bound),
                let predicate = predicate.rebased(bound: bound.union([variable]))
            else { return nil }
            return .subquery(collection, variable: variable, predicate)
        case .conditional(let condition, let first, let second):
            guard let condition = condition.rebased(bound: bound),
                let first = first.rebased(bound: bound), let second = second.rebased(bound: bound)
            else { return nil }
            return .conditional(condition, first, second)
        case .element(let base, let index):
            guard let base = base.rebased(bound: bound) else { return nil }
            guard case .position(let position) = index else { return .element(of: base, index) }
            return position.rebased(bound: bound).map { .element(of: base, .position($0)) }
        case .setOperation(let operation, let first, let second):
            guard let first = first.rebased(bound: bound), let second = second.rebased(bound: bound)
            else { return nil }
            return .setOperation(operation, first, second)
        }
    }

    private static func all(_ members: [Self], bound: Set<String>) -> [Self]? {
        var result: [Self] = []
        for member in members {
            guard let member = member.rebased(bound: bound) else { return nil }
            result.append(member)
        }
        return result
    }
}

extension FetchRequest.Predicate {
    fileprivate func rebased(bound: Set<String>) -> Self? {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            guard let left = comparison.left.rebased(bound: bound),
                let right = comparison.right.rebased(bound: bound)
            else { return nil }
            (comparison.left, comparison.right) = (left, right)
            return .comparison(comparison)
        case .and(let members): return Self.all(members, bound: bound).map { .and($0) }
        case .or(let members): return Self.all(members, bound: bound).map { .or($0) }
        case .not(let member): return member.rebased(bound: bound).map { .not($0) }
        }
    }

    private static func all(_ members: [Self], bound: Set<String>) -> [Self]? {
        var result: [Self] = []
        for member in members {
            guard let member = member.rebased(bound: bound) else { return nil }
            result.append(member)
        }
        return result
    }
}

/// The variables, function calls and paths in a value expression, at any depth.
struct MappingExpressionParts {
    /// A function call, with its first argument as the target.
    struct Call {
        let name: String
        let target: FetchRequest.Expression?
        let arguments: [FetchRequest.Expression]
    }

    /// The variables that are not bound by a SUBQUERY, in the order of the text.
    private(set) var variables: [String] = []
    /// The calls of functions that are not part of the predicate language.
    private(set) var calls: [Call] = []
    /// Whether the expression uses a property name, or `SELF`, without a variable.
    private(set) var hasBareNames = false
    private(set) var sourcePaths: Set<[String]> = []
    var sourceProperties: Set<String> { Set(sourcePaths.compactMap(\.first)) }
    /// The unbound variables other than `$source` whose properties are read.
    private(set) var pathVariables: Set<String> = []
    /// Whether the source object itself is used, which can read all its properties.
    private(set) var takesSource = false

    private enum Item {
        case expression(FetchRequest.Expression, bound: Set<String>)
        case predicate(FetchRequest.Predicate, bound: Set<String>)
    }

    /// Collects the parts without recursion, because expressions may be deeply nested.
    init(of expression: FetchRequest.Expression) {
        var open = [Item.expression(expression, bound: [])]
        while let item = open.popLast() {
            switch item {
            case .expression(let expression, let bound): open += take(expression, bound: bound).reversed()
            case .predicate(let predicate, let bound): open += Self.members(of: predicate, bound: bound).reversed()
            }
        }
    }

    private mutating func take(_ expression: FetchRequest.Expression, bound: Set<String>) -> [Item] {
        func items(_ expressions: [FetchRequest.Expression]) -> [Item] {
            expressions.map { .expression($0, bound: bound) }
        }
        let source = FetchRequest.Expression.variable(MappingVariable.source.rawValue)
        switch expression {
        case .constant: return []
        case .evaluatedObject, .keyPath:
            hasBareNames = true
            return []
        case .variable(let name):
            guard !bound.contains(name) else { return [] }
            variables.append(name)
            if expression == source { takesSource = true }
            return []
        case .path(let base, let names):
            guard base == source, !bound.contains(MappingVariable.source.rawValue), !names.isEmpty else {
                if case .variable(let name) = base, !bound.contains(name) { pathVariables.insert(name) }
                return items([base])
            }
            variables.append(MappingVariable.source.rawValue)
            sourcePaths.insert(names)
            return []
        case .aggregate(let members), .function(_, let members): return items(members)
        case .registered(let name, let arguments):
            calls.append(Call(name: name, target: arguments.first, arguments: Array(arguments.dropFirst())))
            if name == MappingFunction.value.rawValue, arguments.count == 2, arguments[0] == source,
                case .constant(.string(let property)) = arguments[1]
            {
                return items([.path(of: source, [property])])
            }
            return items(arguments)
        case .cast(let operand, _): return items([operand])
        case .subquery(let collection, let variable, let predicate):
            return items([collection]) + [.predicate(predicate, bound: bound.union([variable]))]
        case .conditional(let condition, let first, let second):
            return [.predicate(condition, bound: bound)] + items([first, second])
        case .element(let base, .position(let position)): return items([base, position])
        case .element(let base, _): return items([base])
        case .setOperation(_, let first, let second): return items([first, second])
        }
    }

    private static func members(of predicate: FetchRequest.Predicate, bound: Set<String>) -> [Item] {
        switch predicate {
        case .constant: []
        case .comparison(let comparison):
            [.expression(comparison.left, bound: bound), .expression(comparison.right, bound: bound)]
        case .and(let members), .or(let members): members.map { .predicate($0, bound: bound) }
        case .not(let member): [.predicate(member, bound: bound)]
        }
    }
}

extension FetchRequest.Expression {
    /// The source property that the expression returns unchanged, or nil.
    var sourceAttribute: String? {
        switch self {
        case .path(of: .variable(MappingVariable.source.rawValue), let names) where names.count == 1: names[0]
        case .registered(MappingFunction.value.rawValue, let arguments):
            if arguments.count == 2, arguments[0] == .variable(MappingVariable.source.rawValue),
                case .constant(.string(let name)) = arguments[1]
            {
                name
            } else {
                nil
            }
        default: nil
        }
    }

    /// The source relationship whose destinations are passed to a function of the manager, or nil.
    var instancesSource: String? {
        guard case .registered(_, let arguments) = self, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue)
        else { return nil }
        return arguments[2].sourceAttribute
    }

    /// The entity mapping whose objects the expression requests from the manager, or nil.
    var instancesMapping: String? {
        guard case .registered(MappingFunction.destinationInstances.rawValue, let arguments) = self,
            arguments.count == 3, case .constant(.string(let name)) = arguments[1]
        else { return nil }
        return name
    }

    /// The source relationship whose migrated destinations the expression returns, or nil.
    var relatedSourceRelationship: String? {
        guard case .registered(MappingFunction.relatedInstances.rawValue, let arguments) = self, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue),
            case .constant(.string(let name)) = arguments[1]
        else { return nil }
        return name
    }
}
