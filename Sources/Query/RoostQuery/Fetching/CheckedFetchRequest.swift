public import RoostCore

/// A valid fetch request, compiled for a model.
///
/// A ``CheckedFetchingSnapshot`` receives compiled requests, so that no request is compiled twice:
///
/// ```swift
/// func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
///     try answer(request.request)
/// }
/// ```
public struct CheckedFetchRequest: Sendable {
    /// The original request.
    public let request: FetchRequest
    package let filter: RecordFilter
    package let order: RecordSortOrder

    /// The model for which the request was compiled.
    public var model: ManagedObjectModel { filter.model }

    /// Compiles a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `invalidRequest`, `limitExceeded`; see
    ///   ``RecordFilter`` and ``RecordSortOrder``.
    package init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        self.init(
            request, filter: try RecordFilter(request, model: model), order: try RecordSortOrder(request, model: model))
    }

    private init(_ request: FetchRequest, filter: RecordFilter, order: RecordSortOrder) {
        (self.request, self.filter, self.order) = (request, filter, order)
    }

    /// The request without its sort descriptors, for records that are already in the requested
    /// order.
    package var withoutOrder: CheckedFetchRequest {
        guard !order.isByKey else { return self }
        var request = request
        request.sortDescriptors = []
        return CheckedFetchRequest(request, filter: filter, order: .byKey)
    }

    package func with(_ predicate: FetchRequest.Predicate?) throws(StoreError) -> CheckedFetchRequest {
        var request = request
        request.predicate = predicate
        return CheckedFetchRequest(request, filter: try RecordFilter(request, model: model), order: order)
    }

    /// Throws `modelMismatch` unless the request was compiled for a model with the version hashes
    /// of `model`.
    package func requireModel(_ model: ManagedObjectModel) throws(StoreError) {
        guard self.model.hasVersionHashes(of: model) else {
            throw StoreError(
                .modelMismatch,
                "The request was compiled for another model than that of the snapshot; compile it with the snapshot's model."
            )
        }
    }

    /// The number of matching objects to find, which is offset plus limit, or nil for all.
    var reach: Int? { Window(offset: request.fetchOffset ?? 0, limit: request.fetchLimit).reach }
}
