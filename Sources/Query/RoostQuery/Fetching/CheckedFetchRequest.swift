public import RoostCore

/// A fetch request that was compiled for a model: names, types, nesting, limit and offset are
/// right.
///
/// A snapshot that conforms to ``CheckedFetchingSnapshot`` gets its requests in this form, so that
/// none is compiled twice:
///
/// ```swift
/// func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
///     try answer(request.request)
/// }
/// ```
public struct CheckedFetchRequest: Sendable {
    /// The request as it was given.
    public let request: FetchRequest
    /// The request's predicate, compiled.
    package let filter: RecordFilter
    /// The request's order, compiled.
    package let order: RecordSortOrder

    /// The model that the request was compiled for.
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

    /// The same request without its order, for a source that is in it.
    package var withoutOrder: CheckedFetchRequest {
        guard !order.isByKey else { return self }
        var request = request
        request.sortDescriptors = []
        return CheckedFetchRequest(request, filter: filter, order: .byKey)
    }

    /// The same request with another predicate, for a source that meets the rest of it.
    ///
    /// - Throws: What compiling the predicate throws.
    package func with(_ predicate: FetchRequest.Predicate?) throws(StoreError) -> CheckedFetchRequest {
        var request = request
        request.predicate = predicate
        return CheckedFetchRequest(request, filter: try RecordFilter(request, model: model), order: order)
    }

    /// Throws code `modelMismatch` unless the request was compiled for `model` or a compatible one.
    package func requireModel(_ model: ManagedObjectModel) throws(StoreError) {
        guard self.model.hasVersionHashes(of: model) else {
            throw StoreError(
                .modelMismatch,
                "The request was compiled for another model than that of the snapshot; compile it with the snapshot's model."
            )
        }
    }

    /// The number of objects from the first on that can be wanted; nil for all.
    var reach: Int? { Window(offset: request.fetchOffset ?? 0, limit: request.fetchLimit).reach }
}
