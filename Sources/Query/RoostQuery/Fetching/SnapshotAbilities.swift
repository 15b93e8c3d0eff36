public import RoostCore

// Optional abilities of snapshots. For a snapshot without an ability, the extension of `StoreSnapshot` below uses a
// default implementation.

/// A snapshot that accepts compiled requests, so that no request is compiled twice.
///
/// Such a snapshot has default implementations of ``StoreSnapshot/fetch(_:)`` and
/// ``StoreSnapshot/count(_:)``.
public protocol CheckedFetchingSnapshot: StoreSnapshot {
    /// Reads the records that a request returns, in the requested order; see
    /// ``StoreSnapshot/fetch(_:)``.
    ///
    /// - Throws: The errors of a fetch, and `modelMismatch` for a request that was compiled for
    ///   another model.
    func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor

    /// Counts the records that ``fetch(_:)`` returns; see ``StoreSnapshot/count(_:)``.
    func count(_ request: CheckedFetchRequest) throws(StoreError) -> Int
}

/// A snapshot that reports the plans of its fetches.
public protocol ExplainingSnapshot: StoreSnapshot {
    /// Returns the plan of ``StoreSnapshot/fetch(_:)`` for a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether to execute the fetch too, and to count the records and index entries
    ///     that the fetch examines.
    /// - Returns: The plan.
    /// - Throws: The errors of a fetch. If `executing` is true, also the errors of the fetch's
    ///   cursor.
    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan
}

/// A snapshot that finds the IDs of objects without copying their records.
public protocol IDListingSnapshot: StoreSnapshot {
    /// Appends the IDs of the objects that a request returns, in the requested order.
    ///
    /// Each ID contains the object's own entity. A damaged record that need not be read causes no
    /// error.
    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError)
}

/// A snapshot that can show records in place, without copying them.
package protocol VisitableSnapshot: StoreSnapshot {
    /// Returns a visitor of the request's records in ascending key order; nil if this snapshot
    /// cannot show records in place.
    ///
    /// The request has no order, limit or offset.
    ///
    /// - Throws: The errors of a fetch.
    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)?
}

/// A snapshot that can compute aggregates of whole numbers without reading records.
package protocol AggregatingSnapshot: StoreSnapshot {
    /// Computes aggregates over all objects that the request returns.
    ///
    /// The aggregates are of attributes of the request's entity. The request has no limit and no
    /// offset; its order is ignored. After an error, the caller reads the objects instead.
    ///
    /// - Returns: The results in the order of `aggregates`, with nil for an aggregate without
    ///   values. Returns nil instead of the array if this snapshot cannot compute all aggregates
    ///   exactly.
    /// - Throws: The errors of a fetch and its cursor.
    func computeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]?
}

extension CheckedFetchingSnapshot {
    /// Compiles the request and reads the records that it returns.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try fetch(try CheckedFetchRequest(request, model: model))
    }

    /// Compiles the request and counts the records that it returns.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try count(try CheckedFetchRequest(request, model: model))
    }
}

extension StoreSnapshot {
    /// Reads the records of a compiled request; see ``CheckedFetchingSnapshot/fetch(_:)``.
    package func fetch(checked request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        if let snapshot = self as? any CheckedFetchingSnapshot { return try snapshot.fetch(request) }
        try request.requireModel(model)
        return try fetch(request.request)
    }

    /// Counts the records of a compiled request; see ``CheckedFetchingSnapshot/count(_:)``.
    package func count(checked request: CheckedFetchRequest) throws(StoreError) -> Int {
        if let snapshot = self as? any CheckedFetchingSnapshot { return try snapshot.count(request) }
        try request.requireModel(model)
        return try count(request.request)
    }

    /// Returns the plan of ``StoreSnapshot/fetch(_:)`` for a request.
    ///
    /// If the snapshot is not an ``ExplainingSnapshot``, returns a plan that reads all objects of
    /// the entity.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - executing: Whether to execute the fetch too.
    /// - Returns: The plan, which may change with every release, unlike the result of the fetch.
    /// - Throws: The errors of ``StoreSnapshot/fetch(_:)``. If `executing` is true, also the errors
    ///   of the fetch's cursor.
    public func explain(_ request: FetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try explain(checked: try CheckedFetchRequest(request, model: model), executing: executing)
    }

    /// Returns the plan for a compiled request; see ``explain(_:executing:)``.
    package func explain(checked request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        if let snapshot = self as? any ExplainingSnapshot {
            return try snapshot.explain(request, executing: executing)
        }
        if executing { try fetch(checked: request).exhaust(model: model) }
        return FetchPlan.scan(request)
    }

    /// Returns the IDs of the objects that a request returns, in the requested order.
    ///
    /// Each ID contains the object's own entity, and uses 16 bytes of memory.
    ///
    /// An ``IDListingSnapshot`` copies no records, and reads none if an index is enough. It throws
    /// no error for a damaged record that it need not read. Other snapshots call ``fetch(_:)``.
    ///
    /// - Throws: The errors of ``fetch(_:)`` and its cursor.
    public func objectIDs(_ request: FetchRequest) throws(StoreError) -> [ObjectID] {
        try objectIDs(checked: try CheckedFetchRequest(request, model: model))
    }

    package func objectIDs(checked request: CheckedFetchRequest) throws(StoreError) -> [ObjectID] {
        var ids: [ObjectID] = []
        if let snapshot = self as? any IDListingSnapshot {
            try snapshot.appendIDs(of: request, to: &ids)
        } else {
            try fetch(checked: request).appendIDs(to: &ids, model: model)
        }
        return ids
    }

    package func visitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        try (self as? any VisitableSnapshot)?.makeVisitor(request)
    }

    package func wholeNumbers(
        _ aggregates: [WholeNumberAggregate], of request: CheckedFetchRequest
    ) throws(StoreError) -> [Int64?]? {
        try (self as? any AggregatingSnapshot)?.computeNumbers(aggregates, of: request)
    }
}

extension RecordCursor {
    package func appendIDs(to ids: inout [ObjectID], model: ManagedObjectModel) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try next(into: &batch) { for index in 0..<batch.count { ids.append(batch.id(at: index)) } }
    }
}
