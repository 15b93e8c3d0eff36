public import RoostCore
internal import RoostStores

extension ManagedObjectContext {
    private static let mostWillSaveRounds = 1_000
    /// The maximum number of attempts to commit.
    private static let mostConflictRounds = 10

    /// Saves all changes.
    ///
    /// Each store commits all its changes or none. On return, the changes in persistent stores are
    /// durable. A child saves to its parent instead.
    ///
    /// ``ManagedObject/willSave()`` is called first, then the model's rules are checked.
    /// ``mergePolicy`` resolves conflicts with other contexts' saves. After an error, uncommitted
    /// changes remain pending, and their stores are unchanged. With several stores, the error's
    /// message lists the stores that were already saved.
    ///
    /// - Throws: The context's ``pendingError``; `validationFailed` with all
    ///   ``StoreError/failures``; `conflict` with all ``StoreError/conflicts``;
    ///   `constraintViolation`; `objectNotFound` with all ``StoreError/missingObjects``;
    ///   `deleteDenied`; `invalidRequest` during another save, or if `willSave` never stops
    ///   changing objects; errors from committing.
    public func save() throws(StoreError) {
        if let parent = core.parent { return try save(to: parent) }
        guard !isSaving else {
            throw StoreError(
                .invalidRequest,
                "The context is already being saved. Do not save from its hooks, and wait for a save in the background."
            )
        }
        isSaving = true
        defer {
            isSaving = false
            reportSave()
            core.reportChanges()
            core.updateResults()
        }
        try prepareSave()
        core.pinned = nil
        var saved: [StoreLocation] = []
        for position in base.storeSet.stores.indices {
            do throws(StoreError) {
                if let outcome = try commitChanges(to: position) {
                    finish(outcome, position: position)
                    saved.append(base.storeSet.stores[position].location)
                    dropSaved(at: position)
                }
            } catch { throw Self.naming(saved, in: error) }
        }
        core.dropUnchanged()
        core.noteSaveChanges()
        core.endEvent()
        isSaving = false
        mergeInbox()
    }

    /// Saves all changes, without blocking the context's isolation during the commit.
    ///
    /// A thread of Roost performs the commit. A child saves like ``save()``.
    ///
    /// Changes made during the commit remain pending, as do all uncommitted changes after an error.
    /// The method first waits for an earlier background save.
    ///
    /// - Throws: The same errors as ``save()``.
    public nonisolated(nonsending) func saveInBackground() async throws(StoreError) {
        if let parent = core.parent { return try save(to: parent) }
        while isSaving { await withCheckedContinuation { saveWaiters.append($0) } }
        isSaving = true
        defer {
            endSaving()
            reportSave()
            core.reportChanges()
            core.updateResults()
        }
        try prepareSave()
        core.pinned = nil
        var saved: [StoreLocation] = []
        for position in base.storeSet.stores.indices {
            var round = 0
            while true {
                let outcome: Outcome?
                do throws(StoreError) {
                    // Also prepare the changes that the program made while an earlier store committed.
                    if !saved.isEmpty, round == 0 { try prepareSave() }
                    outcome = try prepareCommit(position)
                } catch { throw Self.naming(saved, in: error) }
                guard let outcome else { break }
                core.beginFlight(outcome.pending)
                core.endEvent()
                core.updateResults()
                let store = base.storeSet.stores[position]
                let changes = outcome.changes
                do throws(StoreError) {
                    let receipt = try await Store.onStoreThread { () throws(StoreError) in
                        try store.persistentStore.commit(changes)
                    }
                    finish(outcome.with(receipt), position: position, isInFlight: true)
                    saved.append(store.location)
                    dropSaved(at: position)
                    break
                } catch {
                    core.endFlight(outcome.pending)
                    round += 1
                    guard round < Self.mostConflictRounds else { throw Self.naming(saved, in: naming(error)) }
                    do throws(StoreError) { try prepareAgain(after: error) } catch {
                        throw Self.naming(saved, in: error)
                    }
                }
            }
        }
        core.dropUnchanged()
        core.noteSaveChanges()
        core.endEvent()
        endSaving()
        mergeInbox()
    }

    private func endSaving() {
        isSaving = false
        let waiters = saveWaiters
        saveWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    /// Adds the stores that were already saved to the message of an error.
    private static func naming(_ saved: [StoreLocation], in error: StoreError) -> StoreError {
        guard !saved.isEmpty else { return error }
        let list = saved.map { "'\($0)'" }.joined(separator: ", ")
        return error.withMessage(
            "\(error.message) The changes in \(list) were already saved and are no longer pending.")
    }

    // MARK: Before the commit

    /// Resolves the error of a failed commit, and prepares the next attempt.
    ///
    /// The next attempt is prepared like the first, because it includes merged values and new
    /// changes.
    private func prepareAgain(after error: StoreError) throws(StoreError) {
        core.closeReader()
        let isResolved = try core.withoutUndo { () throws(StoreError) -> Bool in
            // Record the changed objects here, because `withoutUndo` clears their `touched` flags when it ends.
            defer { if core.undoStack != nil { core.noteSaveChanges(knownInserts: core.observedInserts) } }
            return try resolve(error)
        }
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

    /// Propagates deletions, notifies observers, calls `willSave` and checks the model's rules.
    func checkChanges() throws(StoreError) {
        core.checkIsolation()
        core.propagateDeletes()
        notifyObservers()
        try core.throwLatched()
        try prepareObjects()
        try core.undoStack?.prepareSave()
    }

    private func prepareObjects() throws(StoreError) {
        let known = core.observedInserts
        // After an error, the changes of hooks remain, so they are recorded, too.
        defer { core.noteSaveChanges(knownInserts: known) }
        try callWillSave(knownInserts: known)
        core.propagateDeletes()
        if core.parent == nil || !isPlanted(.childSkipsValidation) { core.survey = try validate() }
        try core.throwLatched()
    }

    /// Calls `willSave` in rounds, until a round changes no object.
    private func callWillSave(knownInserts: Set<ManagedObject>) throws(StoreError) {
        var objects = core.changed
        var round = 0
        while !objects.isEmpty {
            guard round < Self.mostWillSaveRounds else {
                throw StoreError(
                    .invalidRequest,
                    "willSave() of \(objects[0].objectID) changed objects in each of \(round) rounds. In willSave(), set a property only if its value changes."
                )
            }
            round += 1
            core.beginRound()
            objects.forEachUncounted { if !$0.flags.contains(.orphan) { $0.willSave() } }
            core.propagateDeletes()
            objects = isPlanted(.callsWillSaveOnce) ? [] : core.endRound()
            if !objects.isEmpty { core.noteSaveChanges(knownInserts: knownInserts) }
        }
    }

    /// Validates the changes without calling `willSave` or saving.
    package func validateChanges() throws(StoreError) {
        processPendingChanges()
        try core.throwLatched()
        _ = try validate()
    }

    private func validate() throws(StoreError) -> SaveSurvey {
        var failures: [ValidationFailure] = []
        let objects = core.changed
        // Neighboring records usually have the same entity, so its properties are kept for the next record.
        var known = -1
        var (properties, hasProperties) = ([String](), false)
        let gone: ManagedObject.Flags = [.deleted, .inaccessible]
        try objects.forEachUncounted { (object) throws(StoreError) in
            let flags = object.flags
            guard flags.isDisjoint(with: gone) else {
                guard !flags.contains(.inaccessible) else { return }
                failures += try core.denials(of: object)
                failures += object.validateForDelete()
                return
            }
            guard object.state.contains(.privateRow) || object.extra != nil else { return }
            let entity = Int(object.entityNumber)
            if known != entity {
                known = entity
                properties = type(of: object).validatedProperties
                hasProperties = !properties.isEmpty
            }
            if hasProperties { try validate(properties, of: object, failures: &failures) }
            let own = flags.contains(.inserted) ? object.validateForInsert() : object.validateForUpdate()
            if !own.isEmpty { failures += own }
        }
        var survey = SaveSurvey()
        failures += try core.ruleFailures(&survey)
        failures += try core.transientFailures()
        if !failures.isEmpty { throw ValidationFailure.error(failures) }
        return survey
    }

    private func validate(
        _ properties: [String], of object: ManagedObject, failures: inout [ValidationFailure]
    ) throws(StoreError) {
        for name in properties {
            var value = try object.value(name)
            let old = value
            do throws(ValidationFailure) {
                try object.validate(&value, for: name)
                if value != old { try set(value, name: name, object: object) }
            } catch { failures.append(error) }
        }
    }

    private func set(_ value: Value, name: String, object: ManagedObject) throws(ValidationFailure) {
        do throws(StoreError) { try object.assign(value, name: name) } catch {
            throw object.validationFailure(error.message, for: name)
        }
    }

    // MARK: The commit

    struct Outcome {
        var pending: PendingChanges
        /// The changes, with derived attributes and with objects that the model's rules changed.
        var changes: ChangeSet
        var receipt: CommitReceipt?

        func with(_ receipt: CommitReceipt) -> Outcome {
            var outcome = self
            outcome.receipt = receipt
            return outcome
        }
    }

    /// Returns the changes to commit to a store, if any.
    private func prepareCommit(_ position: Int) throws(StoreError) -> Outcome? {
        let pending = try core.pendingChanges(store: position)
        guard !pending.isEmpty else {
            // Members that were added and removed again are no longer differences.
            core.commitMembers(of: pending.unwritten, isInFlight: false)
            return nil
        }
        // An open snapshot prevents a store from reusing old pages, and makes a memory store copy changed data.
        core.closeReader()
        var changes = pending.changes
        (changes.author, changes.contextName, changes.origin) = (author, name, base.origin)
        let store = base.storeSet.stores[position]
        if try store.rules.concern(changes) {
            // The rules read the current state of the store, not the state at the beginning of the
            // event.
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
        do throws(StoreError) {
            guard let outcome = try prepareCommit(position) else { return nil }
            return outcome.with(try store.commit(outcome.changes))
        } catch {
            throw naming(error)
        }
    }

    /// Names a referring object in the message of an error for missing objects.
    private func naming(_ error: StoreError) -> StoreError {
        guard error.code == .objectNotFound, !error.missingObjects.isEmpty else { return error }
        let missing = Set(
            error.missingObjects.compactMap { id in
                model.entity(id.entity).map { ObjectPlace(root: $0.root, key: id.key) }
            })
        let referring = core.changed.filter { object in
            guard let row = object.row, !object.flags.contains(.deleted) else { return false }
            return object.info.referenceFields.contains { field in
                guard let (entity, key) = RowAccess.reference(row, field: field) else { return false }
                return missing.contains(ObjectPlace(root: model.entities[entity].root, key: key))
            }
        }
        guard let first = referring.first else { return error }
        let references =
            referring.count == 1
            ? "\(first.objectID) refers to" : "\(referring.count) objects, such as \(first.objectID), refer to"
        let deleted = missing.count == 1 ? "an object" : "objects"
        return error.withMessage("\(error.message) \(references) \(deleted) that another context deleted.")
    }

    // MARK: After the commit

    /// Removes saved changes from the lists of changes, except after the commit to the last store.
    ///
    /// The next commit may fail, and the program may change objects during that commit.
    private func dropSaved(at position: Int) {
        if position < base.storeSet.stores.count - 1 { core.dropUnchanged(store: position) }
    }

    private func finish(_ outcome: Outcome, position: Int, isInFlight: Bool = false) {
        guard let receipt = outcome.receipt else { return }
        let pending = outcome.pending
        let hasDerived = base.storeSet.stores[position].rules.hasDerivedAttributes && !isPlanted(.keepsDerived)
        if hasDerived { core.noteDerivedChanges(pending, changes: outcome.changes) }
        core.withoutUndo {
            core.finish(pending, changes: outcome.changes, copiesRows: hasDerived, isInFlight: isInFlight)
        }
        core.closeReader()
        // A hook can undo a deletion. `GraphCore.bring(back:note:)` then recognizes a saved deletion by this flag.
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
        noteGeneration(at: position, from: receipt.previousGeneration, to: receipt.generation)
        let isHeard = base.hub.hasReceivers(except: inbox) || !saveObservers.isEmpty || !commits.isEmpty
        guard receipt.hasChanges, isHeard, !isPlanted(.postsNoNotice) else { return }
        // The model's rules added the remaining updates.
        let updates = outcome.changes.updates
        var others = (pending.updated.count..<max(updates.count, pending.updated.count)).map { updates.id(at: $0) }
        let changed = (pending.updated.all + pending.unwritten.all).map(\.objectID)
        if !others.isEmpty {
            let known = Set(pending.inserted.all.map(\.objectID) + changed)
            others.removeAll { known.contains($0) }
        }
        var notice = SaveNotice(
            store: base.storeSet.stores[position].location,
            generations: (receipt.previousGeneration, receipt.generation), author: (author, name),
            lists: SaveNotice.Lists(
                inserted: pending.inserted.all.map(\.objectID), updated: changed + others,
                deleted: pending.changes.deletes.map(\.id)))
        notice.addsGenerations = base.storeSet.stores[position].addsGenerations
        base.hub.post(notice, from: inbox)
        commits.put(notice)
        for observer in saveObservers { observer.body(notice) }
    }
}

/// Information about the objects of a save, collected before the change set is created.
struct SaveSurvey {
    private(set) var hasTemporaryKeys = false
    /// Whether any object has an ``Extra``.
    private(set) var hasExtras = false
    /// The number of private rows of new objects, and their total size in bytes.
    private(set) var inserts = (count: 0, bytes: 0)
    /// The number of private rows of other objects, and their total size in bytes.
    private(set) var updates = (count: 0, bytes: 0)

    @inline(__always)
    mutating func note(_ object: ManagedObject, flags: ManagedObject.Flags, state: ManagedObject.State) {
        if object.extra != nil { hasExtras = true }
        if flags.contains(.inserted) {
            if object.key < 0 { hasTemporaryKeys = true }
            guard state.contains(.privateRow) else { return }
            inserts = (inserts.count &+ 1, inserts.bytes &+ Int(object.byteCount))
        } else if state.contains(.privateRow) {
            updates = (updates.count &+ 1, updates.bytes &+ Int(object.byteCount))
        }
    }
}
