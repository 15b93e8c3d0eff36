package import RoostCore

/// An entity whose objects, or a property whose values, survive a series of mapping models.
package struct KeptElement: Hashable, Sendable {
    package let entity: EntityName
    /// The property, or nil for the entity itself.
    package let property: String?

    /// Returns the elements of a model that remain after a series of mapping models.
    ///
    /// The mapping models must have no policies or predicates. Excludes abstract entities and
    /// computed attributes.
    package static func all(of source: ManagedObjectModel, after mappings: [MappingModel]) -> Set<KeptElement> {
        var kept: Set<KeptElement> = []
        let steps = mappings.map { mapping in
            Dictionary(
                mapping.entityMappings.compactMap { mapping in mapping.sourceEntity.map { ($0, mapping) } }
                    .filter { $0.1.destinationEntity != nil }, uniquingKeysWith: { first, _ in first })
        }
        for entity in source.entities where !entity.isAbstract {
            var line: [EntityMapping] = []
            var name = entity.name
            for step in steps {
                guard let mapping = step[name], let next = mapping.destinationEntity else { break }
                line.append(mapping)
                name = next
            }
            guard line.count == steps.count else { continue }
            kept.insert(KeptElement(entity: entity.name, property: nil))
            let properties =
                entity.attributes.filter { $0.isStored && !entity.computes($0.name) }.map(\.name)
                + entity.relationships.map(\.name.name)
            for property in properties {
                let last = line.reduce(into: [property] as Set<String>) { $0 = $1.destinations(of: $0) }
                if !last.isEmpty { kept.insert(KeptElement(entity: entity.name, property: property)) }
            }
        }
        return kept
    }
}

extension KeptElement: CustomStringConvertible {
    package var description: String { entity.text + (property.map { "." + $0 } ?? "") }
}

extension EntityMapping {
    /// Returns the destination properties whose values come from the given source properties.
    fileprivate func destinations(of properties: Set<String>) -> Set<String> {
        guard type != .copy else { return properties }
        var destinations: Set<String> = []
        for mapping in attributeMappings + relationshipMappings {
            guard let expression = mapping.valueExpression,
                !MappingExpressionParts(of: expression).sourceProperties.isDisjoint(with: properties)
            else { continue }
            destinations.insert(String(mapping.name.prefix { $0 != "." }))
        }
        return destinations
    }
}
