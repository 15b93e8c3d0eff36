internal import RoostCore

extension KeyValueSnapshot {
    func objectGraph() -> any ObjectGraph { KeyValueGraph(self) }

    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try fetch(request, nil)
    }

    /// As ``fetch(_:)``; adds what is looked at to `visits`, if somebody wants to know.
    func fetch(_ request: FetchRequest, _ visits: VisitCount?) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        return try cursor(try planned(request), request, visits)
    }

    func visitor(_ request: FetchRequest) throws(StoreError) -> (any RecordVisitor)? {
        try requireOpen()
        let planned = try planned(request)
        let filter =
            planned.remainsWhole ? planned.filter : try RecordFilter(planned.remainder(of: request), model: model)
        return MatchingRecords(try visitor(planned, nil), filter, graph: KeyValueGraph(self))
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try requireOpen()
        let planned = try planned(request)
        guard planned.isDecided, let choice = planned.choice, choice.isCountable else {
            return try ScanningFetch.count(
                planned.remainder(of: request), model: model, visiting: try visitor(planned, nil),
                graph: KeyValueGraph(self))
        }
        // What the entries say is all there is to know; no record is read.
        let (reach, isEverything) = (request.fetchOffset ?? 0).addingReportingOverflow(request.fetchLimit ?? .max)
        let matches = try KeyCollector(snapshot: self, visits: nil)
            .count(choice.access, most: isEverything ? .max : reach)
        return max(0, matches - (request.fetchOffset ?? 0))
    }

    func explain(_ request: FetchRequest, executing: Bool) throws(StoreError) -> FetchPlan {
        try requireOpen()
        let planned = try planned(request)
        var plan = planned.description(of: request, model: model)
        if executing {
            let visits = VisitCount()
            try cursor(planned, request, visits).exhaust(model: model)
            plan.visitedCount = visits.count
        }
        return plan
    }

    // MARK: Plans

    /// How a request's answer is found.
    ///
    /// - Throws: What compiling the request throws.
    func planned(_ request: FetchRequest) throws(StoreError) -> PlannedFetch {
        // Refuses what is wrong or nested too deep before the planner goes down into it.
        let filter = try RecordFilter(request, model: model)
        let order = try RecordOrder(request, model: model)
        let entity = try entity(request.entity)
        let planner = FetchPlanner(entity, includesSubentities: request.includesSubentities, in: self)
        return try planner.planned(request, filter, order)
    }

    /// How many objects of an entity and its subentities there are.
    func objectCount(_ entity: ManagedObjectModel.Entity) throws(StoreError) -> Int {
        let tally = try MetaSpace.readTally(model, reader)
        return entity.selfAndSubentities.reduce(0) { $0 + tally.entities[$1].count }
    }

    /// The records of a planned fetch.
    func cursor(
        _ planned: PlannedFetch, _ request: FetchRequest, _ visits: VisitCount?
    ) throws(StoreError) -> any RecordCursor {
        let source = try visitor(planned, visits)
        // Most fetches never ask for another object.
        let asksOthers = !planned.filter.looksAtFieldsOnly || planned.recordOrder.needsKeys
        let graph = asksOthers ? KeyValueGraph(self) : nil
        guard planned.remainsWhole else {
            return try ScanningFetch(planned.remainder(of: request), model: model, visiting: source, graph: graph)
        }
        return ScanningFetch(
            request, model: model, filter: planned.filter, order: planned.recordOrder, visiting: source,
            graph: graph)
    }

    /// The records that can be wanted: in the request's order where the plan says so, else in key order.
    private func visitor(_ planned: PlannedFetch, _ visits: VisitCount?) throws(StoreError) -> any RecordVisitor {
        guard let access = planned.choice?.access else {
            let records = try EntityRecordCursor(self, entity: planned.entity, after: 0)
            return visits.map { CountingVisitor(records, $0) } ?? records
        }
        if let order = planned.order, case .entries(let entries) = access {
            let keys = try OrderedIndexKeys(
                self, entries, order, planned.recordOrder, planned.entity, visits: visits)
            return KeyedRecordVisitor(self, planned.entity, keys)
        }
        if let keys = try ReferringKeys(self, access, visits: visits) {
            return KeyedRecordVisitor(self, planned.entity, keys)
        }
        let keys = ListedKeys { [self] () throws(StoreError) in
            try KeyCollector(snapshot: self, visits: visits).keys(access)
        }
        return KeyedRecordVisitor(self, planned.entity, keys)
    }
}
