public import RoostCore
public import RoostQuery

extension Store {
    /// Inserts one object for each row, all or none, durable on return.
    ///
    /// ```swift
    /// try store.insert("Track", rows: [["title": "Blue", "plays": 3], ["title": "Carey"]])
    /// ```
    ///
    /// Rows that fit into 16 MiB become one change set; more are loaded in bulk, in bounded memory,
    /// and other writers wait until the end. With ``ConflictRule/update`` or ``ConflictRule/skip``
    /// all rows are one change set.
    ///
    /// - Parameters:
    ///   - entity: The entity of the new objects.
    ///   - rows: The values by property name: attributes, to-one relationships (`.objectID`), and
    ///     elements of composites by their dotted path. A property that a row does not name gets
    ///     the default of the model. The sequence is read once.
    ///   - onConflict: The rule for a row with the values of an existing object in a uniqueness
    ///     constraint.
    ///   - result: The kind of the result.
    /// - Returns: The result, as its kind says.
    /// - Throws: `validationFailed` with all ``StoreError/failures``; `objectNotFound` with all
    ///   ``StoreError/missingObjects``; `constraintViolation`; `unknownEntity`, `unknownProperty`,
    ///   `invalidRequest`, `invalidValue`; `cancelled` if the task is cancelled. Nothing was
    ///   inserted.
    @discardableResult
    public func insert(
        _ entity: EntityName, rows: some Sequence<[String: Value]>, onConflict: ConflictRule = .fail,
        result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        var request = BatchInsertRequest(entity, rows: rows, result: result)
        request.onConflict = onConflict
        return try execute(request)
    }

    /// Inserts objects as a request says.
    ///
    /// - Throws: As ``insert(_:rows:onConflict:result:)``.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchResult {
        try persistentStore.execute(request, rules: rules)
    }

    /// Sets properties of all objects that meet a condition, all or none, durable on return.
    ///
    /// Properties that are not named stay as they are. Expressions see an object as it was before.
    ///
    /// ```swift
    /// try store.update("Track", set: "plays = plays + 1", where: "title BEGINSWITH \(prefix)")
    /// ```
    ///
    /// - Parameters:
    ///   - entity: The entity; objects of its subentities are included.
    ///   - values: The new values, as text or as a dictionary.
    ///   - predicate: The condition; nil for all objects.
    ///   - result: The kind of the result.
    /// - Returns: The result, as its kind says.
    /// - Throws: As ``insert(_:rows:onConflict:result:)``, and `conflict` if other writers change
    ///   the objects again and again. Nothing was updated.
    @discardableResult
    public func update(
        _ entity: EntityName, set values: Assignments, where predicate: FetchRequest.Predicate? = nil,
        result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        try execute(BatchUpdateRequest(entity, where: predicate, set: try values.expressions, result: result))
    }

    /// Updates objects as a request says.
    ///
    /// - Throws: As ``update(_:set:where:result:)``.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchResult {
        try persistentStore.execute(request, rules: rules)
    }

    /// Deletes all objects that meet a condition, with the objects that delete rules take along,
    /// all or none.
    ///
    /// - Parameters:
    ///   - entity: The entity; objects of its subentities are included.
    ///   - predicate: The condition; nil for all objects.
    ///   - result: The kind of the result.
    /// - Returns: The result, as its kind says.
    /// - Throws: `deleteDenied` with all ``StoreError/denials`` and ``StoreError/failures``;
    ///   `validationFailed`; `conflict` if other writers change the objects again and again.
    ///   Nothing was deleted.
    @discardableResult
    public func delete(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil, result: BatchResultType = .count
    ) throws(StoreError) -> BatchResult {
        try execute(BatchDeleteRequest(FetchRequest(entity, where: predicate), result: result))
    }

    /// Deletes the objects with these IDs, with the objects that delete rules take along.
    ///
    /// Objects that do not exist are ignored.
    ///
    /// - Throws: As ``delete(_:where:result:)``.
    @discardableResult
    public func delete(_ ids: [ObjectID], result: BatchResultType = .count) throws(StoreError) -> BatchResult {
        try execute(BatchDeleteRequest(objectIDs: ids, result: result))
    }

    /// Deletes objects as a request says.
    ///
    /// - Throws: As ``delete(_:where:result:)``.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchResult {
        try persistentStore.execute(request, rules: rules)
    }
}
