internal import Foundation
internal import RoostCore

/// A resolver of the names and literals in a predicate's text.
///
/// With a scope, names must be properties of the entity, and a literal gets the type of the operand
/// with which it is compared. Without a scope, names are not checked, and the notation of a literal
/// determines its type.
struct PredicateBinding {
    /// The meaning of the names in a text.
    struct Scope {
        let model: ManagedObjectModel
        let entity: ManagedObjectModel.Entity
        /// Whether a path can begin with an operator over all objects of a group: `@sum.length`.
        var isOfGroups = false
        /// The entity number of each variable of an enclosing SUBQUERY; nil for an unknown entity.
        var variables: [String: Int?] = [:]
    }

    /// The type of an operand with which a literal is compared.
    struct Target {
        var kind: RecordLayout.Field.Kind
        /// The entity number, if the operand is an object of a known entity.
        var destination: Int?
        /// The name for messages, if the operand itself is a property or an object.
        ///
        /// If set, a literal that does not fit the operand's type is an error.
        var property: String?
        /// The key path for messages, if any.
        var path: [String]?

        /// The target for a value that is computed from this operand.
        ///
        /// A literal that does not fit this target keeps the type of its notation.
        var computed: Self { Self(kind: kind, destination: destination) }
    }

    var scope: Scope?
    /// The source of positions for errors; nil without a text.
    let tokenizer: PredicateTokenizer?

    // MARK: Trees

    func predicate(_ condition: PredicateSyntax.Condition) throws(StoreError) -> FetchRequest.Predicate {
        switch condition {
        case .constant(let truth): return .constant(truth)
        case .comparison(let comparison): return .comparison(try self.comparison(comparison))
        case .and(let members): return .and(try predicates(members))
        case .or(let members): return .or(try predicates(members))
        case .not(let member): return .not(try predicate(member))
        }
    }

    private func predicates(
        _ conditions: [PredicateSyntax.Condition]
    ) throws(StoreError) -> [FetchRequest.Predicate] {
        var result: [FetchRequest.Predicate] = []
        result.reserveCapacity(conditions.count)
        for condition in conditions { result.append(try predicate(condition)) }
        return result
    }

    private func comparison(_ comparison: PredicateSyntax.Comparison) throws(StoreError) -> FetchRequest.Comparison {
        let targets = try targets(of: comparison)
        return FetchRequest.Comparison(
            left: try expression(comparison.left, meeting: targets.left), operator: comparison.operator,
            right: try expression(comparison.right, meeting: targets.right), modifier: comparison.modifier,
            options: comparison.options)
    }

    func expression(
        _ operand: PredicateSyntax.Operand, meeting target: Target? = nil
    ) throws(StoreError) -> FetchRequest.Expression {
        switch operand {
        case .literal(let literal, let place): return .constant(try value(literal, meeting: target, at: place))
        case .evaluatedObject: return .evaluatedObject
        case .variable(let name, _): return .variable(name)
        case .keyPath(let names, _):
            // Determining the shape checks the names.
            _ = try shape(of: operand)
            return .keyPath(names)
        case .path(let base, let names, _):
            _ = try shape(of: operand)
            return .path(of: try expression(base), names)
        case .cast(let operand, let type): return .cast(try expression(operand), type)
        case .subquery(let collection, let variable, let condition):
            return .subquery(
                try expression(collection), variable: variable,
                try inside(collection, variable: variable).predicate(condition))
        default: return try combination(operand, meeting: target)
        }
    }

    /// Resolves an operand that consists of other operands.
    private func combination(
        _ operand: PredicateSyntax.Operand, meeting target: Target?
    ) throws(StoreError) -> FetchRequest.Expression {
        let target = try self.target(ofMembersOf: operand, meeting: target)
        switch operand {
        case .aggregate(let members): return .aggregate(try expressions(members, meeting: target))
        case .function(let function, let arguments):
            return .function(function, try expressions(arguments, meeting: target))
        case .registered(let name, let arguments): return .registered(name, try expressions(arguments, meeting: nil))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try predicate(condition), try expression(first, meeting: target),
                try expression(second, meeting: target))
        case .setOperation(let operation, let first, let second):
            return .setOperation(
                operation, try expression(first, meeting: target), try expression(second, meeting: target))
        case .element(let base, let index):
            let base = try expression(base, meeting: target)
            switch index {
            case .first: return .element(of: base, .first)
            case .last: return .element(of: base, .last)
            case .size: return .element(of: base, .size)
            case .position(let position): return .element(of: base, .position(try expression(position)))
            }
        default: return try expression(operand, meeting: target)
        }
    }

    private func expressions(
        _ operands: [PredicateSyntax.Operand], meeting target: Target?
    ) throws(StoreError) -> [FetchRequest.Expression] {
        var result: [FetchRequest.Expression] = []
        result.reserveCapacity(operands.count)
        for operand in operands { result.append(try expression(operand, meeting: target)) }
        return result
    }

    /// Returns the binding for the condition of a SUBQUERY over a collection.
    func inside(_ collection: PredicateSyntax.Operand, variable: String) throws(StoreError) -> Self {
        guard var scope else { return self }
        scope.variables[variable] = .some(try shape(of: collection).target?.destination)
        return PredicateBinding(scope: scope, tokenizer: tokenizer)
    }
}
