internal import RoostCore
internal import RoostQuery

/// A compiled entity mapping, which converts records of a source entity to records of a new entity.
///
/// Fields that keep their values are moved as bytes. Values that are the same for all
/// objects are in the prototype that each record starts from. Everything else is a step. Use a
/// transform on one thread only.
final class RecordTransform {
    private let layout: RecordLayout
    private let moves: RecordMoves
    private let prototype: [UInt8]
    private let presences: [Presence]
    private let steps: [Step]
    private let requirements: [Requirement]
    private let matcher: RecordMatcher?
    private let keySets: [KeySet]
    private let backReferences: BackReferences?
    /// The one-to-one pairs that only the inverse stores, by the number of the relationship that
    /// lacks them.
    private let pairs: [Int: OneSidedPairs]
    /// The possible new entities, by source entity number.
    private let successors: [[Successor]]
    private let destination: ManagedObjectModel
    /// Whether a source record can be copied with only its entity number replaced.
    private let isWhole: Bool
    /// Whether each record stays unchanged.
    let isIdentity: Bool

    private(set) var readCount = 0
    private(set) var madeCount = 0
    /// The number of dropped IDs, by attribute.
    ///
    /// An ID is dropped if its object becomes no new object, or several new objects.
    private(set) var lostIDs: [String: Int] = [:]

    /// Compiles an entity plan.
    ///
    /// Expressions and predicates require a graph. `keySets` correspond to ``MappingPlan/keySets``,
    /// and `backReferences` to ``MappingPlan/backPairs``. Without `backReferences`, relationships
    /// that need them stay empty. `pairs` is nil if one-sided pairs were not searched for.
    init(
        _ entityPlan: MappingPlan.EntityPlan, in plan: MappingPlan, over graph: (any ObjectGraph)?,
        keySets: [KeySet] = [],
        backReferences: BackReferences? = nil, pairs: [Int: OneSidedPairs]? = nil
    ) throws(StoreError) {
        layout = entityPlan.destination.layout
        destination = plan.destination
        self.keySets = keySets
        self.pairs = pairs ?? [:]
        self.backReferences = backReferences
        successors = Successor.lists(plan, keySets: keySets)
        matcher = try Self.matcher(entityPlan, plan: plan, over: graph)
        var draft = Draft(entityPlan, plan: plan, graph: graph, keepsIDs: Successor.areSame(successors, plan: plan))
        for field in entityPlan.fields { try draft.add(field) }
        for reference in entityPlan.references { draft.add(reference, pairs: pairs) }
        for reference in entityPlan.backReferences { draft.add(reference) }
        moves = draft.moves()
        steps = draft.steps(after: moves)
        presences = draft.presences
        requirements = draft.requirements
        isWhole = moves.isWhole && requirements.isEmpty && entityPlan.backReferences.isEmpty
        isIdentity = isWhole && matcher == nil && entityPlan.source.number == entityPlan.destination.number
        prototype = try RecordBatch.prototype(draft.constants, of: layout, model: plan.destination)
    }

    /// Returns a matcher for an entity plan's filter, or nil without a filter.
    static func matcher(
        _ entityPlan: MappingPlan.EntityPlan, plan: MappingPlan, over graph: (any ObjectGraph)?
    ) throws(StoreError) -> RecordMatcher? {
        guard let filter = entityPlan.filter else { return nil }
        let request = FetchRequest(entityPlan.source.name, where: filter).with { $0.includesSubentities = false }
        do throws(StoreError) {
            return try RecordFilter(request, model: plan.source).matcher(over: graph)
        } catch {
            throw error.naming(plan.entityMapping(of: entityPlan), property: nil)
        }
    }

    // MARK: One record

    /// Appends the new object for a source record, if the mapping selects the record.
    func append(_ record: RecordReader, to batch: inout RecordBatch) throws(StoreError) {
        readCount += 1
        if let matcher, try !matcher.matches(record) { return }
        madeCount += 1
        try append(record, key: record.key, to: &batch)
    }

    /// Appends the new object, with the given key, for a record that the mapping selects.
    func append(_ record: RecordReader, key: Int64, to batch: inout RecordBatch) throws(StoreError) {
        if isWhole, key == record.key { return batch.append(record, as: layout) }
        batch.beginRecord(layout, key: key, version: record.version, startingWith: prototype)
        do throws(StoreError) {
            batch.moveSlots(of: record, by: moves)
            for presence in presences { try take(presence, record: record, batch: &batch) }
            for step in steps { try take(step, record: record, batch: &batch) }
            for requirement in requirements where batch.isBuildingNull(requirement.field) {
                if let marker = requirement.marker, batch.isBuildingNull(marker) { continue }
                throw missing(requirement.field, record: record)
            }
        } catch {
            batch.abandonRecord()
            throw error
        }
        batch.endRecord()
    }

    private func take(_ step: Step, record: RecordReader, batch: inout RecordBatch) throws(StoreError) {
        switch step {
        case .tail(let tail): try batch.moveTail(of: record, tail: tail, by: moves)
        case .constant(let field, let value, let marker):
            if let marker, batch.isBuildingNull(marker) { return }
            try set(value, field: field, record: record, batch: &batch)
        case .convert(let field, let from, let fallback, let marker):
            if let marker, batch.isBuildingNull(marker) { return }
            guard !record.isNull(from) else {
                if let fallback { try set(fallback, field: field, record: record, batch: &batch) }
                return
            }
            try set(record.value(from), field: field, record: record, batch: &batch)
        case .expression(let field, let evaluator, let fallback, let marker):
            if let marker, batch.isBuildingNull(marker) { return }
            let value = try self.value(evaluator, field: field, record: record)
            try set(value.isNull ? fallback ?? .null : value, field: field, record: record, batch: &batch)
        case .objectID(let field, let from):
            guard let (entity, key) = record.reference(from) else { return }
            guard let successor = successor(entity, key: key) else {
                lostIDs[field.name, default: 0] += 1
                return
            }
            try batch.setReference(entity: successor, key: key, for: field)
        case .reference(let reference): try take(reference, record: record, batch: &batch)
        case .backReference(let reference):
            // If the pairs were omitted, the relationship stays empty, and only the rest of the object is checked.
            guard let backReferences else { return }
            let id = ObjectID(layout.entity, key: record.key)
            guard let object = try backReferences.object(leadingTo: record, becoming: id, reference: reference) else {
                if reference.isRequired { throw missing(reference.to, record: record) }
                return
            }
            try batch.setReference(entity: object.entity, key: object.key, for: reference.to)
        }
    }

    private func take(
        _ presence: Presence, record: RecordReader, batch: inout RecordBatch
    ) throws(StoreError) {
        if let marker = presence.marker, batch.isBuildingNull(marker) { return }
        var exists = presence.isConstant || presence.fields.contains { !record.isNull($0) }
        for evaluator in presence.expressions where !exists {
            exists = try !value(evaluator, field: presence.composite, record: record).isNull
        }
        if exists { batch.setComposite(presence.composite) }
    }

    private func value(
        _ evaluator: ExpressionEvaluator, field: RecordLayout.Field, record: RecordReader
    ) throws(StoreError) -> Value {
        do throws(StoreError) { return try evaluator.value(of: record) } catch {
            throw error.located(in: "\(property(field)) of \(record.id)")
        }
    }

    /// Returns the new entity number of a source object; nil if it becomes no object or several
    /// objects.
    private func successor(_ entity: Int, key: Int64) -> Int? {
        guard successors.indices.contains(entity) else { return nil }
        var found: Int?
        for successor in successors[entity] where successor.keys?.contains(key) ?? true {
            guard found == nil else { return nil }
            found = successor.entity
        }
        return found
    }

    private func take(
        _ reference: ReferencePlan, record: RecordReader, batch: inout RecordBatch
    ) throws(StoreError) {
        let partner = try reference.oneToOne.flatMap { pairs[$0] }?.partner(record.entityNumber, key: record.key)
        guard let (entity, key) = record.reference(reference.from) ?? partner else {
            if reference.isNewlyRequired { throw missing(reference.to, record: record) }
            return
        }
        guard entity < reference.targets.count, reference.targets[entity] >= 0,
            reference.keySets[entity] < 0 || keySets[Int(reference.keySets[entity])].contains(key)
        else {
            if reference.isRequired {
                throw StoreError.lostDestination(layout.entity, property: reference.to.name, object: record.id)
            }
            return
        }
        try batch.setReference(entity: Int(reference.targets[entity]), key: key, for: reference.to)
        guard let order = reference.order else { return }
        // An object without a position is ordered by its key.
        let place = reference.orderFrom.map { record.isNull($0) ? record.key : record.integer($0) } ?? record.key
        batch.setInteger64(place, for: order)
    }

    private func set(
        _ value: Value, field: RecordLayout.Field, record: RecordReader, batch: inout RecordBatch
    ) throws(StoreError) {
        guard let stored = value.converted(to: field.kind) else {
            throw StoreError(
                .migrationFailed,
                "\(property(field)) of \(record.id) has type \(field.kind) in the new model and cannot hold its value, \(value.kindDescription); give the mapping an expression for it, or change the object."
            )
        }
        do throws(StoreError) { try batch.set(stored, for: field) } catch  where error.code == .invalidValue {
            if case .int = stored, field.kind == .double || field.kind == .float {
                throw .inexactNumber(layout.entity, field: field, object: record.id)
            }
            throw StoreError(
                .migrationFailed,
                "\(property(field)) of \(record.id) has type \(field.kind) in the new model, and the value is outside its range; give the mapping an expression for it, or change the object."
            )
        }
    }

    private func missing(_ field: RecordLayout.Field, record: RecordReader) -> StoreError {
        StoreError.missingValue(layout.entity, property: field.name, object: record.id)
    }

    private func property(_ field: RecordLayout.Field) -> String { "'\(layout.entity).\(field.name)'" }
}

extension StoreError {
    static func missingValue(_ entity: EntityName, property: String, object: ObjectID) -> StoreError {
        StoreError(
            .migrationFailed,
            "'\(entity).\(property)' is mandatory in the new model, and \(object) has no value for it; give it a default value, make it optional, or give a mapping with an expression for it."
        )
    }

    static func lostDestination(_ entity: EntityName, property: String, object: ObjectID) -> StoreError {
        StoreError(
            .migrationFailed,
            "'\(entity).\(property)' is mandatory in the new model, and the object that \(object) refers to is left out; make the relationship optional, or migrate that object too."
        )
    }

    func naming(_ mapping: EntityMapping, property: String?) -> StoreError {
        let place = property.map { "'\($0)'" } ?? "the predicate"
        return located(in: "Mapping '\(mapping.name)', \(place)")
    }
}
