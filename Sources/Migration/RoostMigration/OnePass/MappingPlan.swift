internal import RoostCore

/// A mapping model resolved against two models: what becomes of each object and of each pair of
/// objects, in one pass over the source.
///
/// Where ``obstacles`` is not empty, one pass cannot do it.
struct MappingPlan: Sendable {
    /// An entity mapping that makes an object of each object it takes.
    struct Maker: Sendable {
        /// The position in ``MappingPlan/makers``.
        let number: Int
        /// The position in the mapping model.
        let mapping: Int
        let source: ManagedObjectModel.Entity
        let destination: ManagedObjectModel.Entity
        /// The predicate that selects its objects; nil for all of the entity.
        let filter: FetchRequest.Predicate?
        /// The plans for the attributes.
        var fields: [FieldPlan] = []
        /// The plans for the to-one relationships.
        var references: [ReferencePlan] = []
        /// The to-one relationships whose pairs only the inverse has in the source.
        var backReferences: [BackReferencePlan] = []
        /// The mandatory attributes that no object can have a value for.
        var missing: [String] = []
    }

    /// The destinations of one maker's objects that must be counted.
    struct CountedOrigin: Sendable {
        /// The relationship of the destination, and the source relationship that it comes from.
        let relationship: Int
        let origin: Int
        /// The number of the maker.
        let maker: Int
        /// The makers of possible destinations of the relationship, and whether they take all of
        /// the origin's destinations.
        let takers: [Maker]
        let takesAll: Bool
    }

    /// The objects of one hierarchy of the destination: they come from one hierarchy of the source.
    struct Hierarchy: Sendable {
        let destination: Int
        /// The entity whose objects, those of subentities included, are read; nil where nothing
        /// becomes an object of the hierarchy.
        let source: Int?
        /// The makers, by the number of their source entity.
        let makers: [Int: Int]
    }

    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let mapping: MappingModel
    /// Whether it is for three passes, which resolve everything but attributes by themselves.
    let isForThreePasses: Bool
    private(set) var makers: [Maker] = []
    private(set) var hierarchies: [Hierarchy] = []
    var links: [LinkPlan] = []
    /// The to-many relationships whose objects must be counted afterwards: their limits are
    /// narrower than before, or objects of theirs may be left out.
    var countedRelationships: [Int] = []
    /// The pairs of to-one relationships to collect before anything is sent.
    private(set) var backPairs: [BackPairs] = []
    /// The origins of the destinations that these relationships count, where a relationship of the
    /// source determines them.
    var countedOrigins: [CountedOrigin] = []
    /// The sets of makers whose objects' keys must be known before anything is sent.
    private(set) var keySets: [[Int]] = []
    /// The reasons why objects cannot be migrated one by one in one pass; empty if they can.
    private(set) var obstacles: [String] = []

    /// Resolves a mapping model.
    ///
    /// - Parameters:
    ///   - mapping: The mapping model.
    ///   - source: The model of the source.
    ///   - destination: The new model.
    ///   - onlyAttributes: Whether the makers' attributes are resolved whatever the obstacles, and
    ///     nothing else: for three passes.
    /// - Throws: `unknownEntity`, `unknownProperty`, and what keeps an expression or a predicate
    ///   from being compiled.
    init(
        _ mapping: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel,
        onlyAttributes: Bool = false
    ) throws(StoreError) {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        isForThreePasses = onlyAttributes
        for (index, entityMapping) in mapping.entityMappings.enumerated() {
            if let policy = entityMapping.policyName {
                addObstacle("mapping '\(entityMapping.name)' has the policy '\(policy)'")
            }
            guard let from = entityMapping.sourceEntity, let to = entityMapping.destinationEntity else { continue }
            let entity = try source.requireEntity(from)
            guard !entity.isAbstract else { continue }
            makers.append(
                Maker(
                    number: makers.count, mapping: index, source: entity,
                    destination: try destination.requireEntity(to),
                    filter: entityMapping.sourcePredicate))
        }
        guard !onlyAttributes else {
            for number in makers.indices { try resolveAttributes(of: number) }
            return
        }
        resolveHierarchies()
        guard obstacles.isEmpty else { return }
        for number in makers.indices { try resolveAttributes(of: number) }
        for number in makers.indices { resolveReferences(of: number) }
        for relationship in destination.linkRelationships { resolveLinks(of: relationship) }
        for relationship in destination.relationships where relationship.isToMany { resolveCounts(of: relationship) }
    }

    /// The entity mapping of a maker.
    func entityMapping(of maker: Maker) -> EntityMapping { mapping.entityMappings[maker.mapping] }

    /// The position of pairs in ``backPairs``.
    mutating func number(of pairs: BackPairs) -> Int {
        if let known = backPairs.firstIndex(of: pairs) { return known }
        backPairs.append(pairs)
        return backPairs.count - 1
    }

    /// Whether expressions or predicates may look at more than one object at a time.
    var asksForObjects: Bool {
        makers.contains { maker in
            maker.filter != nil
                || maker.fields.contains { field in
                    switch field.source {
                    case .expression: return true
                    case .presence(let values):
                        return values.contains { if case .expression = $0 { true } else { false } }
                    default: return false
                    }
                }
        }
    }

    mutating func addObstacle(_ reason: String) {
        if !obstacles.contains(reason) { obstacles.append(reason) }
    }

    mutating func update(_ number: Int, _ change: (inout Maker) -> Void) { change(&makers[number]) }

    // MARK: Hierarchies

    /// Finds the source of the objects of each hierarchy of the destination; each must keep its
    /// key.
    private mutating func resolveHierarchies() {
        for root in destination.roots {
            let name = destination.entities[root].name
            var bySource: [Int: Int] = [:]
            for maker in makers where maker.destination.root == root {
                if bySource.updateValue(maker.number, forKey: maker.source.number) != nil {
                    addObstacle(
                        "several mappings take objects of '\(maker.source.name)' into the hierarchy of '\(name)', where they cannot have the same key"
                    )
                }
            }
            let roots = Set(bySource.keys.map { source.entities[$0].root })
            if roots.count > 1 {
                let names = roots.sorted().map { "'\(source.entities[$0].name)'" }.joined(separator: ", ")
                addObstacle(
                    "the hierarchy of '\(name)' takes objects of several hierarchies, those of \(names), which get new keys"
                )
            }
            hierarchies.append(
                Hierarchy(destination: root, source: commonEntity(of: Array(bySource.keys)), makers: bySource))
        }
    }

    /// Returns the nearest source entity that includes all of some entities of one hierarchy, or
    /// nil.
    private func commonEntity(of entities: [Int]) -> Int? {
        guard var common = entities.first else { return nil }
        while !entities.allSatisfy(source.entities[common].includes) {
            guard let parent = source.entities[common].superentity else { return common }
            common = parent
        }
        return common
    }

    // MARK: Selection of objects

    /// The objects that become others.
    enum KeySelection: Sendable, Hashable {
        /// All.
        case all
        /// Those whose keys are in the set with this number.
        case keys(Int)
    }

    /// Returns the objects of a source entity, those of subentities included, that some makers
    /// take; nil for none.
    mutating func taken(of entity: ManagedObjectModel.Entity, by makers: [Maker]) -> KeySelection? {
        guard !makers.isEmpty else { return nil }
        let whole = Set(makers.filter { $0.filter == nil }.map(\.source.number))
        let isAll = entity.selfAndSubentities.allSatisfy { whole.contains($0) || source.entities[$0].isAbstract }
        return isAll ? .all : .keys(keySet(of: makers))
    }

    /// Returns the number of the set of keys of the objects that some makers take.
    mutating func keySet(of makers: [Maker]) -> Int {
        let numbers = makers.map(\.number).sorted()
        if let known = keySets.firstIndex(of: numbers) { return known }
        keySets.append(numbers)
        return keySets.count - 1
    }
}

/// The plan for one field of the destination.
struct FieldPlan: Sendable {
    /// The origin of a value.
    enum Source: Sendable {
        /// The same value for every object.
        case constant(Value)
        /// The bytes of a field of the source object, which is of the same kind.
        case move(RecordLayout.Field)
        /// The value of a field of another kind.
        case convert(RecordLayout.Field)
        /// The value of an expression about the source object.
        case expression(FetchRequest.Expression)
        /// The successor of the object that an object-ID attribute names.
        case objectID(RecordLayout.Field)
        /// The presence of a composite, which exists if one of the values mapped to its elements
        /// exists.
        case presence([Presence])
    }

    /// A value that makes a composite exist.
    enum Presence: Sendable {
        case constant(Value)
        case field(RecordLayout.Field)
        case expression(FetchRequest.Expression)
    }

    let to: RecordLayout.Field
    let source: Source
    /// The composite that the field is an element of, without which it has no value.
    var marker: RecordLayout.Field?
    /// The value that replaces null.
    var fallback: Value?
    /// Whether the migration fails for null.
    var isRequired = false
}

/// The plan for a to-one relationship.
struct ReferencePlan: Sendable {
    /// The field, and the field for its place in the ordered inverse.
    let to: RecordLayout.Field
    let order: RecordLayout.Field?
    /// The field of the source object, and the field of its place; without one, the place is the
    /// object's key.
    let from: RecordLayout.Field
    let orderFrom: RecordLayout.Field?
    /// For each source entity, by number, the number of the entity that its objects become.
    ///
    /// It is −1 if they become objects of no entity that fits.
    let targets: [Int32]
    /// By the number of the source entity: the set of the keys of the objects that become others;
    /// −1 if all do.
    let keySets: [Int32]
    /// Whether the field's bytes stay as they are: every object becomes another one, with the same
    /// number for its entity.
    let isMove: Bool
    /// Whether the migration fails if the object that is referred to becomes none.
    let isRequired: Bool
    /// Whether it also fails if an object refers to nothing, because the relationship was not
    /// mandatory before.
    let isNewlyRequired: Bool
    /// The source relationship at one end of a one-to-one pair, if the other end is not kept.
    ///
    /// Pairs that only the other end has count too.
    var oneToOne: Int?
}

/// The plan for a relationship with links.
struct LinkPlan: Sendable {
    /// The relationship that owns the links.
    let relationship: ManagedObjectModel.Relationship
    /// The pairs that become links, seen from the relationship's source.
    let relation: SourceRelation
    /// The objects at either end that become others.
    let sources: MappingPlan.KeySelection
    let targets: MappingPlan.KeySelection
}
