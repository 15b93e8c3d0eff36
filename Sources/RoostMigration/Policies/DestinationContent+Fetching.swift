internal import RoostCore

extension DestinationContent {
    /// The objects that a request asks for.
    func fetch(_ request: FetchRequest) throws(StoreError) -> [DestinationObject] {
        let root = try model.requireEntity(request.entity).root
        try open()
        guard try isAbout(request, root: root) else { return try stored(request) }
        guard request.sortDescriptors.isEmpty, try !request.followsRelationships(model.requireEntity(request.entity))
        else {
            try write()
            return try stored(request)
        }
        // What is in memory is asked as it is: to write it for each request would cost a commit for each object.
        let matcher = try RecordFilter(request, model: model).matcher(over: nil)
        var (matching, outdated): ([Int], Set<Int64>) = ([], [])
        for index in pending.indices where isPending(index, root: root) {
            if try withCurrentRecord(at: index, matcher.matches) { matching.append(index) }
            if !pending[index].isNew { outdated.insert(records.key(at: index)) }
        }
        // As many as could be wanted in the place of those that are outdated.
        var wider = request
        let end = request.fetchLimit.map { $0.addingReportingOverflow(request.fetchOffset ?? 0) }
        wider.fetchLimit = end.flatMap { $0.overflow ? nil : $0.partialValue }
            .map { $0.addingReportingOverflow(outdated.count) }.flatMap { $0.overflow ? nil : $0.partialValue }
        wider.fetchOffset = nil
        var objects = try stored(wider).filter { !outdated.contains($0.key) }
        objects += matching.map { index in
            DestinationObject(
                content: self, entityNumber: records.entityNumber(at: index), key: records.key(at: index), slot: index,
                generation: generation)
        }
        objects.sort { $0.key < $1.key }
        let rest = objects.dropFirst(request.fetchOffset ?? 0)
        return Array(request.fetchLimit.map { rest.prefix($0) } ?? rest)
    }

    /// The objects of the store that a request asks for.
    private func stored(_ request: FetchRequest) throws(StoreError) -> [DestinationObject] {
        let cursor = try snapshot().fetch(request)
        var objects: [DestinationObject] = []
        var found = RecordBatch(model: model)
        while try cursor.next(into: &found) {
            for index in 0..<found.count {
                var object = DestinationObject(
                    content: self, entityNumber: found.entityNumber(at: index), key: found.key(at: index))
                // What is asked for is mostly looked at next; a long list is not kept.
                if objects.count < RecordBatch.capacityCount, !records.isFull {
                    object.slot = knownPosition(of: object) ?? keep(found, at: index)
                    object.generation = generation
                }
                objects.append(object)
            }
        }
        return objects
    }

    /// How many objects a request asks for.
    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        let root = try model.requireEntity(request.entity).root
        try open()
        guard try isAbout(request, root: root) else { return try snapshot().count(request) }
        guard request.fetchLimit == nil, request.fetchOffset == nil,
            try !request.followsRelationships(model.requireEntity(request.entity))
        else {
            try write()
            return try snapshot().count(request)
        }
        let matcher = try RecordFilter(request, model: model).matcher(over: nil)
        var count = try snapshot().count(request)
        for index in pending.indices where isPending(index, root: root) {
            if try withCurrentRecord(at: index, matcher.matches) { count += 1 }
            if !pending[index].isNew, try records.withRecord(at: index, matcher.matches) { count -= 1 }
        }
        return count
    }

    /// Whether the answer to a request can depend on what is in memory only.
    private func isAbout(_ request: FetchRequest, root: Int) throws(StoreError) -> Bool {
        // Objects of other hierarchies matter only where the request follows relationships.
        try request.followsRelationships(model.requireEntity(request.entity))
            && (!pending.isEmpty || pendingLinkCount > 0) || pending.indices.contains { isPending($0, root: root) }
    }

    private func isPending(_ index: Int, root: Int) -> Bool {
        pending[index].isChanged && model.entities[records.entityNumber(at: index)].root == root
    }
}

extension FetchRequest {
    /// Whether the answer can depend on more than the attributes of the objects themselves.
    fileprivate func followsRelationships(_ entity: ManagedObjectModel.Entity) -> Bool {
        !(sortDescriptors.allSatisfy { entity.attribute($0.key) != nil }
            && (predicate.map { Self.isPlain($0, entity) } ?? true))
    }

    private static func isPlain(_ predicate: Predicate, _ entity: ManagedObjectModel.Entity) -> Bool {
        switch predicate {
        case .constant: true
        case .comparison(let comparison): isPlain(comparison.left, entity) && isPlain(comparison.right, entity)
        case .and(let members), .or(let members): members.allSatisfy { isPlain($0, entity) }
        case .not(let member): isPlain(member, entity)
        }
    }

    private static func isPlain(_ expression: Expression, _ entity: ManagedObjectModel.Entity) -> Bool {
        switch expression {
        case .constant, .evaluatedObject: true
        case .keyPath(let names): names.first.flatMap { entity.attribute($0) } != nil
        case .aggregate(let members): members.allSatisfy { isPlain($0, entity) }
        default: false
        }
    }
}
