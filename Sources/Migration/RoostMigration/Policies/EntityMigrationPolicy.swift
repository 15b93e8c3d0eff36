public import RoostCore

/// A policy that customizes the migration of the objects of one entity mapping.
///
/// Make a subclass, override what the mapping cannot express, and register a function that makes it
/// under the mapping's ``EntityMapping/policyName`` in ``MigrationOptions/policies``. One instance
/// serves one mapping for the whole migration, on one thread. The callbacks come in this order,
/// each step for all mappings in the order of the mapping model:
///
/// 1. ``begin(_:in:)``, ``createDestinationInstances(for:by:in:)`` for each source object,
///    ``endInstanceCreation(for:in:)``;
/// 2. ``createRelationships(for:by:in:)`` for each object that was associated,
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
/// An error that a callback throws ends the migration: the source stays as it was, and nothing is
/// left of the destination, as `migrate(from:to:model:options:)` says. A `StoreError` comes through
/// as it is, any other as the underlying error of code `migrationFailed`.
open class EntityMigrationPolicy {
    /// Makes a policy.
    public init() {}

    /// Called before the first source object of the mapping; objects can be made here already.
    open func begin(_ mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Makes the objects that one source object becomes.
    ///
    /// The standard behavior makes one object with the values of the attribute mappings and
    /// associates both (``MigrationSession/createStandardInstance(for:)``). An override that does
    /// not call `super` must associate what it makes (``MigrationSession/associate(_:with:for:)``),
    /// or relationships do not find it; one that makes nothing drops the object.
    /// - Parameters:
    ///   - source: The source object.
    ///   - mapping: The entity mapping.
    ///   - session: The migration.
    /// - Throws: What ends the migration.
    open func createDestinationInstances(
        for source: SourceObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        _ = try session.createStandardInstance(for: source)
    }

    /// Called after the last source object of the mapping.
    open func endInstanceCreation(for mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Makes the relationships of one object that was associated under the mapping.
    ///
    /// The standard behavior gives the relationship mappings' values
    /// (``MigrationSession/createStandardRelationships(for:)``). An override that does not call
    /// `super` leaves these relationships empty, except for what it sets itself and what the
    /// inverse relationships give.
    ///
    /// - Parameters:
    ///   - destination: The object.
    ///   - mapping: The entity mapping.
    ///   - session: The migration.
    /// - Throws: What ends the migration.
    open func createRelationships(
        for destination: DestinationObject, by mapping: EntityMapping, in session: MigrationSession
    ) throws {
        try session.createStandardRelationships(for: destination)
    }

    /// Called after the last object of the mapping has its relationships.
    open func endRelationshipCreation(for mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Called when all objects of all mappings have their relationships, before mandatory
    /// properties are checked.
    open func performCustomValidation(for mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Called when everything is valid; the destination cannot be changed any more.
    open func end(_ mapping: EntityMapping, in session: MigrationSession) throws {}

    /// Returns the value of `FUNCTION($entityPolicy, "name", …)` in a value expression of the
    /// mapping.
    ///
    /// The standard behavior knows no function.
    /// - Parameters:
    ///   - function: The name, as written in the expression.
    ///   - arguments: The values of the arguments after `$entityPolicy`; for a collection, all of
    ///     its values. Objects are given by their IDs, mappings by their names, and `$manager` is
    ///     null.
    ///   - source: The source object.
    ///   - property: The mapping of the property that gets the value.
    ///   - session: The migration, with the entity mapping.
    /// - Returns: The value, of the property's type or one that converts to it.
    /// - Throws: What ends the migration.
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
