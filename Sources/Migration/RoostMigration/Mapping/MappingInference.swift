internal import RoostCore

struct MappingInference {
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let options: MappingModel.InferenceOptions
    /// The source entity's number for each destination entity, or nil for a new entity.
    private(set) var origins: [Int?] = []
    private(set) var model = MappingModel([])
    private(set) var problems: [MappingProblem] = []
    /// The reported problems, kept because inherited properties are examined again in each
    /// subentity.
    private var reported: Set<MappingProblem> = []

    /// The cached source relationships, by entity pair and name of the destination relationship.
    var relationshipOrigins: [EntityPair: [String: ManagedObjectModel.Relationship]] = [:]
    /// The cached results of `leads(_:to:)`.
    var isFollowed: [EntityPair: Bool] = [:]
    /// The cached results of `firstOrigin(of:)`, by relationship number.
    var firstOrigins: [Int: Int?] = [:]

    struct EntityPair: Hashable {
        let source: Int
        let destination: Int
    }

    init(
        from source: ManagedObjectModel, to destination: ManagedObjectModel,
        options: MappingModel.InferenceOptions = .init()
    ) {
        self.source = source
        self.destination = destination
        self.options = options
        matchEntities()
        checkHierarchies()
        mapEntities()
    }

    mutating func add(_ entity: EntityName, property: String? = nil, message: String) {
        let problem = MappingProblem(entity: entity.text, property: property, message: message)
        if reported.insert(problem).inserted { problems.append(problem) }
    }

    // MARK: Entities

    private mutating func matchEntities() {
        let matching = VersionMatching(from: source.entities, to: destination.entities, traits: .entities)
        var heirs: [Int: [EntityName]] = [:]
        for (entity, match) in zip(destination.entities, matching.origins) {
            if let candidates = matching.ambiguous[entity.number] {
                let names = candidates.map { source.entities[$0].name.text }
                add(entity.name, property: nil, message: Self.ambiguous(entity.declaration.identifier, names: names))
            }
            origins.append(match)
            if let match { heirs[match, default: []].append(entity.name) }
        }
        for (number, names) in heirs.sorted(by: { $0.key < $1.key }) where names.count > 1 {
            for name in names {
                let others = names.filter { $0 != name }.map { "'\($0)'" }.joined(separator: ", ")
                add(
                    name, property: nil,
                    message:
                        "Source entity '\(source.entities[number].name)' would become this entity and \(others); to divide its objects, give a mapping model with predicates, or give only one new entity the renaming identifier."
                )
            }
        }
    }

    static func ambiguous(_ identifier: String, names: [String]) -> String {
        "Renaming identifier '\(identifier)' matches several source elements: \(names.joined(separator: ", ")); give the new element the name of one of these elements, or give a mapping model."
    }

    /// Reports merged hierarchies.
    ///
    /// Keys are unique only within a hierarchy, so objects of two hierarchies can share a key.
    private mutating func checkHierarchies() {
        var roots: [Int: [Int: Int]] = [:]
        for entity in destination.entities {
            guard let origin = origins[entity.number], !source.entities[origin].isAbstract else { continue }
            roots[entity.root, default: [:]][source.entities[origin].root, default: entity.number] = entity.number
        }
        for (root, origins) in roots.sorted(by: { $0.key < $1.key }) where origins.count > 1 {
            let names = origins.keys.sorted().map { "'\(source.entities[$0].name)'" }.joined(separator: ", ")
            add(
                destination.entities[root].name, property: nil,
                message:
                    "The hierarchy would combine the source hierarchies \(names), whose keys can collide; give a mapping model, which assigns new keys."
            )
        }
    }

    private mutating func mapEntities() {
        for entity in destination.entities {
            guard let origin = origins[entity.number].map({ source.entities[$0] }) else {
                model.entityMappings.append(
                    EntityMapping(
                        "IEM_Add_\(entity.name)", type: .add, to: entity.name
                    ).with { $0.destinationVersionHash = entity.versionHash })
                continue
            }
            // The version hash includes the name, so both names are equal.
            if entity.versionHash == origin.versionHash {
                model.entityMappings.append(
                    EntityMapping(
                        "IEM_Copy_\(origin.name)", type: .copy, from: origin.name, to: entity.name
                    ).with {
                        $0.sourceVersionHash = origin.versionHash
                        $0.destinationVersionHash = entity.versionHash
                    })
                continue
            }
            let attributes = attributeMappings(from: origin, to: entity)
            let relationships = relationshipMappings(from: origin, to: entity)
            model.entityMappings.append(
                EntityMapping(
                    "IEM_Transform_\(origin.name)", type: .transform, from: origin.name, to: entity.name,
                    attributes: attributes
                ).with {
                    $0.sourceVersionHash = origin.versionHash
                    $0.destinationVersionHash = entity.versionHash
                    $0.relationshipMappings = relationships
                })
        }
        let kept = Set(origins.compactMap { $0 })
        for entity in source.entities where !kept.contains(entity.number) {
            model.entityMappings.append(
                EntityMapping(
                    "IEM_Remove_\(entity.name)", type: .remove, from: entity.name
                ).with { $0.sourceVersionHash = entity.versionHash })
        }
    }
}

extension EntityDescription {
    /// The name of the entity across model versions.
    var identifier: String { renamingIdentifier ?? name }
}

extension AttributeDescription {
    var identifier: String { renamingIdentifier ?? name }
}

extension RelationshipDescription {
    var identifier: String { renamingIdentifier ?? name }
}
