package import RoostCore

extension FetchPlan {
    /// Returns the plan that is possible for every request: read all objects of the entity, then
    /// filter and sort them.
    ///
    /// - Complexity: O(*n*), where *n* is the number of conditions of the predicate.
    package static func scan(_ checked: CheckedFetchRequest) -> FetchPlan {
        let request = checked.request
        return FetchPlan(
            access: [.scan],
            filteredAfterwards: (request.predicate?.conjuncts ?? [])
                .map { describe($0, of: request, model: checked.model) },
            order: .afterwards(request))
    }

    /// Returns a part of a request's predicate as text, or a placeholder if the predicate language
    /// cannot express the part.
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
    /// Returns the sorting that a request needs if its objects are found in key order.
    package static func afterwards(_ request: FetchRequest) -> Self {
        guard !request.sortDescriptors.isEmpty else { return .asFound }
        guard let limit = request.fetchLimit else { return .sorted }
        let (reach, isTooMany) = (request.fetchOffset ?? 0).addingReportingOverflow(limit)
        return isTooMany ? .sorted : .best(reach)
    }
}

extension FetchRequest.Predicate {
    /// The conditions that must all be true, with top-level `AND`s flattened.
    ///
    /// The recursion is as deep as the nesting of `AND`s. Create a ``RecordFilter`` of an untrusted
    /// predicate first, because it limits the nesting.
    package var conjuncts: [FetchRequest.Predicate] {
        switch self {
        case .and(let members): members.flatMap(\.conjuncts)
        case .constant(true): []
        default: [self]
        }
    }
}

/// The number of records and index entries that a fetch has examined.
///
/// An index entry and its record count as one.
package final class VisitCount {
    package var count = 0

    package init() {}
}

/// A visitor that counts the records of another visitor.
package final class CountingVisitor: RecordVisitor {
    private let base: any RecordVisitor
    private let visits: VisitCount

    /// Creates a visitor that adds the number of records of `base` to `visits`.
    public init(_ base: any RecordVisitor, visits: VisitCount) {
        self.base = base
        self.visits = visits
    }

    /// Creates a visitor that adds the number of records of `cursor` to `visits`.
    public convenience init(_ cursor: any RecordCursor, model: ManagedObjectModel, visits: VisitCount) {
        self.init(CursorVisitor(cursor, model: model), visits: visits)
    }

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
    package func exhaust(model: ManagedObjectModel) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try next(into: &batch) {}
    }
}
