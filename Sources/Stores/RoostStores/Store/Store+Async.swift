public import RoostCore
public import RoostMigration
public import RoostQuery

// A task that is cancelled before the commit changes nothing and throws `cancelled`. A task that is
// cancelled after the commit gets the result.

extension Store {
    /// Runs `body` with a consistent view of the store, on a thread of Roost's own.
    ///
    /// See ``read(_:)-(StoreView)``.
    public func read<Result: Sendable>(_ body: @Sendable (StoreView) throws -> Result) async throws -> Result {
        try await StoreThreads.run { () throws -> Result in
            let view = StoreView(try self.persistentStore.snapshot(), model: self.model)
            defer { view.end() }
            return try body(view)
        }
    }

    /// Returns the objects that meet a condition, asynchronously.
    public func fetch(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil,
        sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [], limit: Int? = nil, offset: Int? = nil
    ) async throws(StoreError) -> [Record] {
        try await StoreThreads.run { () throws(StoreError) in
            try self.reading { (view) throws(StoreError) in
                try view.fetch(entity, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
            }
        }
    }

    /// Returns the object with an ID, or nil if it does not exist, asynchronously.
    public func record(_ id: ObjectID) async throws(StoreError) -> Record? {
        try await StoreThreads.run { () throws(StoreError) in
            try self.reading { (view) throws(StoreError) in try view.record(id) }
        }
    }

    /// Returns the object of an entity with a key, or nil if it does not exist, asynchronously.
    public func record(_ entity: EntityName, key: Int64) async throws(StoreError) -> Record? {
        try await record(ObjectID(entity, key: key))
    }

    /// Returns the number of objects that meet a condition, asynchronously.
    public func count(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil
    ) async throws(StoreError) -> Int {
        try await StoreThreads.run { () throws(StoreError) in
            try self.reading { (view) throws(StoreError) in try view.count(entity, where: predicate) }
        }
    }

    /// Returns the store's plan for finding the objects of a request, asynchronously.
    public func explain(
        _ request: FetchRequest, executing: Bool = false
    ) async throws(StoreError) -> FetchPlan {
        try await StoreThreads.run { () throws(StoreError) in
            try self.reading { (view) throws(StoreError) in try view.explain(request, executing: executing) }
        }
    }

    /// Inserts one object for each row, asynchronously.
    @discardableResult
    public func insert(
        _ entity: EntityName, rows: some Sequence<[String: Value]> & Sendable, onConflict: ConflictRule = .fail,
        result: BatchResultType = .count
    ) async throws(StoreError) -> BatchResult {
        try await StoreThreads.run { () throws(StoreError) in
            var request = BatchInsertRequest(entity, rows: rows, result: result)
            request.onConflict = onConflict
            return try self.persistentStore.execute(request, rules: self.rules)
        }
    }

    /// Sets properties of all objects that meet a condition, asynchronously.
    @discardableResult
    public func update(
        _ entity: EntityName, set values: Assignments, where predicate: FetchRequest.Predicate? = nil,
        result: BatchResultType = .count
    ) async throws(StoreError) -> BatchResult {
        try await execute(BatchUpdateRequest(entity, where: predicate, set: try values.expressions, result: result))
    }

    /// Executes a batch update, asynchronously.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) async throws(StoreError) -> BatchResult {
        try await StoreThreads.run { () throws(StoreError) in
            try self.persistentStore.execute(request, rules: self.rules)
        }
    }

    /// Deletes all objects that meet a condition, asynchronously.
    @discardableResult
    public func delete(
        _ entity: EntityName, where predicate: FetchRequest.Predicate? = nil, result: BatchResultType = .count
    ) async throws(StoreError) -> BatchResult {
        try await execute(BatchDeleteRequest(FetchRequest(entity, where: predicate), result: result))
    }

    /// Deletes the objects with these IDs, asynchronously.
    @discardableResult
    public func delete(_ ids: [ObjectID], result: BatchResultType = .count) async throws(StoreError) -> BatchResult {
        try await execute(BatchDeleteRequest(objectIDs: ids, result: result))
    }

    /// Executes a batch delete, asynchronously.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) async throws(StoreError) -> BatchResult {
        try await StoreThreads.run { () throws(StoreError) in
            try self.persistentStore.execute(request, rules: self.rules)
        }
    }

    /// Checks the whole store, asynchronously.
    public func check(limit: Int = 100) async throws(StoreError) -> [StoreFinding] {
        try await StoreThreads.run { () throws(StoreError) in try checkStore(self.persistentStore, limit: limit) }
    }

    /// Copies the store to a new store of the same type, asynchronously.
    @discardableResult
    public func backUp(
        to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) async throws(StoreError) -> ConversionReport {
        try await cancellable(options) { (options) throws(StoreError) in
            try StoreMaintenance(registry: self.registry).backUp(
                .store(self.persistentStore), to: destination, options: options)
        }
    }

    /// Copies the store to a new store of any type, asynchronously.
    @discardableResult
    public func convert(
        to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) async throws(StoreError) -> ConversionReport {
        try await cancellable(options) { (options) throws(StoreError) in
            try MigrationManager(registry: self.registry).convert(
                from: .store(self.persistentStore), to: .location(destination), options: options)
        }
    }

    /// Rewrites the store's file so that it is as small as a new copy, asynchronously.
    @discardableResult
    public func compact(
        options: ConversionOptions = ConversionOptions()
    ) async throws(StoreError) -> CompactionReport {
        try await cancellable(options) { (options) throws(StoreError) in
            try self.compact(options: options)
        }
    }

    /// Writes the store's current content as JSON Lines, asynchronously.
    @discardableResult
    public func dump(
        entities: [EntityName]? = nil, to sink: @escaping @Sendable ([UInt8]) throws(StoreError) -> Void
    ) async throws(StoreError) -> StoreDigest {
        try await StoreThreads.run { () throws(StoreError) in try self.dump(entities: entities, to: sink) }
    }

    /// Returns the metadata as of the last commit, asynchronously.
    public func metadata() async throws(StoreError) -> StoreMetadata {
        try await StoreThreads.run { () throws(StoreError) in try self.metadata() }
    }

    /// Returns the numbers of objects and links, and the sum of their hashes, asynchronously.
    public func digest() async throws(StoreError) -> StoreDigest {
        try await StoreThreads.run { () throws(StoreError) in try self.digest() }
    }

    /// Waits for running calls, and releases the store's locks and files, asynchronously.
    ///
    /// The store is closed even if the task is cancelled.
    public func close() async throws(StoreError) {
        try await StoreThreads.run { () throws(StoreError) in try self.close() }
    }

    /// Runs `body`, and cancels it when the task is cancelled.
    private func cancellable<Result: Sendable>(
        _ options: ConversionOptions, _ body: @Sendable (ConversionOptions) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        var options = options
        let cancellation = options.cancellation ?? ConversionCancellation()
        options.cancellation = cancellation
        let chosen = options
        do {
            return try await withTaskCancellationHandler {
                try await StoreThreads.run { () throws(StoreError) in try body(chosen) }
            } onCancel: {
                cancellation.cancel()
            }
        } catch { throw StoreError(wrapping: error) }
    }
}

extension StoreError {
    init(wrapping error: any Error) {
        self = error as? StoreError ?? StoreError(.internalInconsistency, "\(error)", underlying: error)
    }
}
