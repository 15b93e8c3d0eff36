public import RoostCore

extension FetchRequest.Predicate {
    /// Returns a predicate that is true if both predicates are true.
    public static func && (left: Self, right: Self) -> Self {
        if case .and(let members) = left { return .and(members + [right]) }
        return .and([left, right])
    }
    /// Returns a predicate that is true if at least one of the predicates is true.
    public static func || (left: Self, right: Self) -> Self {
        if case .or(let members) = left { return .or(members + [right]) }
        return .or([left, right])
    }
    /// Returns a predicate that is true if the given predicate is false.
    public static prefix func ! (predicate: Self) -> Self { .not(predicate) }
}
