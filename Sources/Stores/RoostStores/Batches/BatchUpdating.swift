package import RoostCore
internal import RoostQuery

extension StoreSnapshot {
    /// Works out what a batch update would do to the store as the snapshot shows it; see ``BatchUpdateRequest``.
    ///
    /// - Parameters:
    ///   - request: What is to be updated, and how.
    ///   - model: The program's model, which has the defaults; nil for the store's own.
    /// - Returns: The changes.
    /// - Throws: As executing it, except for `conflict` and `constraintViolation`, which only a
    ///   commit finds.
    package func prepare(
        _ request: BatchUpdateRequest, model: ManagedObjectModel? = nil
    ) throws(StoreError) -> PreparedBatch {
        try prepare(request, rules: try ModelRules(try batchModel(model)))
    }

    /// Works out what a batch update would do, by rules that are compiled already.
    func prepare(_ request: BatchUpdateRequest, rules: ModelRules) throws(StoreError) -> PreparedBatch {
        var updating = try BatchUpdating(request, on: self, rules: rules)
        return try updating.run()
    }
}

/// Reads the objects of a batch update and makes their new records.
struct BatchUpdating {
    /// Where the value of a property comes from.
    private enum Source {
        case constant(Value)
        case expression(ExpressionEvaluator)
    }

    /// What is known of one concrete entity.
    private struct Plan {
        let properties: BatchProperties
        /// As the targets are listed.
        let targets: [BatchProperties.Property]
    }

    private let snapshot: any StoreSnapshot
    private let rules: ModelRules
    private let model: ManagedObjectModel
    /// The rules of records, with the time that their patterns have spent.
    private var recordRules: RecordRules
    private var failures = FailureList()
    /// The objects that new references name and that do not exist.
    private var missing = MissingObjects()
    private let request: BatchUpdateRequest
    private let targets: [(name: String, source: Source)]
    /// By entity number.
    private var plans: [Plan?]
    private var destinations: BatchDestinations
    private var partners: PartnerChanges
    private var changes: ChangeSet
    private var objects: [ChangeSet.Reference] = []
    /// What becomes of one record, by field.
    private var replacements: [Value?] = []

    init(
        _ request: BatchUpdateRequest, on snapshot: any StoreSnapshot, rules: ModelRules
    ) throws(StoreError) {
        let model = rules.model
        let properties = BatchProperties(try model.requireEntity(request.entity), model)
        guard !request.values.isEmpty else {
            throw StoreError(.invalidRequest, "A batch update of '\(request.entity)' sets no property.")
        }
        var targets: [(name: String, source: Source)] = []
        // A composite comes before its elements, should both be set.
        for (name, expression) in request.values.sorted(by: { $0.key < $1.key }) {
            _ = try properties.property(name)
            targets.append((name, try Self.source(expression, name, request.entity, snapshot)))
        }
        self.snapshot = snapshot
        self.rules = rules
        self.model = model
        recordRules = rules.records
        self.request = request
        self.targets = targets
        plans = Array(repeating: nil, count: model.entities.count)
        destinations = BatchDestinations(snapshot, model: model)
        partners = PartnerChanges(model)
        changes = ChangeSet(model: model)
    }

    private static func source(
        _ expression: FetchRequest.Expression, _ name: String, _ entity: EntityName, _ snapshot: any StoreSnapshot
    ) throws(StoreError) -> Source {
        if case .constant(let value) = expression { return .constant(value) }
        let compiled = try CompiledExpression(expression, for: entity, model: snapshot.model)
        guard !compiled.isCollection else {
            throw StoreError(
                .invalidRequest,
                "'\(entity).\(name)' has one value, and the expression that it is set to has many; take one with a function or a collection operator, as in tracks.@max.year."
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
        while !failures.isFull, try cursor.next(into: &batch) { try update(batch) }
        try missing.throwIfAny(with: failures)
        let updateCount = changes.updates.count
        changes.existing = destinations.references.map(\.id)
        changes.lastPlaces = destinations.lastPlaces
        if !partners.isEmpty { try partners.apply(to: &changes, snapshot, &failures) }
        var rules = ChangeRules(rules, on: snapshot)
        try rules.apply(to: &changes, &failures) { .row($0 + 1) }
        try failures.throwIfAny()
        return PreparedBatch(
            changes: changes, requestedCount: objects.count, objects: objects, updateCount: updateCount)
    }

    // MARK: One batch

    private mutating func update(_ batch: RecordBatch) throws(StoreError) {
        // First all values, so that what they lead to is looked up together.
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
        try destinations.look(up: ids)
        var index = 0
        try batch.forEachRecord { (record) throws(StoreError) in
            try update(record, values[index], try plan(record.entityNumber))
            index += 1
        }
    }

    private mutating func plan(_ entity: Int) throws(StoreError) -> Plan {
        if let plan = plans[entity] { return plan }
        let properties = BatchProperties(model.entities[entity], model)
        let targets = try targets.map { (target) throws(StoreError) in try properties.property(target.name) }
        let plan = Plan(properties: properties, targets: targets)
        plans[entity] = plan
        return plan
    }

    private mutating func update(_ record: RecordReader, _ values: [Value], _ plan: Plan) throws(StoreError) {
        let layout = record.layout
        replacements.removeAll(keepingCapacity: true)
        for _ in 0..<layout.fields.count { replacements.append(nil) }
        for (value, property) in zip(values, plan.targets) {
            if case .toOne(let field, let relationship) = property {
                try connect(record, value, field, relationship, plan)
            } else {
                try plan.properties.forEachField(of: value, for: property, { "\(record.id)" }) {
                    replacements[$0.index] = $1
                }
            }
        }
        try settlePlaces(record, plan)
        var fields: [(field: RecordLayout.Field, value: Value)] = []
        for field in layout.fields {
            if let value = replacements[field.index] { fields.append((field, value)) }
        }
        try changes.updates.append(record, replacing: fields)
        let isSet = Set(fields.map(\.field.index))
        try changes.updates.withRecord(at: changes.updates.count - 1) { (record) throws(StoreError) in
            try failures.check(record, .object(record.id), &recordRules, fields: isSet)
        }
        objects.append(ChangeSet.Reference(record.id, version: record.version))
    }

    /// Lets a to-one relationship lead elsewhere.
    private mutating func connect(
        _ record: RecordReader, _ value: Value, _ field: RecordLayout.Field,
        _ relationship: ManagedObjectModel.Relationship, _ plan: Plan
    ) throws(StoreError) {
        let order = record.layout.field(RecordLayout.orderFieldName(of: field.name))
        var old: ObjectID?
        if case .objectID(let id) = record.value(field) { old = id }
        guard case .objectID(let named) = value else {
            guard value.isNull else { throw plan.properties.mismatch(value, field, "\(record.id)") }
            replacements[field.index] = .some(.null)
            if let order { replacements[order.index] = .some(.null) }
            return try partners.note(record.id, relationship, from: old, to: nil)
        }
        let found = try missing.collecting(named) { () throws(StoreError) in
            try destinations.destination(named, of: relationship) { "\(record.id)" }
        }
        guard let new = found else { return }
        replacements[field.index] = .objectID(new)
        // Who stays in an ordered relationship keeps its place, whatever entity the reference names.
        var stays = false
        if let old { stays = try model.place(of: old) == model.place(of: new) }
        if let order, !stays, replacements[order.index] == nil,
            let inverse = relationship.inverse.map({ model.relationships[$0] })
        {
            replacements[order.index] = .int(try destinations.nextPlace(in: inverse, of: new))
        }
        try partners.note(record.id, relationship, from: old, to: new)
    }

    /// Leaves places in an ordered relationship null where the object is in none; who is in one and is given none comes last.
    private mutating func settlePlaces(_ record: RecordReader, _ plan: Plan) throws(StoreError) {
        for case .field(let place) in plan.targets where place.kind == .order {
            guard let relationship = place.relationship.map({ model.relationships[$0] }),
                let inverse = relationship.inverse.map({ model.relationships[$0] }),
                let reference = record.layout.field(relationship.name.name)
            else { continue }
            guard case .objectID(let id) = replacements[reference.index] ?? record.value(reference) else {
                replacements[place.index] = .some(.null)
                continue
            }
            if case .some(.null) = replacements[place.index] {
                replacements[place.index] = .int(try destinations.nextPlace(in: inverse, of: id))
            }
        }
    }
}
