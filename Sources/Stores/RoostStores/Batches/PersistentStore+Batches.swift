public import RoostCore

// Version hashes do not include rules. A batch request takes the rules from its model parameter, so programs with
// different rules can share a store.

extension PersistentStore {
    /// Inserts the objects of a ``BatchInsertRequest``.
    ///
    /// The insert is atomic and durable on return. It enforces the rules of the program's model:
    /// mandatory properties, limits, lengths, patterns and counts, the existence of referenced
    /// objects, and uniqueness constraints. Properties that a row does not name get their defaults,
    /// and derived attributes are computed.
    ///
    /// Up to 16 MiB of records are written as one change set, which blocks other writers only
    /// briefly. More records go through ``bulkLoader(_:)``, which blocks other writers until the
    /// insert ends. So the function that provides the rows must not write to the store.
    ///
    /// With ``ConflictRule/update`` or ``ConflictRule/skip``, or if rows can change other objects,
    /// the insert is always one change set. Rows can change other objects through lists of objects,
    /// a to-one relationship that has a to-one inverse, limited counts, and derived attributes that
    /// follow a relationship.
    ///
    /// If another writer interferes, the insert is repeated, up to ten attempts in all. If rows can
    /// change other objects or extend ordered relationships, the limit is a hundred attempts. With
    /// lists of objects or a conflict rule, however, the limit is always ten.
    ///
    /// - Parameters:
    ///   - request: The rows to insert.
    ///   - model: The program's model with the rules, or nil for the store's own model.
    /// - Returns: The result in the form of the request's result type.
    /// - Throws: `modelMismatch` for an incompatible model; `unknownEntity`; `invalidRequest` for
    ///   an abstract entity, a to-many relationship, a derived attribute, and a conflict rule
    ///   without a constraint; `unknownProperty`; `invalidValue` with row and property;
    ///   `validationFailed` with all ``StoreError/failures``; `objectNotFound` with all missing
    ///   objects to which rows refer; `constraintViolation`; `conflict` after the last attempt; and
    ///   the errors of ``reserveKeys(_:for:)``, ``commit(_:)`` and the rows. After an error nothing
    ///   was inserted, but keys may remain unused.
    /// - Complexity: O(*n*) in the rows. Memory: 16 MiB of records and the memory to commit or load
    ///   them. If the insert must be one change set, memory holds all records. With a conflict rule
    ///   or lists of objects, memory also holds all rows.
    public func execute(
        _ request: BatchInsertRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        let model = try batchModel(model)
        return try execute(request, rules: try ModelRules(model))
    }

    /// Updates the objects of a ``BatchUpdateRequest`` by a change set that is computed on a
    /// snapshot.
    ///
    /// The update is atomic and durable on return. Every object that matches the predicate gets a
    /// new version, even if its values do not change. The rules of a batch insert are enforced for
    /// the properties that are set. Setting a composite as a whole sets its omitted elements to
    /// null. If setting an element creates the composite's value, the other elements get their
    /// defaults. If another writer changes one of the objects before the commit, the update is
    /// repeated, up to ten attempts in all.
    ///
    /// - Parameters:
    ///   - request: The objects to update, and their new values.
    ///   - model: The program's model with the rules, or nil for the store's own model.
    /// - Returns: The result in the form of the request's result type.
    /// - Throws: `modelMismatch` for an incompatible model; `invalidRequest`; `unknownProperty`;
    ///   `invalidValue` with object and property; `validationFailed` with all
    ///   ``StoreError/failures``; `objectNotFound` with all missing objects; `constraintViolation`
    ///   with both objects; `conflict` after ten attempts; the errors of
    ///   ``StoreSnapshot/fetch(_:)`` and ``commit(_:)``. After an error nothing was updated.
    /// - Complexity: O(*n*) in the objects, in addition to the fetch and the expressions. Memory: a
    ///   copy of each record.
    public func execute(
        _ request: BatchUpdateRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        let model = try batchModel(model)
        return try execute(request, rules: try ModelRules(model))
    }

    /// Deletes the objects of a ``BatchDeleteRequest`` by a change set that is computed on a
    /// snapshot.
    ///
    /// The delete is atomic and durable on return. The delete is repeated, up to ten attempts in
    /// all, if another writer changes one of the objects or sets a reference to it before the
    /// commit. References to deleted objects are allowed if any relationship of the model has an
    /// inverse and the delete rule `noAction`.
    ///
    /// - Parameters:
    ///   - request: The objects to delete.
    ///   - model: The program's model with the delete rules, or nil for the store's own model.
    /// - Returns: The result in the form of the request's result type.
    /// - Throws: `modelMismatch` for an incompatible model; `deleteDenied` with all
    ///   ``StoreError/denials``; `validationFailed`; `conflict` after ten attempts; the errors of
    ///   ``StoreSnapshot/fetch(_:)`` and ``commit(_:)``. After an error nothing was deleted.
    /// - Complexity: O(*n*) in the deleted and changed objects, and one traversal of each to-many
    ///   relationship that a rule follows. Deleting more than 1 000 objects also scans every entity
    ///   with a to-one relationship that can refer to them and has no to-many inverse. Memory:
    ///   about 100 bytes for each deleted object, and a copy of each changed record.
    public func execute(
        _ request: BatchDeleteRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        let model = try batchModel(model)
        return try execute(request, rules: try ModelRules(model))
    }

    func execute(_ request: BatchInsertRequest, rules: ModelRules) throws(StoreError) -> BatchResult {
        try refuseEarly()
        if request.onConflict != .fail || request.memberRows != nil {
            var upsert = try Upsert(request, in: self, rules: rules)
            return try upsert.run(request)
        }
        var insertion = try BatchInsertion(request.entity, in: self, rules: rules)
        insertion.author = request.author
        return try insertion.run(request)
    }

    func execute(_ request: BatchUpdateRequest, rules: ModelRules) throws(StoreError) -> BatchResult {
        try executePrepared(request.resultType, author: request.author) { (snapshot) throws(StoreError) in
            try snapshot.prepare(request, rules: rules)
        }
    }

    func execute(_ request: BatchDeleteRequest, rules: ModelRules) throws(StoreError) -> BatchResult {
        try executePrepared(request.resultType, author: request.author) { (snapshot) throws(StoreError) in
            try snapshot.prepare(request, rules: rules)
        }
    }

    /// Computes changes on a snapshot and commits them.
    private func executePrepared(
        _ resultType: BatchResultType, author: String?,
        _ prepare: (any StoreSnapshot) throws(StoreError) -> PreparedBatch
    ) throws(StoreError) -> BatchResult {
        try refuseEarly()
        return try retryingConflicts { () throws(StoreError) in
            let batch = try prepared(prepare)
            try throwIfCancelled()
            var changes = batch.changes
            changes.author = author
            return batch.result(resultType, receipt: try commit(changes))
        }
    }

    /// Computes changes on a snapshot, and then closes the snapshot.
    ///
    /// The commit can wait for space until all snapshots are closed.
    private func prepared(
        _ prepare: (any StoreSnapshot) throws(StoreError) -> PreparedBatch
    ) throws(StoreError) -> PreparedBatch {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try prepare(snapshot)
    }

    /// Throws the error of a read-only store before anything is read.
    private func refuseEarly() throws(StoreError) {
        if isReadOnly { _ = try commit(ChangeSet(model: model)) }
    }

    /// Calls `body` again while other writers make its changes outdated, up to `attempts` times in
    /// all.
    package func retryingConflicts<Result>(
        attempts: Int = 10, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        for _ in 1..<max(1, attempts) {
            do throws(StoreError) { return try body() } catch  where error.isOutdated { continue }
        }
        return try body()
    }
}

extension PersistentStore {
    /// Returns the model whose rules a batch request must follow.
    ///
    /// - Throws: `modelMismatch` if the model is not compatible with the store's model.
    func batchModel(_ model: ManagedObjectModel?) throws(StoreError) -> ManagedObjectModel {
        guard let model else { return self.model }
        guard model.hasVersionHashes(of: self.model) else {
            throw .modelMismatch("\(location)", has: self.model, expected: model)
        }
        return model
    }
}

extension StoreSnapshot {
    /// Returns the model whose rules a batch request must follow.
    func batchModel(_ model: ManagedObjectModel?) throws(StoreError) -> ManagedObjectModel {
        guard let model else { return self.model }
        guard model.hasVersionHashes(of: self.model) else {
            throw StoreError(
                .modelMismatch,
                "The batch request's model is not compatible with that of the store: \(StoreError.differences(of: model, from: self.model)). Pass the model that the program opened the store with."
            )
        }
        return model
    }
}

extension StoreError {
    /// Whether another writer's change made the change set outdated.
    ///
    /// A delete that new references deny is outdated, because its rules must also cover them.
    fileprivate var isOutdated: Bool {
        if code == .conflict { return true }
        return code == .deleteDenied && !denials.isEmpty && denials.allSatisfy { $0.reason == .referenced }
    }
}
