package import RoostCore
internal import RoostQuery

extension StoreSnapshot {
    /// Computes the changes of a batch update.
    ///
    /// - Throws: The errors of executing the request, except `conflict` and `constraintViolation`,
    ///   which only a commit finds.
    package func prepare(
        _ request: BatchUpdateRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> PreparedBatch {
        try prepare(request, rules: try ModelRules(try batchModel(model)))
    }

    func prepare(_ request: BatchUpdateRequest, rules: ModelRules) throws(StoreError) -> PreparedBatch {
        var updating = try BatchUpdating(request, on: self, rules: rules)
        return try updating.run()
    }
}

/// A batch update that reads objects and creates their new records.
struct BatchUpdating {
    private enum Source {
        case constant(Value)
        case expression(ExpressionEvaluator)
    }

    private let snapshot: any StoreSnapshot
    private let rules: ModelRules
    private let model: ManagedObjectModel
    private let request: BatchUpdateRequest
    private let targets: [(name: String, source: Source)]
    /// The plans by entity number; nil before their first use.
    private var plans: [RecordEditing.Plan?]
    private var editing: RecordEditing
    private var changes: ChangeSet
    private var objects: [ChangeSet.Reference] = []
    init(
        _ request: BatchUpdateRequest, on snapshot: any StoreSnapshot, rules: ModelRules
    ) throws(StoreError) {
        let model = rules.model
        let properties = BatchProperties(try model.requireEntity(request.entity), in: model)
        guard !request.values.isEmpty else {
            throw StoreError(.invalidRequest, "A batch update of '\(request.entity)' sets no property.")
        }
        var targets: [(name: String, source: Source)] = []
        // Sorting puts a composite before its elements.
        for (name, expression) in request.values.sorted(by: { $0.key < $1.key }) {
            _ = try properties.property(name)
            targets.append((name, try Self.source(expression, name: name, entity: request.entity, snapshot: snapshot)))
        }
        self.snapshot = snapshot
        self.rules = rules
        self.model = model
        self.request = request
        self.targets = targets
        plans = Array(repeating: nil, count: model.entities.count)
        editing = RecordEditing(rules, on: snapshot)
        changes = ChangeSet(model: model)
    }

    private static func source(
        _ expression: FetchRequest.Expression, name: String, entity: EntityName, snapshot: any StoreSnapshot
    ) throws(StoreError) -> Source {
        if case .constant(let value) = expression { return .constant(value) }
        let compiled = try CompiledExpression(expression, for: entity, model: snapshot.model)
        guard !compiled.isCollection else {
            throw StoreError(
                .invalidRequest,
                "Cannot set '\(entity).\(name)' to an expression with many values: the property has one value. Reduce the values with a function or a collection operator, as in tracks.@max.year."
            )
        }
        return .expression(compiled.evaluator(over: snapshot.objectGraph()))
    }

    mutating func run() throws(StoreError) -> PreparedBatch {
        let cursor = try snapshot.fetch(
            FetchRequest(
                request.entity, where: request.predicate
            ).with { $0.includesSubentities = request.includesSubentities })
        var batch = RecordBatch(model: model)
        while !editing.failures.isFull, try cursor.next(into: &batch) { try update(batch) }
        try editing.throwIfAny()
        let updateCount = changes.updates.count
        try editing.finish(&changes) { .row($0 + 1) }
        return PreparedBatch(
            changes: changes, requestedCount: objects.count, objects: objects, updateCount: updateCount)
    }

    // MARK: One batch

    private mutating func update(_ batch: RecordBatch) throws(StoreError) {
        // All values are computed first, so that the objects to which they refer are looked up together.
        var values: [[Value]] = []
        var ids: [ObjectID] = []
        try batch.forEachRecord { (record) throws(StoreError) in
            let plan = try plan(record.entityNumber)
            var row: [Value] = []
            for (target, property) in zip(targets, plan.targets) {
                let value =
                    switch target.source {
                    case .constant(let value): value
                    case .expression(let evaluator): try evaluator.value(of: record)
                    }
                if case .toOne = property, case .objectID(let id) = value { ids.append(id) }
                row.append(value)
            }
            values.append(row)
        }
        try editing.lookUp(ids)
        var index = 0
        try batch.forEachRecord { (record) throws(StoreError) in
            try update(record, values: values[index], plan: try plan(record.entityNumber))
            index += 1
        }
    }

    private mutating func plan(_ entity: Int) throws(StoreError) -> RecordEditing.Plan {
        if let plan = plans[entity] { return plan }
        let properties = BatchProperties(model.entities[entity], in: model)
        let targets = try targets.map { (target) throws(StoreError) in try properties.property(target.name) }
        let plan = RecordEditing.Plan(properties: properties, targets: targets)
        plans[entity] = plan
        return plan
    }

    private mutating func update(
        _ record: RecordReader, values: [Value], plan: RecordEditing.Plan
    ) throws(StoreError) {
        let fields = try editing.fields(of: record, values: values, plan: plan) { "\(record.id)" }
        try changes.updates.append(record, replacing: fields)
        try changes.updates.withRecord(at: changes.updates.count - 1) { (record) throws(StoreError) in
            try editing.check(record, fields: fields, plan: plan) { _ in .object(record.id) }
        }
        objects.append(ChangeSet.Reference(record.id, version: record.version))
    }
}
