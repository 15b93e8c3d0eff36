package import RoostCore

extension MappingModel {
    /// Returns whether a relationship mapping has exactly the effect of a copy.
    ///
    /// A copy refers to the objects that entity mappings create from the old destinations. An
    /// expression that names one entity mapping has the same effect if no other one can create
    /// these objects. A policy function never counts as a copy.
    package func isCopy(
        _ property: PropertyMapping, of mapping: EntityMapping, from source: ManagedObjectModel,
        to destination: ManagedObjectModel
    ) -> Bool {
        guard case .registered(let function, let arguments)? = property.valueExpression, arguments.count == 3,
            arguments[0] == .variable(MappingVariable.manager.rawValue),
            case .constant(.string(let name)) = arguments[1], arguments[2].sourceAttribute == property.name
        else { return false }
        switch MappingFunction(rawValue: function) {
        case .relatedInstances: return name == property.name
        case .destinationInstances:
            guard let old = mapping.sourceEntity.flatMap(source.entity)?.relationship(property.name),
                let new = mapping.destinationEntity.flatMap(destination.entity)?.relationship(property.name)
            else { return false }
            let (from, to) = (source.entities[old.destination], destination.entities[new.destination])
            let fitting = entityMappings.filter { other in
                guard let origin = other.sourceEntity.flatMap(source.entity), !origin.isAbstract,
                    let made = other.destinationEntity.flatMap(destination.entity)
                else { return false }
                return from.includes(origin.number) && to.includes(made.number)
            }
            return fitting.map(\.name) == [name]
        default: return false
        }
    }
}
