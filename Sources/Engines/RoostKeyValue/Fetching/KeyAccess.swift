internal import RoostCore

/// A way to the keys of all objects that can meet a condition, without reading all objects.
indirect enum KeyAccess: Sendable {
    /// No object can meet the condition.
    case nothing
    /// These keys, ascending; there need not be objects with them.
    case keys([Int64])
    /// The objects of some entries of an index or a uniqueness constraint.
    case entries(IndexEntries)
    /// The objects whose to-one relationship, given by number, refers to one of these keys.
    case references(Int, to: [Int64])
    /// The objects that refer by a relationship to at least so many of the objects that a request
    /// finds.
    case sources(ManagedObjectModel.Relationship, of: FetchRequest, atLeast: Int)
    /// The objects of any of these.
    case union([KeyAccess])
}

/// Entries of one index or uniqueness constraint.
struct IndexEntries: Sendable {
    let space: KeySpace
    /// The index or constraint, and its properties in order.
    let values: StorePlan.Values
    /// The name in the model; of a constraint, its properties.
    let name: String
    /// Whole keys; ascending, and none overlaps another.
    var ranges: [KeyRange]
    /// The number of leading properties that have one value in all these entries.
    var equalCount: Int
    /// The number of leading properties with listed values, from which the ranges are made.
    var listCount: Int
}

/// The quality of an access: lower ranks are expected to find fewer objects.
///
/// It uses no statistics. The order: nothing; given keys; a whole uniqueness constraint;
/// equality, better with more properties, and a relationship to given objects; several values,
/// better with more properties, then with fewer values; a prefix; a range; a range without an end;
/// objects by way of other objects that must be found by reading all of them. An access through a
/// relationship is as good as the access to the related objects, but not better than several
/// values. OR is as good as its worst part.
struct AccessRank: Comparable, Sendable {
    enum Kind: Int, Sendable { case nothing, keys, unique, equality, several, prefix, range, halfRange, scanOfOthers }

    var kind: Kind
    /// Within a kind.
    var detail = 0

    static func < (left: Self, right: Self) -> Bool {
        (left.kind.rawValue, left.detail) < (right.kind.rawValue, right.detail)
    }
}

/// An access path to keys, and the conditions that it decides.
struct AccessChoice: Sendable {
    var access: KeyAccess
    var rank: AccessRank
    /// The positions of the conjuncts that every object found meets.
    var decided: Set<Int>
    /// Whether each of its entries stands for an object of the requested entity, so that counting
    /// them is enough.
    var isCountable: Bool

    /// The better of two.
    static func better(_ left: Self?, _ right: Self?) -> Self? {
        guard let left else { return right }
        guard let right else { return left }
        return right.rank < left.rank ? right : left
    }
}

extension KeyAccess {
    /// The parts, for people.
    func descriptions(_ model: ManagedObjectModel) -> [FetchPlan.Access] {
        switch self {
        case .nothing: [.nothing]
        case .keys: [.keys]
        case .entries(let entries): [.index(entries.name)]
        case .references(let number, _): [.relationship(model.relationships[number].name.description)]
        case .sources(let relationship, _, _): [.relationship(relationship.name.description)]
        case .union(let members):
            members.flatMap { $0.descriptions(model) }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
    }
}
