internal import Foundation
internal import RoostCore

/// The changes that a fault makes to predicates before a sound store gets them.
struct FaultyPredicates {
    private typealias Predicate = FetchRequest.Predicate
    private typealias Expression = FetchRequest.Expression

    private let fault: FaultyStoreType.Fault

    init(_ fault: FaultyStoreType.Fault) { self.fault = fault }

    func altered(_ predicate: FetchRequest.Predicate) -> FetchRequest.Predicate {
        switch predicate {
        case .constant: return predicate
        case .not(let member): return .not(altered(member))
        case .and(let members): return .and(members.map(altered))
        case .or(let members):
            let members = members.map(altered)
            // a OR b AND c is read as (a OR b) AND c.
            guard fault == .bindsOrTighter, case .and(let last)? = members.last, let first = last.first else {
                return .or(members)
            }
            return .and([.or(members.dropLast() + [first])] + last.dropFirst())
        case .comparison(let comparison): return altered(comparison)
        }
    }

    private func altered(_ original: FetchRequest.Comparison) -> FetchRequest.Predicate {
        var comparison = original
        comparison.left = altered(original.left)
        comparison.right = altered(original.right)
        switch fault {
        case .foldsASCIIOnly where original.options.contains(.caseInsensitive):
            if case .constant(let value) = comparison.right, let text = value.plainText,
                !text.utf8.allSatisfy({ $0 < 0x80 })
            {
                comparison.options.remove(.caseInsensitive)
            }
        case .ignoresQuantifiers where comparison.modifier == .all: comparison.modifier = .any
        case .takesPatternsLiterally where comparison.operator == .like:
            if case .constant(let value) = comparison.right, let text = value.plainText {
                let escaped = text.map { "*?\\".contains($0) ? "\\\($0)" : String($0) }.joined()
                comparison.right = .constant(.string(escaped))
            }
        case .partsSubqueries:
            // Counts the objects that meet the first condition, and requires an object for each of
            // the other conditions.
            if case .path(.subquery(let elements, let name, .and(let members)), let names) = comparison.left,
                let first = members.first
            {
                let others = members.dropFirst().map { member in
                    FetchRequest.Predicate.comparison(
                        .init(
                            left: .path(of: .subquery(elements, variable: name, member), names), operator: .greater,
                            right: .constant(.int(0))))
                }
                comparison.left = .path(of: .subquery(elements, variable: name, first), names)
                return .and([.comparison(comparison)] + others)
            }
        default: break
        }
        return .comparison(comparison)
    }

    private func altered(_ expression: FetchRequest.Expression) -> FetchRequest.Expression {
        switch (fault, expression) {
        case (.dividesWholeNumbers, .function(.divide, let arguments)):
            .function(.truncate, [.function(.divide, arguments)])
        case (.leavesNullsOut, .keyPath(let names)) where names.last == "@count" && names.count > 2:
            .element(
                of: .keyPath(
                    Array(names.dropLast(2)) + ["@unionOfObjects"] + Array(names.dropLast().suffix(1))), .size)
        default: expression
        }
    }
}
