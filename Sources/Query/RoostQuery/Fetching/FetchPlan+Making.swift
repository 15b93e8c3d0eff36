package import RoostCore

extension FetchPlan {
    /// The plan that always works: all objects of the entity are read, and everything else is done on them.
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

    /// A part of a request's predicate as text.
    ///
    /// A value that the language cannot write is told as such.
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
    /// Where the order comes from when objects are found in key order and nothing else sorts them.
    package static func afterwards(_ request: FetchRequest) -> Self {
        guard !request.sortDescriptors.isEmpty else { return .asFound }
        guard let limit = request.fetchLimit else { return .sorted }
        let (reach, isTooMany) = (request.fetchOffset ?? 0).addingReportingOverflow(limit)
        return isTooMany ? .sorted : .best(reach)
    }
}

extension FetchRequest.Predicate {
    /// The parts all of which must be true, without `AND` at the top of any of them.
    ///
    /// Goes as deep as `AND`s are nested, so a predicate from outside must have been compiled before; see ``RecordFilter``.
    package var conjuncts: [FetchRequest.Predicate] {
        switch self {
        case .and(let members): members.flatMap(\.conjuncts)
        case .constant(true): []
        default: [self]
        }
    }
}

/// How many records and index entries a fetch has looked at.
///
/// Of an entry that led to a record, only one of them counts.
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
