internal import RoostCore
internal import RoostQuery
internal import RoostSystem

/// The plan for a to-one relationship that the source stores only in its to-one inverse.
struct BackReferencePlan: Sendable {
    /// The relationship's field in the destination.
    let to: RecordLayout.Field
    /// The index in ``MappingPlan/backPairs``.
    let pairs: Int
    /// Whether the migration fails for an object that no object refers to.
    let isRequired: Bool
}

/// The pairs of a to-one source relationship, looked up by the referenced object.
struct BackPairs: Sendable, Hashable {
    /// The destination relationship that gets the pairs from the mapping of its inverse.
    let relationship: Int
    /// The source relationship that stores the pairs.
    let origin: Int
    /// The entity plans whose mappings keep the pairs.
    let entityPlans: [Int]
}

extension MappingPlan {
    /// Returns the plan for a to-one relationship that the source stores only in its inverse, or
    /// nil if one pass cannot create it.
    ///
    /// `origin` stores the pairs, and the mappings of `saying` preserve them.
    mutating func backReference(
        _ entityPlan: EntityPlan, relationship: ManagedObjectModel.Relationship,
        from origin: ManagedObjectModel.Relationship,
        saying: [EntityPlan]
    ) -> BackReferencePlan? {
        // An ordered inverse needs positions, which the pairs do not have.
        guard origin.storage == .field, !relationship.isReflexive, !relationship.inverseIsOrdered,
            let to = entityPlan.destination.layout.field(relationship.name.name)
        else { return nil }
        let pairs = BackPairs(
            relationship: relationship.number, origin: origin.number, entityPlans: saying.map(\.number).sorted())
        return BackReferencePlan(
            to: to, pairs: number(of: pairs), isRequired: !relationship.declaration.isOptional)
    }
}

extension MappingPlan {
    /// Reads the pairs of relationships that the source stores only in their inverses, or returns
    /// nil if the plan needs none.
    func backReferences(
        _ snapshot: any StoreSnapshot, options: ConversionOptions, directories: [String]
    ) throws(StoreError) -> BackReferences? {
        guard !backPairs.isEmpty else { return nil }
        let graph = asksForObjects ? snapshot.objectGraph() : nil
        return try BackReferences(self, over: graph, directories: directories) {
            (entity, body) throws(StoreError) in
            let cursor = try snapshot.records(of: entity.name, after: nil)
            var batch = RecordBatch(model: snapshot.model)
            while try cursor.next(into: &batch, options: options) { try body(batch) }
        }
    }

    /// Returns the errors of relationships that the source stores only in their inverses.
    ///
    /// Several references to an object are an error, because the object's own relationship is
    /// to-one. A missing reference is an error if that relationship is mandatory.
    func refusalsOfBackReferences(
        _ snapshot: any StoreSnapshot, options: ConversionOptions
    ) throws(StoreError) -> [StoreError] {
        guard
            let pairs = try backReferences(snapshot, options: options, directories: [SpillFile.systemDirectory])
        else { return [] }
        var refusals: [StoreError] = []
        for entityPlan in entityPlans where !entityPlan.backReferences.isEmpty {
            let cursor = try snapshot.fetch(
                FetchRequest(entityPlan.source.name, where: entityPlan.filter).with { $0.includesSubentities = false })
            var batch = RecordBatch(model: snapshot.model)
            // One error for each relationship is enough.
            var open = entityPlan.backReferences
            while !open.isEmpty, try cursor.next(into: &batch, options: options) {
                try batch.forEachRecord { (record) throws(StoreError) in
                    for reference in open {
                        do throws(StoreError) {
                            let id = ObjectID(entityPlan.destination.name, key: record.key)
                            guard try pairs.object(leadingTo: record, becoming: id, reference: reference) == nil,
                                reference.isRequired
                            else { continue }
                            throw StoreError.missingValue(
                                entityPlan.destination.name, property: reference.to.name, object: record.id)
                        } catch {
                            guard error.code == .migrationFailed else { throw error }
                            refusals.append(error)
                            open.removeAll { $0.to.index == reference.to.index }
                        }
                    }
                }
            }
        }
        return refusals
    }
}

/// The pairs of to-one source relationships, by the referenced object.
///
/// Memory is bounded; further pairs go to an unnamed temporary file.
final class BackReferences {
    private static let memoryByteCount = 8 << 20

    private let plan: MappingPlan
    private let table: AssociationTable
    private var found: [AssociationTable.Object] = []

    /// Reads the pairs that a plan needs.
    ///
    /// `graph` is for predicates, and `directories` for a temporary file, in order of preference.
    /// `forEachBatch` passes all records of a source entity and its subentities to its second
    /// argument.
    init(
        _ plan: MappingPlan, over graph: (any ObjectGraph)?, directories: [String],
        reading forEachBatch: (
            ManagedObjectModel.Entity, (RecordBatch) throws(StoreError) -> Void
        ) throws(StoreError) -> Void
    ) throws(StoreError) {
        self.plan = plan
        table = AssociationTable(
            mappingCount: plan.backPairs.count, from: plan.source, to: plan.destination,
            memoryByteCount: Self.memoryByteCount, directories: directories)
        for (number, pairs) in plan.backPairs.enumerated() {
            let origin = plan.source.relationships[pairs.origin]
            let relationship = plan.destination.relationships[pairs.relationship]
            let allowed = plan.destination.entities[relationship.destination]
            var targets = [Int?](repeating: nil, count: plan.source.entities.count)
            var matchers = [RecordMatcher?](repeating: nil, count: plan.source.entities.count)
            for entityPlan in pairs.entityPlans.map({ plan.entityPlans[$0] })
            where allowed.includes(entityPlan.destination.number) {
                targets[entityPlan.source.number] = entityPlan.destination.number
                matchers[entityPlan.source.number] = try RecordTransform.matcher(entityPlan, plan: plan, over: graph)
            }
            let fields = plan.source.entities.map { $0.layout.field(origin.name.name) }
            try forEachBatch(plan.source.entities[origin.source]) { (batch) throws(StoreError) in
                try batch.forEachRecord { (record) throws(StoreError) in
                    guard let target = targets[record.entityNumber], let field = fields[record.entityNumber],
                        let (entity, key) = record.reference(field),
                        try matchers[record.entityNumber]?.matches(record) ?? true
                    else { return }
                    try self.table.associate(
                        .init(entity: entity, key: key), with: .init(entity: target, key: record.key), in: number)
                }
            }
        }
    }

    /// Returns the new ID of the object that refers to a source object, or nil.
    ///
    /// `id` is the new ID of the source object. Throws `migrationFailed`, naming the objects, if
    /// several objects refer to the source object.
    func object(
        leadingTo record: RecordReader, becoming id: ObjectID, reference: BackReferencePlan
    ) throws(StoreError) -> AssociationTable.Object? {
        found.removeAll(keepingCapacity: true)
        try table.appendDestinations(
            of: .init(entity: record.entityNumber, key: record.key), in: reference.pairs, to: &found)
        guard found.count > 1 else { return found.first }
        let relationship = plan.destination.relationships[plan.backPairs[reference.pairs].relationship]
        let inverse = relationship.inverse.map { plan.destination.relationships[$0].name } ?? relationship.name
        let ids = found.map { ObjectID(plan.destination.entities[$0.entity].name, key: $0.key) }.sorted {
            $0.key < $1.key
        }
        throw .noRoom(inverse, inverse: relationship.name, from: ids[1], to: id, other: "\(ids[0]) does")
    }
}

extension StoreError {
    /// Creates the error for a reference to an object whose to-one `inverse` is already set.
    ///
    /// `other` is a phrase for the conflicting reference.
    static func noRoom(
        _ relationship: RelationshipName, inverse: RelationshipName, from object: ObjectID,
        to destination: ObjectID, other: String
    ) -> StoreError {
        StoreError(
            .migrationFailed,
            "'\(relationship)' of \(object) would refer to \(destination), but \(other) already, and '\(inverse)' is to-one; select the pair to keep in a policy, or make the inverse to-many."
        )
    }
}
