internal import RoostCore

/// A combination of inferred steps into one step, which reads and writes the store only once.
///
/// Two conditions ensure the same result. First, the steps and the single step must give each
/// entity and property of the last version the same source. Second, each intermediate version must
/// declare each property like the first or the last version. Data that only an intermediate version
/// would refuse, such as a duplicate value, is accepted.
struct FusedSteps {
    private typealias Entity = ManagedObjectModel.Entity

    /// The versions, including the first.
    private let models: [ManagedObjectModel]
    /// The entity mappings of each step, by destination entity.
    private let steps: [[EntityName: EntityMapping]]

    /// Returns an inferred mapping model with the same result as `steps`, or nil if they cannot be
    /// combined.
    ///
    /// `models` contains the versions that the steps connect.
    static func mapping(
        of steps: [MappingModel], between models: [ManagedObjectModel], options: MappingModel.InferenceOptions
    ) -> MappingModel? {
        guard let first = models.first, let last = models.last, models.count == steps.count + 1,
            let direct = try? MappingModel.inferred(from: first, to: last, options: options)
        else { return nil }
        let fused = FusedSteps(models: models, steps: steps.map(byDestination))
        let mappings = byDestination(direct)
        for entity in last.entities {
            guard let mapping = mappings[entity.name], fused.agrees(mapping, entity: entity) else { return nil }
        }
        return direct
    }

    private static func byDestination(_ mapping: MappingModel) -> [EntityName: EntityMapping] {
        var mappings: [EntityName: EntityMapping] = [:]
        for entity in mapping.entityMappings { if let name = entity.destinationEntity { mappings[name] = entity } }
        return mappings
    }

    private func agrees(_ direct: EntityMapping, entity: Entity) -> Bool {
        guard let line = line(of: entity.name) else { return false }
        // If a later version introduced the entity, `line` is shorter, and the entity must not have a source.
        guard line.count == models.count else { return direct.sourceEntity == nil }
        guard direct.sourceEntity == line[0].name, line.allSatisfy({ $0.isAbstract == entity.isAbstract }) else {
            return false
        }
        // A derived attribute is computed from the last version's objects, so its origin does not matter.
        for attribute in entity.attributes where attribute.isStored && !entity.computes(attribute.name) {
            let traced = trace(attribute.name, mappings: \.attributeMappings, line: line)
            guard traced == property(attribute.name, mapping: direct, mappings: \.attributeMappings) else {
                return false
            }
            let shapes = shapes(attribute.name, origin: traced, line: line)
            // An intermediate version in which the attribute is derived would replace the value.
            guard agrees(shapes, isNew: traced.isNew),
                !shapes.dropFirst().dropLast().contains(where: { $0?.derivationExpression != nil })
            else { return false }
        }
        for relationship in entity.relationships {
            let name = relationship.name.name
            let traced = trace(name, mappings: \.relationshipMappings, line: line)
            guard traced == property(name, mapping: direct, mappings: \.relationshipMappings),
                agrees(referenceOrigins(name, origin: traced, line: line), isNew: traced.isNew)
            else { return false }
        }
        return true
    }

    /// Returns whether each version defines a property like the first or the last version.
    ///
    /// For a new property, only the last version's definition is allowed.
    private func agrees<Shape: Equatable>(_ shapes: [Shape?], isNew: Bool) -> Bool {
        guard let first = shapes.first, let last = shapes.last else { return false }
        return shapes.allSatisfy { $0 != nil && ($0 == last || (!isNew && $0 == first)) }
    }

    // MARK: Origins

    /// Returns an entity of the last version and its predecessors, oldest first.
    ///
    /// The list starts at the version that introduced the entity. Returns nil if a predecessor
    /// cannot be determined.
    private func line(of name: EntityName) -> [Entity]? {
        var line: [Entity] = []
        var name: EntityName? = name
        for (position, model) in models.enumerated().reversed() {
            guard let current = name else { break }
            guard let entity = model.entity(current) else { return nil }
            line.insert(entity, at: 0)
            guard position > 0 else { break }
            guard let mapping = steps[position - 1][current] else { return nil }
            name = mapping.sourceEntity
        }
        return line
    }

    /// The origin of a property's value.
    private enum Origin: Equatable {
        /// A property of the first version.
        ///
        /// `names` are its names in the versions, oldest first.
        case property(names: [String])
        /// No source, because the property is new.
        ///
        /// `names` are its names from its first version on.
        case new(names: [String])
        /// Anything else, such as an expression.
        case other

        var isNew: Bool {
            if case .new = self { return true }
            return false
        }

        /// Returns whether both have the same source, regardless of intermediate names.
        static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.property(let left), .property(let right)): left.first == right.first
            case (.new, .new): true
            default: false
            }
        }
    }

    private typealias Mappings = KeyPath<EntityMapping, [PropertyMapping]>

    private func trace(_ name: String, mappings: Mappings, line: [Entity]) -> Origin {
        var names = [name]
        // If an intermediate version introduced the entity, only the steps after that version apply.
        for (step, entity) in zip(steps.suffix(line.count - 1), line.dropFirst()).reversed() {
            guard let mapping = step[entity.name] else { return .other }
            switch property(names[0], mapping: mapping, mappings: mappings) {
            case .property(let origin): names.insert(origin[0], at: 0)
            case .new: return .new(names: names)
            case .other: return .other
            }
        }
        return .property(names: names)
    }

    private func property(_ name: String, mapping: EntityMapping, mappings: Mappings) -> Origin {
        if mapping.type == .copy { return .property(names: [name]) }
        let all = mapping[keyPath: mappings]
        // A composite with individually mapped elements has more than one origin.
        guard !all.contains(where: { $0.name.hasPrefix(name + ".") }) else { return .other }
        guard let expression = all.first(where: { $0.name == name })?.valueExpression else {
            return .new(names: [name])
        }
        let source = FetchRequest.Expression.variable(MappingVariable.source.rawValue)
        switch expression {
        case .path(of: source, let path) where path.count == 1: return .property(names: path)
        case .registered(MappingFunction.relatedInstances.rawValue, let arguments):
            guard arguments.count == 3, case .path(of: source, let path) = arguments[2], path.count == 1 else {
                return .other
            }
            return .property(names: path)
        default: return .other
        }
    }

    // MARK: Definitions by version

    private func places(_ origin: Origin) -> [(name: String, version: Int)] {
        let names: [String]
        switch origin {
        case .property(let all), .new(let all): names = all
        case .other: return []
        }
        let first = models.count - names.count
        return names.enumerated().map { ($1, first + $0) }
    }

    /// Returns each version's definition of an attribute, reduced to the parts that affect values.
    private func shapes(_ name: String, origin: Origin, line: [Entity]) -> [AttributeDescription?] {
        places(origin).map { name, version in
            guard var attribute = line[version].attribute(name), attribute.isStored else { return nil }
            attribute.name = ""
            attribute.renamingIdentifier = nil
            // The type is ignored: inference only widens types, and several widenings have the same result as one.
            if attribute.type != .composite { attribute.type = .undefined }
            attribute.validation = AttributeValidation()
            attribute.versionHashModifier = nil
            attribute.userInfo = [:]
            return attribute
        }
    }

    /// The part of a relationship's definition that affects values.
    private struct ReferenceOrigin: Equatable {
        var isToMany: Bool
        var isOrdered: Bool
        var isOptional: Bool
        var counts: [Int?]
    }

    /// Returns each version's definition of a relationship.
    ///
    /// An element is nil if its destination or inverse does not correspond to the last version's.
    private func referenceOrigins(_ name: String, origin: Origin, line: [Entity]) -> [ReferenceOrigin?] {
        guard let last = line.last?.relationship(name), let model = models.last,
            let destinations = self.line(of: model.entities[last.destination].name)
        else { return [] }
        let hidden = models.count - destinations.count
        let back = last.inverse.map { number in
            places(trace(model.relationships[number].name.name, mappings: \.relationshipMappings, line: destinations))
        }
        return places(origin).map { name, version in
            guard let relationship = line[version].relationship(name), version >= hidden else { return nil }
            let model = models[version]
            let inverse = relationship.inverse.map { model.relationships[$0].name.name }
            guard model.entities[relationship.destination].name == destinations[version - hidden].name,
                inverse == back?.first(where: { $0.version == version })?.name
            else { return nil }
            let declaration = relationship.declaration
            return ReferenceOrigin(
                isToMany: relationship.isToMany, isOrdered: relationship.isOrdered, isOptional: declaration.isOptional,
                counts: [declaration.minCount, declaration.maxCount])
        }
    }
}
