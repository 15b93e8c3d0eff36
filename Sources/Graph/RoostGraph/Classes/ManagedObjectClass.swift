public import RoostCore
public import RoostPredicates

/// A class for the objects of one entity.
///
/// `roost model generate` and the plugin `RoostModelPlugin` write such classes.
///
/// ```swift
/// let album: Album = try context.insert()
/// album.title = "Blue"
/// let id = album.id
/// ```
public protocol ManagedObjectClass: ManagedObject, EntityRepresentable {
    /// The properties that the class expects in its entity.
    static var shape: ClassShape { get }
}

extension ManagedObjectClass {
    /// The ID of the object, typed and `Sendable`.
    public var id: ManagedObjectID<Self> { ManagedObjectID(unchecked: objectID) }

    /// Returns a request for objects of the class.
    ///
    /// ```swift
    /// let albums = try context.fetch(Album.fetch(where: "year > 1970", sortedBy: ["title"]))
    /// ```
    public static func fetch(
        where predicate: FetchRequest.Predicate? = nil, sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [],
        limit: Int? = nil, offset: Int? = nil
    ) -> Fetch<Self> {
        Fetch(where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
    }
}

/// The ID of an object, typed by its class.
///
/// Pass IDs between contexts: unlike an object, an ID is `Sendable`.
///
/// ```swift
/// let id = album.id
/// let title = try await container.perform { context in
///     try context.existingObject(id).title
/// }
/// ```
public struct ManagedObjectID<Object: ManagedObject>: Hashable, Sendable {
    /// The ID without the class.
    public let objectID: ObjectID

    init(unchecked objectID: ObjectID) { self.objectID = objectID }
}

extension ManagedObjectID where Object: ManagedObjectClass {
    /// Creates a typed ID.
    ///
    /// Returns nil if the ID's entity in `model` is neither the class's entity nor one of its
    /// subentities or superentities.
    public init?(_ objectID: ObjectID, in model: ManagedObjectModel) {
        guard let entity = model.entity(objectID.entity), let own = model.entity(Object.entityName),
            own.includes(entity.number) || entity.includes(own.number)
        else { return nil }
        self.objectID = objectID
    }
}
