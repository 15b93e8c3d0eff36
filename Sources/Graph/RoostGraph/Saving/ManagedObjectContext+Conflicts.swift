internal import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// Resolves the error of a failed commit, and returns whether to try again.
    func resolve(_ error: StoreError) throws(StoreError) -> Bool {
        switch error.code {
        case .conflict: return try resolveConflicts(error)
        case .constraintViolation: return try resolveViolations(error)
        default: return false
        }
    }

    // MARK: Objects that another context changed

    private func resolveConflicts(_ error: StoreError) throws(StoreError) -> Bool {
        // An error without conflicts means that another context used the same position in an
        // ordered relationship. The next attempt reads the list again.
        guard !error.conflicts.isEmpty else {
            core.forgetBases()
            return true
        }
        var known: [(object: ManagedObject, conflict: ObjectConflict)] = []
        var agreed = known
        // A record that only the model's rules changed needs no merge, because the next attempt reads it again.
        for conflict in error.conflicts {
            guard let entity = model.entity(conflict.id.entity),
                let object = core.registered(entity.root, key: conflict.id.key), object.flags.contains(.changed)
            else { continue }
            if object.flags.contains(.detectsConflicts), !object.hasPersistentChangedValues { return false }
            if core.agrees(object, with: conflict.current) {
                agreed.append((object, conflict))
            } else {
                known.append((object, conflict))
            }
        }
        // Decide, check and read everything before the first change, so that a failure changes nothing.
        var decisions: [(ManagedObject, ObjectConflict, Decision)] = []
        for (object, conflict) in known {
            guard let decision = try decide(object, conflict: conflict) else { return false }
            if case .merge(let values) = decision { try core.requireValid(values, for: object) }
            decisions.append((object, conflict, decision))
        }
        core.closeReader()
        var reader = ResolutionReader(core)
        for (object, conflict, decision) in decisions {
            reader.add(object, conflict: conflict, values: decision.values)
        }
        for (object, conflict) in agreed { reader.add(object, conflict: conflict) }
        let (read, rows) = try reader.read()
        core.currentRows = rows
        defer { withExtendedLifetime(read) { core.currentRows = nil } }
        for (object, _, decision) in decisions { try core.requireDestinations(decision.values, of: object) }
        try apply(decisions, agreed: agreed)
        core.currentRows = nil
        core.closeReader()
        core.awake(decisions.map(\.0), from: .mergePolicy)
        return true
    }

    private func apply(
        _ decisions: [(ManagedObject, ObjectConflict, Decision)],
        agreed: [(object: ManagedObject, conflict: ObjectConflict)]
    ) throws(StoreError) {
        let former = decisions.map { core.pairPartners(of: $0.0) }
        for (object, conflict, decision) in decisions { try apply(decision, to: object, conflict: conflict) }
        // Merge the agreed objects last, because merging an object also merges its one-to-one partners.
        for (object, conflict) in agreed where !object.flags.contains(.orphan) {
            try core.mergeAgreed(object, with: conflict.current)
            if !object.flags.contains(.orphan) { refreshed.append(object) }
        }
        for ((object, conflict, _), former) in zip(decisions, former) {
            try core.perform([.settle(object, conflict.current, former: former, from: 0)])
        }
    }

    private enum Decision {
        case merge([String: Value])
        case overwrite
        case insertAgain
        case delete
        case acceptTheirs

        /// The merged values of the object; empty if the object gets the values of one side.
        var values: [String: Value] {
            if case .merge(let values) = self { values } else { [:] }
        }
    }

    private func decide(_ object: ManagedObject, conflict: ObjectConflict) throws(StoreError) -> Decision? {
        let isDeletedHere = object.flags.contains(.deleted)
        let isDeletedThere = conflict.current == nil
        switch mergePolicy.kind {
        case .error: return nil
        case .rollback: return isPlanted(.overwritesOnRollback) ? .overwrite : .acceptTheirs
        case .overwrite: return isDeletedHere ? .delete : isDeletedThere ? .insertAgain : .overwrite
        case .objectTrump, .storeTrump:
            let isMine =
                if case .objectTrump = mergePolicy.kind { !isPlanted(.swapsSides) } else { isPlanted(.swapsSides) }
            if isDeletedHere { return isMine ? .delete : .acceptTheirs }
            if isDeletedThere { return isMine ? .insertAgain : .acceptTheirs }
            return .merge(try merged(object, conflict: conflict, isMine: isMine))
        case .custom(let resolve, _):
            let conflict = MergeConflict(
                id: conflict.id, base: try object.committedValues(),
                mine: isDeletedHere ? nil : object.withReader { $0.values() }, theirs: conflict.current?.values())
            switch try resolve(conflict) {
            case .keep(let values): return isDeletedThere ? .insertAgain : .merge(values)
            case .acceptTheirs: return .acceptTheirs
            case .delete: return .delete
            case .fail: return nil
            }
        }
    }

    private func merged(
        _ object: ManagedObject, conflict: ObjectConflict, isMine: Bool
    ) throws(StoreError) -> [String: Value] {
        let base = try object.committedValues()
        let mine = object.withReader { $0.values() }
        let theirs = conflict.current?.values() ?? [:]
        var result: [String: Value] = [:]
        for field in object.info.entity.layout.fields where !field.name.contains(".") {
            let (old, here, there) = (
                base[field.name] ?? .null, mine[field.name] ?? .null, theirs[field.name] ?? .null
            )
            let (isChangedHere, isChangedThere) = (here != old, there != old)
            if isPlanted(.dropsTheirSide) {
                result[field.name] = here
                continue
            }
            result[field.name] = isMine ? (isChangedHere ? here : there) : (isChangedThere ? there : here)
        }
        return result
    }

    private func apply(
        _ decision: Decision, to object: ManagedObject, conflict: ObjectConflict
    ) throws(StoreError) {
        switch decision {
        case .merge(let values):
            guard let current = conflict.current else { return }
            // Only a custom policy merges, and thereby keeps, an object that this context deleted.
            if object.flags.contains(.deleted) { try core.accept(current, object: object) }
            try core.setContent(of: object, to: values, merging: current)
            // Replace the committed row last. If a value is invalid, the next save then still detects the conflict.
            core.rebase(object, on: current)
        case .overwrite:
            if let current = conflict.current { core.rebase(object, on: current) }
        case .insertAgain:
            _ = core.touch(object)
            core.forgetCommittedRow(of: object)
            object.flags.insert(.inserted)
        case .delete:
            guard let current = conflict.current else { return core.leave(object) }
            core.rebase(object, on: current)
            core.markDeleted(object)
            core.propagateDeletes()
        case .acceptTheirs:
            guard let current = conflict.current else { return core.leave(object) }
            try core.accept(current, object: object)
            refreshed.append(object)
        }
    }

    // MARK: Duplicate unique values

    private func resolveViolations(_ error: StoreError) throws(StoreError) -> Bool {
        if case .error = mergePolicy.kind { return false }
        guard !error.violations.isEmpty else { return false }
        var pairs: [(mine: ManagedObject, stored: ManagedObject, attributes: [String])] = []
        for violation in error.violations {
            guard let entity = model.entity(violation.rejected.entity),
                let mine = core.registered(entity.root, key: violation.rejected.key), mine.flags.contains(.inserted)
            else { return false }
            let stored = try requireObject(violation.existing)
            // No policy can resolve equal values of two new objects.
            guard !stored.flags.contains(.inserted), mine !== stored else { return false }
            pairs.append((mine, stored, violation.attributes))
        }
        var reader = ResolutionReader(core)
        for (mine, stored, _) in pairs {
            reader.add(mine)
            reader.add(stored)
            for member in try core.members(of: mine) { reader.add(member, distance: 2) }
        }
        // Read the pairs first, because a custom policy gets the values of both objects.
        _ = try reader.read()
        // Decide, check and read everything before the first change, so that a failure changes nothing. If a new object
        // has unique values of two stored objects, the first stored object replaces it.
        var decided: Set<ManagedObject> = []
        var replaced: [(object: ManagedObject, survivor: ManagedObject)] = []
        var contents: [(object: ManagedObject, values: [String: Value])] = []
        for (mine, stored, attributes) in pairs where decided.insert(mine).inserted {
            switch try decideDuplicate(mine, of: stored, attributes: attributes) {
            case .keep(let values):
                try core.requireValid(values, for: stored, onlyNamed: true)
                reader.add(values, of: stored)
                contents.append((stored, values))
            case .keepStored: break
            case .fail: return false
            }
            replaced.append((mine, stored))
        }
        let read = try reader.read()
        defer { withExtendedLifetime(read) {} }
        for (stored, values) in contents { try core.requireDestinations(values, of: stored) }
        // Set values while the new objects are still in the context, because values can refer to new objects.
        for (stored, values) in contents where !isPlanted(.losesDuplicateValues) {
            try core.setContent(of: stored, to: values, onlyNamed: true)
        }
        try core.replace(replaced)
        return true
    }

    private func decideDuplicate(
        _ mine: ManagedObject, of stored: ManagedObject, attributes: [String]
    ) throws(StoreError) -> ConstraintResolution {
        switch mergePolicy.kind {
        case .error: return .fail
        case .objectTrump, .overwrite: return .keep(mine.withReader { $0.values() })
        case .storeTrump, .rollback: return .keepStored
        case .custom(_, let resolve):
            return try resolve(
                ConstraintConflict(
                    attributes: attributes, pendingID: mine.objectID, pending: mine.withReader { $0.values() },
                    storedID: stored.objectID, stored: stored.withReader { $0.values() }))
        }
    }
}

extension GraphCore {
    /// Replaces the committed row of an object with a record of the store, and keeps the object's
    /// changes.
    func rebase(_ object: ManagedObject, on record: Record) {
        guard touch(object), let row = object.row else { return }
        let old = PrivateRow.committed(row)
        let fresh = record.bytes.withUnsafeBytes { bytes -> UnsafeRawPointer? in
            bytes.baseAddress.map { UnsafeRawPointer(fetchedRows.copy($0, byteCount: bytes.count)) }
        }
        PrivateRow.setCommitted(fresh, of: UnsafeMutableRawPointer(mutating: row))
        if let old { RowPage.release(old) }
        forgetBases(of: object)
    }

    /// Returns whether an object needs no policy.
    ///
    /// Either both sides deleted it, or one side changed nothing except positions in ordered
    /// relationships, which always merge as sets.
    func agrees(_ object: ManagedObject, with theirs: Record?) -> Bool {
        guard let committed = object.committedRow else { return false }
        let base = RecordReader(
            row: committed, byteCount: object.tail.byteCount(committed), key: object.key, model: model)
        let fields = object.info.entity.layout.fields.filter { $0.kind != .order }
        let isChangedHere =
            object.flags.contains(.deleted) || fields.contains { object.value(of: $0) != base.value($0) }
        guard let theirs else { return object.flags.contains(.deleted) || !isChangedHere }
        let isChangedThere = fields.contains { field in
            theirs.withReader { $0.value(field) } != base.value(field)
        }
        return !isChangedHere || !isChangedThere
    }

    /// Returns the members of all to-many relationships.
    func members(of object: ManagedObject) throws(StoreError) -> [ManagedObject] {
        var found: [ManagedObject] = []
        for relationship in object.info.relationships where relationship.isToMany {
            found += try members(of: object, relationship: relationship.number)
        }
        return found
    }

    /// Checks values as if they were set as the properties of an object, without reading
    /// destinations.
    ///
    /// If `onlyNamed` is false, missing properties count as null.
    func requireValid(
        _ values: [String: Value], for object: ManagedObject, onlyNamed: Bool = false
    ) throws(StoreError) {
        var replacements: [(field: RecordLayout.Field, value: Value)] = []
        for field in object.info.entity.layout.fields where !field.name.contains(".") && field.kind != .order {
            guard let value = onlyNamed ? values[field.name] : values[field.name] ?? .null else { continue }
            if let relationship = field.relationship {
                try requireReference(value, relationship: model.relationships[relationship])
            } else {
                object.collect(value, field: field, replacements: &replacements)
            }
        }
        replacements.sort { $0.field.index < $1.field.index }
        _ = object.firedRow
        guard let row = object.row else { return try throwLatched() }
        var batch = RecordBatch(model: model)
        try batch.append(
            RecordReader(row: row, byteCount: Int(object.byteCount), key: object.key, model: model),
            replacing: replacements)
    }

    /// Checks destinations in valid values whose IDs have a superentity.
    ///
    /// Without reading them, ``requireValid(_:for:onlyNamed:)`` does not know their entities.
    func requireDestinations(_ values: [String: Value], of object: ManagedObject) throws(StoreError) {
        for field in object.info.referenceFields {
            guard let number = field.relationship, case .objectID(let id)? = values[field.name] else { continue }
            let relationship = model.relationships[number]
            let entity = try model.requireEntity(id.entity)
            guard !model.entities[relationship.destination].includes(entity.number) else { continue }
            _ = try requireDestination(id, relationship: relationship)
        }
    }

    func mergeAgreed(_ object: ManagedObject, with theirs: Record?) throws(StoreError) {
        guard let theirs else { return leave(object) }
        try perform(try take(theirs, object: object).steps)
    }

    /// Returns the destinations of an object's one-to-one relationships, by relationship.
    func pairPartners(of object: ManagedObject) -> [Int: ManagedObject] {
        guard let row = object.row else { return [:] }
        var partners: [Int: ManagedObject] = [:]
        for field in object.info.referenceFields where oneToOneInverse(field) != nil {
            guard let relationship = field.relationship, let (entity, key) = RowAccess.reference(row, field: field)
            else { continue }
            partners[relationship] = self.object(entity, key: key)
        }
        return partners
    }

    /// Returns the inverse of a to-one relationship if the inverse is also to-one.
    func oneToOneInverse(_ field: RecordLayout.Field) -> Int? {
        guard let relationship = field.relationship, let inverse = model.relationships[relationship].inverse,
            !model.relationships[inverse].isToMany
        else { return nil }
        return inverse
    }

    /// Discards the committed row of an object, so that the object becomes new.
    func forgetCommittedRow(of object: ManagedObject) {
        guard let row = object.row, object.state.contains(.privateRow) else { return }
        if let old = PrivateRow.committed(row) { RowPage.release(old) }
        PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
    }

    /// Sets the properties of an object, and updates the inverses of references.
    ///
    /// If `onlyNamed` is false, missing properties become null. If the record `theirs` was merged
    /// into `values`, the other sides of one-to-one relationships are updated only after both rows
    /// were merged; see ``MergeStep/settle(_:_:former:from:)``.
    func setContent(
        of object: ManagedObject, to values: [String: Value], onlyNamed: Bool = false, merging theirs: Record? = nil
    ) throws(StoreError) {
        for field in object.info.entity.layout.fields where !field.name.contains(".") && field.kind != .order {
            guard let value = onlyNamed ? values[field.name] : values[field.name] ?? .null,
                value != object.value(of: field)
            else { continue }
            if let relationship = object.info.entity.relationship(field.name) {
                var destination: ManagedObject?
                if case .objectID(let id) = value, let entity = model.entity(id.entity) {
                    destination = try objects([id.key], destination: entity.number).first
                }
                if theirs != nil, oneToOneInverse(field) != nil {
                    setReference(of: object, relationship: relationship.number, to: destination)
                } else if let theirs, theirs.withReader({ $0.reference(field)?.key }) == destination?.key {
                    try adopt(theirs, field: field, of: object, destination: destination)
                } else {
                    setDestination(of: object, relationship: relationship.number, to: destination)
                }
            } else {
                try object.set(value, for: field)
            }
        }
    }

    /// Applies a reference of the store's record, with the position in the destination's list.
    ///
    /// The stored list already contains the object, so no member is added.
    private func adopt(
        _ theirs: Record, field: RecordLayout.Field, of object: ManagedObject, destination: ManagedObject?
    ) throws(StoreError) {
        guard let relationship = field.relationship else { return }
        let former = RowAccess.reference(object.firedRow, field: field).map { self.object($0.entity, key: $0.key) }
        setReference(of: object, relationship: relationship, to: destination)
        if let place = object.info.places[relationship] {
            try object.set(theirs.withReader { $0.value(place) }, for: place)
        }
        guard let inverse = model.relationships[relationship].inverse else { return }
        for owner in [former, destination] {
            guard let extra = owner?.extra,
                let index = extra.members.firstIndex(where: { $0.relationship == inverse })
            else { continue }
            if let owner { observation?.note(owner, property: .members(inverse)) }
            extra.members[index].state.retract([object.key])
        }
    }

    /// Replaces an object's content with the store's content, and discards its changes.
    ///
    /// Pending additions and removals of members remain, unless this context deleted the object.
    func accept(_ record: Record, object: ManagedObject) throws(StoreError) {
        let wasDeleted = object.flags.contains(.deleted)
        if wasDeleted {
            object.flags.subtract([.deleted, .propagated])
            observation?.note(object, property: .deletion)
        }
        for field in object.info.referenceFields {
            let new = record.withReader { $0.reference(field) }
            guard let relationship = field.relationship,
                wasDeleted || RowAccess.reference(object.firedRow, field: field)?.key != new?.key
            else { continue }
            let destination = try new.map { (entity, key) throws(StoreError) in
                try objects([key], destination: entity).first
            }
            if oneToOneInverse(field) != nil {
                setReference(of: object, relationship: relationship, to: destination ?? nil)
            } else {
                try adopt(record, field: field, of: object, destination: destination ?? nil)
            }
        }
        let former = undoStack == nil ? nil : object.committedRow
        if let former { RowPage.retain(former) }
        defer { noteForeignRow(of: object, former: former) }
        let members = wasDeleted ? [] : object.extra?.members.filter(\.state.hasDifferences) ?? []
        discardChanges(of: object)
        record.bytes.withUnsafeBytes { setCommittedRow(of: object, to: $0) }
        guard !members.isEmpty else { return }
        object.requireExtra().members = members
        forgetBases(of: object)
        note(object)
    }

    /// Removes an object from the lists of changes and from the context.
    func leave(_ object: ManagedObject) {
        changed.removeAll { $0 === object }
        touched.removeAll { $0 === object }
        undeleted.removeAll { $0 === object }
        expel(object)
    }

    private func leave(_ objects: [ManagedObject]) {
        let gone = Set(objects)
        changed.removeAll { gone.contains($0) }
        touched.removeAll { gone.contains($0) }
        undeleted.removeAll { gone.contains($0) }
        for object in objects { expel(object) }
    }

    /// Replaces new objects with stored objects, in relationships and in the context.
    ///
    /// The caller must have read all these objects, and the members of the new objects.
    func replace(_ pairs: [(object: ManagedObject, survivor: ManagedObject)]) throws(StoreError) {
        var survivors: [ObjectPlace: Int64] = [:]
        var positions: [ObjectPlace: Int] = [:]
        for (position, (object, survivor)) in pairs.enumerated() {
            let place = ObjectPlace(root: object.root, key: object.key)
            (survivors[place], positions[place]) = (survivor.key, position)
            for relationship in object.info.relationships where relationship.isToMany {
                for member in try members(of: object, relationship: relationship.number) {
                    remove(member, from: object, relationship: relationship.number)
                    add(member, to: survivor, relationship: relationship.number)
                }
            }
        }
        // One pass over the changes serves all pairs, because both can be many.
        for other in changed where positions[ObjectPlace(root: other.root, key: other.key)] == nil {
            redirect(other, pairs: pairs, positions: positions)
        }
        for (object, _) in pairs {
            for relationship in object.info.relationships where !relationship.isToMany {
                setDestination(of: object, relationship: relationship.number, to: nil)
            }
        }
        undoStack?.replaceKeys(survivors, areTemporary: false)
        leave(pairs.map(\.object))
    }

    /// Replaces an object's references to new objects with references to the stored objects.
    ///
    /// `positions` contains the position in `pairs` of each new object.
    private func redirect(
        _ other: ManagedObject, pairs: [(object: ManagedObject, survivor: ManagedObject)],
        positions: [ObjectPlace: Int]
    ) {
        for field in other.info.referenceFields {
            guard let relationship = field.relationship, let row = other.row,
                let (entity, key) = RowAccess.reference(row, field: field),
                let position = positions[ObjectPlace(root: table.root(entity), key: key)]
            else { continue }
            setDestination(of: other, relationship: relationship, to: pairs[position].survivor)
        }
        for (number, state) in other.extra?.members ?? [] where !state.added.isEmpty {
            let relationship = model.relationships[number]
            guard relationship.inverse == nil else { continue }
            let root = model.entities[relationship.destination].root
            let found = state.added.compactMap { positions[ObjectPlace(root: root, key: $0)] }
            for position in found.sorted() {
                remove(pairs[position].object, from: other, relationship: number)
                add(pairs[position].survivor, to: other, relationship: number)
            }
        }
    }
}
