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
    /// The property of the destination entity, or the path of an element in a composite attribute:
    /// `address.street`.
    ///
    /// A mapping of a whole composite sets each element to the value's element with the same name.
    /// Later mappings of single elements override these values.
    public var name: String
    /// The expression for the value, or nil for the default of a new object.
    ///
    /// An example is `($source.celsius - 32.0) / 1.8`. The variables are `$source`, `$destination`,
    /// `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`. A function of the
    /// manager must be the whole expression. A function of the policy may be part of another
    /// expression, and is called even if its result is not needed.
    ///
    /// A number must be exact in the type of its attribute. However, a decimal or floating-point
    /// number may be rounded to a floating-point type. If the value of a mandatory attribute is
    /// null, the attribute gets its default. An optional composite exists if any element gets a
    /// value; the other elements then get their defaults.
    public var valueExpression: FetchRequest.Expression?
    /// The user's notes, which policies can read.
    public var userInfo: [String: String]

    /// Creates a mapping.
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
    case source
    /// The ID of the object that is created from the source object.
    case destination
    /// The migration, on which ``MappingFunction/destinationInstances`` and
    /// ``MappingFunction/relatedInstances`` are called.
    case manager
    case entityMapping
    case propertyMapping
    /// The policy of the entity mapping, on which its functions are called.
    case entityPolicy
}

/// The predefined functions of value expressions, with their names in Core Data.
package enum MappingFunction: String, Sendable, CaseIterable {
    /// A function of the manager: returns the objects that the named entity mapping created from
    /// source objects.
    ///
    /// The second argument gives one or several source objects. The constant null means all source
    /// objects, but for an empty relationship the result is empty.
    case destinationInstances = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// A function of the manager: returns the objects that any entity mapping created from the
    /// destinations of a source relationship.
    ///
    /// Objects to which the new relationship cannot refer are left out.
    case relatedInstances = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// A function of an object: returns the value of the named property.
    case value = "valueForKey:"
}

extension FetchRequest.Expression {
    /// Returns an expression for the source object's value at a key path, such as `$source.title`.
    public static func source(_ keyPath: String) -> Self {
        .path(of: .variable(MappingVariable.source.rawValue), keyPath.split(separator: ".").map(String.init))
    }

    /// Returns an expression for the result of a policy's function: `FUNCTION($entityPolicy,
    /// "name", …)`.
    public static func policy(_ function: String, _ arguments: Self...) -> Self {
        .registered(function, [.variable(MappingVariable.entityPolicy.rawValue)] + arguments)
    }

    /// Returns an expression for the objects that the named entity mapping created from the objects
    /// of `source`.
    ///
    /// If `source` is the constant null, these are all objects that the mapping created.
    public static func destinationInstances(ofEntityMapping name: String, from source: Self) -> Self {
        .registered(
            MappingFunction.destinationInstances.rawValue,
            [.variable(MappingVariable.manager.rawValue), .constant(.string(name)), source])
    }

    /// Returns an expression for the objects that entity mappings created from the destinations of
    /// a source relationship.
    public static func relatedInstances(ofSourceRelationship name: String) -> Self {
        .registered(
            MappingFunction.relatedInstances.rawValue,
            [.variable(MappingVariable.manager.rawValue), .constant(.string(name)), .source(name)])
    }
}
