public import RoostCore

extension FetchRequest.Predicate {
    /// Returns the predicate with its variables replaced by values, except where a SUBQUERY binds
    /// them.
    ///
    /// - Parameter variables: The value of each variable, by the variable's name without `$`.
    ///   Additional values are ignored.
    /// - Returns: The predicate, in which only the variables of SUBQUERY remain.
    /// - Throws: `invalidRequest` if a variable has no value.
    public func substituting(_ variables: [String: Value]) throws(StoreError) -> Self {
        try substituting(Substitution(values: variables))
    }

    fileprivate func substituting(_ variables: Substitution) throws(StoreError) -> Self {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.substituting(variables)
            comparison.right = try comparison.right.substituting(variables)
            return .comparison(comparison)
        case .and(let members): return .and(try Self.all(members, variables: variables))
        case .or(let members): return .or(try Self.all(members, variables: variables))
        case .not(let member): return .not(try member.substituting(variables))
        }
    }

    private static func all(_ members: [Self], variables: Substitution) throws(StoreError) -> [Self] {
        var result: [Self] = []
        for member in members { result.append(try member.substituting(variables)) }
        return result
    }
}

extension FetchRequest.Expression {
    /// Replaces variables as in ``FetchRequest/Predicate/substituting(_:)``.
    package func substituting(_ variables: [String: Value]) throws(StoreError) -> Self {
        try substituting(Substitution(values: variables))
    }

    fileprivate func substituting(_ variables: Substitution) throws(StoreError) -> Self {
        switch self {
        case .constant, .evaluatedObject, .keyPath: return self
        case .variable(let name): return try variables.expression(name)
        case .path(let base, let names): return .path(of: try base.substituting(variables), names)
        case .aggregate(let members): return .aggregate(try Self.all(members, variables: variables))
        case .function(let function, let arguments):
            return .function(function, try Self.all(arguments, variables: variables))
        case .registered(let name, let arguments):
            return .registered(name, try Self.all(arguments, variables: variables))
        case .cast(let operand, let type): return .cast(try operand.substituting(variables), type)
        case .subquery(let collection, let variable, let predicate):
            return .subquery(
                try collection.substituting(variables), variable: variable,
                try predicate.substituting(variables.inside(variable)))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try condition.substituting(variables), try first.substituting(variables),
                try second.substituting(variables))
        case .element(let base, .position(let position)):
            return .element(
                of: try base.substituting(variables), .position(try position.substituting(variables)))
        case .element(let base, let index): return .element(of: try base.substituting(variables), index)
        case .setOperation(let operation, let first, let second):
            return .setOperation(
                operation, try first.substituting(variables), try second.substituting(variables))
        }
    }

    private static func all(_ members: [Self], variables: Substitution) throws(StoreError) -> [Self] {
        var result: [Self] = []
        for member in members { result.append(try member.substituting(variables)) }
        return result
    }
}

/// The values of variables, and the names that are not replaced because a SUBQUERY binds them.
private struct Substitution {
    let values: [String: Value]
    var bound: Set<String> = []

    func inside(_ variable: String) -> Self { Self(values: values, bound: bound.union([variable])) }

    func expression(_ name: String) throws(StoreError) -> FetchRequest.Expression {
        if bound.contains(name) { return .variable(name) }
        guard let value = values[name] else {
            let near = nearestName(to: name, among: values.keys.sorted())
            throw StoreError(
                .invalidRequest,
                "The predicate's variable '$\(name)' has no value\(near.map { "; did you mean '$\($0)'?" } ?? ".")")
        }
        return .constant(value)
    }
}
