public import RoostCore

extension FetchRequest.Predicate {
    /// Both.
    public static func && (left: Self, right: Self) -> Self {
        if case .and(let members) = left { return .and(members + [right]) }
        return .and([left, right])
    }
    /// Either or both.
    public static func || (left: Self, right: Self) -> Self {
        if case .or(let members) = left { return .or(members + [right]) }
        return .or([left, right])
    }
    /// The opposite.
    public static prefix func ! (predicate: Self) -> Self { .not(predicate) }
}
