public import RoostCore
internal import RoostQuery

extension Store {
    /// Runs `body` with a consistent view of the store.
    ///
    /// The view ends when `body` returns. It keeps pages of the store alive, so do not wait for
    /// people or for the network inside.
    ///
    /// - Parameter body: The work with the view.
    /// - Returns: The result of `body`.
    /// - Throws: `closed`, and what `body` throws.
    public func read<Result>(_ body: (StoreView) throws -> Result) throws -> Result {
        let view = StoreView(try persistentStore.snapshot(), model: model)
        defer { view.end() }
        return try body(view)
    }

    /// Runs `body` with a view, where only the store throws.
    func reading<Result>(_ body: (StoreView) throws(StoreError) -> Result) throws(StoreError) -> Result {
        let view = StoreView(try persistentStore.snapshot(), model: model)
        defer { view.end() }
        return try body(view)
    }

    /// Returns the objects that meet a condition, in an order; objects with equal keys by ascending
    /// ID.
    ///
    /// ```swift
    /// let first = try store.fetch("Track", where: "plays > 3", sortedBy: ["title"], limit: 3)
    /// ```
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
        try reading { (view) throws(StoreError) in
            try view.fetch(entity, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
        }
    }

    /// Calls `body` for each object that a request asks for, in bounded memory.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The work for an object. Its first error ends the pass.
    /// - Throws: As ``fetch(_:where:sortedBy:limit:offset:)``, and what `body` throws.
    public func forEach(_ request: FetchRequest, _ body: (Record) throws -> Void) throws {
        try read { view in try view.forEach(request, body) }
    }

    /// Returns the object with an ID, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`.
    public func record(_ id: ObjectID) throws(StoreError) -> Record? {
        try reading { (view) throws(StoreError) in try view.record(id) }
    }

    /// Returns the object of an entity with a key, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`.
    public func record(_ entity: EntityName, key: Int64) throws(StoreError) -> Record? {
        try record(ObjectID(entity, key: key))
    }

    /// Returns the number of objects that meet a condition.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`.
    public func count(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil
    ) throws(StoreError) -> Int {
        try reading { (view) throws(StoreError) in try view.count(entity, where: predicate) }
    }

    /// Returns the way in which the store finds the objects of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether the request is executed, so that the plan has the number of objects
    ///     that were looked at.
    /// - Returns: The plan.
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`.
    public func explain(_ request: FetchRequest, executing: Bool = false) throws(StoreError) -> FetchPlan {
        try reading { (view) throws(StoreError) in try view.explain(request, executing: executing) }
    }
}
