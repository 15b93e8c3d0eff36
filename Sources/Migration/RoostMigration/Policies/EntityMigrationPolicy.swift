public import RoostCore

/// A policy that customizes the migration of the objects of one entity mapping.
///
/// Create a subclass and override the callbacks whose work the mapping cannot express. In
/// ``MigrationOptions/policies``, register a function that creates the policy, under the mapping's
/// ``EntityMapping/policyName``. One instance serves one mapping for the whole migration, on one
/// thread. The callbacks come in four steps. Each step runs for all mappings, in the order of the
/// mapping model, before the next step starts:
///
/// 1. ``begin(_:in:)``, ``createDestinationInstances(for:by:in:)`` for each source object,
///    ``endInstanceCreation(for:in:)``;
/// 2. ``createRelationships(for:by:in:)`` for each associated object,
///    ``endRelationshipCreation(for:in:)``;
/// 3. ``performCustomValidation(for:in:)``, after which mandatory properties must have values;
/// 4. ``end(_:in:)``.
///
/// ```swift
/// final class PostToSections: EntityMigrationPolicy {
///     override func createDestinationInstances(
///         for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
///     ) throws {
///         let post = try session.createStandardInstance(for: source)
///         let section = try session.insert("Section")
///         section["body"] = source["content"]
///         try section.setObject(post, for: "post")
///     }
/// }
/// ```
///
/// An error in a callback ends the migration. A `StoreError` is rethrown unchanged. Any other error
/// becomes the underlying error of `migrationFailed`.
open class EntityMigrationPolicy {
    /// Creates a policy.
    public init() {}

    /// Called before the first source object of the mapping.
    ///
    /// An override can already create objects.
    open func begin(_ mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Creates the destination objects of one source object.
    ///
    /// The standard behavior creates one object with the values of the attribute mappings and
    /// associates it with the source object (``MigrationSession/createStandardInstance(for:)``). An
    /// override that does not call `super` must associate its objects
    /// (``MigrationSession/associate(_:with:for:)``). Otherwise, relationships do not find them. An
    /// override that creates no object drops the source object.
    ///
    /// - Parameters:
    ///   - source: The source object.
    ///   - mapping: The entity mapping.
    ///   - session: The migration.
    /// - Throws: An error that ends the migration.
    open func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        _ = try session.createStandardInstance(for: source)
    }

    /// Called after the last source object of the mapping.
    open func endInstanceCreation(for mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Creates the relationships of one object that is associated under the mapping.
    ///
    /// The standard behavior sets the values of the relationship mappings
    /// (``MigrationSession/createStandardRelationships(for:)``). An override that does not call
    /// `super` leaves these relationships empty, except for links that the override or the inverse
    /// relationships set.
    ///
    /// - Parameters:
    ///   - destination: The object.
    ///   - mapping: The entity mapping.
    ///   - session: The migration.
    /// - Throws: An error that ends the migration.
    open func createRelationships(
        for destination: DestinationObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        try session.createStandardRelationships(for: destination)
    }

    /// Called after the last object of the mapping has its relationships.
    open func endRelationshipCreation(for mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Called after all objects of all mappings have their relationships, before mandatory
    /// properties are checked.
    open func performCustomValidation(for mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Called after the validation.
    ///
    /// The destination can no longer be changed.
    open func end(_ mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Returns the value of `FUNCTION($entityPolicy, "name", …)` in a value expression of the
    /// mapping.
    ///
    /// The standard behavior supports no function.
    ///
    /// - Parameters:
    ///   - function: The name, as written in the expression.
    ///   - arguments: The values of the arguments after `$entityPolicy`. Each value of a collection
    ///     is a separate argument. Objects are represented by their IDs, mappings by their names,
    ///     and `$manager` by null.
    ///   - source: The source object.
    ///   - property: The mapping of the property that gets the value.
    ///   - session: The migration, which provides the entity mapping.
    /// - Returns: The value, of the property's type or a type that converts to it.
    /// - Throws: An error that ends the migration.
    open func value(
        of function: String, arguments: [Value], for source: SourceObject, property: PropertyMapping,
        in session: MigrationSession
    ) throws -> Value {
        throw StoreError(
            .unsupported,
            "The policy of entity mapping '\(session.currentEntityMapping?.name ?? "")' has no function '\(function)', which its property '\(property.name)' asks for; override value(of:arguments:for:property:in:) in \(type(of: self))."
        )
    }
}
