internal import RoostCore

/// An access to the keys of all objects that can match a condition, without reading all objects.
indirect enum KeyAccess: Sendable {
    /// No object can meet the condition.
    case nothing
    /// The given keys in ascending order; some may belong to no object.
    case keys([Int64])
    /// The objects of some entries of an index or a uniqueness constraint.
    case entries(IndexEntries)
    /// The objects whose to-one relationship, given by number, refers to one of these keys.
    case references(Int, to: [Int64])
    /// The objects that a relationship connects with at least the given number of a request's
    /// results.
    case sources(ManagedObjectModel.Relationship, of: FetchRequest, atLeast: Int)
    /// The objects of at least one of the accesses.
    case union([KeyAccess])
}

/// Entries of one index or uniqueness constraint.
struct IndexEntries: Sendable {
    let space: KeySpace
    /// The index or constraint, and its properties in order.
    let values: StorePlan.Values
    /// The name in the model; for a constraint, the names of its properties.
    let name: String
    /// Ranges of whole keys, ascending and without overlaps.
    var ranges: [KeyRange]
    /// The number of leading properties that have one value in all these entries.
    var equalCount: Int
    /// The number of leading properties with listed values.
    ///
    /// The ranges are combinations of these values.
    var listCount: Int
}

/// The rank of an access: lower ranks are expected to find fewer objects.
///
/// Ranks use no statistics. The order, from the lowest rank:
///
/// - nothing
/// - given keys
/// - one value for each property of a uniqueness constraint
/// - equality, more properties first, and a relationship to one given object
/// - several values, more properties first, then fewer values
/// - a prefix
/// - a range
/// - a range with one bound
/// - related objects that are found only by reading all of them
///
/// An access through conditions on related objects has the rank of the access to the related
/// objects, but at least the rank of several values. An OR of several members has the rank of its
/// worst member, but at least the rank of several values.
struct AccessRank: Comparable, Sendable {
    enum Kind: Int, Sendable { case nothing, keys, unique, equality, several, prefix, range, halfRange, scanOfOthers }

    var kind: Kind
    /// The rank within a kind.
    var detail = 0

    static func < (left: Self, right: Self) -> Bool {
        (left.kind.rawValue, left.detail) < (right.kind.rawValue, right.detail)
    }
}

/// An access to keys, and the conditions that it decides.
struct AccessChoice: Sendable {
    var access: KeyAccess
    var rank: AccessRank
    /// The positions of the conjuncts that are true for all objects found.
    var decided: Set<Int>
    /// Whether each entry belongs to an object of the requested entity, so that counting the
    /// entries is sufficient.
    var isCountable: Bool

    /// Returns the better of two accesses.
    static func better(_ left: Self?, _ right: Self?) -> Self? {
        guard let left else { return right }
        guard let right else { return left }
        return right.rank < left.rank ? right : left
    }
}

extension KeyAccess {
    /// Returns the parts of the access for the description of a plan.
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
