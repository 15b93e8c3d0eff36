internal import RoostCore

/// The hierarchies whose objects a request reads, found by the names in the request's paths.
///
/// There may be too many hierarchies, but never too few.
struct RequestReach {
    let root: Int
    /// The roots of the hierarchies of related objects.
    let followedRoots: Set<Int>
    /// The numbers of the relationships that the request follows, or nil if a path may begin at an
    /// object other than the evaluated object.
    let followed: [Int]?

    init(_ request: FetchRequest, entity: ManagedObjectModel.Entity, model: ManagedObjectModel) {
        root = entity.root
        var names = PathNames()
        if let predicate = request.predicate { names.collect(predicate) }
        for descriptor in request.sortDescriptors {
            names.collect(path: descriptor.key.split(separator: ".").map(String.init), isFollowed: false)
        }
        followed = names.isRooted ? names.followedRelationships(in: model).map(\.number) : nil
        followedRoots = names.followedRoots(in: model)
    }

    func includes(_ root: Int) -> Bool { root == self.root || followedRoots.contains(root) }
}

private struct PathNames {
    /// The names at which paths end.
    ///
    /// The request does not read the destinations of to-one relationships with these names.
    private var last: Set<String> = []
    /// All other names of paths.
    private var followed: Set<String> = []
    /// The entities of constant objects from which a path continues.
    private var entities: Set<EntityName> = []
    /// Whether a path continues from an object whose entity is unknown.
    private var startsAnywhere = false

    /// Whether all paths begin at the evaluated object.
    var isRooted: Bool { !startsAnywhere && entities.isEmpty }

    func followedRoots(in model: ManagedObjectModel) -> Set<Int> {
        guard !startsAnywhere else { return Set(model.entities.map(\.root)) }
        let roots = Set(entities.compactMap { model.entity($0)?.root })
        return roots.union(followedRelationships(in: model).map { model.entities[$0.destination].root })
    }

    func followedRelationships(in model: ManagedObjectModel) -> [ManagedObjectModel.Relationship] {
        model.relationships.filter { relationship in
            let name = relationship.name.name
            return followed.contains(name) || relationship.isToMany && last.contains(name)
        }
    }

    mutating func collect(path names: [String], isFollowed: Bool) {
        guard let end = names.last else { return }
        followed.formUnion(names.dropLast())
        if isFollowed { followed.insert(end) } else { last.insert(end) }
    }

    mutating func collect(_ predicate: FetchRequest.Predicate) {
        switch predicate {
        case .constant: break
        case .comparison(let comparison):
            collect(comparison.left)
            collect(comparison.right)
        case .and(let parts), .or(let parts): for part in parts { collect(part) }
        case .not(let part): collect(part)
        }
    }

    /// Collects the names in an expression.
    ///
    /// `isFollowed` is whether a path continues from the value of the expression.
    private mutating func collect(_ expression: FetchRequest.Expression, isFollowed: Bool = false) {
        switch expression {
        case .constant(.objectID(let id)): if isFollowed { entities.insert(id.entity) }
        case .constant, .evaluatedObject, .variable: break
        case .keyPath(let names): collect(path: names, isFollowed: isFollowed)
        case .path(let start, let names):
            collect(start, isFollowed: true)
            collect(path: names, isFollowed: isFollowed)
        case .aggregate(let parts): for part in parts { collect(part, isFollowed: isFollowed) }
        case .function(_, let parts), .registered(_, let parts):
            startsAnywhere = startsAnywhere || isFollowed
            for part in parts { collect(part, isFollowed: isFollowed) }
        case .cast(let part, _):
            startsAnywhere = startsAnywhere || isFollowed
            collect(part, isFollowed: isFollowed)
        case .subquery(let collection, _, let predicate):
            collect(collection, isFollowed: true)
            collect(predicate)
        case .conditional(let condition, let first, let second):
            collect(condition)
            collect(first, isFollowed: isFollowed)
            collect(second, isFollowed: isFollowed)
        case .element(let list, let index):
            collect(list, isFollowed: isFollowed)
            if case .position(let position) = index { collect(position) }
        case .setOperation(_, let first, let second):
            collect(first, isFollowed: isFollowed)
            collect(second, isFollowed: isFollowed)
        }
    }
}
