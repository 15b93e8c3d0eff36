package import RoostCore

extension FetchPlan {
    /// Returns the plan that always works: reads all objects of the entity, then filters and sorts
    /// them.
    ///
    /// - Complexity: O(*n*) in the conditions of the predicate.
    package static func scan(_ checked: CheckedFetchRequest) -> FetchPlan {
        let request = checked.request
        return FetchPlan(
            access: [.scan],
            filteredAfterwards: (request.predicate?.conjuncts ?? [])
                .map { describe($0, of: request, model: checked.model) },
            order: .afterwards(request))
    }

    /// Returns a part of a request's predicate as text.
    ///
    /// A value that the language cannot write gives a placeholder.
    package static func describe(
        _ part: FetchRequest.Predicate, of request: FetchRequest, model: ManagedObjectModel
    ) -> String {
        do throws(StoreError) {
            return try part.format(for: request.entity, model: model)
        } catch {
            return "(a condition that has no text)"
        }
    }
}

extension FetchPlan.Order {
    /// Returns the source of the order if objects are found in key order and nothing else sorts
    /// them.
    package static func afterwards(_ request: FetchRequest) -> Self {
        guard !request.sortDescriptors.isEmpty else { return .asFound }
        guard let limit = request.fetchLimit else { return .sorted }
        let (reach, isTooMany) = (request.fetchOffset ?? 0).addingReportingOverflow(limit)
        return isTooMany ? .sorted : .best(reach)
    }
}

extension FetchRequest.Predicate {
    /// The conditions that must all be true, none of them an `AND` at the top.
    ///
    /// Recurses as deep as `AND`s are nested, so compile a predicate from outside first; see
    /// ``RecordFilter``.
    package var conjuncts: [FetchRequest.Predicate] {
        switch self {
        case .and(let members): members.flatMap(\.conjuncts)
        case .constant(true): []
        default: [self]
        }
    }
}

/// The number of records and index entries that a fetch has looked at.
///
/// An index entry and the record that it refers to count once.
package final class VisitCount {
    /// The number so far.
    package var count = 0

    /// Starts at 0.
    package init() {}
}

/// Counts the records that another visitor shows.
package final class CountingVisitor: RecordVisitor {
    private let base: any RecordVisitor
    private let visits: VisitCount

    /// Adds what `base` shows to `visits`.
    public init(_ base: any RecordVisitor, visits: VisitCount) {
        self.base = base
        self.visits = visits
    }

    /// Adds what the records of `cursor` are to `visits`.
    public convenience init(_ cursor: any RecordCursor, model: ManagedObjectModel, visits: VisitCount) {
        self.init(CursorVisitor(cursor, model: model), visits: visits)
    }

    /// Shows what the other visitor shows.
    package func visit(_ body: (RecordReader) -> Bool) throws(StoreError) -> Bool {
        var count = 0
        defer { visits.count += count }
        return try base.visit { record in
            count += 1
            return body(record)
        }
    }
}

extension RecordCursor {
    /// Reads to the end and forgets what was read.
    package func exhaust(model: ManagedObjectModel) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try next(into: &batch) {}
    }
}
