internal import RoostCore
internal import RoostQuery

/// A condition on related objects, from comparisons of their values with constants.
struct RelatedCondition {
    let relationship: ManagedObjectModel.Relationship
    /// The conditions on the related objects; their key paths begin at a related object.
    private(set) var predicates: [FetchRequest.Predicate]
    /// The minimum number of related objects that must match the conditions.
    let leastCount: Int
    /// The positions of the conjuncts that contain the comparisons.
    private(set) var positions: Set<Int>
    /// Whether the conjuncts are true for exactly the objects with at least `leastCount` matching
    /// related objects.
    let isExact: Bool

    /// Creates a condition from a comparison of a path, or of a subquery's count, with constants.
    ///
    /// The result is nil for any other comparison, and for one that can be true without a related
    /// object.
    init?(
        _ comparison: FetchRequest.Comparison, position: Int, entity: ManagedObjectModel.Entity,
        model: ManagedObjectModel
    ) {
        if let counted = Self.countedSubquery(comparison, entity: entity, model: model) {
            (relationship, predicates, leastCount, isExact) = (counted.0, [counted.1], counted.2, counted.3)
        } else if let (relationship, predicate) = Self.behindPath(comparison, entity: entity, model: model) {
            (self.relationship, predicates, leastCount, isExact) = (relationship, [predicate], 1, true)
        } else {
            return nil
        }
        positions = [position]
    }

    /// Creates the disjunction of conditions on one relationship; nil without conditions.
    init?(anyOf conditions: [Self]) {
        guard let first = conditions.first else { return nil }
        self = first
        guard conditions.count > 1 else { return }
        predicates = [.or(conditions.map { $0.predicates.count == 1 ? $0.predicates[0] : .and($0.predicates) })]
    }

    /// Whether one matching related object is necessary and sufficient.
    var isOfAny: Bool { leastCount == 1 && isExact }

    /// Adds the condition of another comparison on the same to-one relationship.
    mutating func add(_ other: Self) {
        guard !positions.isSuperset(of: other.positions) else { return }
        predicates += other.predicates
        positions.formUnion(other.positions)
    }

    // MARK: Paths

    /// Returns the first relationship of a path, and the condition on its destination.
    ///
    /// For `album.title == "x"`, these are `album` and `title == "x"`.
    /// For `ANY tracks.title == "x"`, these are `tracks` and `title == "x"`.
    private static func behindPath(
        _ comparison: FetchRequest.Comparison, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) -> (ManagedObjectModel.Relationship, FetchRequest.Predicate)? {
        guard case .keyPath(let names) = comparison.left, let values = comparison.constants,
            let path = path(names, entity: entity, model: model), path.collectionOperator == nil,
            let first = path.relationships.first
        else { return nil }
        let isMany = path.relationships.dropFirst().contains(where: \.isToMany)
        if first.isToMany {
            guard comparison.modifier == .any else { return nil }
        } else {
            // Without a related object, the path is null. The access misses such objects, so null must not match.
            guard comparison.modifier == (isMany ? .any : .direct), comparison.operator != .notEqual,
                !values.contains(where: \.isNull)
            else { return nil }
        }
        var inner = comparison
        let rest = Array(names.dropFirst())
        inner.left = rest.isEmpty ? .evaluatedObject : .keyPath(rest)
        inner.modifier = isMany ? .any : .direct
        return (first, .comparison(inner))
    }

    private static func path(
        _ names: [String], entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) -> ResolvedPath? {
        do throws(StoreError) {
            return try ResolvedPath(names, from: entity.number, model: model)
        } catch {
            return nil
        }
    }

    // MARK: Subqueries

    /// Returns the relationship, the condition and the minimum count of a counted subquery.
    ///
    /// For `SUBQUERY(tracks, $t, $t.loved == YES).@count > 2`, these are `tracks`, `loved == YES`
    /// and 3.
    private static func countedSubquery(
        _ comparison: FetchRequest.Comparison, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) -> (ManagedObjectModel.Relationship, FetchRequest.Predicate, Int, isExact: Bool)? {
        guard comparison.modifier == .direct, case .constant(.int(let number)) = comparison.right,
            let subquery = counted(comparison.left),
            case .subquery(.keyPath(let names), let variable, let predicate) = subquery,
            let path = path(names, entity: entity, model: model), path.collectionOperator == nil,
            path.relationships.count == 1,
            case .object = path.end, let relationship = path.relationships.first, relationship.isToMany,
            let inner = predicate.seen(from: variable)
        else { return nil }
        let least: Int64
        var isExact = true
        switch comparison.operator {
        case .greater: least = number.addingReportingOverflow(1).partialValue
        case .greaterOrEqual: least = number
        case .notEqual where number == 0: least = 1
        case .equal: (least, isExact) = (number, false)
        default: return nil
        }
        guard least >= 1, let least = Int(exactly: least) else { return nil }
        return (relationship, inner, least, isExact)
    }

    /// Returns the collection whose elements an expression counts, or nil.
    private static func counted(_ expression: FetchRequest.Expression) -> FetchRequest.Expression? {
        switch expression {
        case .path(of: let inner, [FetchRequest.CollectionOperator.count.rawValue]): inner
        case .function(.count, let arguments): arguments.count == 1 ? arguments[0] : nil
        case .element(of: let inner, .size): inner
        default: nil
        }
    }
}

extension FetchRequest.Predicate {
    /// Returns the predicate relative to a variable's object; nil if that is impossible.
    fileprivate func seen(from variable: String) -> Self? {
        switch self {
        case .constant: return self
        case .not(let member): return member.seen(from: variable).map { .not($0) }
        case .and(let members): return Self.seen(members, from: variable).map { .and($0) }
        case .or(let members): return Self.seen(members, from: variable).map { .or($0) }
        case .comparison(var comparison):
            guard let left = comparison.left.seen(from: variable), let right = comparison.right.seen(from: variable)
            else {
                return nil
            }
            (comparison.left, comparison.right) = (left, right)
            return .comparison(comparison)
        }
    }

    private static func seen(_ members: [Self], from variable: String) -> [Self]? {
        var result: [Self] = []
        for member in members {
            guard let member = member.seen(from: variable) else { return nil }
            result.append(member)
        }
        return result
    }
}

extension FetchRequest.Expression {
    fileprivate func seen(from variable: String) -> Self? {
        switch self {
        case .constant: return self
        case .variable(variable): return .evaluatedObject
        case .path(of: .variable(variable), let names): return .keyPath(names)
        case .path(of: let inner, let names): return inner.seen(from: variable).map { .path(of: $0, names) }
        case .aggregate(let members): return Self.seen(members, from: variable).map { .aggregate($0) }
        // A separate fetch would use another time for `now()`.
        case .function(.now, _): return nil
        case .function(let function, let arguments):
            return Self.seen(arguments, from: variable).map { .function(function, $0) }
        case .cast(let inner, let type): return inner.seen(from: variable).map { .cast($0, type) }
        // These expressions are rare. A condition with one of them is evaluated for each object.
        case .evaluatedObject, .keyPath, .variable, .registered, .subquery, .conditional, .element, .setOperation:
            return nil
        }
    }

    private static func seen(_ members: [Self], from variable: String) -> [Self]? {
        var result: [Self] = []
        for member in members {
            guard let member = member.seen(from: variable) else { return nil }
            result.append(member)
        }
        return result
    }
}
