public import RoostCore

// Abilities of snapshots that take a request which was compiled before. Each is a protocol of its
// own; what programs call is an extension of `StoreSnapshot`, which asks a snapshot that conforms
// and has an answer for every other one.

/// A snapshot that takes compiled requests, so that none is compiled twice.
///
/// It implements these two methods only: those of the contract follow from them.
public protocol CheckedFetchingSnapshot: StoreSnapshot {
    /// Reads the records that a request asks for, in its order; see ``StoreSnapshot/fetch(_:)``.
    ///
    /// - Throws: `modelMismatch` for a request that was compiled for another model.
    func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor

    /// The number of records that ``fetch(_:)`` gives; see ``StoreSnapshot/count(_:)``.
    func count(_ request: CheckedFetchRequest) throws(StoreError) -> Int
}

/// A snapshot that reports how its fetches find their answers.
public protocol ExplainingSnapshot: StoreSnapshot {
    /// Reports how ``StoreSnapshot/fetch(_:)`` finds the answer to a request.
    ///
    /// Programs call ``StoreSnapshot/explain(_:executing:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether the fetch is carried out too, which counts how many records and index
    ///     entries it reads.
    /// - Returns: The plan; what is in it may change with every release, the answer does not.
    /// - Throws: As a fetch; when executing, also what its cursor throws.
    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan
}

/// A snapshot that finds the IDs of objects without making copies of their records.
public protocol IDListingSnapshot: StoreSnapshot {
    /// Appends the IDs of the objects that a request asks for, in its order, each with its own
    /// entity.
    ///
    /// Programs call ``StoreSnapshot/objectIDs(_:)``. A damaged record that need not be read is not
    /// noticed.
    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError)
}

/// A snapshot that shows records where they lie instead of copying them first.
package protocol VisitableSnapshot: StoreSnapshot {
    /// Shows the records that a fetch of the request gives.
    ///
    /// - Parameter request: A request without order, limit and offset.
    /// - Returns: The records, ascending by key; nil if this snapshot copies them anyway.
    /// - Throws: As a fetch.
    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)?
}

/// A snapshot that knows whole numbers about all objects of a request without making records of
/// them.
package protocol AggregatingSnapshot: StoreSnapshot {
    /// Computes whole numbers about all objects that a fetch of the request gives.
    ///
    /// After an error the caller reads the objects, which may throw another error.
    ///
    /// - Parameters:
    ///   - aggregates: What is asked, of attributes of the request's entity.
    ///   - request: A request without limit and offset; its order does not matter.
    /// - Returns: The numbers, in the order of `aggregates`; nil if this snapshot cannot know all
    ///   of them exactly.
    /// - Throws: As a fetch and its cursor.
    func computeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]?
}

extension CheckedFetchingSnapshot {
    /// Compiles the request and reads the records that it asks for.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try fetch(try CheckedFetchRequest(request, model: model))
    }

    /// Compiles the request and counts the records that it asks for.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try count(try CheckedFetchRequest(request, model: model))
    }
}

extension StoreSnapshot {
    /// Reads the records that a compiled request asks for, in its order; see
    /// ``StoreSnapshot/fetch(_:)``.
    ///
    /// - Throws: `modelMismatch` for a request that was compiled for another model.
    package func fetch(checked request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        if let snapshot = self as? any CheckedFetchingSnapshot { return try snapshot.fetch(request) }
        try request.requireModel(model)
        return try fetch(request.request)
    }

    /// Counts the records that a compiled request asks for; see ``StoreSnapshot/count(_:)``.
    ///
    /// - Throws: `modelMismatch` for a request that was compiled for another model.
    package func count(checked request: CheckedFetchRequest) throws(StoreError) -> Int {
        if let snapshot = self as? any CheckedFetchingSnapshot { return try snapshot.count(request) }
        try request.requireModel(model)
        return try count(request.request)
    }

    /// Reports how ``StoreSnapshot/fetch(_:)`` finds the answer to a request.
    ///
    /// For a snapshot that is not an ``ExplainingSnapshot`` it is the plan that reads all objects
    /// of the entity.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether the fetch is carried out too.
    /// - Returns: The plan; what is in it may change with every release, the answer does not.
    /// - Throws: As ``StoreSnapshot/fetch(_:)``; when executing, also what its cursor throws.
    public func explain(_ request: FetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try explain(checked: try CheckedFetchRequest(request, model: model), executing: executing)
    }

    /// Reports how the answer to a compiled request is found; see ``explain(_:executing:)``.
    package func explain(checked request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        if let snapshot = self as? any ExplainingSnapshot {
            return try snapshot.explain(request, executing: executing)
        }
        if executing { try fetch(checked: request).exhaust(model: model) }
        return FetchPlan.scan(request)
    }

    /// The IDs of the objects that a request asks for, in its order, each with its own entity.
    ///
    /// Takes 16 bytes of memory for each. An ``IDListingSnapshot`` makes no copies of the records,
    /// and reads none where an index is enough; a damaged record that it need not read is not
    /// noticed. For others it costs what ``fetch(_:)`` does.
    ///
    /// - Throws: As ``fetch(_:)`` and its cursor.
    public func objectIDs(_ request: FetchRequest) throws(StoreError) -> [ObjectID] {
        try objectIDs(checked: try CheckedFetchRequest(request, model: model))
    }

    /// The IDs of the objects that a compiled request asks for; see ``objectIDs(_:)``.
    package func objectIDs(checked request: CheckedFetchRequest) throws(StoreError) -> [ObjectID] {
        var ids: [ObjectID] = []
        if let snapshot = self as? any IDListingSnapshot {
            try snapshot.appendIDs(of: request, to: &ids)
        } else {
            try fetch(checked: request).appendIDs(to: &ids, model: model)
        }
        return ids
    }

    /// Shows the records that a fetch of the request gives where they lie; nil if the store copies
    /// them anyway.
    package func visitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        try (self as? any VisitableSnapshot)?.makeVisitor(request)
    }

    /// Whole numbers about all objects of a request; nil if the store does not know all of them.
    package func wholeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]? {
        try (self as? any AggregatingSnapshot)?.computeNumbers(aggregates, of: request)
    }
}

extension RecordCursor {
    /// Appends the IDs of the records that are left.
    package func appendIDs(to ids: inout [ObjectID], model: ManagedObjectModel) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try next(into: &batch) { for index in 0..<batch.count { ids.append(batch.id(at: index)) } }
    }
}
