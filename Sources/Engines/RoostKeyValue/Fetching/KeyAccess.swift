internal import RoostCore

/// A way to find the keys of the objects that can match a condition, without reading all objects.
indirect enum KeyAccess: Sendable {
    /// No object can meet the condition.
    case nothing
    /// The given keys in ascending order; some may belong to no object.
    case keys([Int64])
    /// The objects of some entries of an index or a uniqueness constraint.
    case entries(IndexEntries)
    /// The objects whose to-one relationship, given by number, refers to one of these keys.
    case references(Int, to: [Int64])
    /// The sources of a relationship that have at least the given number of destinations among the
    /// objects that match a request.
    case sources(ManagedObjectModel.Relationship, of: FetchRequest, atLeast: Int)
    /// The objects that at least one of the accesses finds.
    case union([KeyAccess])
}

struct IndexEntries: Sendable {
    let space: KeySpace
    let values: StorePlan.Values
    /// The name in the model; for a constraint, the names of its properties.
    let name: String
    /// Ranges of complete storage keys, ascending and without overlaps.
    var ranges: [KeyRange]
    /// The number of leading properties that have one value in all these entries.
    var equalCount: Int
    /// The number of leading properties with a list of possible values.
    ///
    /// Each range has one combination of these values.
    var listCount: Int
}

/// The rank of an access: lower ranks are expected to find fewer objects.
///
/// Ranks use no statistics. The order, from the lowest rank:
///
/// - nothing
/// - given keys
/// - one value for each property of a uniqueness constraint
/// - equality with one value (more properties first), or a relationship to one given object
/// - equality with one of several values (more properties first, then fewer values)
/// - a prefix
/// - a range
/// - a range with one bound
/// - related objects, if all objects of their entity must be read to find them
///
/// An access through related objects has the rank of the access that finds these objects. An OR has
/// the rank of its worst member. Both have at least the rank of several values.
struct AccessRank: Comparable, Sendable {
    enum Kind: Int, Sendable { case nothing, keys, unique, equality, several, prefix, range, halfRange, scanOfOthers }

    var kind: Kind
    var detail = 0

    static func < (left: Self, right: Self) -> Bool {
        (left.kind.rawValue, left.detail) < (right.kind.rawValue, right.detail)
    }
}

struct AccessChoice: Sendable {
    var access: KeyAccess
    var rank: AccessRank
    /// The positions of the conjuncts that are true for all objects found.
    var decided: Set<Int>
    /// Whether each key found belongs to an existing object of the requested entity, so that keys
    /// can be counted.
    var isCountable: Bool

    static func better(_ left: Self?, _ right: Self?) -> Self? {
        guard let left else { return right }
        guard let right else { return left }
        return right.rank < left.rank ? right : left
    }
}

extension KeyAccess {
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
