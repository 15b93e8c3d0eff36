internal import RoostCore
internal import RoostPredicates

extension MappingPlan {
    /// Returns the errors that the migration would throw for existing objects.
    ///
    /// `pairs` is the result of ``oneSidedPairs(_:options:directories:)``. With `countsNulls`,
    /// values are checked too, for example for null, which can read all objects.
    func refusals(
        _ snapshot: any StoreSnapshot, options: ConversionOptions, pairs: [Int: OneSidedPairs], countsNulls: Bool
    ) throws(StoreError) -> [StoreError] {
        var refusals: [StoreError] = []
        for entityPlan in entityPlans {
            if entityPlan.destination.isAbstract,
                let first = try first(entityPlan, where: entityPlan.filter, snapshot: snapshot, options: options)
            {
                refusals.append(.abstract(entityPlan.destination.name, object: first))
            }
            if !entityPlan.missing.isEmpty,
                let first = try first(entityPlan, where: entityPlan.filter, snapshot: snapshot, options: options)
            {
                refusals += entityPlan.missing.map {
                    .missingValue(entityPlan.destination.name, property: $0, object: first)
                }
            }
            guard countsNulls else { continue }
            for field in entityPlan.fields where field.isRequired {
                guard let isNull = entityPlan.isNull(field),
                    let first = try first(entityPlan, predicate: isNull, snapshot: snapshot, options: options)
                else {
                    continue
                }
                refusals.append(.missingValue(entityPlan.destination.name, property: field.to.name, object: first))
            }
            for field in entityPlan.fields {
                if let first = try firstInexact(field, of: entityPlan, snapshot: snapshot, options: options) {
                    refusals.append(.inexactNumber(entityPlan.destination.name, field: field.to, object: first))
                }
            }
            for reference in entityPlan.references {
                if reference.isNewlyRequired,
                    let first = try firstEmpty(
                        reference, of: entityPlan, pairs: reference.oneToOne.flatMap { pairs[$0] }, snapshot: snapshot,
                        options: options)
                {
                    refusals.append(
                        .missingValue(entityPlan.destination.name, property: reference.to.name, object: first))
                } else if reference.isRequired,
                    let first = try firstLost(reference, of: entityPlan, snapshot: snapshot, options: options)
                {
                    refusals.append(
                        .lostDestination(entityPlan.destination.name, property: reference.to.name, object: first))
                }
            }
        }
        return countsNulls ? refusals + (try refusalsOfBackReferences(snapshot, options: options)) : refusals
    }

    /// Returns the first object whose whole number is not exact in a floating-point field, or nil.
    private func firstInexact(
        _ field: FieldPlan, of entityPlan: EntityPlan, snapshot: any StoreSnapshot,
        options: ConversionOptions
    ) throws(StoreError) -> ObjectID? {
        guard case .convert(let from) = field.source, from.kind == .integer64 || from.kind == .integer32,
            field.to.kind == .float || field.to.kind == .double && from.kind == .integer64,
            let exists = entityPlan.exists(field.marker)
        else { return nil }
        let isFloat = field.to.kind == .float
        // Every whole number up to this absolute value is exact.
        let limit: Int64 = isFloat ? 1 << 24 : 1 << 53
        let isLarge = exists && (.greater(from.name, than: .int(limit)) || .less(from.name, than: .int(-limit)))
        let cursor = try snapshot.fetch(
            FetchRequest(
                entityPlan.source.name, where: entityPlan.filter.map { $0 && isLarge } ?? isLarge
            ).with { $0.includesSubentities = false })
        var batch = RecordBatch(model: snapshot.model)
        var found: ObjectID?
        while found == nil, try cursor.next(into: &batch, options: options) {
            batch.forEachRecord { record in
                guard found == nil, !record.isNull(from) else { return }
                let number = record.integer(from)
                guard isFloat ? Float(exactly: number) == nil : Double(exactly: number) == nil else { return }
                found = record.id
            }
        }
        return found
    }

    /// Returns the first object that matches an entity plan's filter and `predicate`, or nil.
    private func first(
        _ entityPlan: EntityPlan, predicate: FetchRequest.Predicate, snapshot: any StoreSnapshot,
        options: ConversionOptions
    ) throws(StoreError) -> ObjectID? {
        try first(
            entityPlan, where: entityPlan.filter.map { $0 && predicate } ?? predicate, snapshot: snapshot,
            options: options)
    }

    /// Returns the first object with a null reference and no partner in `pairs`, or nil.
    private func firstEmpty(
        _ reference: ReferencePlan, of entityPlan: EntityPlan, pairs: OneSidedPairs?, snapshot: any StoreSnapshot,
        options: ConversionOptions
    ) throws(StoreError) -> ObjectID? {
        let isEmpty = FetchRequest.Predicate.isNull(reference.from.name)
        guard let pairs else { return try first(entityPlan, predicate: isEmpty, snapshot: snapshot, options: options) }
        let cursor = try snapshot.fetch(
            FetchRequest(
                entityPlan.source.name, where: entityPlan.filter.map { $0 && isEmpty } ?? isEmpty
            ).with { $0.includesSubentities = false })
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch, options: options) {
            for index in 0..<batch.count
            where try pairs.partner(batch.entityNumber(at: index), key: batch.key(at: index)) == nil {
                return batch.id(at: index)
            }
        }
        return nil
    }

    /// Returns the first object whose referenced object does not become a suitable object, or nil.
    private func firstLost(
        _ reference: ReferencePlan, of entityPlan: EntityPlan, snapshot: any StoreSnapshot,
        options: ConversionOptions
    ) throws(StoreError) -> ObjectID? {
        guard let target = reference.from.destination else { return nil }
        var hasStrays = false
        for number in source.entities[target].selfAndSubentities where !hasStrays && reference.targets[number] < 0 {
            guard !source.entities[number].isAbstract else { continue }
            let request = FetchRequest(source.entities[number].name).with { $0.includesSubentities = false }
            hasStrays = try snapshot.count(request) > 0
        }
        guard hasStrays else { return nil }
        let cursor = try snapshot.fetch(
            FetchRequest(entityPlan.source.name, where: entityPlan.filter).with { $0.includesSubentities = false })
        var batch = RecordBatch(model: snapshot.model)
        var found: ObjectID?
        while found == nil, try cursor.next(into: &batch, options: options) {
            batch.forEachRecord { record in
                guard found == nil, let (entity, _) = record.reference(reference.from),
                    !reference.targets.indices.contains(entity) || reference.targets[entity] < 0
                else { return }
                found = record.id
            }
        }
        return found
    }

    /// Returns the first object of the source entity that matches a predicate, or nil.
    private func first(
        _ entityPlan: EntityPlan, where predicate: FetchRequest.Predicate?, snapshot: any StoreSnapshot,
        options: ConversionOptions
    ) throws(StoreError) -> ObjectID? {
        let request = FetchRequest(entityPlan.source.name, where: predicate, limit: 1).with {
            $0.includesSubentities = false
        }
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: snapshot.model)
        return try cursor.next(into: &batch, options: options) ? batch.id(at: 0) : nil
    }

    /// Returns sentences for users about the property changes of an entity mapping.
    func steps(of mapping: Int) -> [String] {
        guard let entityPlan = entityPlans.first(where: { $0.mapping == mapping }) else { return [] }
        var steps = entityPlan.fields.compactMap(Self.step)
        for name in entityPlan.missing { steps.append("'\(name)' is mandatory and has no value.") }
        for reference in entityPlan.references where reference.from.name != reference.to.name {
            steps.append("'\(reference.to.name)' is taken from '\(reference.from.name)'.")
        }
        for reference in entityPlan.backReferences {
            let origin = source.relationships[backPairs[reference.pairs].origin]
            steps.append("'\(reference.to.name)' is taken from the other end, '\(origin.name)'.")
        }
        for link in links where link.relationship.source == entityPlan.destination.number {
            let origin = link.relation.relationship(source)
            guard origin.name.name != link.relationship.name.name else { continue }
            steps.append("'\(link.relationship.name.name)' is taken from '\(origin.name)'.")
        }
        return steps
    }

    private static func step(_ field: FieldPlan) -> String? {
        let end = field.fallback == nil ? "." : ", with the default value instead of null."
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

extension MappingPlan.EntityPlan {
    /// Returns the condition under which a required field gets no value; nil if the field always
    /// gets a value, or if no predicate can express the condition.
    fileprivate func isNull(_ field: FieldPlan) -> FetchRequest.Predicate? {
        guard field.fallback == nil, let exists = exists(field.marker) else { return nil }
        switch field.source {
        case .move(let from), .convert(let from): return exists && .isNull(from.name)
        case .constant(let value): return value.isNull ? exists : nil
        case .presence: return hasValue(field).map { exists && .not($0) }
        case .expression, .objectID: return nil
        }
    }

    /// Returns the condition under which a composite and all enclosing composites exist; nil if no
    /// predicate can express it.
    fileprivate func exists(_ composite: RecordLayout.Field?) -> FetchRequest.Predicate? {
        guard let composite else { return .constant(true) }
        guard let field = fields.first(where: { $0.to.index == composite.index }), let value = hasValue(field),
            let outer = exists(field.marker)
        else { return nil }
        return outer && value
    }

    /// Returns the condition under which a composite field gets a value; nil if no predicate can
    /// express it.
    private func hasValue(_ field: FieldPlan) -> FetchRequest.Predicate? {
        switch field.source {
        case .move(let from): return .notEqual(from.name, to: .null)
        case .constant(let value): return .constant(!value.isNull)
        case .presence(let values):
            var any: [FetchRequest.Predicate] = []
            for value in values {
                switch value {
                case .constant: any.append(.constant(true))
                case .field(let from): any.append(.notEqual(from.name, to: .null))
                case .expression: return nil
                }
            }
            return any.isEmpty ? .constant(false) : .or(any)
        case .convert, .expression, .objectID: return nil
        }
    }
}

extension StoreError {
    static func inexactNumber(_ entity: EntityName, field: RecordLayout.Field, object: ObjectID) -> StoreError {
        StoreError(
            .migrationFailed,
            "'\(entity).\(field.name)' of \(object) has type \(field.kind) in the new model, which cannot hold its number exactly; give the mapping an expression for it, or change the object."
        )
    }

    static func abstract(_ entity: EntityName, object: ObjectID) -> StoreError {
        StoreError(
            .migrationFailed,
            "Entity '\(entity)' is abstract in the new model, but \(object) would belong to it; map the objects to a subentity, or keep the entity concrete."
        )
    }
}
