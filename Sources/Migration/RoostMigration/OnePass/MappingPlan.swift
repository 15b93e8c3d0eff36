internal import RoostCore

/// A mapping model resolved against two models.
struct MappingPlan: Sendable {
    /// An entity mapping that creates one object from each object it reads.
    struct EntityPlan: Sendable {
        /// The index in ``MappingPlan/entityPlans``.
        let number: Int
        /// The index in the mapping model.
        let mapping: Int
        let source: ManagedObjectModel.Entity
        let destination: ManagedObjectModel.Entity
        /// The predicate that selects objects; nil for all.
        let filter: FetchRequest.Predicate?
        var fields: [FieldPlan] = []
        var references: [ReferencePlan] = []
        /// The to-one relationships that the source stores only in their inverses.
        var backReferences: [BackReferencePlan] = []
        /// The mandatory attributes to which the mapping gives no value.
        var missing: [String] = []
    }

    /// A source relationship whose destinations must be counted for the objects of one entity plan.
    struct CountedOrigin: Sendable {
        /// The number of the destination relationship.
        let relationship: Int
        /// The number of the source relationship.
        let origin: Int
        let entityPlan: Int
        let targetPlans: [EntityPlan]
        /// Whether ``targetPlans`` include all destination entities of the source relationship.
        let readsAllTargets: Bool
    }

    /// A destination hierarchy, whose objects come from one source hierarchy.
    struct Hierarchy: Sendable {
        let destination: Int
        /// The source entity to read, with its subentities; nil if the hierarchy stays empty.
        let source: Int?
        /// The numbers of the entity plans, by the number of their source entity.
        let entityPlans: [Int: Int]
    }

    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let mapping: MappingModel
    /// Whether the plan is for three passes, and therefore resolves only attributes.
    let isForThreePasses: Bool
    private(set) var entityPlans: [EntityPlan] = []
    private(set) var hierarchies: [Hierarchy] = []
    var links: [LinkPlan] = []
    /// The to-many relationships whose destinations are counted after the migration.
    var countedRelationships: [Int] = []
    /// The source pairs for ``EntityPlan/backReferences``, collected before any content is sent.
    private(set) var backPairs: [BackPairs] = []
    /// The source relationships whose destinations are counted for ``countedRelationships``.
    var countedOrigins: [CountedOrigin] = []
    /// The key sets to collect before any content is sent, as the numbers of their entity plans.
    ///
    /// A key set contains the keys of all source objects that its entity plans read.
    private(set) var keySets: [[Int]] = []
    /// The reasons why one pass over the source is impossible; empty if it is possible.
    private(set) var obstacles: [String] = []

    /// Resolves a mapping model.
    ///
    /// For three passes, `onlyAttributes` resolves only attributes and ignores obstacles.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, and `invalidValue` if a mapped value does not
    ///   fit its attribute.
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
            entityPlans.append(
                EntityPlan(
                    number: entityPlans.count, mapping: index, source: entity,
                    destination: try destination.requireEntity(to),
                    filter: entityMapping.sourcePredicate))
        }
        guard !onlyAttributes else {
            for number in entityPlans.indices { try resolveAttributes(of: number) }
            return
        }
        resolveHierarchies()
        guard obstacles.isEmpty else { return }
        for number in entityPlans.indices { try resolveAttributes(of: number) }
        for number in entityPlans.indices { resolveReferences(of: number) }
        for relationship in destination.linkRelationships { resolveLinks(of: relationship) }
        for relationship in destination.relationships where relationship.isToMany { resolveCounts(of: relationship) }
    }

    func entityMapping(of entityPlan: EntityPlan) -> EntityMapping { mapping.entityMappings[entityPlan.mapping] }

    /// Returns the index of pairs in ``backPairs``, after adding them if necessary.
    mutating func number(of pairs: BackPairs) -> Int {
        if let known = backPairs.firstIndex(of: pairs) { return known }
        backPairs.append(pairs)
        return backPairs.count - 1
    }

    /// Whether the plan has predicates or expressions, which may access related objects.
    var asksForObjects: Bool {
        entityPlans.contains { entityPlan in
            entityPlan.filter != nil
                || entityPlan.fields.contains { field in
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

    mutating func update(_ number: Int, _ change: (inout EntityPlan) -> Void) { change(&entityPlans[number]) }

    // MARK: Hierarchies

    /// Finds the source hierarchy of each destination hierarchy.
    ///
    /// Objects keep their keys, and a key is unique only within its hierarchy. Therefore, a
    /// destination hierarchy can have only one source hierarchy.
    private mutating func resolveHierarchies() {
        for root in destination.roots {
            let name = destination.entities[root].name
            var bySource: [Int: Int] = [:]
            for entityPlan in entityPlans where entityPlan.destination.root == root {
                if bySource.updateValue(entityPlan.number, forKey: entityPlan.source.number) != nil {
                    addObstacle(
                        "several mappings take objects of '\(entityPlan.source.name)' into the hierarchy of '\(name)', and the new objects cannot share a key"
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
                Hierarchy(destination: root, source: commonEntity(of: Array(bySource.keys)), entityPlans: bySource))
        }
    }

    /// Returns the nearest source entity that includes all given entities.
    private func commonEntity(of entities: [Int]) -> Int? {
        guard var common = entities.first else { return nil }
        while !entities.allSatisfy(source.entities[common].includes) {
            guard let parent = source.entities[common].superentity else { return common }
            common = parent
        }
        return common
    }

    // MARK: Selection of objects

    /// A selection of objects that are migrated.
    enum KeySelection: Sendable, Hashable {
        case all
        /// The objects whose keys are in the key set with this number.
        case keys(Int)
    }

    /// Returns the selection that the given entity plans read, or nil without plans.
    ///
    /// The selection is `all` if the plans read all objects of `entity` and its subentities.
    mutating func taken(of entity: ManagedObjectModel.Entity, by entityPlans: [EntityPlan]) -> KeySelection? {
        guard !entityPlans.isEmpty else { return nil }
        let whole = Set(entityPlans.filter { $0.filter == nil }.map(\.source.number))
        let isAll = entity.selfAndSubentities.allSatisfy { whole.contains($0) || source.entities[$0].isAbstract }
        return isAll ? .all : .keys(keySet(of: entityPlans))
    }

    mutating func keySet(of entityPlans: [EntityPlan]) -> Int {
        let numbers = entityPlans.map(\.number).sorted()
        if let known = keySets.firstIndex(of: numbers) { return known }
        keySets.append(numbers)
        return keySets.count - 1
    }
}

struct FieldPlan: Sendable {
    enum Source: Sendable {
        case constant(Value)
        /// The bytes of a source field of the same kind.
        case move(RecordLayout.Field)
        /// The value of a source field, converted if the kinds differ.
        case convert(RecordLayout.Field)
        case expression(FetchRequest.Expression)
        /// The new ID of the object that an object-ID attribute refers to.
        case objectID(RecordLayout.Field)
        /// The presence of a composite, which exists if one of its elements has a value.
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
    /// The composite that contains the field; if it is absent, the field is null.
    var marker: RecordLayout.Field?
    /// The value that replaces null.
    var fallback: Value?
    /// Whether null makes the migration fail.
    var isRequired = false
}

struct ReferencePlan: Sendable {
    let to: RecordLayout.Field
    /// The new object's field for its position in an ordered inverse, or nil.
    let order: RecordLayout.Field?
    let from: RecordLayout.Field
    /// The source object's field for its position, or nil to use the object's key.
    let orderFrom: RecordLayout.Field?
    /// The new entity number of the referenced objects, by source entity number.
    ///
    /// The number is −1 if the objects do not become possible destinations.
    let targets: [Int32]
    /// The numbers of the migrated objects' key sets, by source entity number; −1 without a key
    /// set.
    let keySets: [Int32]
    /// Whether the field's bytes can be copied unchanged.
    ///
    /// All possible destinations must be migrated, and the same bytes must refer to the new
    /// objects.
    let isMove: Bool
    /// Whether the migration fails if the referenced object is dropped.
    let isRequired: Bool
    /// Whether the migration also fails for a null reference, because the relationship is optional
    /// in the source.
    let isNewlyRequired: Bool
    /// The number of the source relationship if it is one-to-one and its inverse is dropped.
    ///
    /// Pairs that only the inverse stores are then migrated too.
    var oneToOne: Int?
}

struct LinkPlan: Sendable {
    /// The relationship that owns the links.
    let relationship: ManagedObjectModel.Relationship
    /// The source pairs that become links, as seen from the relationship's source.
    let relation: SourceRelation
    let sources: MappingPlan.KeySelection
    let targets: MappingPlan.KeySelection
}
