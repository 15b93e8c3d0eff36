internal import RoostCore
internal import RoostGraph

/// A controller, and a copy of its result that the controller's differences keep up to date.
final class FollowedList<Object: ManagedObject> {
    let controller: FetchedResultsController<Object>
    private let request: FetchRequest
    private let sections: String?
    private(set) var changes: [ResultsChange] = []
    private var rows: [[ObjectID]]

    convenience init(
        _ request: Fetch<Object>, in context: ManagedObjectContext, sections: String? = nil
    ) throws where Object: ManagedObjectClass {
        self.init(
            try FetchedResultsController(request, in: context, sections: sections), request: request.request,
            sections: sections)
    }

    init(_ controller: FetchedResultsController<Object>, request: FetchRequest, sections: String?) {
        (self.controller, self.request, self.sections) = (controller, request, sections)
        rows = controller.sections.map { Array($0) }
        controller.onChange = { [weak self] change in
            guard let self else { return }
            changes.append(change)
            rows = change.applying(to: rows)
        }
    }

    /// Fails unless the differences so far result in the controller's objects.
    func expectLaw() throws {
        try expectEqual(rows, controller.sections.map { Array($0) }, "the old result with the differences")
    }

    /// Returns the only difference since the last call.
    ///
    /// Fails for no or several differences, or if ``expectLaw()`` fails.
    func takeChange() throws -> ResultsChange {
        try expectEqual(changes.count, 1, "the number of differences")
        let change = changes.removeLast()
        try expectLaw()
        return change
    }

    /// Returns the ways in which the list and its controller differ from a fetch, and forgets the
    /// changes.
    func problems() throws -> [String] {
        changes.removeAll()
        var problems: [String] = []
        let shown = controller.sections.map { Array($0) }
        var ordered = request
        if let sections, ordered.sortDescriptors.first?.key != sections {
            ordered.sortDescriptors.insert(.init(sections), at: 0)
        } else if sections != nil, let first = ordered.sortDescriptors.first, !first.options.isEmpty {
            ordered.sortDescriptors.insert(.init(first.key, ascending: first.isAscending), at: 1)
        }
        let fetched = try controller.context.fetchIDs(ordered)
        let ids = shown.flatMap(\.self)
        if ids != fetched {
            let (missing, more) = (Set(fetched).subtracting(ids), Set(ids).subtracting(fetched))
            let first = zip(ids, fetched).first { $0 != $1 }
            problems.append(
                "\(ids.count) objects without \(missing) and with \(more), first \(String(describing: first))")
        }
        if rows != shown { problems.append("the differences give \(rows), not \(shown)") }
        if let error = controller.error { problems.append("\(error)") }
        return problems
    }

    func expectFetched() throws {
        let kept = changes
        try expectEqual(try problems(), [], "problems")
        changes = kept
    }
}
