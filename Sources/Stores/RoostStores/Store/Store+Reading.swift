public import RoostCore
internal import RoostQuery

extension Store {
    /// Runs `body` with a consistent view of the store.
    ///
    /// The view ends when `body` returns. Until then, the view retains pages of the store, so
    /// `body` should not wait for user input or the network.
    ///
    /// - Parameter body: A closure that receives the view.
    /// - Returns: The result of `body`.
    /// - Throws: `closed`, and the errors of `body`.
    public func read<Result>(_ body: (StoreView) throws -> Result) throws -> Result {
        let view = StoreView(try persistentStore.snapshot(), model: model)
        defer { view.end() }
        return try body(view)
    }

    func reading<Result>(_ body: (StoreView) throws(StoreError) -> Result) throws(StoreError) -> Result {
        let view = StoreView(try persistentStore.snapshot(), model: model)
        defer { view.end() }
        return try body(view)
    }

    /// Returns the objects that meet a condition, in a given order.
    ///
    /// ```swift
    /// let first = try store.fetch("Track", where: "plays > 3", sortedBy: ["title"], limit: 3)
    /// ```
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
        try reading { (view) throws(StoreError) in
            try view.fetch(entity, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
        }
    }

    /// Calls `body` for each object of a request, in bounded memory.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: A closure that receives each object. Its first error ends the pass.
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``, and the errors of `body`.
    public func forEach(_ request: FetchRequest, _ body: (Record) throws -> Void) throws {
        try read { view in try view.forEach(request, body) }
    }

    /// Returns the object with the given ID, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`; `closed`; errors of reading.
    public func record(_ id: ObjectID) throws(StoreError) -> Record? {
        try reading { (view) throws(StoreError) in try view.record(id) }
    }

    /// Returns the object with the given entity and key, or nil if it does not exist.
    ///
    /// - Throws: `unknownEntity`; `closed`; errors of reading.
    public func record(_ entity: EntityName, key: Int64) throws(StoreError) -> Record? {
        try record(ObjectID(entity, key: key))
    }

    /// Returns the number of objects that meet a condition.
    ///
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``.
    public func count(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil
    ) throws(StoreError) -> Int {
        try reading { (view) throws(StoreError) in try view.count(entity, where: predicate) }
    }

    /// Returns the store's plan for finding the objects of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether to execute the request and to count the examined objects.
    /// - Returns: The plan.
    /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:)``.
    public func explain(_ request: FetchRequest, executing: Bool = false) throws(StoreError) -> FetchPlan {
        try reading { (view) throws(StoreError) in try view.explain(request, executing: executing) }
    }
}
