internal import RoostCore
internal import RoostMigration

extension FetchRequest.Expression {
    /// The expression with paths like `title` and `SELF.title` changed to `$source.title`.
    ///
    /// Core Data evaluates the expressions of a mapping model on the source object. Recursion is
    /// safe, because ``ArchivedExpression`` limits the depth.
    var ofSource: Self {
        let source = Self.variable(MappingVariable.source.rawValue)
        switch self {
        case .constant, .variable: return self
        case .evaluatedObject: return source
        case .keyPath(let names): return .path(of: source, names)
        case .path(of: let base, let names):
            let base = base.ofSource
            guard case .path(of: let start, let first) = base else { return .path(of: base, names) }
            return .path(of: start, first + names)
        case .aggregate(let members): return .aggregate(members.map(\.ofSource))
        case .function(let function, let arguments): return .function(function, arguments.map(\.ofSource))
        case .registered(let name, let arguments): return .registered(name, arguments.map(\.ofSource))
        case .cast(let operand, let type): return .cast(operand.ofSource, type)
        case .subquery(let collection, let variable, let predicate):
            // A variable with the name `source` hides the source object.
            let isHidden = variable == MappingVariable.source.rawValue
            return .subquery(collection.ofSource, variable: variable, isHidden ? predicate : predicate.ofSource)
        case .conditional(let condition, let first, let second):
            return .conditional(condition.ofSource, first.ofSource, second.ofSource)
        case .element(of: let base, let index):
            guard case .position(let position) = index else { return .element(of: base.ofSource, index) }
            return .element(of: base.ofSource, .position(position.ofSource))
        case .setOperation(let operation, let first, let second):
            return .setOperation(operation, first.ofSource, second.ofSource)
        }
    }
}

extension FetchRequest.Predicate {
    fileprivate var ofSource: Self {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            (comparison.left, comparison.right) = (comparison.left.ofSource, comparison.right.ofSource)
            return .comparison(comparison)
        case .and(let members): return .and(members.map(\.ofSource))
        case .or(let members): return .or(members.map(\.ofSource))
        case .not(let member): return .not(member.ofSource)
        }
    }
}
