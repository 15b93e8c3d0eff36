public import RoostCore

/// A migration in three passes, as its policies see it.
///
/// Both sides at once, each by its own model. Use it in the callbacks of ``EntityMigrationPolicy``
/// and on their thread only; after the migration every call throws code `closed`. Memory stays
/// bounded whatever the size of the stores, as long as policies keep no objects and ask for no
/// lists of them without a limit.
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
    /// The mapping model that is being run.
    package let mappingModel: MappingModel
    /// Data that policies share with each other.
    public var userInfo: [String: Any] = [:]
    /// The entity mapping whose policy is being called; nil between them.
    public var currentEntityMapping: EntityMapping? { current.map { plan.mappings[$0].declaration } }
    /// The part of the three passes that is done, from 0 to 1.
    package internal(set) var progress: Double = 0

    let source: MigrationSource
    let content: DestinationContent
    let associations: AssociationTable
    let plan: PolicyPlan
    /// The error with which a policy cancelled the migration.
    private var policyCancellation: (any Error)?
    private let cancellation: ConversionCancellation?
    /// The number of the mapping whose policy is being called.
    var current: Int?
    /// The relationships that policies set in the first pass, by number, with their inverses.
    var setInFirstPass: Set<Int> = []
    /// The maker of the relationships of the current object, in the second pass.
    var relationshipMaker: RelationshipMaker?

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

    /// Ends the migration as soon as the callback returns.
    ///
    /// `migrate` then throws this error. If the error is not a `StoreError`, `migrate` throws code
    /// `cancelled` with it as the underlying error. The source is unchanged. Nothing of the
    /// destination remains, except for what an open store may keep.
    public func cancel(with error: any Error) { if policyCancellation == nil { policyCancellation = error } }

    /// Throws the error with which the migration was cancelled, by a policy or from outside.
    func checkCancellation() throws(StoreError) {
        try cancellation?.check()
        guard let policyCancellation else { return }
        if let error = policyCancellation as? StoreError { throw error }
        throw StoreError(
            .cancelled, "A policy cancelled the migration; the source is unchanged.", underlying: policyCancellation)
    }

    // MARK: The source

    /// Returns the objects of the source that a request asks for, in its order.
    ///
    /// All of them are in memory at once; give the request a limit where there may be many.
    /// - Throws: What ``StoreSnapshot/fetch(_:)`` throws.
    public func sourceObjects(_ request: FetchRequest) throws(StoreError) -> [SourceObject] {
        try source.objects(request)
    }

    /// Returns the object of the source with this ID, or nil.
    public func sourceObject(_ id: ObjectID) throws(StoreError) -> SourceObject? {
        try source.objects(with: [id]).first
    }

    // MARK: The destination

    /// Makes an object with the defaults of its entity and a key of its own.
    ///
    /// - Throws: `unknownEntity`; `invalidRequest` for an abstract entity, and once everything was
    ///   validated.
    public func insert(_ entity: EntityName) throws(StoreError) -> DestinationObject {
        try content.insert(try content.model.requireEntity(entity))
    }

    /// Returns the objects of the destination that a request asks for, in its order, including
    /// everything that was made before.
    ///
    /// A request without an order whose predicate uses only attributes also searches memory, so
    /// finding an object, or making it, costs a lookup; give the attribute an index. For other
    /// requests, what is in memory is written first. The first call of a migration costs more: it
    /// ends the bulk load.
    ///
    /// - Throws: What ``StoreSnapshot/fetch(_:)`` and ``PersistentStore/commit(_:)`` throw.
    public func destinationObjects(_ request: FetchRequest) throws(StoreError) -> [DestinationObject] {
        try content.fetch(request)
    }

    /// Returns the number of objects that ``destinationObjects(_:)`` would return.
    package func destinationCount(_ request: FetchRequest) throws(StoreError) -> Int {
        try content.count(request)
    }

    // MARK: Associations

    /// Notes that an object of the destination was made of an object of the source, under the
    /// entity mapping with a name.
    ///
    /// It can be looked up at once, from either side. An object may be associated with any number
    /// of others.
    ///
    /// - Throws: `invalidRequest` for a name that no mapping has.
    public func associate(
        _ source: SourceObject, with destination: DestinationObject, for mapping: String
    ) throws(StoreError) {
        let mapping = try plan.requireMapping(mapping)
        try associations.associate(
            AssociationTable.Object(entity: source.entityNumber, key: source.key),
            with: AssociationTable.Object(entity: destination.entityNumber, key: destination.key),
            in: mapping.number)
    }

    /// Returns the objects that an entity mapping made of source objects; all of its objects for
    /// nil.
    ///
    /// - Parameters:
    ///   - name: The mapping's name.
    ///   - sourceObjects: Source objects; objects that became nothing are ignored. Nil for all,
    ///     which are in memory at once.
    /// - Returns: The destination objects, each once.
    /// - Throws: `invalidRequest` for a name that no mapping has.
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

    /// Returns the source objects that an entity mapping made into destination objects; all for
    /// nil.
    ///
    /// - Parameters:
    ///   - name: The mapping's name.
    ///   - destinationObjects: Destination objects; nil for all, which are in memory at once.
    /// - Returns: The source objects, each once.
    /// - Throws: `invalidRequest` for a name that no mapping has, and what reading the source
    ///   throws.
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

    /// Makes one object of a source object as the entity mapping says, and associates both.
    ///
    /// It gets the values of the attribute mappings, and the key of the source object where no
    /// other object of its hierarchy has it.
    ///
    /// - Returns: The object; nil where the mapping makes none, as of type `add` or `remove`.
    /// - Throws: `migrationFailed` for a value that the attribute cannot hold, naming entity,
    ///   attribute and object; what an expression and a function of the policy throws.
    public func createStandardInstance(for source: SourceObject) throws -> DestinationObject? {
        guard let current else { throw Self.outside("createStandardInstance") }
        return try plan.mappings[current].create(source, session: self)
    }

    /// Sets the relationships of an object as the relationship mappings of its entity mapping say.
    ///
    /// Call it only in ``EntityMigrationPolicy/createRelationships(for:by:in:)``, for the object
    /// given there.
    ///
    /// - Throws: What an expression and a function of the policy throws.
    public func createStandardRelationships(for destination: DestinationObject) throws {
        guard let relationshipMaker, relationshipMaker.isMaking(destination) else {
            throw Self.outside("createStandardRelationships")
        }
        try relationshipMaker.makeStandardRelationships(self)
    }

    private static func outside(_ function: String) -> StoreError {
        StoreError(
            .invalidRequest,
            "\(function) was called outside its callback; call it in that callback of a policy, with the object that the callback got."
        )
    }
}

extension Array where Element: Hashable {
    /// The elements, each once, in the order of their first appearance.
    func uniqued() -> [Element] {
        guard count > 1 else { return self }
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
