internal import RoostCore

extension MappingPlan {
    /// Why a migration of the objects of a snapshot would fail, as far as counting tells.
    ///
    /// - Parameters:
    ///   - snapshot: The source.
    ///   - countsNulls: Whether nulls are counted in what becomes mandatory, which may read every object.
    /// - Returns: The errors that it would fail with.
    /// - Throws: What reading the snapshot throws.
    func refusals(_ snapshot: any StoreSnapshot, countsNulls: Bool) throws(StoreError) -> [StoreError] {
        var refusals: [StoreError] = []
        for maker in makers {
            if maker.destination.isAbstract, let first = try first(maker, where: maker.filter, snapshot) {
                refusals.append(.abstract(maker.destination.name, object: first))
            }
            if !maker.missing.isEmpty, let first = try first(maker, where: maker.filter, snapshot) {
                refusals += maker.missing.map { .missingValue(maker.destination.name, $0, object: first) }
            }
            guard countsNulls else { continue }
            for field in maker.fields where field.isRequired && field.marker == nil {
                switch field.source {
                case .move(let from), .convert(let from):
                    let isNull = FetchRequest.Predicate.isNull(from.name)
                    guard let first = try first(maker, where: maker.filter.map { $0 && isNull } ?? isNull, snapshot)
                    else { continue }
                    refusals.append(.missingValue(maker.destination.name, field.to.name, object: first))
                default: continue
                }
            }
        }
        return refusals
    }

    /// The first object that a maker takes and that meets a predicate; nil for none.
    private func first(
        _ maker: Maker, where predicate: FetchRequest.Predicate?, _ snapshot: any StoreSnapshot
    ) throws(StoreError) -> ObjectID? {
        let request = FetchRequest(maker.source.name, where: predicate, limit: 1, includesSubentities: false)
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: snapshot.model)
        return try cursor.next(into: &batch) ? batch.id(at: 0) : nil
    }

    /// What happens to the properties of an entity mapping's objects, one sentence each, for people.
    ///
    /// What keeps its name and its form is left out.
    func steps(of mapping: Int) -> [String] {
        guard let maker = makers.first(where: { $0.mapping == mapping }) else { return [] }
        var steps = maker.fields.compactMap(Self.step)
        for name in maker.missing { steps.append("'\(name)' is mandatory and has no value.") }
        for reference in maker.references where reference.from.name != reference.to.name {
            steps.append("'\(reference.to.name)' is taken from '\(reference.from.name)'.")
        }
        for link in links where link.relationship.source == maker.destination.number {
            let origin = link.relation.relationship(source)
            guard origin.name.name != link.relationship.name.name else { continue }
            steps.append("'\(link.relationship.name.name)' is taken from '\(origin.name)'.")
        }
        return steps
    }

    private static func step(_ field: FieldPlan) -> String? {
        let end = field.fallback == nil ? "." : ", its default in the place of null."
        switch field.source {
        case .move(let from), .objectID(let from):
            guard from.name != field.to.name || field.fallback != nil else { return nil }
            return "'\(field.to.name)' is taken from '\(from.name)'\(end)"
        case .convert(let from):
            return "'\(field.to.name)' is converted from '\(from.name)', \(from.kind) to \(field.to.kind)\(end)"
        case .constant(let value): return value.isNull ? nil : "'\(field.to.name)' gets one value for all objects."
        case .expression: return "'\(field.to.name)' is computed by an expression\(end)"
        case .presence: return nil
        }
    }
}

extension StoreError {
    /// An object would be of an entity that has no objects of its own in the new model.
    static func abstract(_ entity: EntityName, object: ObjectID) -> StoreError {
        StoreError(
            .migrationFailed,
            "Entity '\(entity)' is abstract in the new model, and \(object) would be of it; map the objects to a subentity, or keep the entity concrete."
        )
    }
}
