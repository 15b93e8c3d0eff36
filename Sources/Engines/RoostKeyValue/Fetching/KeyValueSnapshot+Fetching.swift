internal import RoostCore
internal import RoostQuery

extension KeyValueSnapshot: CheckedFetchingSnapshot, ExplainingSnapshot, IDListingSnapshot, VisitableSnapshot {
    func makeObjectGraph() -> any ObjectGraph { KeyValueGraph(self) }

    func fetch(_ request: CheckedFetchRequest) throws(StoreError) -> any RecordCursor {
        try fetch(request, visits: nil)
    }

    /// Fetches like ``fetch(_:)``; `visits`, if not nil, counts the visited records or entries.
    func fetch(_ request: CheckedFetchRequest, visits: VisitCount?) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        return try cursor(try planned(request), visits: visits)
    }

    func makeVisitor(_ request: CheckedFetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        try requireOpen()
        let planned = try planned(request)
        return MatchingRecords(
            try visitor(planned, visits: nil), filter: try planned.remainder.filter, graph: KeyValueGraph(self))
    }

    func count(_ request: CheckedFetchRequest) throws(StoreError) -> Int {
        try requireOpen()
        let planned = try planned(request)
        guard planned.isDecided, let choice = planned.choice, choice.isCountable else {
            return try ScanningFetch.count(
                try planned.remainder, visiting: try visitor(planned, visits: nil), graph: KeyValueGraph(self))
        }
        // The access determines the count, so no record of the entity is read.
        let (limit, offset) = (request.request.fetchLimit, request.request.fetchOffset ?? 0)
        let (reach, isEverything) = offset.addingReportingOverflow(limit ?? .max)
        let matches = try KeyCollector(snapshot: self, visits: nil)
            .count(choice.access, most: isEverything ? .max : reach)
        return max(0, matches - offset)
    }

    func explain(_ request: CheckedFetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try requireOpen()
        let planned = try planned(request)
        var plan = planned.description
        if executing {
            let visits = VisitCount()
            try cursor(planned, visits: visits).exhaust(model: model)
            plan.visitedCount = visits.count
        }
        return plan
    }

    // MARK: IDs

    func appendIDs(of request: CheckedFetchRequest, to ids: inout [ObjectID]) throws(StoreError) {
        try requireOpen()
        let planned = try planned(request)
        var window = IDWindow(request.request)
        guard !window.isFull else { return }
        // If the entries decide the request and all objects have the same entity, no record is read.
        if planned.isDecided, let choice = planned.choice, choice.isCountable,
            planned.entity.selfAndSubentities.count == 1, let keys = try keys(planned, choice: choice)
        {
            var batch: [Int64] = []
            repeat {
                try FetchCancellation.check()
                guard try keys.next(into: &batch) else { return }
                window.append(batch, of: planned.entity.name, to: &ids)
            } while !window.isFull
            return
        }
        guard planned.order != nil || request.order.isByKey else {
            // Sorting needs the records' values.
            return try cursor(planned, visits: nil).appendIDs(to: &ids, model: model)
        }
        let names = model.entities.map(\.name)
        let remainder = try planned.remainder
        let records = MatchingRecords(
            try visitor(planned, visits: nil), filter: remainder.filter,
            graph: remainder.needsGraph ? KeyValueGraph(self) : nil
        )
        var found = ids
        ids = []
        defer { ids = found }
        while try records.visit({ record in
            window.append(record.key, of: names[record.entityNumber], to: &found)
            return !window.isFull
        }), !window.isFull {}
    }

    /// Returns the keys of a plan in the request's order; nil if the access has another order.
    private func keys(_ planned: PlannedFetch, choice: AccessChoice) throws(StoreError) -> (any KeySource)? {
        if let order = planned.order, case .entries(let entries) = choice.access {
            return try OrderedIndexKeys(
                self, entries: entries, order: order, recordOrder: planned.request.order, entity: planned.entity,
                visits: nil)
        }
        guard planned.request.order.isByKey else { return nil }
        if let keys = try ReferringKeys(self, access: choice.access, visits: nil) { return keys }
        return ListedKeys { [self] () throws(StoreError) in
            try KeyCollector(snapshot: self, visits: nil).keys(choice.access)
        }
    }

    // MARK: Plans

    /// Returns the plan of a request.
    ///
    /// Compiling a predicate refuses deep nesting, so the planner's recursion is bounded.
    func planned(_ request: CheckedFetchRequest) throws(StoreError) -> PlannedFetch {
        try request.requireModel(model)
        let entity = try entity(request.request.entity)
        let planner = FetchPlanner(entity, includesSubentities: request.request.includesSubentities, in: self)
        return try planner.planned(request)
    }

    func objectCount(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> Int {
        let tally = try MetaSpace.readTally(model, reader: reader)
        return entity.selfAndSubentities.reduce(0) { $0 + tally.entities[$1].count }
    }

    func cursor(_ planned: PlannedFetch, visits: VisitCount?) throws(StoreError) -> any RecordCursor {
        let source = try visitor(planned, visits: visits)
        let remainder = try planned.remainder
        return ScanningFetch(remainder, visiting: source, graph: remainder.needsGraph ? KeyValueGraph(self) : nil)
    }

    /// Returns the records that can match, in the plan's order or, without one, in key order.
    private func visitor(_ planned: PlannedFetch, visits: VisitCount?) throws(StoreError) -> any RecordVisitor {
        guard let access = planned.choice?.access else {
            let records = try EntityRecordCursor(self, entity: planned.entity, after: 0)
            return visits.map { CountingVisitor(records, visits: $0) } ?? records
        }
        if let order = planned.order, case .entries(let entries) = access {
            let keys = try OrderedIndexKeys(
                self, entries: entries, order: order, recordOrder: planned.request.order, entity: planned.entity,
                visits: visits)
            return KeyedRecordVisitor(self, entity: planned.entity, source: keys)
        }
        if let keys = try ReferringKeys(self, access: access, visits: visits) {
            return KeyedRecordVisitor(self, entity: planned.entity, source: keys)
        }
        let keys = ListedKeys { [self] () throws(StoreError) in
            try KeyCollector(snapshot: self, visits: visits).keys(access)
        }
        return KeyedRecordVisitor(self, entity: planned.entity, source: keys)
    }
}

extension CheckedFetchRequest {
    /// Whether filtering or sorting can require related objects.
    fileprivate var needsGraph: Bool { !filter.looksAtFieldsOnly || order.needsKeys }
}

/// The IDs that remain after the offset and the limit of a request are applied.
private struct IDWindow {
    /// The number of IDs still to be skipped.
    private var skipped: Int
    /// The number of IDs still to be returned.
    private var wanted: Int

    init(_ request: FetchRequest) { (skipped, wanted) = (request.fetchOffset ?? 0, request.fetchLimit ?? .max) }

    var isFull: Bool { wanted == 0 }

    mutating func append(_ key: Int64, of entity: EntityName, to ids: inout [ObjectID]) {
        guard skipped == 0 else {
            skipped -= 1
            return
        }
        guard wanted > 0 else { return }
        wanted -= 1
        ids.append(ObjectID(entity, key: key))
    }

    mutating func append(_ keys: [Int64], of entity: EntityName, to ids: inout [ObjectID]) {
        let first = min(skipped, keys.count)
        skipped -= first
        let rest = keys[first...].prefix(wanted)
        wanted -= rest.count
        for key in rest { ids.append(ObjectID(entity, key: key)) }
    }
}
