internal import Foundation
internal import RoostCore
internal import RoostJSONText
internal import RoostQuery
internal import RoostText

/// A rehearsal of a migration on the source's objects, without writing anything.
///
/// A rehearsal finds failures that counting cannot reveal, for example in converted or computed
/// values and uniqueness constraints. It stops at the first failure of each entity mapping. If all
/// mappings succeed, it checks each constraint and each relationship up to its first failure.
struct MigrationRehearsal {
    private let plan: MappingPlan
    private let store: any PersistentStore
    private let pairs: [Int: OneSidedPairs]
    private let snapshot: any StoreSnapshot
    private let options: ConversionOptions
    private let constraints: [ManagedObjectModel.UniquenessConstraint]
    /// The size limit for the text of the objects; nil without a limit, or if the caller measures
    /// the whole document.
    private let documentLimit: DocumentLimit?
    private let directories: [String]
    private let graph: any ObjectGraph
    private var keySets: [KeySet] = []
    private var documentByteCount = 0
    /// The pairs for ``MappingPlan/backPairs``; nil until derived values are prepared.
    private var backReferences: BackReferences?
    private var derived: DerivedRehearsal?

    /// Prepares a rehearsal on a source and a snapshot of it.
    init(
        _ plan: MappingPlan, of store: any PersistentStore, pairs: [Int: OneSidedPairs],
        snapshot: any StoreSnapshot, options: ConversionOptions, documentLimit: DocumentLimit?,
        directories: [String]
    ) {
        self.plan = plan
        self.store = store
        self.pairs = pairs
        self.snapshot = snapshot
        self.options = options
        self.documentLimit = documentLimit
        self.directories = directories
        graph = snapshot.objectGraph()
        let numbers = Set(plan.mapping.remarks(from: plan.source, to: plan.destination).compactMap(\.constraint))
        constraints = plan.destination.uniquenessConstraints.filter { constraint in
            guard numbers.contains(constraint.number) else { return false }
            // In three passes, relationships are created later, so only constraints on attributes are checked.
            let entity = plan.destination.entities[constraint.entity]
            return !plan.isForThreePasses || constraint.attributes.allSatisfy { entity.attribute(atPath: $0) != nil }
        }
    }

    /// The codes of errors from reading the source or using temporary files.
    private static let codesOfReading: [StoreError.Code] = [
        .cancelled, .corrupted, .closed, .storeReplaced, .snapshotExpired, .busy, .timedOut, .noSpace, .ioFailure,
        .outOfResources, .permissionDenied,
    ]

    /// Returns the errors that the migration would throw.
    ///
    /// - Throws: Errors with ``codesOfReading``, and errors from collecting keys.
    mutating func refusals() throws(StoreError) -> [StoreError] {
        var refusals: [StoreError] = []
        func note(_ body: () throws(StoreError) -> Void) throws(StoreError) {
            do throws(StoreError) { try body() } catch {
                guard !Self.codesOfReading.contains(error.code) else { throw error }
                refusals.append(error)
            }
        }
        keySets = []
        for numbers in plan.keySets { keySets.append(try keys(takenBy: numbers)) }
        for entityPlan in plan.entityPlans { try note { () throws(StoreError) in try rehearse(entityPlan) } }
        guard refusals.isEmpty else { return refusals }
        try note { () throws(StoreError) in try prepareDerivedValues() }
        for entityPlan in plan.entityPlans {
            try note { () throws(StoreError) in try rehearseDerivedValues(of: entityPlan) }
        }
        guard refusals.isEmpty else { return refusals }
        for constraint in constraints { try note { () throws(StoreError) in try requireUnique(constraint) } }
        for counted in plan.countedOrigins { try note { () throws(StoreError) in try requireCounts(counted) } }
        return refusals
    }

    // MARK: Objects

    private func transform(_ entityPlan: MappingPlan.EntityPlan) throws(StoreError) -> RecordTransform {
        try RecordTransform(
            entityPlan, in: plan, over: graph, keySets: keySets, backReferences: backReferences, pairs: pairs)
    }

    /// Creates an entity plan's objects if this can fail, or if the document's size is limited.
    private mutating func rehearse(_ entityPlan: MappingPlan.EntityPlan) throws(StoreError) {
        let transform = try transform(entityPlan)
        guard entityPlan.canFail || documentLimit != nil else { return }
        let writer = RecordTextWriter(model: plan.destination)
        var text = TextBuffer()
        var made = RecordBatch(model: plan.destination)
        var byteCount = documentByteCount
        try forEachBatch(of: entityPlan.source) { (records) throws(StoreError) in
            made.removeAll()
            try records.forEachRecord { (record) throws(StoreError) in try transform.append(record, to: &made) }
            guard let documentLimit else { return }
            text.removeAll()
            try made.forEachRecord { (record) throws(StoreError) in try writer.append(record, to: &text) }
            byteCount += text.count
            try documentLimit.require(byteCount)
        }
        documentByteCount = byteCount
    }

    private func forEachBatch(
        of entity: ManagedObjectModel.Entity, _ body: (RecordBatch) throws(StoreError) -> Void
    ) throws(StoreError) {
        let cursor = try snapshot.fetch(FetchRequest(entity.name).with { $0.includesSubentities = false })
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch, options: options) { try body(batch) }
    }

    /// Returns the keys of the objects that the given entity plans of one hierarchy read.
    private func keys(takenBy numbers: [Int]) throws(StoreError) -> KeySet {
        var keys = KeySet()
        let entityPlans = numbers.map { plan.entityPlans[$0] }
        guard let root = entityPlans.first?.source.root else { return keys }
        var matchers = [RecordMatcher?](repeating: nil, count: plan.source.entities.count)
        var isTaken = [Bool](repeating: false, count: plan.source.entities.count)
        for entityPlan in entityPlans {
            isTaken[entityPlan.source.number] = true
            matchers[entityPlan.source.number] = try RecordTransform.matcher(entityPlan, plan: plan, over: graph)
        }
        let cursor = try snapshot.records(of: plan.source.entities[root].name, after: nil)
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch, options: options) {
            try batch.forEachRecord { (record) throws(StoreError) in
                guard isTaken[record.entityNumber], try matchers[record.entityNumber]?.matches(record) ?? true else {
                    return
                }
                keys.append(record.key)
            }
        }
        return keys
    }

    // MARK: Derived values

    private mutating func prepareDerivedValues() throws(StoreError) {
        let attributes = try DerivedAttributes(plan.destination)
        guard !attributes.isEmpty else { return }
        // In three passes, the new objects' keys and relationships are unknown.
        guard !plan.isForThreePasses else {
            derived = DerivedRehearsal(attributes, of: plan.destination, over: nil)
            return
        }
        backReferences = try plan.backReferences(snapshot, options: options, directories: directories)
        var transforms: [RecordTransform] = []
        for entityPlan in plan.entityPlans { transforms.append(try transform(entityPlan)) }
        let paths = attributes.attributes.joined().flatMap(\.path)
        let toMany = Set(paths.filter(\.isToMany).map(\.number)).sorted()
        let objects = try MappedGraph(
            of: MappedContent(store, plan: plan, pairs: pairs, options: options), plan: plan,
            transforms: transforms, snapshot: snapshot, options: options,
            relationships: toMany.map { plan.destination.relationships[$0] }, directories: directories)
        derived = DerivedRehearsal(attributes, of: plan.destination, over: objects)
    }

    private func rehearseDerivedValues(of entityPlan: MappingPlan.EntityPlan) throws(StoreError) {
        guard let derived, derived.includes(entityPlan.destination.number) else { return }
        let transform = try transform(entityPlan)
        try forEachBatch(of: entityPlan.source) { (records) throws(StoreError) in
            var made = RecordBatch(model: plan.destination)
            try records.forEachRecord { (record) throws(StoreError) in try transform.append(record, to: &made) }
            try derived.complete(&made)
        }
    }

    // MARK: Unique values

    private func requireUnique(_ constraint: ManagedObjectModel.UniquenessConstraint) throws(StoreError) {
        let entity = plan.destination.entities[constraint.entity]
        let claims = ClaimSorter(directories: directories)
        for entityPlan in plan.entityPlans where entity.includes(entityPlan.destination.number) {
            let transform = try transform(entityPlan)
            var made = RecordBatch(model: plan.destination)
            try forEachBatch(of: entityPlan.source) { (records) throws(StoreError) in
                // `values(of:batch:)` requires a batch with at most one object.
                try records.forEachRecord { (record) throws(StoreError) in
                    made.removeAll()
                    try transform.append(record, to: &made)
                    guard let values = try values(of: constraint, batch: &made) else { return }
                    try claims.append(.init(entityPlan: entityPlan.number, key: record.key), hash: values.hashValue)
                }
            }
        }
        var (current, known): (Int?, [ClaimSorter.Claim]) = (nil, [])
        try claims.drain { (hash, claim) throws(StoreError) in
            try options.cancellation?.check()
            if hash != current { (current, known) = (hash, []) }
            if !known.isEmpty, let values = try values(of: claim, constraint: constraint) {
                for other in known where try self.values(of: other, constraint: constraint) == values {
                    throw StoreError(
                        .constraintViolation,
                        "\(id(of: other)) and \(id(of: claim)) would share the values of the uniqueness constraint on \(constraint.attributes.joined(separator: ", ")) of '\(entity.name)'; change one of them, or merge them in a policy."
                    )
                }
            }
            known.append(claim)
        }
    }

    private func id(of claim: ClaimSorter.Claim) -> ObjectID {
        ObjectID(plan.entityPlans[claim.entityPlan].source.name, key: claim.key)
    }

    /// Returns a constraint's values in the only object of a batch, after computing derived
    /// attributes.
    ///
    /// Returns nil if the batch is empty, or if a value is null, because null never conflicts.
    private func values(
        of constraint: ManagedObjectModel.UniquenessConstraint, batch: inout RecordBatch
    ) throws(StoreError) -> [Value]? {
        guard batch.count == 1 else { return nil }
        let entity = batch.entityNumber(at: 0)
        if let derived, constraint.attributes.contains(where: { derived.includes($0, of: entity) }) {
            try derived.complete(&batch)
        }
        var values: [Value]? = []
        batch.forEachRecord { record in
            for name in constraint.attributes {
                guard let field = record.layout.field(name), !record.isNull(field) else {
                    values = nil
                    return
                }
                values?.append(record.value(field).compared)
            }
        }
        return values
    }

    private func values(
        of claim: ClaimSorter.Claim, constraint: ManagedObjectModel.UniquenessConstraint
    ) throws(StoreError) -> [Value]? {
        let entityPlan = plan.entityPlans[claim.entityPlan]
        let cursor = try snapshot.records(with: [id(of: claim)])
        var (batch, made) = (RecordBatch(model: snapshot.model), RecordBatch(model: plan.destination))
        let transform = try transform(entityPlan)
        while try cursor.next(into: &batch, options: options) {
            try batch.forEachRecord { (record) throws(StoreError) in try transform.append(record, to: &made) }
        }
        return try values(of: constraint, batch: &made)
    }

    // MARK: Numbers of destinations

    private func requireCounts(_ counted: MappingPlan.CountedOrigin) throws(StoreError) {
        let entityPlan = plan.entityPlans[counted.entityPlan]
        let (new, old) = (
            plan.destination.relationships[counted.relationship], plan.source.relationships[counted.origin]
        )
        let limits = new.declaration
        let kept = counted.targetPlans.map(\.filter).contains { $0 != nil } || !counted.readsAllTargets
        let taken: KeySet? = kept ? try keys(takenBy: counted.targetPlans.map(\.number)) : nil
        let matcher = try RecordTransform.matcher(entityPlan, plan: plan, over: graph)
        let field = old.isToMany ? nil : entityPlan.source.layout.field(old.name.name)
        try forEachBatch(of: entityPlan.source) { (records) throws(StoreError) in
            var keys: [Int64] = []
            var owners: [(key: Int64, only: Int64?)] = []
            try records.forEachRecord { (record) throws(StoreError) in
                guard try matcher?.matches(record) ?? true else { return }
                owners.append((record.key, field.flatMap { record.reference($0)?.key }))
            }
            for owner in owners {
                keys.removeAll(keepingCapacity: true)
                if field == nil {
                    try graph.appendDestinations(of: old, from: owner.key, to: &keys)
                } else if let only = owner.only {
                    keys.append(only)
                }
                let count = taken.map { taken in keys.count(where: taken.contains) } ?? keys.count
                let isFew = count < limits.minCount && (count > 0 || !limits.isOptional)
                guard isFew || count > limits.maxCount ?? .max else { continue }
                throw StoreError.wrongCount(of: new, object: ObjectID(entityPlan.destination.name, key: owner.key))
            }
        }
    }
}

extension Value {
    /// The value in a form that is identical for equal values of a uniqueness constraint.
    ///
    /// Stores treat 0.0 and −0.0 as one value, and all NaNs as one value.
    fileprivate var compared: Value {
        func compared(_ number: Double) -> Double { number.isNaN ? .nan : number == 0 ? 0 : number }
        return switch self {
        case .double(let number): .double(compared(number))
        case .date(let date):
            .date(Date(timeIntervalSinceReferenceDate: compared(date.timeIntervalSinceReferenceDate)))
        default: self
        }
    }
}

extension MappingPlan.EntityPlan {
    /// Whether creating an object can fail because of the object's own values.
    fileprivate var canFail: Bool {
        references.contains(where: \.isRequired)
            || fields.contains { field in
                if field.isRequired { return true }
                switch field.source {
                case .convert, .expression: return true
                case .constant(let value): return !value.isNull
                case .move, .objectID, .presence: return false
                }
            }
    }
}

extension StoreError {
    static func wrongCount(of relationship: ManagedObjectModel.Relationship, object: ObjectID) -> StoreError {
        let declaration = relationship.declaration
        let most = declaration.maxCount.map { " and at most \($0)" } ?? ""
        return StoreError(
            .migrationFailed,
            "'\(relationship.name)' must have at least \(declaration.minCount)\(most) destinations in the new model, but \(object) has another number; set the relationship in a policy, or change the model."
        )
    }
}
