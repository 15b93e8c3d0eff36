public import RoostCore

/// What one property of the destination object gets.
///
/// ```swift
/// let title = PropertyMapping("title", expression: .source("name"))
/// let seconds = PropertyMapping("seconds", expression: "$source.minutes * 60")
/// let album = PropertyMapping(
///     "album", expression: .relatedInstances(ofSourceRelationship: "album"))
/// ```
public struct PropertyMapping: Hashable, Sendable {
    /// The property of the destination entity, or an element of a composite attribute by its path: `address.street`.
    ///
    /// A mapping of a whole composite gives each of its elements what the value has under the same name; mappings of elements,
    /// behind it, say otherwise for theirs.
    public var name: String
    /// What gives the value; nil for the default of a new object.
    ///
    /// Written with the variables of ``MappingVariable``: `$source.title`, `($source.celsius - 32.0) / 1.8`,
    /// `FUNCTION($entityPolicy, "convert:", $source.x)`. A function of the manager is the whole expression; one of the policy may also be
    /// a part of another one, and is then asked whatever becomes of that. A number becomes the type of its attribute, which must be able to hold it exactly, floating-point
    /// types as nearly as they can; null becomes the default of a mandatory attribute. An optional composite is there where one of the
    /// values that its elements are mapped to is there; the others then get their defaults.
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

/// The variables of value expressions in a mapping model (reference §6.3).
package enum MappingVariable: String, Sendable, CaseIterable {
    /// The source object.
    case source
    /// The object that is being made of it.
    case destination
    /// The migration: target of ``MappingFunction/destinationInstances`` and ``MappingFunction/relatedInstances``.
    case manager
    /// The entity mapping.
    case entityMapping
    /// The property mapping.
    case propertyMapping
    /// The policy of the entity mapping; each other function is asked of it.
    case entityPolicy
}

/// The functions that value expressions know beside those of a policy, by their names in Core Data.
package enum MappingFunction: String, Sendable, CaseIterable {
    /// Of the manager: what the entity mapping with a name made of one source object, of several, or of all where the argument is the
    /// constant null; of a relationship that is empty, nothing.
    case destinationInstances = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// Of the manager: what any entity mapping made of the objects that a relationship of the source has, where it fits the property.
    case relatedInstances = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// Of an object: the value of a property by its name.
    case value = "valueForKey:"
}

extension FetchRequest.Expression {
    /// `$source.title`: what the source object has there; a dotted path leads on.
    public static func source(_ keyPath: String) -> Self {
        .path(of: .variable(MappingVariable.source.rawValue), keyPath.split(separator: ".").map(String.init))
    }

    /// `FUNCTION($entityPolicy, "name", …)`: what the policy's function gives.
    public static func policy(_ function: String, _ arguments: Self...) -> Self {
        .registered(function, [.variable(MappingVariable.entityPolicy.rawValue)] + arguments)
    }

    /// What the entity mapping with a name made of the objects that an expression gives; of all its objects for the constant null.
    public static func destinationInstances(ofEntityMapping name: String, from source: Self) -> Self {
        .registered(
            MappingFunction.destinationInstances.rawValue,
            [.variable(MappingVariable.manager.rawValue), .constant(.string(name)), source])
    }

    /// What the entity mappings made of the objects that a relationship of the source object leads to.
    public static func relatedInstances(ofSourceRelationship name: String) -> Self {
        .registered(
            MappingFunction.relatedInstances.rawValue,
            [.variable(MappingVariable.manager.rawValue), .constant(.string(name)), .source(name)])
    }
}
