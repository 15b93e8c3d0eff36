internal import RoostCore

/// Makes one step of several inferred ones, where both come to the same: the store is read and written once instead of each time.
///
/// They do where each entity and each property of the last version comes, step by step, from where the mapping inferred over all of them
/// takes it, and where what a version in between says about a property (its default, whether it may be null, its order, where it
/// leads) is what the first or the last version says: only those two then have a part in the value. What a version in between would have
/// refused, such as a value that is there twice under a uniqueness constraint, is not refused when it has gone by the last one.
struct FusedSteps {
    private typealias Entity = ManagedObjectModel.Entity

    /// The versions, the first one included.
    private let models: [ManagedObjectModel]
    /// For each step, the entity mappings by destination entity.
    private let steps: [[EntityName: EntityMapping]]

    /// The mapping model that does in one step what `steps` do one by one; nil where no inferred one does.
    ///
    /// - Parameters:
    ///   - steps: The inferred mapping models; more than one.
    ///   - models: The versions between which they lead, one more than the steps.
    ///   - options: How the steps were inferred.
    /// - Returns: The mapping model; nil where the steps must stay.
    static func mapping(
        of steps: [MappingModel], between models: [ManagedObjectModel], options: MappingModel.InferenceOptions
    ) -> MappingModel? {
        guard let first = models.first, let last = models.last, models.count == steps.count + 1,
            // Where it cannot be inferred at once the steps stay as they are.
            let direct = try? MappingModel.inferred(from: first, to: last, options: options)
        else { return nil }
        let fused = FusedSteps(models: models, steps: steps.map(byDestination))
        let mappings = byDestination(direct)
        for entity in last.entities {
            guard let mapping = mappings[entity.name], fused.agrees(mapping, entity) else { return nil }
        }
        return direct
    }

    private static func byDestination(_ mapping: MappingModel) -> [EntityName: EntityMapping] {
        var mappings: [EntityName: EntityMapping] = [:]
        for entity in mapping.entityMappings { if let name = entity.destinationEntity { mappings[name] = entity } }
        return mappings
    }

    private func agrees(_ direct: EntityMapping, _ entity: Entity) -> Bool {
        guard let line = line(of: entity.name) else { return false }
        // New on the way: no version has objects of it before.
        guard line.count == models.count else { return direct.sourceEntity == nil }
        guard direct.sourceEntity == line[0].name, line.allSatisfy({ $0.isAbstract == entity.isAbstract }) else {
            return false
        }
        for attribute in entity.attributes where attribute.isStored {
            let traced = trace(attribute.name, \.attributeMappings, line)
            guard traced == property(attribute.name, direct, \.attributeMappings) else { return false }
            guard agrees(shapes(attribute.name, traced, line), isNew: traced.isNew) else { return false }
        }
        for relationship in entity.relationships {
            let name = relationship.name.name
            let traced = trace(name, \.relationshipMappings, line)
            guard traced == property(name, direct, \.relationshipMappings),
                agrees(leads(name, traced, line), isNew: traced.isNew)
            else { return false }
        }
        return true
    }

    /// Whether every version in between says what the first or the last one says; of something new, what the last one says.
    private func agrees<Shape: Equatable>(_ shapes: [Shape?], isNew: Bool) -> Bool {
        guard let first = shapes.first, let last = shapes.last else { return false }
        return shapes.allSatisfy { $0 != nil && ($0 == last || (!isNew && $0 == first)) }
    }

    // MARK: Where things come from

    /// What an entity is in each version, oldest first, as far back as there are objects of it; nil where that cannot be said.
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

    /// Where the value of a property comes from.
    private enum Origin: Equatable {
        /// From the property of the first version with this name; `names` are those in the versions, oldest first.
        case property(names: [String])
        /// From nowhere; the names are those since it is there.
        case new(names: [String])
        /// From what is more than a property.
        case other

        var isNew: Bool {
            if case .new = self { return true }
            return false
        }

        /// Whether both take the value from the same place, however they get there.
        static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.property(let left), .property(let right)): left.first == right.first
            case (.new, .new): true
            default: false
            }
        }
    }

    private typealias Mappings = KeyPath<EntityMapping, [PropertyMapping]>

    private func trace(_ name: String, _ mappings: Mappings, _ line: [Entity]) -> Origin {
        var names = [name]
        // The line of an entity that is new on the way is shorter.
        for (step, entity) in zip(steps.suffix(line.count - 1), line.dropFirst()).reversed() {
            guard let mapping = step[entity.name] else { return .other }
            switch property(names[0], mapping, mappings) {
            case .property(let origin): names.insert(origin[0], at: 0)
            case .new: return .new(names: names)
            case .other: return .other
            }
        }
        return .property(names: names)
    }

    /// What one entity mapping says about a property.
    private func property(_ name: String, _ mapping: EntityMapping, _ mappings: Mappings) -> Origin {
        if mapping.type == .copy { return .property(names: [name]) }
        let all = mapping[keyPath: mappings]
        // Elements of a composite that are mapped one by one.
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

    // MARK: What versions say about them

    /// The names of a property, each with the version that has it.
    private func places(_ origin: Origin) -> [(name: String, version: Int)] {
        let names: [String]
        switch origin {
        case .property(let all), .new(let all): names = all
        case .other: return []
        }
        let first = models.count - names.count
        return names.enumerated().map { ($1, first + $0) }
    }

    /// What each version says about an attribute, as far as it has a part in values.
    private func shapes(_ name: String, _ origin: Origin, _ line: [Entity]) -> [AttributeDescription?] {
        places(origin).map { name, version in
            guard var attribute = line[version].attribute(name), attribute.isStored else { return nil }
            attribute.name = ""
            attribute.renamingIdentifier = nil
            // What is inferred widens types, which comes to the same however many times it is done.
            if attribute.type != .composite { attribute.type = .undefined }
            attribute.validation = AttributeValidation()
            attribute.versionHashModifier = nil
            attribute.userInfo = [:]
            return attribute
        }
    }

    /// How a relationship is kept.
    private struct Lead: Equatable {
        var isToMany: Bool
        var isOrdered: Bool
        var isOptional: Bool
        var counts: [Int?]
    }

    /// How each version keeps a relationship; nil for one in which it leads to other objects, or back by another one, than in the last.
    private func leads(_ name: String, _ origin: Origin, _ line: [Entity]) -> [Lead?] {
        guard let last = line.last?.relationship(name), let model = models.last,
            let destinations = self.line(of: model.entities[last.destination].name)
        else { return [] }
        let hidden = models.count - destinations.count
        let back = last.inverse.map { number in
            places(trace(model.relationships[number].name.name, \.relationshipMappings, destinations))
        }
        return places(origin).map { name, version in
            guard let relationship = line[version].relationship(name), version >= hidden else { return nil }
            let model = models[version]
            let inverse = relationship.inverse.map { model.relationships[$0].name.name }
            guard model.entities[relationship.destination].name == destinations[version - hidden].name,
                inverse == back?.first(where: { $0.version == version })?.name
            else { return nil }
            let declaration = relationship.declaration
            return Lead(
                isToMany: relationship.isToMany, isOrdered: relationship.isOrdered, isOptional: declaration.isOptional,
                counts: [declaration.minCount, declaration.maxCount])
        }
    }
}
