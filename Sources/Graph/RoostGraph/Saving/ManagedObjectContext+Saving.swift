public import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    /// The most rounds of `willSave`, and of resolving conflicts.
    private static let mostWillSaveRounds = 1_000
    private static let mostConflictRounds = 10

    /// Saves all changes, all or none in each store, durable on return.
    ///
    /// ``ManagedObject/willSave()`` is called first, then the rules of the model are checked. A
    /// conflict with another context's save is resolved by ``mergePolicy``. After an error nothing
    /// was written, and all changes are still pending; with several stores, the error says which
    /// were saved.
    ///
    /// - Throws: The error of a getter since the last call; `validationFailed` with all
    ///   ``StoreError/failures``; `conflict` with all ``StoreError/conflicts``;
    ///   `constraintViolation`; `objectNotFound` with all ``StoreError/missingObjects``;
    ///   `deleteDenied`; what committing throws.
    public func save() throws(StoreError) {
        if let parent = core.parent { return try save(to: parent) }
        guard !isSaving else {
            throw StoreError(
                .invalidRequest,
                "The context is being saved already. Do not save from its hooks, and wait for a save in the background."
            )
        }
        isSaving = true
        defer {
            isSaving = false
            core.reportChanges()
        }
        try prepareSave()
        core.pinned = nil
        var saved: [StoreLocation] = []
        for position in base.storeSet.stores.indices {
            do throws(StoreError) {
                if let outcome = try commitChanges(to: position) {
                    finish(outcome, position)
                    saved.append(base.storeSet.stores[position].location)
                }
            } catch { throw Self.naming(saved, in: error) }
        }
        core.dropUnchanged()
        core.endEvent()
        isSaving = false
        mergeInbox()
    }

    /// Saves all changes; the commit runs on a thread of Roost's own, without holding the
    /// isolation.
    ///
    /// Changes that are made meanwhile stay pending. After an error all changes do. Waits for an
    /// earlier save in the background.
    ///
    /// - Throws: As ``save()``.
    public nonisolated(nonsending) func saveInBackground() async throws(StoreError) {
        if let parent = core.parent { return try save(to: parent) }
        while isSaving { await withCheckedContinuation { saveWaiters.append($0) } }
        isSaving = true
        defer {
            endSaving()
            core.reportChanges()
        }
        try prepareSave()
        core.pinned = nil
        var saved: [StoreLocation] = []
        for position in base.storeSet.stores.indices {
            var round = 0
            while true {
                let outcome: Outcome?
                do throws(StoreError) {
                    // Changes that were made during the commit to another store are prepared too.
                    if !saved.isEmpty, round == 0 { try prepareSave() }
                    outcome = try prepareCommit(position)
                } catch { throw Self.naming(saved, in: error) }
                guard let outcome else { break }
                core.beginFlight(outcome.pending)
                core.endEvent()
                let store = base.storeSet.stores[position]
                let changes = outcome.changes
                do throws(StoreError) {
                    let receipt = try await Store.onStoreThread { () throws(StoreError) in
                        try store.persistentStore.commit(changes)
                    }
                    finish(outcome.with(receipt), position, isInFlight: true)
                    saved.append(store.location)
                    break
                } catch {
                    core.endFlight(outcome.pending)
                    round += 1
                    guard round < Self.mostConflictRounds else { throw Self.naming(saved, in: error) }
                    do throws(StoreError) { try prepareAgain(after: error) } catch {
                        throw Self.naming(saved, in: error)
                    }
                }
            }
        }
        core.dropUnchanged()
        core.endEvent()
        endSaving()
        mergeInbox()
    }

    /// Lets the next save begin.
    private func endSaving() {
        isSaving = false
        let waiters = saveWaiters
        saveWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    /// Returns an error with the stores that were saved before it.
    private static func naming(_ saved: [StoreLocation], in error: StoreError) -> StoreError {
        guard !saved.isEmpty else { return error }
        let list = saved.map { "'\($0)'" }.joined(separator: ", ")
        return error.withMessage("\(error.message) Saved before, and no longer pending: the changes in \(list).")
    }

    // MARK: Before the commit

    /// Resolves what made a commit fail, and prepares the next try.
    ///
    /// The next try is prepared like the first one: it has merged values, and after a save in the
    /// background later changes.
    ///
    /// - Throws: The error that cannot be resolved; what preparing throws.
    private func prepareAgain(after error: StoreError) throws(StoreError) {
        core.closeReader()
        let isResolved = try core.withoutUndo { () throws(StoreError) in try resolve(error) }
        guard isResolved else { throw naming(error) }
        core.closeReader()
        try prepareSave()
    }

    private func prepareSave() throws(StoreError) {
        try checkChanges()
        if core.survey.hasTemporaryKeys { try core.replaceTemporaryKeys() }
        core.expectedPlaces.removeAll()
        if core.survey.hasExtras { try core.withoutUndo { () throws(StoreError) in try core.settleOrder() } }
    }

    /// Calls `willSave`, and checks the rules of the model.
    func checkChanges() throws(StoreError) {
        core.checkIsolation()
        core.propagateDeletes()
        notifyObservers()
        try core.throwLatched()
        try callWillSave()
        core.propagateDeletes()
        if core.parent == nil || !isPlanted(.childSkipsValidation) { core.survey = try validate() }
        try core.throwLatched()
        try core.undoStack?.prepareSave()
    }

    /// Calls `willSave` until no object changes any more.
    private func callWillSave() throws(StoreError) {
        var objects = core.changed
        var round = 0
        while !objects.isEmpty {
            guard round < Self.mostWillSaveRounds else {
                throw StoreError(
                    .invalidRequest,
                    "willSave() of \(objects[0].objectID) changed objects in each of \(round) rounds. Set a property only if its value differs."
                )
            }
            round += 1
            core.beginRound()
            objects.forEachUncounted { if !$0.flags.contains(.orphan) { $0.willSave() } }
            core.propagateDeletes()
            objects = isPlanted(.callsWillSaveOnce) ? [] : core.endRound()
        }
    }

    private func validate() throws(StoreError) -> SaveSurvey {
        var failures: [ValidationFailure] = []
        let objects = core.changed
        // Neighbors are mostly of one entity, whose class is asked once.
        var known: (entity: UInt16, properties: [String])?
        try objects.forEachUncounted { (object) throws(StoreError) in
            guard !object.flags.contains(.inaccessible) else { return }
            if object.flags.contains(.deleted) {
                failures += try core.denials(of: object)
                failures += object.validateForDelete()
                return
            }
            guard object.state.contains(.privateRow) || object.extra != nil else { return }
            if known?.entity != object.entityNumber {
                known = (object.entityNumber, type(of: object).validatedProperties)
            }
            if let known, !known.properties.isEmpty { try validate(known.properties, of: object, &failures) }
            let own = object.flags.contains(.inserted) ? object.validateForInsert() : object.validateForUpdate()
            if !own.isEmpty { failures += own }
        }
        var survey = SaveSurvey()
        failures += try core.ruleFailures(&survey)
        failures += try core.transientFailures()
        if !failures.isEmpty { throw ValidationFailure.error(failures) }
        return survey
    }

    private func validate(
        _ properties: [String], of object: ManagedObject, _ failures: inout [ValidationFailure]
    ) throws(StoreError) {
        for name in properties {
            var value = try object.value(name)
            let old = value
            do throws(ValidationFailure) {
                try object.validate(&value, for: name)
                if value != old { try set(value, name, object) }
            } catch { failures.append(error) }
        }
    }

    private func set(_ value: Value, _ name: String, _ object: ManagedObject) throws(ValidationFailure) {
        do throws(StoreError) { try object.setValue(value, for: name) } catch {
            throw object.validationFailure(error.message, for: name)
        }
    }

    // MARK: The commit

    /// The content of a commit.
    struct Outcome {
        var pending: PendingChanges
        /// The changes with derived attributes, and with objects that depend on changed ones.
        var changes: ChangeSet
        var receipt: CommitReceipt?

        func with(_ receipt: CommitReceipt) -> Outcome {
            var outcome = self
            outcome.receipt = receipt
            return outcome
        }
    }

    /// Works out what to commit to a store; nil for nothing.
    private func prepareCommit(_ position: Int) throws(StoreError) -> Outcome? {
        let pending = try core.pendingChanges(store: position)
        guard !pending.isEmpty else {
            // What was added and removed again is no difference any more.
            core.commitMembers(of: pending.unwritten, isInFlight: false)
            return nil
        }
        // A store that is read cannot use its old pages again, and a memory store copies what it changes.
        core.closeReader()
        var changes = pending.changes
        let store = base.storeSet.stores[position]
        if try store.rules.concern(changes) {
            // The rules read what the store has now, not what the event began with.
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            var failures = FailureList()
            var rules = ChangeRules(store.rules, on: snapshot)
            let ids = (0..<changes.inserts.count).map { changes.inserts.id(at: $0) }
            try rules.apply(to: &changes, failures: &failures) { .object(ids[$0]) }
            try failures.throwIfAny()
        }
        return Outcome(pending: pending, changes: changes)
    }

    private func commitChanges(to position: Int) throws(StoreError) -> Outcome? {
        let store = base.storeSet.stores[position].persistentStore
        for _ in 1..<Self.mostConflictRounds {
            do throws(StoreError) {
                guard let outcome = try prepareCommit(position) else { return nil }
                return outcome.with(try store.commit(outcome.changes))
            } catch {
                try prepareAgain(after: error)
            }
        }
        guard let outcome = try prepareCommit(position) else { return nil }
        return outcome.with(try store.commit(outcome.changes))
    }

    /// Returns an error about missing objects with the objects that refer to them.
    private func naming(_ error: StoreError) -> StoreError {
        guard error.code == .objectNotFound, !error.missingObjects.isEmpty else { return error }
        let missing = Set(
            error.missingObjects.compactMap { id in
                model.entity(id.entity).map { ObjectPlace(root: $0.root, key: id.key) }
            })
        let referring = core.changed.filter { object in
            guard let row = object.row, !object.flags.contains(.deleted) else { return false }
            return object.info.referenceFields.contains { field in
                guard let (entity, key) = RowAccess.reference(row, field) else { return false }
                return missing.contains(ObjectPlace(root: model.entities[entity].root, key: key))
            }
        }
        guard let first = referring.first else { return error }
        let others = referring.count == 1 ? "" : " and \(referring.count - 1) more objects"
        return error.withMessage("\(error.message) \(first.objectID)\(others) refer to what another context deleted.")
    }

    // MARK: After the commit

    private func finish(_ outcome: Outcome, _ position: Int, isInFlight: Bool = false) {
        guard let receipt = outcome.receipt else { return }
        let pending = outcome.pending
        let hasDerived = base.storeSet.stores[position].rules.hasDerivedAttributes && !isPlanted(.keepsDerived)
        core.withoutUndo { core.finish(pending, outcome.changes, copiesRows: hasDerived, isInFlight: isInFlight) }
        core.closeReader()
        // A hook can take a deletion back; see `GraphCore.bring(back:_:)`.
        pending.deleted.forEach { if $0.flags.contains(.deleted) { $0.flags.insert(.inFlight) } }
        pending.inserted.forEach { $0.didSave() }
        pending.updated.forEach { $0.didSave() }
        pending.deleted.forEach { object in
            guard !object.flags.contains(.inserted) else { return }
            if !object.flags.contains(.deleted), object.extra?.isReturning ?? false { return core.becomeNew(object) }
            object.flags.subtract([.changed, .deleted, .inFlight])
            object.didSave()
            core.expel(object)
        }
        if seenGenerations[position] == receipt.previousGeneration { seenGenerations[position] = receipt.generation }
        let isHeard = base.hub.hasReceivers(except: inbox) || !saveObservers.isEmpty
        guard receipt.hasChanges, isHeard, !isPlanted(.postsNoNotice) else { return }
        // What the rules of the model changed beside it: derived attributes of objects that depend on changed ones.
        let updates = outcome.changes.updates
        var others = (pending.updated.count..<max(updates.count, pending.updated.count)).map { updates.id(at: $0) }
        let changed = (pending.updated.all + pending.unwritten.all).map(\.objectID)
        if !others.isEmpty {
            let known = Set(pending.inserted.all.map(\.objectID) + changed)
            others.removeAll { known.contains($0) }
        }
        let notice = SaveNotice(
            store: base.storeSet.stores[position].location, generation: receipt.generation,
            previousGeneration: receipt.previousGeneration, author: author, contextName: name,
            inserted: pending.inserted.all.map(\.objectID), updated: changed + others,
            deleted: pending.changes.deletes.map(\.id))
        base.hub.post(notice, from: inbox)
        for observer in saveObservers { observer.body(notice) }
    }
}

/// The facts that a save needs about its objects before it makes the change set.
struct SaveSurvey {
    /// Whether an object has a temporary key.
    private(set) var hasTemporaryKeys = false
    /// Whether an object has to-many relationships, or other parts that few objects have.
    private(set) var hasExtras = false
    /// The private rows of new and of other objects, and their bytes.
    private(set) var inserts = (count: 0, bytes: 0)
    private(set) var updates = (count: 0, bytes: 0)

    @inline(__always)
    mutating func note(_ object: ManagedObject) {
        if object.key < 0 { hasTemporaryKeys = true }
        if object.extra != nil { hasExtras = true }
        guard object.state.contains(.privateRow) else { return }
        if object.flags.contains(.inserted) {
            inserts = (inserts.count &+ 1, inserts.bytes &+ Int(object.byteCount))
        } else {
            updates = (updates.count &+ 1, updates.bytes &+ Int(object.byteCount))
        }
    }
}

extension GraphCore {
    // MARK: Rounds of willSave

    /// Begins a round: what changes in it is noted again.
    func beginRound() {
        touched.forEachUncounted { $0.state.remove(.touched) }
        roundStart = touched.count
    }

    /// Returns the objects that changed in the round.
    func endRound() -> [ManagedObject] {
        let start = roundStart ?? touched.count
        roundStart = nil
        guard start <= touched.count else { return [] }
        return Array(touched[start...])
    }

    // MARK: Validation

    /// Returns the failures of a deleted object whose rule denies that.
    func denials(of object: ManagedObject) throws(StoreError) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        guard !object.flags.contains(.inserted), !isPlanted(.deniesNot) else { return [] }
        for relationship in object.info.relationships where relationship.declaration.deleteRule == .deny {
            let keys: [Int64]
            if relationship.isToMany {
                keys = try memberKeys(of: object, relationship.number)
            } else {
                let reference = object.info.references[relationship.number]
                keys = reference.flatMap { RowAccess.reference(object.firedRow, $0)?.key }.map { [$0] } ?? []
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

    /// Returns the failures of the rules that one record alone can break.
    ///
    /// - Parameter survey: Gets the facts about the objects. A pass over many objects waits for their
    ///   memory, so one pass does both.
    /// - Returns: The failures.
    /// - Throws: `timedOut` if the comparison of a value with its pattern takes too long.
    func ruleFailures(_ survey: inout SaveSurvey) throws(StoreError) -> [ValidationFailure] {
        var failures = FailureList()
        guard let stores else { return [] }
        var rules = stores.stores.map(\.rules.records)
        let objects = changed
        let skipped: ManagedObject.Flags = isPlanted(.checksDeleted) ? [] : [.deleted, .inaccessible]
        // Neighbors are mostly of one entity, and the bitmap of a record decides most rules.
        var known: (entity: UInt16, store: Int, bits: [(offset: Int, bits: UInt8)]?)?
        try objects.forEachUncounted { (object) throws(StoreError) in
            survey.note(object)
            guard object.state.contains(.privateRow), object.flags.isDisjoint(with: skipped), let row = object.row
            else { return }
            if isPlanted(.checksInsertsOnly), !object.flags.contains(.inserted) { return }
            if isPlanted(.stopsAtFirstFailure), !failures.failures.isEmpty { return }
            if known?.entity != object.entityNumber {
                let store = stores.storeOfEntity[Int(object.entityNumber)]
                known = (
                    object.entityNumber, store, rules[store].decidingBits(forEntity: Int(object.entityNumber))
                )
            }
            guard let known else { return }
            if let bits = known.bits, !RowAccess.hasBits(row, bits) { return }
            let reader = RecordReader(row: row, byteCount: Int(object.byteCount), key: object.key, model: model)
            try failures.check(reader, rules: &rules[known.store]) { _, _ in .object(object.objectID) }
        }
        return failures.failures
    }

    /// Returns the failures of the rules of transient attributes.
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

    // MARK: After the commit

    /// Takes over what was committed: private rows become the rows that the store has.
    func finish(_ pending: PendingChanges, _ changes: ChangeSet, copiesRows: Bool, isInFlight: Bool) {
        commitCount += 1
        pending.inserted.forEachWithPosition { index, object in
            finish(object, index, isInsert: true, derived: copiesRows ? changes.inserts : nil)
        }
        pending.updated.forEachWithPosition { index, object in
            finish(object, index, isInsert: false, derived: copiesRows ? changes.updates : nil)
        }
        // What depends on the changes, and others have in the change set because of it.
        let count = pending.updated.count
        for index in count..<max(count, changes.updates.count) {
            changes.updates.withRecord(at: index) { record in
                guard let object = registered(record.root, record.key), object.row != nil else { return }
                guard object.state.contains(.privateRow), isDirtyMeanwhile(object) else {
                    // Also of an object whose properties were set to what they were.
                    return setRow(of: object, to: record, version: record.version &+ 1)
                }
                guard let committed = object.committedRow, RowAccess.version(committed) == record.version else {
                    return
                }
                adoptDerived(object, record, version: record.version &+ 1)
            }
        }
        if pending.hasExtras || isInFlight {
            for objects in [pending.inserted, pending.updated, pending.unwritten] {
                commitMembers(of: objects, isInFlight: isInFlight)
            }
        }
        // Undo took the deletion back during the save: the object is inserted again.
        pending.deleted.forEach { object in
            guard !object.flags.contains(.deleted), object.extra?.isReturning ?? false else { return }
            becomeNew(object)
        }
    }

    /// Takes over the row of an object as it was committed.
    ///
    /// - Parameters:
    ///   - object: An object that was inserted or updated.
    ///   - index: The position of its record.
    ///   - isInsert: Whether it was inserted.
    ///   - derived: The committed records, if they have derived attributes that the rows lack.
    @inline(__always)
    private func finish(_ object: ManagedObject, _ index: Int, isInsert: Bool, derived: RecordBatch?) {
        if object.flags.contains(.inFlight) {
            let inFlight = object.extra?.rowInFlight
            if let inFlight, inFlight != object.row, !isPlanted(.forgetsMeanwhile) {
                // Changed meanwhile: what was saved is the committed row of what is pending.
                commitUnderChanges(object, inFlight, isInsert: isInsert)
                derived?.withRecord(at: index) { adoptDerived(object, $0) }
                return
            }
            endFlight(object)
        }
        guard let row = object.row, object.state.contains(.privateRow) else { return }
        let committed = PrivateRow.committed(row)
        let old = committed.map { RowAccess.version($0) } ?? 0
        let version = isInsert ? 1 : isPlanted(.keepsVersions) ? old : old &+ 1
        RowAccess.setVersion(version, UnsafeMutableRawPointer(mutating: row))
        if let committed { RowPage.release(committed) }
        PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: row))
        object.state.remove([.touched, .privateRow])
        object.flags.subtract([.inserted, .changed, .detectsConflicts])
        if object.flags.contains(.deleted) { object.flags.insert(.changed) }
        derived?.withRecord(at: index) { setRow(of: object, to: $0, version: version) }
    }

    private func setRow(of object: ManagedObject, to record: RecordReader, version: UInt32) {
        setCommittedRow(of: object, to: record.bytes)
        if let row = object.row { RowAccess.setVersion(version, UnsafeMutableRawPointer(mutating: row)) }
    }

    /// Notes that stores have the members of to-many relationships as they are now.
    ///
    /// - Parameters:
    ///   - objects: The objects that were saved.
    ///   - isInFlight: Whether they could change during the save. Then later differences stay.
    func commitMembers(of objects: UncountedObjects, isInFlight: Bool) {
        objects.forEach { if $0.extra != nil { commitMembers($0, isInFlight: isInFlight) } }
    }

    private func commitMembers(_ object: ManagedObject, isInFlight: Bool) {
        guard let extra = object.extra else { return }
        for index in extra.members.indices {
            if isInFlight, !isPlanted(.forgetsMeanwhile) {
                observation?.noteForgotten(object)
                extra.members[index].state.land()
            } else {
                extra.members[index].state.commit()
            }
        }
    }

    /// Takes objects that have no changes left out of the list of changed ones.
    func dropUnchanged() {
        // The end of an object can run code of the program, so the lists are replaced and die afterwards.
        let (formerChanged, formerTouched) = (changed, touched)
        defer { withExtendedLifetime((formerChanged, formerTouched)) {} }
        var gone: [ManagedObject] = []
        changed = formerChanged.filterUncounted { object in
            // Most objects were saved, and have nothing else.
            if object.flags.isEmpty, object.state.isEmpty, object.extra == nil { return false }
            return hasChangesLeft(object, &gone)
        }
        // What changed in a hook after its save was noted again.
        if changed.count > 1 {
            var seen: Set<ObjectIdentifier> = []
            changed.removeAll { !seen.insert(ObjectIdentifier($0)).inserted }
        }
        // What is in no list of changes did not change in this event either.
        touched =
            changed.isEmpty ? [] : ContiguousArray(formerTouched.filterUncounted { $0.flags.contains(.changed) })
        for object in gone { leave(object) }
        if changed.isEmpty {
            hasPropagatedDeletes = false
            hiddenMembers.removeAll()
        }
    }

    /// Returns whether an object stays in the list of changed ones after a save, and ends its changes
    /// otherwise.
    ///
    /// - Parameters:
    ///   - object: A changed object.
    ///   - gone: Gets the object if it was deleted here and there.
    /// - Returns: Whether changes are left.
    private func hasChangesLeft(_ object: ManagedObject, _ gone: inout [ManagedObject]) -> Bool {
        if object.flags.contains(.orphan) { return false }
        if object.flags.isSuperset(of: [.deleted, .inaccessible]) {
            // Deleted here and there: nothing is left to do.
            gone.append(object)
            return false
        }
        if object.flags.contains(.deleted) || object.flags.contains(.inserted) { return true }
        // Another context deleted it, so no save can write what changed here.
        let isGone = object.flags.contains(.inaccessible)
        if isGone {
            observation?.noteAll(object)
            object.extra = nil
        }
        if object.extra?.members.contains(where: \.state.hasDifferences) ?? false {
            object.flags.insert(.changed)
            return true
        }
        if object.state.contains(.privateRow), let row = object.row, let committed = PrivateRow.committed(row) {
            guard isGone || !isDirtyMeanwhile(object) else { return true }
            // Set to the values that it had: the row of the store holds again.
            object.row = committed
            object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(committed))
            RowPage.release(row)
        }
        object.state.remove([.touched, .privateRow])
        object.flags.subtract([.changed, .detectsConflicts])
        return false
    }

    /// Whether an object has changes that a save in the background did not take.
    func isDirtyMeanwhile(_ object: ManagedObject) -> Bool {
        guard let row = object.row, let committed = PrivateRow.committed(row) else { return true }
        return !RowAccess.haveEqualContent(
            row, Int(object.byteCount), committed, object.tail.byteCount(committed))
    }

    // MARK: Saves in the background

    /// Notes which rows are being saved.
    func beginFlight(_ pending: PendingChanges) {
        for objects in [pending.inserted, pending.updated] {
            objects.forEach { object in
                guard let row = object.row else { return }
                RowPage.retain(row)
                object.requireExtra().rowInFlight = row
                object.flags.insert(.inFlight)
                // The next change must come by `touch`, which copies the row.
                object.state.remove(.touched)
            }
        }
        pending.deleted.forEach { $0.flags.insert(.inFlight) }
        for objects in [pending.inserted, pending.updated, pending.unwritten] {
            objects.forEach { object in
                guard let extra = object.extra else { return }
                for index in extra.members.indices { extra.members[index].state.takeOff() }
            }
        }
    }

    /// Notes that rows were not saved: what is pending stays pending.
    func endFlight(_ pending: PendingChanges) {
        for objects in [pending.inserted, pending.updated, pending.deleted] { objects.forEach { endFlight($0) } }
        for objects in [pending.inserted, pending.updated, pending.unwritten] {
            objects.forEach { object in
                guard let extra = object.extra else { return }
                for index in extra.members.indices { extra.members[index].state.abort() }
            }
        }
        // New objects that were deleted meanwhile were never saved.
        for object in pending.inserted.all where object.flags.isSuperset(of: [.inserted, .propagated]) {
            leave(object)
        }
    }

    private func endFlight(_ object: ManagedObject) {
        guard object.flags.contains(.inFlight) else { return }
        object.flags.remove(.inFlight)
        if let row = object.extra?.rowInFlight {
            RowPage.release(row)
            object.extra?.rowInFlight = nil
        }
    }

    /// Gives an object that changed during its save the derived attributes that were saved.
    private func adoptDerived(_ object: ManagedObject, _ saved: RecordReader, version: UInt32? = nil) {
        guard !object.flags.contains(.orphan), let committed = object.committedRow else { return }
        let version = version ?? RowAccess.version(committed)
        guard object.state.contains(.privateRow) else { return setRow(of: object, to: saved, version: version) }
        for attribute in object.info.entity.attributes where attribute.derivationExpression != nil {
            guard let field = object.info.entity.layout.field(attribute.name) else { continue }
            _ = latching { () throws(StoreError) in try object.set(saved.value(field), for: field) }
        }
        guard let base = saved.bytes.baseAddress, let row = object.row else { return }
        let fresh = fetchedRows.copy(base, saved.bytes.count)
        RowAccess.setVersion(version, fresh)
        let old = PrivateRow.committed(row)
        PrivateRow.setCommitted(UnsafeRawPointer(fresh), of: UnsafeMutableRawPointer(mutating: row))
        if let old { RowPage.release(old) }
    }

    private func commitUnderChanges(_ object: ManagedObject, _ saved: UnsafeRawPointer, isInsert: Bool) {
        defer { endFlight(object) }
        guard let row = object.row, !object.flags.contains(.orphan) else { return }
        guard object.state.contains(.privateRow) else {
            // The change was rolled back meanwhile: the store has the saved row.
            RowAccess.setVersion(RowAccess.version(row) &+ 1, UnsafeMutableRawPointer(mutating: saved))
            PrivateRow.setCommitted(nil, of: UnsafeMutableRawPointer(mutating: saved))
            RowPage.retain(saved)
            object.row = saved
            object.byteCount = UInt32(truncatingIfNeeded: object.tail.byteCount(saved))
            RowPage.release(row)
            return
        }
        let old = PrivateRow.committed(row)
        let version = isInsert ? 1 : (old.map { RowAccess.version($0) } ?? 0) &+ 1
        RowAccess.setVersion(version, UnsafeMutableRawPointer(mutating: saved))
        RowPage.retain(saved)
        PrivateRow.setCommitted(saved, of: UnsafeMutableRawPointer(mutating: row))
        if let old { RowPage.release(old) }
        object.flags.remove(.inserted)
    }
}
