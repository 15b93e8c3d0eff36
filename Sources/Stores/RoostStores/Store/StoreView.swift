public import RoostCore
internal import RoostQuery

/// A consistent view of a store, as it was when the view began.
///
/// Changes by others do not show in it and do not wait for it. A view ends with the closure of
/// ``Store/read(_:)`` that receives it, and is used on the thread of that closure only. Afterwards
/// every call throws code `closed`.
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

    /// Returns the objects that meet a condition, in an order; objects with equal keys by ascending
    /// ID.
    ///
    /// - Parameters:
    ///   - entity: The entity; objects of its subentities are included.
    ///   - predicate: The condition; nil for all objects.
    ///   - sortDescriptors: The order; a string sorts by a property, ascending.
    ///   - limit: The most objects to return; nil for all.
    ///   - offset: The number of objects to skip.
    /// - Returns: The objects. All of them are in memory; ``forEach(_:_:)`` reads any number.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`, before anything is read.
    public func fetch(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [], limit: Int? = nil, offset: Int? = nil
    ) throws(StoreError) -> [Record] {
        try fetch(
            FetchRequest(entity, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset))
    }

    /// Returns the objects that a request asks for.
    ///
    /// - Throws: As ``fetch(_:where:sortedBy:limit:offset:)``.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> [Record] {
        let cursor = try snapshot.fetch(request)
        var (batch, records) = (RecordBatch(model: model), [Record]())
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { records.append(batch.record(at: index)) }
        }
        return records
    }

    /// Calls `body` for each object that a request asks for, in bounded memory.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The work for an object. Its first error ends the pass.
    /// - Throws: As ``fetch(_:where:sortedBy:limit:offset:)``, and what `body` throws.
    public func forEach(_ request: FetchRequest, _ body: (Record) throws -> Void) throws {
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count { try body(batch.record(at: index)) }
        }
    }

    /// Returns the object with an ID, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`.
    public func record(_ id: ObjectID) throws(StoreError) -> Record? {
        var batch = RecordBatch(model: model)
        return try snapshot.record(with: id, into: &batch) ? batch.record(at: 0) : nil
    }

    /// Returns the object of an entity with a key, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`.
    public func record(_ entity: EntityName, key: Int64) throws(StoreError) -> Record? {
        try record(ObjectID(entity, key: key))
    }

    /// Returns the IDs of the objects in a to-many relationship of an object, in its order.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for a to-one relationship.
    public func objectIDs(_ relationship: String, of id: ObjectID) throws(StoreError) -> [ObjectID] {
        let found = try model.requireRelationship(RelationshipName(id.entity, name: relationship))
        return try snapshot.destinations(of: found, from: id)
    }

    // MARK: Numbers and rows

    /// Returns the number of objects that meet a condition.
    ///
    /// - Throws: As ``fetch(_:where:sortedBy:limit:offset:)``.
    public func count(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil
    ) throws(StoreError) -> Int {
        try count(FetchRequest(entity, where: predicate))
    }

    /// Returns the number of objects that a request asks for, its limit and offset included.
    ///
    /// - Throws: As ``fetch(_:where:sortedBy:limit:offset:)``.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int { try snapshot.count(request) }

    /// Calls `body` for each row of a request: values of properties, groups and aggregates.
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
    ///   - body: The work for a row, whose values are by column name. Its first error ends the
    ///     pass.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`, and what `body` throws.
    public func forEachRow(_ request: RowRequest, _ body: ([String: Value]) throws -> Void) throws {
        let cursor = try snapshot.rows(request)
        var batch = RowBatch()
        while try cursor.next(into: &batch) {
            for row in 0..<batch.count { try body(batch.values(at: row)) }
        }
    }

    /// Returns the way in which the store finds the objects of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether the request is executed, so that the plan has the number of objects
    ///     that were looked at.
    /// - Returns: The plan.
    /// - Throws: As ``fetch(_:where:sortedBy:limit:offset:)``.
    public func explain(_ request: FetchRequest, executing: Bool = false) throws(StoreError) -> FetchPlan {
        try snapshot.explain(request, executing: executing)
    }

    func end() { snapshot.close() }
}

extension Record {
    /// The value of a property; null for a property without a value.
    ///
    /// - Precondition: The object's entity has the property. Use ``value(_:)`` for names that are
    ///   not written in the program.
    public subscript(_ name: String) -> Value {
        do throws(StoreError) { return try value(name) } catch { preconditionFailure(error.message) }
    }
}
