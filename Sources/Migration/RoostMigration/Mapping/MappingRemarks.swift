internal import RoostCore
internal import RoostPredicates

/// An examination of a mapping model for dropped source data and missing destination values.
struct MappingRemarks {
    typealias Entity = ManagedObjectModel.Entity

    /// An entity mapping with the properties that its expressions read and set.
    struct Mapping {
        let mapping: EntityMapping
        /// The value of each property by name, or nil for a default.
        let values: [String: FetchRequest.Expression?]
        var read: Set<String> = []
        /// The source paths of values that are copied unchanged, by destination property.
        var taken: [String: [String]] = [:]
        /// The source paths that expressions other than plain copies read.
        var used: Set<[String]> = []
        /// Whether a copy, a policy, or an expression that uses the object itself can read all
        /// source properties.
        var readsEverything: Bool
        /// The destination's computed attributes, whose expressions have no effect.
        private let computed: Set<String>

        init(_ mapping: EntityMapping, destination: ManagedObjectModel) {
            self.mapping = mapping
            let entity = mapping.destinationEntity.flatMap(destination.entity)
            let computed = Set(entity.map { entity in entity.attributes.map(\.name).filter(entity.computes) } ?? [])
            self.computed = computed
            let properties =
                mapping.attributeMappings.filter { !computed.contains($0.name) } + mapping.relationshipMappings
            values = Dictionary(
                properties.map { ($0.name, $0.valueExpression) }, uniquingKeysWith: { first, _ in first })
            readsEverything = mapping.type == .copy || mapping.policyName != nil
            for property in properties {
                guard let expression = property.valueExpression else { continue }
                let parts = MappingExpressionParts(of: expression)
                read.formUnion(parts.sourceProperties)
                if parts.takesSource { readsEverything = true }
                if case .path(of: .variable(MappingVariable.source.rawValue), let names) = expression {
                    taken[property.name] = names
                } else {
                    used.formUnion(parts.sourcePaths)
                }
            }
        }

        func taken(of entity: Entity) -> MappingLoss.Objects { .init(entity.name, where: mapping.sourcePredicate) }

        func reads(_ property: String) -> Bool {
            if mapping.type == .copy, mapping.policyName == nil, computed.contains(property) { return false }
            return readsEverything || read.contains(property)
        }

        /// Returns the value of a property, or nil for its default.
        func value(of property: String) -> FetchRequest.Expression? { values[property] ?? nil }
    }

    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private let mappings: [Mapping]
    let bySource: [EntityName: [Mapping]]
    let byDestination: [EntityName: [Mapping]]
    private(set) var remarks: [MappingRemark] = []
    /// The indexes of existing remarks, kept because inherited properties are examined again in
    /// each subentity.
    private var said: [MappingRemark: Int] = [:]

    init(_ model: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
        (self.source, self.destination) = (source, destination)
        mappings = model.entityMappings.map { Mapping($0, destination: destination) }
        bySource = Self.grouped(mappings, by: \.sourceEntity)
        byDestination = Self.grouped(mappings, by: \.destinationEntity)
    }

    private static func grouped(
        _ mappings: [Mapping], by entity: KeyPath<EntityMapping, EntityName?>
    ) -> [EntityName: [Mapping]] {
        var groups: [EntityName: [Mapping]] = [:]
        for mapping in mappings {
            if let name = mapping.mapping[keyPath: entity] { groups[name, default: []].append(mapping) }
        }
        return groups
    }

    mutating func make() {
        for entity in source.entities where !entity.isAbstract { judge(entity) }
        for mapping in mappings {
            guard let entity = mapping.mapping.destinationEntity.flatMap(destination.entity),
                let origin = mapping.mapping.sourceEntity.flatMap(source.entity)
            else { continue }
            judge(mapping, origin: origin, entity: entity)
        }
        for entity in destination.entities { judgeIdentifiers(of: entity) }
        judgeConstraints()
    }

    mutating func add(
        _ kind: MappingRemark.Kind, entity: EntityName, property: String? = nil, message: String
    ) {
        add(MappingRemark(kind, entity: entity.text, property: property, message: message))
    }

    mutating func add(_ remark: MappingRemark) {
        guard said[remark] == nil else { return }
        said[remark] = remarks.count
        remarks.append(remark)
    }

    /// Adds a remark on a loss, or adds the loss to an equal remark.
    mutating func add(
        loss: MappingLoss, entity: EntityName, property: String? = nil, message: String
    ) {
        let remark = MappingRemark(.loss, entity: entity.text, property: property, message: message)
        add(remark)
        guard let index = said[remark], !remarks[index].losses.contains(loss) else { return }
        remarks[index].losses.append(loss)
    }
}
