/// The content of the result of a batch request.
///
/// ```swift
/// let deleted = try store.delete("Track", where: "plays == 0", result: .objectIDs).objectIDs ?? []
/// let updated = try store.update("Track", set: "plays = 0", result: .count).count ?? 0
/// print(deleted, updated)
/// ```
public enum BatchResultType: String, Hashable, Sendable, CaseIterable {
    /// Only the store's generation after the request.
    case statusOnly
    /// The number of objects that were inserted, updated or deleted.
    case count
    /// The IDs of the inserted, updated or deleted objects.
    case objectIDs
}

/// The result of a batch request.
///
/// ```swift
/// let result = try store.insert(
///     "Album", rows: [["title": "Blue"], ["title": "Hejira"]], result: .objectIDs)
/// for album in result.objectIDs ?? [] {
///     try store.insert("Track", rows: [["title": "Bonus", "album": .objectID(album)]])
/// }
/// ```
public struct BatchResult: Hashable, Sendable {
    /// The store's generation after the request.
    public let generation: Generation
    /// The number of inserted, updated or deleted objects, including objects that delete rules
    /// deleted.
    ///
    /// Nil for ``BatchResultType/statusOnly``.
    public let count: Int?
    /// The objects that were inserted, updated or deleted; nil unless requested.
    ///
    /// A batch insert lists one object for each row, in row order. With a ``ConflictRule``, this
    /// can be an existing object, even an unchanged one. A batch update lists its objects in key
    /// order. A batch delete lists the requested objects in the order of the request, then the
    /// objects that delete rules deleted.
    public let objectIDs: [ObjectID]?
    /// Other objects that got a new version; nil unless requested.
    ///
    /// These are objects:
    ///
    /// - in which the request set or cleared a reference;
    /// - whose derived attributes depend on a property that the request changed;
    /// - that gained or lost objects in a relationship with a minimum or maximum count;
    /// - that a derived attribute reads through a reference or link that the request added.
    public let relatedObjectIDs: [ObjectID]?

    package init(
        _ type: BatchResultType, generation: Generation, count: Int, objectIDs: @autoclosure () -> [ObjectID],
        relatedObjectIDs: @autoclosure () -> [ObjectID] = []
    ) {
        self.generation = generation
        self.count = type == .statusOnly ? nil : count
        self.objectIDs = type == .objectIDs ? objectIDs() : nil
        self.relatedObjectIDs = type == .objectIDs ? relatedObjectIDs() : nil
    }
}
