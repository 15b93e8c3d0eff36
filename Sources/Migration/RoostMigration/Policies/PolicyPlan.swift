internal import RoostCore

/// A mapping model, resolved for a migration in three passes.
final class PolicyPlan {
    let declaration: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    /// The entity mappings, in the order of the mapping model.
    private(set) var mappings: [PolicyMapping] = []
    /// The relationships that a rule sets in the first pass, with their inverses.
    private var madeAtOnce: Set<Int> = []
    private let numbers: [String: Int]
    /// The destination entity of IDs that the first pass writes, by source entity number.
    ///
    /// These IDs assume that every object keeps its key. An element is nil if no mapping creates
    /// objects from the source entity.
    private(set) var assumedEntities: [Int?] = []

    /// Resolves a mapping model, and creates its policies if `makesPolicies` is true.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidMappingModel` for an unregistered
    ///   policy, a relationship's expression that cannot give objects, or two entity mappings with
    ///   the same name; `invalidValue` if a mapped value does not fit its attribute.
    init(
        _ declaration: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel,
        policies: [String: @Sendable () -> EntityMigrationPolicy], makesPolicies: Bool = true
    ) throws(StoreError) {
        self.declaration = declaration
        self.source = source
        self.destination = destination
        var numbers: [String: Int] = [:]
        for (number, mapping) in declaration.entityMappings.enumerated() {
            guard numbers.updateValue(number, forKey: mapping.name) == nil else {
                throw StoreError(
                    .invalidMappingModel,
                    "Two entity mappings have the name '\(mapping.name)'; rename one of them.")
            }
        }
        self.numbers = numbers
        for (number, mapping) in declaration.entityMappings.enumerated() {
            mappings.append(
                try PolicyMapping(
                    number, declaration: mapping, from: source, to: destination,
                    policy: try Self.policy(mapping, policies: policies, isMade: makesPolicies)))
        }
        resolveKeys()
        let attributes = try MappingPlan(declaration, from: source, to: destination, onlyAttributes: true)
        assumedEntities = attributes.entityPlansBySource.map { $0.first?.destination.number }
        for mapping in mappings { try mapping.resolve(self, attributes: attributes) }
        for mapping in mappings { mapping.resolveWays(self) }
        // If one rule for a relationship's links works object by object, all rules for these links do. They run in
        // the order of the mappings, so the last rule takes precedence.
        let madeEach = Set(mappings.flatMap(\.rules).filter { $0.way == .each }.compactMap(\.linkOwner))
        for mapping in mappings { mapping.makeEach(of: madeEach) }
        for rule in mappings.flatMap(\.rules) where rule.way == .field {
            madeAtOnce.insert(rule.relationship.number)
            if let inverse = rule.relationship.inverse { madeAtOnce.insert(inverse) }
        }
    }

    /// Returns how a rule that is applied object by object treats existing pairs of objects.
    ///
    /// Both ends may create pairs. Pairs from the other end therefore remain if the relationship is
    /// its own inverse or has a to-one inverse. Pairs from the first pass are replaced, because
    /// they assume that every object kept its key.
    func manner(of rule: RelationshipRule) -> DestinationContent.Manner {
        guard rule.way == .each, let inverse = rule.relationship.inverse else { return .replacing }
        if destination.relationships[inverse].isToMany { return rule.relationship.isReflexive ? .adding : .replacing }
        return madeAtOnce.contains(rule.relationship.number) ? .replacing : .adding
    }

    private static func policy(
        _ mapping: EntityMapping, policies: [String: @Sendable () -> EntityMigrationPolicy], isMade: Bool
    ) throws(StoreError) -> EntityMigrationPolicy? {
        guard let name = mapping.policyName else { return nil }
        guard let make = policies[name] else {
            let hint = nearestName(to: name, among: policies.keys.sorted()).map { "did you mean '\($0)'?" }
            throw StoreError(
                .invalidMappingModel,
                "The entity mapping '\(mapping.name)' needs the policy '\(name)', which is not registered; \(hint ?? "give it in the options of the migration.")"
            )
        }
        return isMade ? make() : nil
    }

    /// Returns the mapping with the given name, or throws `invalidRequest`.
    func requireMapping(_ name: String) throws(StoreError) -> PolicyMapping {
        guard let number = numbers[name] else {
            let hint = nearestName(to: name, among: mappings.map(\.declaration.name)).map { "did you mean '\($0)'?" }
            throw StoreError(
                .invalidRequest,
                "The mapping model has no entity mapping '\(name)'; \(hint ?? "use the name of an entity mapping.")")
        }
        return mappings[number]
    }

    /// Returns the mappings between two entities, including their subentities.
    func mappings(from source: Int, to destination: Int) -> [PolicyMapping] {
        mappings.filter { mapping in
            guard let from = mapping.source, let to = mapping.destination else { return false }
            return self.source.entities[source].includes(from.number)
                && self.destination.entities[destination].includes(to.number)
        }
    }

    /// Returns whether a one-to-one relationship of a mapping's objects gets its values through its
    /// inverse.
    ///
    /// True if a mapping sets the inverse from a to-one source relationship without a to-one
    /// inverse.
    func isGivenByReferences(_ number: Int, of mapping: PolicyMapping) -> Bool {
        guard let inverse = destination.relationships[number].inverse, inverse != number,
            destination.relationships[number].storage == .field, destination.relationships[inverse].storage == .field,
            let entity = mapping.source
        else { return false }
        return mappings.contains { other in
            guard case .related(let related, _)? = other.rule(of: inverse)?.origin, related.storage == .field,
                source.entities[related.destination].includes(entity.number)
            else { return false }
            return related.inverse.map { source.relationships[$0].storage != .field } ?? true
        }
    }

    // MARK: Keys

    /// Lets objects keep their keys in each destination hierarchy whose objects come from only one
    /// source hierarchy.
    private func resolveKeys() {
        for root in destination.roots {
            let creators = mappings.filter { $0.source != nil && $0.destination?.root == root }
            guard Set(creators.compactMap { $0.source?.root }).count == 1 else { continue }
            for creator in creators {
                creator.keepsKeys = true
                creator.siblings = creators.filter {
                    $0.number != creator.number && $0.source?.number == creator.source?.number
                }
                .map(\.number)
            }
        }
    }

    /// Returns the highest source key that can be reused, by destination root entity.
    func lastKeys(_ snapshot: any StoreSnapshot) throws(StoreError) -> [Int: Int64] {
        var keys: [Int: Int64] = [:]
        for mapping in mappings where mapping.keepsKeys {
            guard let from = mapping.source, let root = mapping.destination?.root else { continue }
            keys[root] = max(keys[root] ?? 0, try snapshot.lastKey(of: from.name))
        }
        return keys
    }
}

/// One entity mapping of a migration in three passes.
final class PolicyMapping {
    let number: Int
    let declaration: EntityMapping
    let source: ManagedObjectModel.Entity?
    let destination: ManagedObjectModel.Entity?
    let policy: EntityMigrationPolicy?
    /// Whether a new object gets the key of its source object if that key is free.
    var keepsKeys = false
    /// The numbers of the other mappings from this source entity to this destination hierarchy.
    var siblings: [Int] = []
    private(set) var rules: [RelationshipRule] = []
    private var attributes: StandardAttributes?
    /// The highest source key that a new object has received.
    private var lastKeptKey: Int64 = 0
    var readCount = 0
    /// The number of objects that the standard behavior created.
    private(set) var standardCount = 0
    /// The number of IDs that became null after the first pass, by attribute.
    var lostLater: [String: Int] = [:]

    init(
        _ number: Int, declaration: EntityMapping, from source: ManagedObjectModel,
        to destination: ManagedObjectModel,
        policy: EntityMigrationPolicy?
    ) throws(StoreError) {
        self.number = number
        self.declaration = declaration
        self.policy = policy
        var entities: (ManagedObjectModel.Entity?, ManagedObjectModel.Entity?) = (nil, nil)
        if let name = declaration.sourceEntity { entities.0 = try source.requireEntity(name) }
        if let name = declaration.destinationEntity { entities.1 = try destination.requireEntity(name) }
        self.source = entities.0
        self.destination = entities.1
    }

    var objectIDs: [(to: RecordLayout.Field, from: RecordLayout.Field)] { attributes?.objectIDs ?? [] }
    var lostIDs: [String: Int] { lostLater.merging(attributes?.lostIDs ?? [:], uniquingKeysWith: +) }

    /// Whether the mapping migrates the objects of a source entity.
    var takesObjects: Bool { source.map { !$0.isAbstract } ?? false && declaration.type != .remove }

    func resolve(_ plan: PolicyPlan, attributes: MappingPlan) throws(StoreError) {
        guard let source, let destination else { return }
        self.attributes = try StandardAttributes(self, plan: attributes)
        for relationship in destination.relationships {
            if let rule = try RelationshipRule(relationship, mapping: declaration, source: source, plan: plan) {
                rules.append(rule)
            }
        }
    }

    func resolveWays(_ plan: PolicyPlan) {
        for index in rules.indices { rules[index].way = rules[index].way(of: self, plan: plan) }
    }

    /// Makes the rules for the links of the given relationships work object by object.
    func makeEach(of owners: Set<Int>) {
        for index in rules.indices
        where rules[index].way == .links && rules[index].linkOwner.map(owners.contains) == true {
            rules[index].way = .each
        }
    }

    func rule(of relationship: Int) -> RelationshipRule? { rules.first { $0.relationship.number == relationship } }

    func demands(_ field: RecordLayout.Field) -> Bool { attributes?.demands(field) ?? true }

    func prepare(_ source: MigrationSource) throws(StoreError) {
        try attributes?.prepare(source, rules: rules)
    }

    /// Creates an object from a source object by the standard behavior, and associates the two.
    ///
    /// Returns nil if the mapping creates no objects.
    func create(_ object: SourceObject, session: MigrationSession) throws -> DestinationObject? {
        if let destination, destination.isAbstract, declaration.type != .remove {
            throw StoreError.abstract(destination.name, object: object.id)
        }
        guard let attributes, let source, let destination else { return nil }
        guard object.entityNumber == source.number else {
            throw StoreError(
                .invalidRequest,
                "The entity mapping '\(declaration.name)' takes objects of '\(source.name)', but \(object.id) is not one of them."
            )
        }
        let key = try key(for: object, root: destination.root, session: session)
        let made = try attributes.make(object, key: key, mapping: self, session: session)
        standardCount += 1
        try session.associations.associate(
            .init(entity: object.entityNumber, key: object.key), with: .init(entity: destination.number, key: key),
            in: number)
        return made
    }

    /// Returns the source object's key if it may be kept and is free, otherwise a new key.
    private func key(for object: SourceObject, root: Int, session: MigrationSession) throws(StoreError) -> Int64 {
        guard keepsKeys else { return try session.content.newKey(root: root) }
        var others: [AssociationTable.Object] = []
        let place = AssociationTable.Object(entity: object.entityNumber, key: object.key)
        if object.key <= lastKeptKey { try session.associations.appendDestinations(of: place, in: number, to: &others) }
        for sibling in siblings { try session.associations.appendDestinations(of: place, in: sibling, to: &others) }
        if others.contains(where: { $0.key == object.key && session.content.model.entities[$0.entity].root == root }) {
            return try session.content.newKey(root: root)
        }
        lastKeptKey = max(lastKeptKey, object.key)
        return object.key
    }
}
