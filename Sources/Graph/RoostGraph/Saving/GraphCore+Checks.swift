internal import RoostCore
internal import RoostStores

extension GraphCore {
    // MARK: Rounds of willSave

    func beginRound() { touched.forEachUncounted { $0.state.remove(.touched) } }

    /// Returns the objects that changed since ``beginRound()``, in the order of their first change.
    func endRound() -> [ManagedObject] {
        let found = touched.filterUncounted { $0.state.contains(.touched) }
        // An object that also changed before the round is in the list twice. The later entry belongs
        // to the round.
        var objects: [ManagedObject] = found.reversed().filter { $0.state.remove(.touched) != nil }
        objects.reverse()
        objects.forEachUncounted { $0.state.insert(.touched) }
        return objects
    }

    // MARK: Validation

    /// Returns a failure for each object that makes a delete rule deny the deletion.
    func denials(of object: ManagedObject) throws(StoreError) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        guard !object.flags.contains(.inserted), !isPlanted(.deniesNot) else { return [] }
        for relationship in object.info.relationships where relationship.declaration.deleteRule == .deny {
            let keys: [Int64]
            if relationship.isToMany {
                keys = try memberKeys(of: object, relationship: relationship.number)
            } else {
                let reference = object.info.references[relationship.number]
                keys = reference.flatMap { RowAccess.reference(object.firedRow, field: $0)?.key }.map { [$0] } ?? []
            }
            for member in try objects(keys, destination: relationship.destination)
            where !member.flags.contains(.deleted) {
                failures.append(
                    ValidationFailure(
                        .object(object.objectID), entity: object.info.entity.name, property: relationship.name.name,
                        kind: .deleteDenied(member.objectID)))
            }
        }
        return failures
    }

    /// Returns the failures of rules that depend on one record alone, and collects the survey.
    func ruleFailures(_ survey: inout SaveSurvey) throws(StoreError) -> [ValidationFailure] {
        var failures = FailureList()
        guard let stores else { return [] }
        var rules = stores.stores.map(\.rules.records)
        let objects = changed
        let skipped: ManagedObject.Flags = isPlanted(.checksDeleted) ? [] : [.deleted, .inaccessible]
        // For most entities, a rule can fail only if one of certain null bits is set. Neighboring records usually have
        // the same entity, so its bits are kept for the next record.
        var (known, store) = (-1, 0)
        var (bits, hasBits) = ([(offset: Int, bits: UInt8)](), false)
        try objects.forEachUncounted { (object) throws(StoreError) in
            let (flags, state) = (object.flags, object.state)
            survey.note(object, flags: flags, state: state)
            guard state.contains(.privateRow), flags.isDisjoint(with: skipped), let row = object.row
            else { return }
            if isPlanted(.checksInsertsOnly), !flags.contains(.inserted) { return }
            if isPlanted(.stopsAtFirstFailure), !failures.failures.isEmpty { return }
            let entity = Int(object.entityNumber)
            if known != entity {
                (known, store) = (entity, stores.storeOfEntity[entity])
                let deciding = rules[store].decidingBits(forEntity: entity)
                (bits, hasBits) = (deciding ?? [], deciding != nil)
            }
            if hasBits, !RowAccess.hasBits(row, bits: bits) { return }
            let reader = RecordReader(row: row, byteCount: Int(object.byteCount), key: object.key, model: model)
            try failures.check(reader, rules: &rules[store]) { _, _ in .object(object.objectID) }
        }
        return failures.failures
    }

    func transientFailures() throws(StoreError) -> [ValidationFailure] {
        guard let transient = classes.transientRules, !isPlanted(.skipsTransientRules) else { return [] }
        var failures = FailureList()
        var rules = transient.records
        var batch = RecordBatch(model: transient.model)
        for object in changed where object.flags.isDisjoint(with: [.deleted, .inaccessible]) {
            batch.removeAll()
            let ruled = object.info.transients.filter { $0.value.type != .undefined }
            guard !ruled.isEmpty else { continue }
            let values = ruled.mapValues { object.extra?.transients[$0.name] ?? $0.defaultValue }
            try batch.append(ObjectID(object.info.entity.name, key: 1), values: values)
            let id = object.objectID
            try batch.withRecord(at: 0) { (record) throws(StoreError) in
                try failures.check(record, rules: &rules) { _, _ in .object(id) }
            }
        }
        return failures.failures
    }
}
