internal import RoostCore

extension ArchivedExpression {
    /// Translates an archived `NSPredicate` in a SUBQUERY or TERNARY.
    mutating func predicate(_ object: ArchivedObject, depth: Int) throws(StoreError) -> FetchRequest.Predicate {
        try enter(depth: depth)
        switch try object.className {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate": return try compound(object, depth: depth + 1)
        case "NSComparisonPredicate": return try comparison(object, depth: depth + 1)
        case let name: throw Self.untranslatable("a predicate of class \(name)")
        }
    }

    private mutating func compound(_ object: ArchivedObject, depth: Int) throws(StoreError) -> FetchRequest.Predicate {
        var members: [FetchRequest.Predicate] = []
        for node in try object.list("NSSubpredicates") {
            members.append(try predicate(try Self.required(node.object, what: "a predicate"), depth: depth))
        }
        switch try object.integer("NSCompoundPredicateType") {
        case 0 where members.count == 1: return .not(members[0])
        case 1: return .and(members)
        case 2: return .or(members)
        default: throw StoreError(.corrupted, "a predicate in it is incomplete")
        }
    }

    private mutating func comparison(
        _ object: ArchivedObject, depth: Int
    ) throws(StoreError) -> FetchRequest.Predicate {
        let archived = try Self.part(object, field: "NSPredicateOperator", of: "a comparison")
        let modifiers: [Int64: FetchRequest.Comparison.Modifier] = [0: .direct, 1: .all, 2: .any]
        let modifier = modifiers[try archived.integer("NSModifier") ?? 0]
        return .comparison(
            FetchRequest.Comparison(
                left: try expression(
                    .object(try Self.part(object, field: "NSLeftExpression", of: "a comparison")), depth: depth),
                operator: try Self.operation(archived),
                right: try expression(
                    .object(try Self.part(object, field: "NSRightExpression", of: "a comparison")), depth: depth),
                modifier: try Self.required(modifier, what: "a comparison"), options: try Self.options(archived)))
    }

    private static func operation(_ archived: ArchivedObject) throws(StoreError) -> FetchRequest.Comparison.Operator {
        switch try required(try archived.integer("NSOperatorType"), what: "a comparison") {
        case 0: return .less
        case 1: return .lessOrEqual
        case 2: return .greater
        case 3: return .greaterOrEqual
        case 4: return .equal
        case 5: return .notEqual
        case 6: return .matches
        case 7: return .like
        case 8: return .beginsWith
        case 9: return .endsWith
        case 10: return .isIn
        case 99: return .contains
        case 100: return .between
        case 11: throw untranslatable("a comparison that calls a method of a class")
        case let type: throw untranslatable("a comparison of type \(type)")
        }
    }

    private static func options(_ archived: ArchivedObject) throws(StoreError) -> FetchRequest.Comparison.Options {
        let known: FetchRequest.Comparison.Options = [
            .caseInsensitive, .diacriticInsensitive, .normalized, .localized,
        ]
        return known.intersection(.init(rawValue: Int(truncatingIfNeeded: try archived.comparisonOptions)))
    }
}
