public import RoostCore

// Batch requests are told the program's model, and no store keeps one: rules are in no version hash. Programs with different
// rules can use one store, even one open store, at the same time. Nothing that wraps a store can lose them.

extension PersistentStore {
    /// Inserts objects as a ``BatchInsertRequest`` says.
    ///
    /// All or nothing, and durable on return. The rules of the program's model are enforced:
    /// mandatory properties, limits, lengths, patterns and counts, objects that exist, uniqueness
    /// constraints. Properties that a row does not name get their defaults, and derived attributes
    /// are computed.
    ///
    /// Up to 16 MiB of records are collected and written as one change set, which blocks other
    /// writers for a moment only. More records go through ``bulkLoader(_:)``, which blocks other
    /// writers to the end, so rows cannot come from a function that writes to the same store. It
    /// stays one change set if rows can change other objects: with a to-one relationship whose
    /// inverse is to-one, with limited counts, and with derived attributes that follow a
    /// relationship. So it does with a conflict rule.
    ///
    /// - Parameters:
    ///   - request: The rows.
    ///   - model: The program's model, which has the rules; nil for the store's own. It must be
    ///     compatible with it.
    /// - Returns: What the request's result type asks for.
    /// - Throws: `modelMismatch` for an incompatible model; `unknownEntity`; `invalidRequest` for
    ///   an abstract entity, a to-many relationship and a derived attribute; `unknownProperty`;
    ///   `invalidValue`, naming row and property; `validationFailed` with all
    ///   ``StoreError/failures``; `objectNotFound` with all objects that rows refer to and that do
    ///   not exist; `constraintViolation`; `conflict` after ten attempts beside other writers, a
    ///   hundred where rows can change other objects; and what ``reserveKeys(_:for:)``,
    ///   ``commit(_:)`` and the rows throw. Nothing was inserted then; keys may remain unused.
    /// - Complexity: O(*n*) in the rows. Memory: 16 MiB of records and the memory of a commit or a
    ///   load of them. Each ID of the result takes 16 bytes if requested, and each object whose
    ///   ordered relationship is joined takes 50. All records where it stays one change set, and all
    ///   rows with a conflict rule.
    public func execute(
        _ request: BatchInsertRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        let model = try batchModel(model)
        return try execute(request, rules: try ModelRules(model))
    }

    /// Updates objects as a ``BatchUpdateRequest`` says, by a change set that is computed on a
    /// snapshot.
    ///
    /// All or nothing, and durable on return. Every object that meets the predicate gets a new
    /// version, even if its values stay. The rules of a batch insert are enforced for the
    /// properties that are set. A composite that is set as a whole has no other elements; where an
    /// element makes a composite have a value, the other elements get their defaults. If another
    /// writer changes one of the objects meanwhile, the change set is computed again, at most ten
    /// times.
    ///
    /// - Parameters:
    ///   - request: What is to be updated, and how.
    ///   - model: The program's model, which has the rules; nil for the store's own. It must be
    ///     compatible with it.
    /// - Returns: What the request's result type asks for.
    /// - Throws: `modelMismatch` for an incompatible model; `invalidRequest`, `unknownProperty`,
    ///   `invalidValue`, naming object and property; `validationFailed` with all
    ///   ``StoreError/failures``; `objectNotFound` with all objects that do not exist;
    ///   `constraintViolation` with both sides; `conflict` after ten attempts; what
    ///   ``StoreSnapshot/fetch(_:)`` and ``commit(_:)`` throw. Nothing was updated then.
    /// - Complexity: O(*n*) in the objects, in addition to finding them and to the expressions.
    ///   Memory: a copy of each record.
    public func execute(
        _ request: BatchUpdateRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        let model = try batchModel(model)
        return try execute(request, rules: try ModelRules(model))
    }

    /// Deletes objects as a ``BatchDeleteRequest`` says, by a change set that is computed on a
    /// snapshot.
    ///
    /// All or nothing, and durable on return. If another writer changes one of the objects
    /// meanwhile, the change set is computed again, at most ten times. So it is if another writer
    /// refers to a deleted object meanwhile, unless a relationship has the rule `noAction`.
    ///
    /// - Parameters:
    ///   - request: The objects to delete.
    ///   - model: The program's model, which has the delete rules; nil for the store's own. It must
    ///     be compatible with it.
    /// - Returns: What the request's result type asks for.
    /// - Throws: `modelMismatch` for an incompatible model; `deleteDenied` with all
    ///   ``StoreError/denials``; `conflict` after ten attempts; what ``StoreSnapshot/fetch(_:)``
    ///   and ``commit(_:)`` throw. Nothing was deleted then.
    /// - Complexity: O(*n*) in the objects that are deleted or changed, and one walk of each
    ///   to-many relationship that a rule follows. If more than 1 000 objects are deleted, a scan
    ///   of every entity with a to-one relationship without inverse that refers to one of them.
    ///   Memory: about 100 bytes for each deleted object, and a copy of each changed record.
    public func execute(
        _ request: BatchDeleteRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        let model = try batchModel(model)
        return try execute(request, rules: try ModelRules(model))
    }

    /// Inserts objects by rules that are compiled already.
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

    /// Updates objects by rules that are compiled already.
    func execute(_ request: BatchUpdateRequest, rules: ModelRules) throws(StoreError) -> BatchResult {
        try executePrepared(request.resultType, author: request.author) { (snapshot) throws(StoreError) in
            try snapshot.prepare(request, rules: rules)
        }
    }

    /// Deletes objects by rules that are compiled already.
    func execute(_ request: BatchDeleteRequest, rules: ModelRules) throws(StoreError) -> BatchResult {
        try executePrepared(request.resultType, author: request.author) { (snapshot) throws(StoreError) in
            try snapshot.prepare(request, rules: rules)
        }
    }

    /// Computes changes on a snapshot and commits them, again if objects changed in between.
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

    /// Computes changes on a snapshot, and closes it afterwards.
    ///
    /// A store may have to wait until no snapshot is open, to make room.
    private func prepared(
        _ prepare: (any StoreSnapshot) throws(StoreError) -> PreparedBatch
    ) throws(StoreError) -> PreparedBatch {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try prepare(snapshot)
    }

    /// Throws the error of a read-only store, before anything is read.
    private func refuseEarly() throws(StoreError) {
        if isReadOnly { _ = try commit(ChangeSet(model: model)) }
    }

    /// Calls `body` until it does not throw `conflict`, ten times at most unless another limit is
    /// given.
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
    /// Returns the model whose rules a batch request follows.
    ///
    /// - Throws: `modelMismatch` for a model that is not compatible with the store's.
    func batchModel(_ model: ManagedObjectModel?) throws(StoreError) -> ManagedObjectModel {
        guard let model else { return self.model }
        guard model.hasVersionHashes(of: self.model) else {
            throw .modelMismatch("\(location)", has: self.model, expected: model)
        }
        return model
    }
}

extension StoreSnapshot {
    /// Returns the model whose rules a batch request follows.
    ///
    /// - Throws: `modelMismatch` for a model that is not compatible with the snapshot's.
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
    /// Returns whether another writer changed something since a change set was computed.
    ///
    /// A delete that is denied for new references is worked out anew: the second time the snapshot
    /// has them, with a better reason.
    fileprivate var isOutdated: Bool {
        if code == .conflict { return true }
        return code == .deleteDenied && !denials.isEmpty && denials.allSatisfy { $0.reason == .referenced }
    }
}
