internal import RoostCore
internal import RoostQuery

extension DestinationContent {
    func fetch(_ request: FetchRequest) throws(StoreError) -> [DestinationObject] {
        let root = try model.requireEntity(request.entity).root
        try open()
        guard try isAbout(request, root: root) else { return try stored(request) }
        guard request.sortDescriptors.isEmpty, try !request.followsRelationships(model.requireEntity(request.entity))
        else {
            try write()
            return try stored(request)
        }
        // Objects in memory are searched there, because a write would cost a commit for each request.
        let (matching, outdated) = try inMemory(request, root: root)
        // Outdated objects are removed from the store's result, so the limit is increased by their number.
        var wider = request
        let end = request.fetchLimit.map { $0.addingReportingOverflow(request.fetchOffset ?? 0) }
        wider.fetchLimit = end.flatMap { $0.overflow ? nil : $0.partialValue }
            .map { $0.addingReportingOverflow(outdated.keys.count) }.flatMap { $0.overflow ? nil : $0.partialValue }
        wider.fetchOffset = nil
        var found = try stored(wider).filter { !outdated.keys.contains($0.key) }
        found += matching.map { index in
            object(objects.records.entityNumber(at: index), key: objects.records.key(at: index), slot: index)
        }
        found.sort { $0.key < $1.key }
        let rest = found.dropFirst(request.fetchOffset ?? 0)
        return Array(request.fetchLimit.map { rest.prefix($0) } ?? rest)
    }

    private func stored(_ request: FetchRequest) throws(StoreError) -> [DestinationObject] {
        let cursor = try output.snapshot().fetch(request)
        var list: [DestinationObject] = []
        var found = RecordBatch(model: model)
        while try cursor.next(into: &found) {
            for index in 0..<found.count {
                var object = DestinationObject(
                    content: self, entityNumber: found.entityNumber(at: index), key: found.key(at: index))
                // Requested objects are usually read next, so some are kept in memory.
                if list.count < RecordBatch.capacityCount, !objects.records.isFull {
                    object.slot = knownPosition(of: object) ?? objects.keep(found, at: index)
                    object.generation = objects.generation
                }
                list.append(object)
            }
        }
        return list
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        let root = try model.requireEntity(request.entity).root
        try open()
        guard try isAbout(request, root: root) else { return try output.snapshot().count(request) }
        guard request.fetchLimit == nil, request.fetchOffset == nil,
            try !request.followsRelationships(model.requireEntity(request.entity))
        else {
            try write()
            return try output.snapshot().count(request)
        }
        let (matching, outdated) = try inMemory(request, root: root)
        return try output.snapshot().count(request) - outdated.matchingCount + matching.count
    }

    /// Returns the effect of new and changed objects in memory on a request.
    ///
    /// - Returns: The positions of matching objects in memory; the keys of changed objects, which
    ///   are outdated in the store; and the number of outdated objects whose stored values match.
    private func inMemory(
        _ request: FetchRequest, root: Int
    ) throws(StoreError) -> (matching: [Int], outdated: (keys: Set<Int64>, matchingCount: Int)) {
        let matcher = try RecordFilter(request, model: model).matcher(over: nil)
        try objects.settle(root: root)
        let (pending, records, settled) = (objects.pending, objects.records, objects.settled)
        var (matching, keys, matchingCount): ([Int], Set<Int64>, Int) = ([], [], 0)
        for index in objects.changedPositions[root] ?? [] {
            let isMatching =
                if let position = pending[index].settledPosition {
                    try settled.withRecord(at: position, matcher.matches)
                } else {
                    try records.withRecord(at: index, matcher.matches)
                }
            if isMatching { matching.append(index) }
            guard !pending[index].isNew else { continue }
            keys.insert(records.key(at: index))
            if try records.withRecord(at: index, matcher.matches) { matchingCount += 1 }
        }
        return (matching, (keys, matchingCount))
    }

    /// Returns whether the result of a request can depend on unwritten content.
    private func isAbout(_ request: FetchRequest, root: Int) throws(StoreError) -> Bool {
        // Objects of other hierarchies matter only if the request follows relationships.
        if objects.changedPositions[root] != nil { return true }
        guard !objects.isEmpty || !links.isEmpty else { return false }
        return try request.followsRelationships(model.requireEntity(request.entity))
    }
}

extension FetchRequest {
    /// Returns whether the result can depend on more than the attributes of the requested entity.
    fileprivate func followsRelationships(_ entity: ManagedObjectModel.Entity) -> Bool {
        !(sortDescriptors.allSatisfy { entity.attribute($0.key) != nil }
            && (predicate.map { Self.isPlain($0, entity: entity) } ?? true))
    }

    private static func isPlain(_ predicate: Predicate, entity: ManagedObjectModel.Entity) -> Bool {
        switch predicate {
        case .constant: true
        case .comparison(let comparison):
            isPlain(comparison.left, entity: entity) && isPlain(comparison.right, entity: entity)
        case .and(let members), .or(let members): members.allSatisfy { isPlain($0, entity: entity) }
        case .not(let member): isPlain(member, entity: entity)
        }
    }

    private static func isPlain(_ expression: Expression, entity: ManagedObjectModel.Entity) -> Bool {
        switch expression {
        case .constant, .evaluatedObject: true
        case .keyPath(let names): names.first.flatMap { entity.attribute($0) } != nil
        case .aggregate(let members): members.allSatisfy { isPlain($0, entity: entity) }
        default: false
        }
    }
}
