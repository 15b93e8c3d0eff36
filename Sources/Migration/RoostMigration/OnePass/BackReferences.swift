internal import RoostCore
internal import RoostQuery
internal import RoostSystem

/// The plan for a to-one relationship whose pairs only its to-one inverse has in the source.
struct BackReferencePlan: Sendable {
    /// The field of the destination.
    let to: RecordLayout.Field
    /// The position in ``MappingPlan/backPairs``.
    let pairs: Int
    /// Whether the migration fails if no object refers to the object.
    let isRequired: Bool
}

/// The pairs of a to-one relationship of the source, needed by destination object.
struct BackPairs: Sendable, Hashable {
    /// The relationship of the destination that gets the pairs: the inverse of the kept
    /// relationship.
    let relationship: Int
    /// The relationship of the source that has them.
    let origin: Int
    /// The makers whose mappings say that its objects keep them.
    let makers: [Int]
}

extension MappingPlan {
    /// Returns the plan for a to-one relationship that only its inverse has in the source; nil if
    /// one pass cannot make it.
    ///
    /// `origin` is the relationship of the source that has the pairs; `saying` are the makers whose
    /// mappings keep them.
    mutating func backReference(
        _ maker: Maker, relationship: ManagedObjectModel.Relationship, from origin: ManagedObjectModel.Relationship,
        saying: [Maker]
    ) -> BackReferencePlan? {
        // A place in an ordered inverse is known only where each pair is made.
        guard origin.storage == .field, !relationship.isReflexive, !relationship.inverseIsOrdered,
            let to = maker.destination.layout.field(relationship.name.name)
        else { return nil }
        let pairs = BackPairs(
            relationship: relationship.number, origin: origin.number, makers: saying.map(\.number).sorted())
        return BackReferencePlan(
            to: to, pairs: number(of: pairs), isRequired: !relationship.declaration.isOptional)
    }
}

extension MappingPlan {
    /// Returns the errors of objects to which too many objects refer, or none.
    ///
    /// Too many are two, if the inverse relationship has room for one. None is an error if the
    /// inverse relationship is mandatory.
    func refusalsOfBackReferences(
        _ snapshot: any StoreSnapshot, options: ConversionOptions
    ) throws(StoreError) -> [StoreError] {
        guard !backPairs.isEmpty else { return [] }
        let graph = asksForObjects ? snapshot.objectGraph() : nil
        let pairs = try BackReferences(self, over: graph, directories: [SpillFile.systemDirectory]) {
            (entity, body) throws(StoreError) in
            let cursor = try snapshot.records(of: entity.name, after: nil)
            var batch = RecordBatch(model: snapshot.model)
            while try cursor.next(into: &batch, options: options) { try body(batch) }
        }
        var refusals: [StoreError] = []
        for maker in makers where !maker.backReferences.isEmpty {
            let cursor = try snapshot.fetch(
                FetchRequest(maker.source.name, where: maker.filter).with { $0.includesSubentities = false })
            var batch = RecordBatch(model: snapshot.model)
            // One of each is enough to say what is wrong.
            var open = maker.backReferences
            while !open.isEmpty, try cursor.next(into: &batch, options: options) {
                try batch.forEachRecord { (record) throws(StoreError) in
                    for reference in open {
                        do throws(StoreError) {
                            let id = ObjectID(maker.destination.name, key: record.key)
                            guard try pairs.object(leadingTo: record, becoming: id, reference: reference) == nil,
                                reference.isRequired
                            else { continue }
                            throw StoreError.missingValue(
                                maker.destination.name, property: reference.to.name, object: record.id)
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

/// The pairs of to-one relationships of the source, by destination object.
///
/// In bounded memory: what does not fit goes to a file without a name.
final class BackReferences {
    private static let memoryByteCount = 8 << 20

    private let plan: MappingPlan
    private let table: AssociationTable
    private var found: [AssociationTable.Object] = []

    /// Reads the pairs that a plan needs.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - graph: Where predicates find related objects.
    ///   - directories: Where a file may be made, the best first.
    ///   - forEachBatch: Calls its second argument with all records of an entity of the source and
    ///     its subentities.
    /// - Throws: What reading the source throws; `noSpace` and `ioFailure` of the file.
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
            for maker in pairs.makers.map({ plan.makers[$0] }) where allowed.includes(maker.destination.number) {
                targets[maker.source.number] = maker.destination.number
                matchers[maker.source.number] = try RecordTransform.matcher(maker, plan: plan, over: graph)
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

    /// Returns the object that refers to an object of the source, as it is in the destination; nil
    /// for none.
    ///
    /// The object of the source becomes `id`. Throws `migrationFailed`, naming the objects, if two
    /// refer to it.
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
    /// An object would refer to one whose to-one `inverse` has a value already; `other` says which.
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
