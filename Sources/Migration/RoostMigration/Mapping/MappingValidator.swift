internal import RoostCore
internal import RoostQuery

/// A check of a mapping model against two models, which reports all errors.
struct MappingValidator {
    typealias Entity = ManagedObjectModel.Entity

    let model: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private(set) var problems: [MappingProblem] = []
    /// The first entity mapping of each name.
    let mappings: [String: EntityMapping]

    init(_ model: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel) {
        (self.model, self.source, self.destination) = (model, source, destination)
        mappings = Dictionary(
            model.entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func add(_ mapping: EntityMapping, property: String? = nil, message: String) {
        problems.append(MappingProblem(mapping: mapping.name, property: property, message: message))
    }

    /// Returns `; did you mean 'Track'?`, or a period.
    ///
    /// Gives hints only for the first problems, because each hint examines every name.
    func hint(_ name: String, among names: [String]) -> String {
        problems.count < 100 ? ModelValidator.hint(name, among: names) : "."
    }

    mutating func check() {
        var seen: Set<String> = []
        for mapping in model.entityMappings {
            if mapping.name.isEmpty { add(mapping, property: nil, message: "The mapping has no name; give it one.") }
            if !seen.insert(mapping.name).inserted {
                add(mapping, property: nil, message: "Another mapping has this name too; names must be unique.")
            }
            check(mapping)
        }
    }

    private mutating func check(_ mapping: EntityMapping) {
        let origin = entity(mapping.sourceEntity, in: source, side: "source", mapping: mapping)
        let entity = entity(mapping.destinationEntity, in: destination, side: "destination", mapping: mapping)
        checkType(mapping)
        checkHash(mapping, hash: mapping.sourceVersionHash, of: origin, in: source, side: "source")
        checkHash(mapping, hash: mapping.destinationVersionHash, of: entity, in: destination, side: "destination")
        if mapping.type == .copy, let origin, let entity, origin.versionHash != entity.versionHash {
            add(
                mapping, property: nil,
                message:
                    "'\(origin.name)' is not the same in both models, so its objects cannot be copied; use type transform, with a mapping for each property."
            )
        }
        if let predicate = mapping.sourcePredicate { check(predicate, of: mapping, origin: origin) }
        checkProperties(mapping, origin: origin, entity: entity)
    }

    // MARK: Entities

    private mutating func entity(
        _ name: EntityName?, in model: ManagedObjectModel, side: String, mapping: EntityMapping
    ) -> Entity? {
        guard let name else { return nil }
        if let entity = model.entity(name) { return entity }
        add(
            mapping, property: nil,
            message:
                "The \(side) model has no entity '\(name)'\(hint(name.text, among: model.entities.map(\.name.text)))")
        return nil
    }

    private mutating func checkType(_ mapping: EntityMapping) {
        let (hasSource, hasDestination) = (mapping.sourceEntity != nil, mapping.destinationEntity != nil)
        let hasProperties = !mapping.attributeMappings.isEmpty || !mapping.relationshipMappings.isEmpty
        switch mapping.type {
        case .custom:
            if mapping.policyName == nil {
                add(mapping, property: nil, message: "A mapping of type custom needs the name of a policy.")
            }
            if !hasSource, !hasDestination {
                add(mapping, property: nil, message: "The mapping names no entity; give it one.")
            }
        case .add:
            if !hasDestination {
                add(mapping, property: nil, message: "A mapping of type add needs a destination entity.")
            }
            if hasSource {
                add(
                    mapping, property: nil,
                    message:
                        "A mapping of type add takes no objects; leave the source entity out, or use type transform.")
            }
            if mapping.policyName == nil {
                for property in mapping.attributeMappings + mapping.relationshipMappings
                where property.valueExpression != nil {
                    add(
                        mapping, property: property.name,
                        message:
                            "A mapping of type add makes no objects by itself, so the expression is never evaluated; leave it out, or name a policy that makes objects."
                    )
                }
            }
        case .remove:
            if !hasSource { add(mapping, property: nil, message: "A mapping of type remove needs a source entity.") }
            if hasDestination {
                add(
                    mapping, property: nil,
                    message: "A mapping of type remove makes no objects; leave the destination entity out.")
            }
            if hasProperties {
                add(
                    mapping, property: nil,
                    message: "A mapping of type remove makes no objects; leave its property mappings out.")
            }
        case .copy, .transform:
            if !hasSource {
                add(mapping, property: nil, message: "A mapping of type \(mapping.type) needs a source entity.")
            }
            if !hasDestination {
                add(mapping, property: nil, message: "A mapping of type \(mapping.type) needs a destination entity.")
            }
            if mapping.type == .copy { checkCopies(mapping) }
        }
        if !hasSource, mapping.sourcePredicate != nil {
            add(
                mapping, property: nil,
                message: "The mapping has a predicate, but no source entity; name one, or leave the predicate out."
            )
        }
    }

    private mutating func checkCopies(_ mapping: EntityMapping) {
        let changed =
            mapping.attributeMappings.filter { $0.valueExpression?.sourceAttribute != $0.name }
            + mapping.relationshipMappings.filter {
                !model.isCopy($0, of: mapping, from: source, to: destination)
            }
        for property in changed {
            add(
                mapping, property: property.name,
                message:
                    "A mapping of type copy takes objects as they are; use type transform, or leave this property mapping out."
            )
        }
    }

    private mutating func checkHash(
        _ mapping: EntityMapping, hash: VersionHash?, of entity: Entity?, in model: ManagedObjectModel, side: String
    ) {
        guard let hash, let entity, hash != entity.versionHash else { return }
        // Older mapping documents contain version hashes of an older recipe.
        let isOlder = VersionHash.Recipe.allCases.contains { recipe in
            recipe != .current && model.versionHash(of: entity, by: recipe) == hash
        }
        guard !isOlder else { return }
        add(
            mapping, property: nil,
            message:
                "The mapping was made for another version of the \(side) entity '\(entity.name)' (version hash \(hash), not \(entity.versionHash)); check what changed there, then omit the hash or use the new one."
        )
    }

    private mutating func check(
        _ predicate: FetchRequest.Predicate, of mapping: EntityMapping, origin: Entity?
    ) {
        guard let origin else { return }
        do throws(StoreError) {
            _ = try RecordFilter(FetchRequest(origin.name, where: predicate), model: source)
        } catch {
            add(mapping, property: nil, message: "The predicate: \(error.message)")
        }
    }

    // MARK: Properties

    private mutating func checkProperties(_ mapping: EntityMapping, origin: Entity?, entity: Entity?) {
        guard let entity else { return }
        var seen: Set<String> = []
        for property in mapping.attributeMappings + mapping.relationshipMappings
        where !seen.insert(property.name).inserted {
            add(mapping, property: property.name, message: "The property has two mappings; keep only one.")
        }
        for property in mapping.attributeMappings {
            guard let attribute = entity.attribute(atPath: property.name) else {
                let isRelationship = entity.relationship(property.name) != nil
                addUnknown(
                    property, mapping: mapping, entity: entity, kind: "attribute",
                    isOther: isRelationship ? "relationship" : nil)
                continue
            }
            // Transient attributes are not stored, so their expressions are not evaluated.
            guard attribute.isStored, let expression = property.valueExpression else { continue }
            check(expression, in: Place(mapping: mapping, property: property.name, origin: origin), for: attribute)
        }
        for property in mapping.relationshipMappings {
            guard let relationship = entity.relationship(property.name) else {
                if declares(property.name, entity: entity) { continue }
                let isAttribute = entity.attribute(property.name) != nil
                addUnknown(
                    property, mapping: mapping, entity: entity, kind: "relationship",
                    isOther: isAttribute ? "attribute" : nil)
                continue
            }
            guard let expression = property.valueExpression else { continue }
            check(expression, in: Place(mapping: mapping, property: property.name, origin: origin), for: relationship)
        }
    }

    /// Returns whether the entity has a transient, and thus not stored, relationship of this name.
    private func declares(_ name: String, entity: Entity) -> Bool {
        var current: Entity? = entity
        while let entity = current {
            if entity.declaration.relationships.contains(where: { $0.name == name }) { return true }
            current = entity.superentity.map { destination.entities[$0] }
        }
        return false
    }

    private mutating func addUnknown(
        _ property: PropertyMapping, mapping: EntityMapping, entity: Entity, kind: String, isOther other: String?
    ) {
        if let other {
            add(
                mapping, property: property.name,
                message: "'\(entity.name).\(property.name)' is one of the \(other)s; move the mapping to '\(other)s'.")
            return
        }
        let names = kind == "attribute" ? entity.attributes.map(\.name) : entity.relationships.map(\.name.name)
        add(
            mapping, property: property.name,
            message:
                "Destination entity '\(entity.name)' has no \(kind) '\(property.name)'\(hint(property.name, among: names))"
        )
    }
}
