public import RoostCore
internal import RoostQuery

/// A consistent view of a store as of the time when the view began.
///
/// Later changes are not visible in the view, and do not wait for it. Use a view only on the thread
/// of the `Store.read(_:)` closure that receives it. After the closure, every call throws `closed`.
///
/// ```swift
/// try store.read { view in
///     let albums = try view.fetch("Album", where: "year > 1970", sortedBy: ["title"], limit: 10)
///     for album in albums {
///         print(album["title"], try view.count("Track", where: "album == \(album.id)"))
///     }
/// }
/// ```
public final class StoreView {
    package let snapshot: any StoreSnapshot
    /// The program's model.
    public let model: ManagedObjectModel

    init(_ snapshot: any StoreSnapshot, model: ManagedObjectModel) {
        self.snapshot = snapshot
        self.model = model
    }

    // MARK: Objects

    /// Returns the objects that meet a condition, in a given order.
    ///
    /// - Parameters:
    ///   - entity: The entity, including its subentities.
    ///   - predicate: The condition, or nil for all objects.
    ///   - sortDescriptors: The order. A string sorts by a property, ascending. Objects with equal
    ///     sort keys are ordered by ID.
    ///   - limit: The maximum number of objects, or nil for all.
    ///   - offset: The number of objects to skip.
    /// - Returns: The objects, all in memory at once. ``forEach(_:_:)`` uses bounded memory.
    /// - Throws: `unknownEntity`, `unknownProperty` or `invalidRequest` before anything is read;
    ///   `closed`; errors of reading.
    public func fetch(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [], limit: Int? = nil, offset: Int? = nil
    ) throws(StoreError) -> [Record] {
        try fetch(
            FetchRequest(entity, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset))
    }

    /// Returns the objects of a request.
    ///
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> [Record] {
        let cursor = try snapshot.fetch(request)
        var (batch, records) = (RecordBatch(model: model), [Record]())
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { records.append(batch.record(at: index)) }
        }
        return records
    }

    /// Calls `body` for each object of a request, in bounded memory.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: A closure that receives each object. Its first error ends the pass.
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``, and the errors of `body`.
    public func forEach(_ request: FetchRequest, _ body: (Record) throws -> Void) throws {
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { try body(batch.record(at: index)) }
        }
    }

    /// Returns the object with the given ID, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`; `closed`; errors of reading.
    public func record(_ id: ObjectID) throws(StoreError) -> Record? {
        var batch = RecordBatch(model: model)
        return try snapshot.record(with: id, into: &batch) ? batch.record(at: 0) : nil
    }

    /// Returns the object with the given entity and key, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`; `closed`; errors of reading.
    public func record(_ entity: EntityName, key: Int64) throws(StoreError) -> Record? {
        try record(ObjectID(entity, key: key))
    }

    /// Returns the IDs of the objects in a to-many relationship of an object, in the
    /// relationship's order.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for a to-one relationship.
    public func objectIDs(_ relationship: String, of id: ObjectID) throws(StoreError) -> [ObjectID] {
        let found = try model.requireRelationship(RelationshipName(id.entity, name: relationship))
        return try snapshot.destinations(of: found, from: id)
    }

    // MARK: Numbers and rows

    /// Returns the number of objects that meet a condition.
    ///
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``.
    public func count(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil
    ) throws(StoreError) -> Int {
        try count(FetchRequest(entity, where: predicate))
    }

    /// Returns the number of objects of a request, within its limit and offset.
    ///
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int { try snapshot.count(request) }

    /// Calls `body` for each row of a request.
    ///
    /// A row has values computed from one object, or from a group of objects.
    ///
    /// ```swift
    /// let request = RowRequest(
    ///     FetchRequest("Track"),
    ///     propertiesToFetch: ["artist", .init("plays", expression: "@sum.plays")],
    ///     propertiesToGroupBy: ["artist"])
    /// try store.read { view in try view.forEachRow(request) { row in print(row) } }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: A closure that receives each row as values by column name. Its first error ends
    ///     the pass.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`, and the errors of `body`.
    public func forEachRow(_ request: RowRequest, _ body: ([String: Value]) throws -> Void) throws {
        let cursor = try snapshot.rows(request)
        var batch = RowBatch()
        while try cursor.next(into: &batch) {
            for row in 0..<batch.count { try body(batch.values(at: row)) }
        }
    }

    /// Returns the store's plan for finding the objects of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether to execute the request and to count the examined objects.
    /// - Returns: The plan.
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``.
    public func explain(_ request: FetchRequest, executing: Bool = false) throws(StoreError) -> FetchPlan {
        try snapshot.explain(request, executing: executing)
    }

    func end() { snapshot.close() }
}

extension Record {
    /// Returns the value of a property, which is null if the property has no value.
    ///
    /// - Precondition: The object's entity has the property. Use ``value(_:)`` for names known only
    ///   at run time.
    public subscript(_ name: String) -> Value {
        do throws(StoreError) { return try value(name) } catch { preconditionFailure(error.message) }
    }
}
