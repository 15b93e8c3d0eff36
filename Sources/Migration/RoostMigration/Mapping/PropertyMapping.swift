public import RoostCore

/// The value for one property of the destination object.
///
/// ```swift
/// let title = PropertyMapping("title", expression: .source("name"))
/// let seconds = PropertyMapping("seconds", expression: "$source.minutes * 60")
/// let album = PropertyMapping(
///     "album", expression: .relatedInstances(ofSourceRelationship: "album"))
/// ```
public struct PropertyMapping: Hashable, Sendable {
    /// The property of the destination entity, or an element of a composite attribute by its path:
    /// `address.street`.
    ///
    /// A mapping of a whole composite gives each element the value's element of the same name.
    /// Mappings of single elements, after it, override that.
    public var name: String
    /// The expression for the value; nil for the default of a new object.
    ///
    /// Written with the variables of ``MappingVariable``: `$source.title`, `($source.celsius -
    /// 32.0) / 1.8`, `FUNCTION($entityPolicy, "convert:", $source.x)`. A function of the manager is
    /// the whole expression. A function of the policy may also be a part of another expression, and
    /// is then always called. A number is converted to the type of its attribute, which must be
    /// able to hold it exactly; floating-point types hold it as nearly as they can. Null becomes
    /// the default of a mandatory attribute. An optional composite has a value if one of the values
    /// for its elements exists; the others then get their defaults.
    public var valueExpression: FetchRequest.Expression?
    /// The user's own notes, which policies can read.
    public var userInfo: [String: String]

    /// Makes a mapping.
    public init(
        _ name: String, expression valueExpression: FetchRequest.Expression? = nil, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.valueExpression = valueExpression
        self.userInfo = userInfo
    }
}

/// The variables of value expressions in a mapping model.
package enum MappingVariable: String, Sendable, CaseIterable {
    /// The source object.
    case source
    /// The object that is being made from it.
    case destination
    /// The migration: target of ``MappingFunction/destinationInstances`` and
    /// ``MappingFunction/relatedInstances``.
    case manager
    /// The entity mapping.
    case entityMapping
    /// The property mapping.
    case propertyMapping
    /// The policy of the entity mapping; each other function is asked of it.
    case entityPolicy
}

/// The functions of value expressions other than those of a policy, by their names in Core Data.
package enum MappingFunction: String, Sendable, CaseIterable {
    /// Of the manager: the objects that the entity mapping with a name made of some source objects.
    ///
    /// The argument is one source object, several, or the constant null, which means all of them.
    /// An empty relationship as the argument gives no objects.
    case destinationInstances = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// Of the manager: the objects that any entity mapping made of the destinations of a source
    /// relationship, if they fit the property.
    case relatedInstances = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// Of an object: the value of a property by its name.
    case value = "valueForKey:"
}

extension FetchRequest.Expression {
    /// Returns `$source.title`: the value of the source object at a key path.
    public static func source(_ keyPath: String) -> Self {
        .path(of: .variable(MappingVariable.source.rawValue), keyPath.split(separator: ".").map(String.init))
    }

    /// Returns `FUNCTION($entityPolicy, "name", …)`: the result of the policy's function.
    public static func policy(_ function: String, _ arguments: Self...) -> Self {
        .registered(function, [.variable(MappingVariable.entityPolicy.rawValue)] + arguments)
    }

    /// Returns the objects that the entity mapping with a name made of an expression's objects.
    ///
    /// If the expression is the constant null, these are all objects that the mapping made.
    public static func destinationInstances(ofEntityMapping name: String, from source: Self) -> Self {
        .registered(
            MappingFunction.destinationInstances.rawValue,
            [.variable(MappingVariable.manager.rawValue), .constant(.string(name)), source])
    }

    /// Returns the objects that the entity mappings made of the destinations of a relationship of
    /// the source object.
    public static func relatedInstances(ofSourceRelationship name: String) -> Self {
        .registered(
            MappingFunction.relatedInstances.rawValue,
            [.variable(MappingVariable.manager.rawValue), .constant(.string(name)), .source(name)])
    }
}
