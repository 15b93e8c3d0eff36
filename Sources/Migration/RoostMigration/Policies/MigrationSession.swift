public import RoostCore

/// A migration in three passes, as seen by its policies.
///
/// Use a session only in the callbacks of ``EntityMigrationPolicy`` and on their thread. After the
/// migration, reading and inserting objects throws `closed`. Memory is bounded if policies do not
/// retain objects or request long lists.
///
/// In a policy's ``EntityMigrationPolicy/createDestinationInstances(for:by:in:)``:
///
/// ```swift
/// let track = try session.createStandardInstance(for: source)
/// let name = source.string("genre") ?? "Unknown"
/// let genres = try session.destinationObjects(FetchRequest("Genre", where: "name == \(name)"))
/// let genre = try genres.first ?? session.insert("Genre")
/// genre["name"] = .string(name)
/// try track?.setObject(genre, for: "genre")
/// ```
public final class MigrationSession {
    /// The model of the source.
    public var sourceModel: ManagedObjectModel { source.model }
    /// The model of the destination.
    public var destinationModel: ManagedObjectModel { content.model }
    package let mappingModel: MappingModel
    /// Data that policies share.
    public var userInfo: [String: Any] = [:]
    /// The entity mapping whose policy is called, or nil between calls.
    public var currentEntityMapping: EntityMapping? { current.map { plan.mappings[$0].declaration } }
    /// The completed fraction of the three passes, from 0 to 1.
    package internal(set) var progress: Double = 0

    let source: MigrationSource
    let content: DestinationContent
    let associations: AssociationTable
    let plan: PolicyPlan
    /// The error with which a policy cancelled the migration.
    private var policyCancellation: (any Error)?
    private let cancellation: ConversionCancellation?
    /// The number of the mapping whose policy is called.
    var current: Int?
    /// The numbers of the relationships that policies set in the first pass, and of their inverses.
    var setInFirstPass: Set<Int> = []
    /// The relationship builder for the current object in the second pass.
    var relationshipBuilder: RelationshipBuilder?

    init(
        _ plan: PolicyPlan, source: MigrationSource, content: DestinationContent, associations: AssociationTable,
        cancellation: ConversionCancellation?
    ) {
        self.plan = plan
        self.cancellation = cancellation
        mappingModel = plan.declaration
        self.source = source
        self.content = content
        self.associations = associations
    }

    /// Cancels the migration when the callback returns.
    ///
    /// `migrate` throws this error if it is a `StoreError`, otherwise `cancelled` with this error
    /// as the underlying error. The source is unchanged. A new destination is removed. An open
    /// destination store may keep a part of the new content.
    public func cancel(with error: any Error) { if policyCancellation == nil { policyCancellation = error } }

    /// Throws the error with which a policy or the caller cancelled the migration.
    func checkCancellation() throws(StoreError) {
        try cancellation?.check()
        guard let policyCancellation else { return }
        if let error = policyCancellation as? StoreError { throw error }
        throw StoreError(
            .cancelled, "A policy cancelled the migration; the source is unchanged.", underlying: policyCancellation)
    }

    // MARK: The source

    /// Returns the objects of the source that match a request, in the request's order.
    ///
    /// All objects are in memory at once, so set a limit if there may be many.
    ///
    /// - Throws: The errors of ``StoreSnapshot/fetch(_:)``.
    public func sourceObjects(_ request: FetchRequest) throws(StoreError) -> [SourceObject] {
        try source.objects(request)
    }

    /// Returns the object of the source with the given ID, or nil.
    public func sourceObject(_ id: ObjectID) throws(StoreError) -> SourceObject? {
        try source.objects(with: [id]).first
    }

    // MARK: The destination

    /// Creates an object with the defaults of its entity and a new key.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` for an abstract entity; `closed` after
    ///   validation; errors from writing.
    public func insert(_ entity: EntityName) throws(StoreError) -> DestinationObject {
        try content.insert(try content.model.requireEntity(entity))
    }

    /// Returns the objects of the destination that match a request, in the request's order,
    /// including all objects created so far.
    ///
    /// If a request has no order and its predicate uses only attributes, unwritten objects are
    /// searched in memory. Such a request costs one search of the store, which is fast if the
    /// attribute is indexed. For other requests, unwritten objects are written first if they can
    /// affect the result. The first call costs more, because it ends the bulk load.
    ///
    /// - Throws: The errors of ``StoreSnapshot/fetch(_:)`` and ``PersistentStore/commit(_:)``.
    public func destinationObjects(_ request: FetchRequest) throws(StoreError) -> [DestinationObject] {
        try content.fetch(request)
    }

    /// Returns the number of objects that ``destinationObjects(_:)`` would return.
    package func destinationCount(_ request: FetchRequest) throws(StoreError) -> Int {
        try content.count(request)
    }

    // MARK: Associations

    /// Records that a destination object was created from a source object, under the named entity
    /// mapping.
    ///
    /// The association can be looked up immediately, in both directions. An object may have any
    /// number of associations.
    ///
    /// - Throws: `invalidRequest` if no mapping has the name; errors of a temporary file.
    public func associate(
        _ source: SourceObject, with destination: DestinationObject, for mapping: String
    ) throws(StoreError) {
        let mapping = try plan.requireMapping(mapping)
        try associations.associate(
            AssociationTable.Object(entity: source.entityNumber, key: source.key),
            with: AssociationTable.Object(entity: destination.entityNumber, key: destination.key),
            in: mapping.number)
    }

    /// Returns the objects that an entity mapping created from the given source objects.
    ///
    /// - Parameters:
    ///   - name: The mapping's name.
    ///   - sourceObjects: The source objects, or nil for all source objects of the mapping. Objects
    ///     without associations are ignored. All results are in memory at once.
    /// - Returns: The destination objects, without duplicates.
    /// - Throws: `invalidRequest` if no mapping has the name; errors of a temporary file.
    public func destinationInstances(
        forEntityMapping name: String, sourceObjects: [SourceObject]?
    ) throws(StoreError) -> [DestinationObject] {
        let mapping = try plan.requireMapping(name).number
        var found: [AssociationTable.Object] = []
        if let sourceObjects {
            for object in sourceObjects {
                try associations.appendDestinations(
                    of: .init(entity: object.entityNumber, key: object.key), in: mapping, to: &found)
            }
        } else {
            let all = try associations.destinations(in: mapping)
            while let next = try all.next() { found.append(next) }
        }
        return found.uniqued().map { DestinationObject(content: content, entityNumber: $0.entity, key: $0.key) }
    }

    /// Returns the source objects from which an entity mapping created the given destination
    /// objects.
    ///
    /// - Parameters:
    ///   - name: The mapping's name.
    ///   - destinationObjects: The destination objects, or nil for all objects of the mapping. All
    ///     results are in memory at once.
    /// - Returns: The source objects, without duplicates.
    /// - Throws: `invalidRequest` if no mapping has the name, and errors from reading the source.
    public func sourceInstances(
        forEntityMapping name: String, destinationObjects: [DestinationObject]?
    ) throws(StoreError) -> [SourceObject] {
        let mapping = try plan.requireMapping(name).number
        var found: [AssociationTable.Object] = []
        if let destinationObjects {
            for object in destinationObjects {
                try associations.appendSources(
                    of: .init(entity: object.entityNumber, key: object.key), in: mapping, to: &found)
            }
        } else {
            let all = try associations.sources(in: mapping)
            while let next = try all.next() { found.append(next) }
        }
        return try source.objects(
            with: found.uniqued().map { ObjectID(sourceModel.entities[$0.entity].name, key: $0.key) })
    }

    // MARK: The standard behavior

    /// Creates one object from a source object by the current entity mapping, and associates the
    /// two.
    ///
    /// The object gets the values of the attribute mappings. It keeps the source object's key if
    /// that key is free, and if only one source hierarchy supplies objects to the new object's
    /// hierarchy.
    ///
    /// - Returns: The object, or nil if the mapping creates none, as for type `add` or `remove`.
    /// - Throws: `migrationFailed` for a value that the attribute cannot hold, naming entity,
    ///   attribute and object; `invalidRequest` between callbacks or for an object of the
    ///   wrong entity; errors of expressions and of the policy's functions.
    public func createStandardInstance(for source: SourceObject) throws -> DestinationObject? {
        guard let current else { throw Self.outside("createStandardInstance") }
        return try plan.mappings[current].create(source, session: self)
    }

    /// Sets the relationships of an object according to the relationship mappings of its entity
    /// mapping.
    ///
    /// Call this function only in ``EntityMigrationPolicy/createRelationships(for:by:in:)``, with
    /// the object that the callback got.
    ///
    /// - Throws: `invalidRequest` elsewhere; errors of expressions and of the policy's functions.
    public func createStandardRelationships(for destination: DestinationObject) throws {
        guard let relationshipBuilder, relationshipBuilder.isMaking(destination) else {
            throw Self.outside("createStandardRelationships")
        }
        try relationshipBuilder.makeStandardRelationships(self)
    }

    private static func outside(_ function: String) -> StoreError {
        StoreError(
            .invalidRequest,
            "Cannot call \(function) here. Create instances in createDestinationInstances and relationships in createRelationships, with the object that the callback got."
        )
    }
}

extension Array where Element: Hashable {
    /// Returns the distinct elements, in the order of their first occurrence.
    func uniqued() -> [Element] {
        guard count > 1 else { return self }
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
