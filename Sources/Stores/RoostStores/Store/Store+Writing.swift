public import RoostCore
public import RoostQuery

extension Store {
    /// Inserts one object for each row.
    ///
    /// The insert is atomic and durable on return.
    ///
    /// ```swift
    /// try store.insert("Track", rows: [["title": "Blue", "plays": 3], ["title": "Carey"]])
    /// ```
    ///
    /// Up to 16 MiB of rows become one change set. More rows are loaded in bulk, in bounded memory,
    /// and other writers wait until the load ends. In two cases, all rows become one change set:
    /// with ``ConflictRule/update`` or ``ConflictRule/skip``, and if rows can change other objects.
    ///
    /// - Parameters:
    ///   - entity: The entity of the new objects.
    ///   - rows: The values by property name: attributes, to-one relationships (`.objectID`), and
    ///     elements of composites by their dotted path. A missing property gets the model's
    ///     default. The sequence is read once.
    ///   - onConflict: The rule for a row that matches an existing object in a uniqueness
    ///     constraint.
    ///   - result: The kind of the result.
    /// - Returns: The result of the requested kind.
    /// - Throws: `validationFailed` with all ``StoreError/failures``; `objectNotFound` with all
    ///   ``StoreError/missingObjects``; `constraintViolation`; `conflict` if other writers
    ///   repeatedly interfere; `unknownEntity`, `unknownProperty`, `invalidRequest`,
    ///   `invalidValue`; `cancelled`.
    @discardableResult
    public func insert(
        _ entity: EntityName, rows: some Sequence<[String: Value]>, onConflict: ConflictRule = .fail,
        result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        var request = BatchInsertRequest(entity, rows: rows, result: result)
        request.onConflict = onConflict
        return try execute(request)
    }

    /// Executes a batch insert.
    ///
    /// - Throws: The errors of ``insert(_:rows:onConflict:result:)``.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchResult {
        try persistentStore.execute(request, rules: rules)
    }

    /// Sets properties of all objects that meet a condition.
    ///
    /// The update is atomic and durable on return. Expressions read the values that objects had
    /// before the update.
    ///
    /// ```swift
    /// try store.update("Track", set: "plays = plays + 1", where: "title BEGINSWITH \(prefix)")
    /// ```
    ///
    /// - Parameters:
    ///   - entity: The entity, including its subentities.
    ///   - values: The new values, as text or as a dictionary.
    ///   - predicate: The condition, or nil for all objects.
    ///   - result: The kind of the result.
    /// - Returns: The result of the requested kind.
    /// - Throws: The errors of ``insert(_:rows:onConflict:result:)``.
    @discardableResult
    public func update(
        _ entity: EntityName, set values: Assignments, where predicate: FetchRequest.Predicate? = nil,
        result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        try execute(BatchUpdateRequest(entity, where: predicate, set: try values.expressions, result: result))
    }

    /// Executes a batch update.
    ///
    /// - Throws: The errors of ``update(_:set:where:result:)``.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchResult {
        try persistentStore.execute(request, rules: rules)
    }

    /// Deletes all objects that meet a condition, and further objects according to the delete
    /// rules.
    ///
    /// The delete is atomic and durable on return.
    ///
    /// - Parameters:
    ///   - entity: The entity, including its subentities.
    ///   - predicate: The condition, or nil for all objects.
    ///   - result: The kind of the result.
    /// - Returns: The result of the requested kind.
    /// - Throws: `deleteDenied` with all ``StoreError/denials`` and ``StoreError/failures``;
    ///   `validationFailed`; errors of the fetch; `conflict` if other writers repeatedly change the
    ///   objects.
    @discardableResult
    public func delete(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil, result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        try execute(BatchDeleteRequest(FetchRequest(entity, where: predicate), result: result))
    }

    /// Deletes the objects with these IDs, and further objects according to the delete rules.
    ///
    /// IDs of objects that do not exist are ignored.
    ///
    /// - Throws: The errors of ``delete(_:where:result:)``.
    @discardableResult
    public func delete(_ ids: [ObjectID], result: BatchResultType = .count) throws(StoreError) -> BatchResult {
        try execute(BatchDeleteRequest(objectIDs: ids, result: result))
    }

    /// Executes a batch delete.
    ///
    /// - Throws: The errors of ``delete(_:where:result:)``.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchResult {
        try persistentStore.execute(request, rules: rules)
    }
}
