internal import RoostCore

/// A valid comparison of an object's own field with a constant, in a form that needs no compiler.
///
/// The results are the same as with ``PredicateCompiler``.
struct FieldComparison {
    let entity: Int
    let field: RecordLayout.Field
    let operation: FetchRequest.Comparison.Operator
    let constant: PredicateConstant

    private static let mostComparisons = 8

    /// Creates a comparison; nil for an invalid comparison or another form.
    init?(_ comparison: FetchRequest.Comparison, of entity: ManagedObjectModel.Entity, model: ManagedObjectModel) {
        guard comparison.modifier == .direct, case .keyPath(let names) = comparison.left, names.count == 1,
            case .constant(let value) = comparison.right, let field = entity.layout.field(names[0]),
            Self.isComparable(field.kind, operation: comparison.operator, value: value, options: comparison.options)
        else { return nil }
        self.entity = entity.number
        self.field = field
        operation = comparison.operator
        constant = PredicateConstant(value, model: model)
    }

    /// Returns the comparisons whose conjunction is the predicate; nil for any other predicate.
    static func all(
        _ predicate: FetchRequest.Predicate?, of entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) -> [Self]? {
        switch predicate {
        case nil: return []
        case .comparison(let comparison): return Self(comparison, of: entity, model: model).map { [$0] }
        case .and(let members) where members.count <= mostComparisons:
            var comparisons: [Self] = []
            for member in members {
                guard case .comparison(let comparison) = member,
                    let known = Self(comparison, of: entity, model: model)
                else { return nil }
                comparisons.append(known)
            }
            return comparisons
        default: return nil
        }
    }

    private static func isComparable(
        _ kind: RecordLayout.Field.Kind, operation: FetchRequest.Comparison.Operator, value: Value,
        options: FetchRequest.Comparison.Options
    ) -> Bool {
        let isEquality: Bool
        switch operation {
        case .equal, .notEqual: isEquality = true
        case .less, .lessOrEqual, .greater, .greaterOrEqual: isEquality = false
        case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches: return false
        }
        switch (kind, value) {
        case (.integer64, .int), (.integer64, .bool), (.integer64, .double),
            (.integer32, .int), (.integer32, .bool), (.integer32, .double),
            (.integer16, .int), (.integer16, .bool), (.integer16, .double),
            (.boolean, .int), (.boolean, .bool), (.boolean, .double),
            (.double, .int), (.double, .bool), (.double, .double),
            (.float, .int), (.float, .bool), (.float, .double), (.date, .date):
            return true
        case (.reference, .objectID), (.uuid, .uuid), (.data, .data), (_, .null): return isEquality
        // Text is supported only if the options require no folding.
        case (.string, .string), (.string, .uri), (.uri, .string), (.uri, .uri):
            return isEquality && options.subtracting([.normalized, .localized]).isEmpty
        default: return false
        }
    }
}
