/// What a batch request tells when it is done.
public enum BatchResultType: String, Hashable, Sendable, CaseIterable {
    /// That it succeeded: there is nothing else.
    case statusOnly
    /// How many objects it inserted, updated or deleted.
    case count
    /// Which ones, so that others can be told.
    case objectIDs
}

/// What a batch request did.
public struct BatchResult: Hashable, Sendable {
    /// The store's generation afterwards.
    public let generation: Generation
    /// How many objects were inserted, updated or deleted, those that a delete took along by rule among them; nil for ``BatchResultType/statusOnly``.
    public let count: Int?
    /// These objects; nil unless asked for.
    ///
    /// Inserted ones in the order they were given, updated ones by key, deleted ones in the order of the request and then those that
    /// went with them.
    public let objectIDs: [ObjectID]?
    /// Other objects that changed on the way, because a reference of theirs was set or cleared; nil unless IDs were asked for.
    public let relatedObjectIDs: [ObjectID]?

    /// Makes a result; what `type` does not ask for is left out.
    public init(
        _ type: BatchResultType, generation: Generation, count: Int, objectIDs: @autoclosure () -> [ObjectID],
        relatedObjectIDs: @autoclosure () -> [ObjectID] = []
    ) {
        self.generation = generation
        self.count = type == .statusOnly ? nil : count
        self.objectIDs = type == .objectIDs ? objectIDs() : nil
        self.relatedObjectIDs = type == .objectIDs ? relatedObjectIDs() : nil
    }
}
