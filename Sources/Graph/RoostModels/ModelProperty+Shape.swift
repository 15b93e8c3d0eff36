#if Macros
    internal import RoostCore
    internal import RoostGraph

    extension ModelProperty {
        var shape: ClassShape.Property {
            switch content {
            case .attribute(let attribute) where attribute.isTransient:
                .transient(attribute.name, as: attribute.type)
            case .attribute(let attribute): .attribute(attribute.name, as: attribute.type)
            case .relationship(let relationship, _) where relationship.isToMany:
                .toMany(relationship.name, isOrdered: relationship.isOrdered)
            case .relationship(let relationship, _): .toOne(relationship.name)
            }
        }
    }
#endif
