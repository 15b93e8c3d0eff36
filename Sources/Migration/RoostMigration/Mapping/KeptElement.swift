package import RoostCore

/// An entity or a property of a model whose objects or values a way through mapping models keeps.
package struct KeptElement: Hashable, Sendable {
    /// The entity.
    package let entity: EntityName
    /// The property; nil for the entity itself.
    package let property: String?

    /// The elements of a model that are still there at the end of mapping models, one after the
    /// other.
    ///
    /// - Parameters:
    ///   - source: The model of the objects as they are.
    ///   - mappings: The mapping models, the first one for `source`; without policies and
    ///     predicates, as inferred ones are.
    /// - Returns: The elements, as they are called in `source`; of abstract entities none.
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
                entity.attributes.filter(\.isStored).map(\.name) + entity.relationships.map(\.name.name)
            for property in properties {
                let last = line.reduce(into: [property] as Set<String>) { $0 = $1.takers(of: $0) }
                if !last.isEmpty { kept.insert(KeptElement(entity: entity.name, property: property)) }
            }
        }
        return kept
    }
}

extension KeptElement: CustomStringConvertible {
    /// `Entity` or `Entity.property`.
    package var description: String { entity.text + (property.map { "." + $0 } ?? "") }
}

extension EntityMapping {
    /// The properties of the destination that get values of some properties of the source.
    fileprivate func takers(of properties: Set<String>) -> Set<String> {
        guard type != .copy else { return properties }
        var takers: Set<String> = []
        for mapping in attributeMappings + relationshipMappings {
            guard let expression = mapping.valueExpression,
                !MappingExpressionParts(of: expression).sourceProperties.isDisjoint(with: properties)
            else { continue }
            takers.insert(String(mapping.name.prefix { $0 != "." }))
        }
        return takers
    }
}
