internal import RoostCore
internal import RoostStores

extension PersistentStore {
    /// Executes the request; a ``FaultyStore`` adds the fault.
    func run(
        _ request: BatchInsertRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        guard let store = self as? FaultyStore else { return try execute(request, model: model) }
        return try store.runFaulty(request, model: model)
    }

    func run(
        _ request: BatchUpdateRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        guard let store = self as? FaultyStore else { return try execute(request, model: model) }
        return try store.runFaulty(request, model: model)
    }

    func run(
        _ request: BatchDeleteRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> BatchResult {
        guard let store = self as? FaultyStore else { return try execute(request, model: model) }
        return try store.runFaulty(request, model: model)
    }
}

extension FaultyStore {
    /// Returns the model whose defaults and delete rules apply; nil for the store's own.
    private func rules(_ model: ManagedObjectModel?) -> ManagedObjectModel? {
        fault == .ignoresProgramModel ? nil : model
    }

    fileprivate func runFaulty(
        _ request: BatchInsertRequest, model: ManagedObjectModel?
    ) throws(StoreError) -> BatchResult {
        guard fault == .insertsRowByRow else { return try base.execute(request, model: rules(model)) }
        let next = request.rows()
        var ids: [ObjectID] = []
        while let row = try next() {
            let result = try base.execute(
                BatchInsertRequest(request.entity, rows: [row], result: .objectIDs), model: model)
            ids += result.objectIDs ?? []
        }
        let generation = try base.commit(ChangeSet(model: base.model)).generation
        return BatchResult(request.resultType, generation: generation, count: ids.count, objectIDs: ids)
    }

    fileprivate func runFaulty(
        _ request: BatchUpdateRequest, model: ManagedObjectModel?
    ) throws(StoreError) -> BatchResult {
        var request = request
        if fault == .updatesOneEntity { request.includesSubentities = false }
        return try base.execute(request, model: rules(model))
    }

    fileprivate func runFaulty(
        _ request: BatchDeleteRequest, model: ManagedObjectModel?
    ) throws(StoreError) -> BatchResult {
        guard fault == .ignoresDeleteRules else { return try base.execute(request, model: rules(model)) }
        var changes = ChangeSet(model: base.model)
        let objects = try readBase { snapshot throws(StoreError) in
            switch request.selection {
            case .fetched(let request): try snapshot.objects(request)
            case .objectIDs(let ids): try snapshot.objects(with: ids)
            }
        }
        for object in objects { changes.delete(object.id, version: object.version) }
        let generation = try base.commit(changes).generation
        return BatchResult(
            request.resultType, generation: generation, count: objects.count, objectIDs: objects.map(\.id))
    }
}
