internal import RoostCore
internal import RoostStores

/// The objects that a save changed after its first report to observers.
///
/// Hooks, merges and derived attributes cause such changes. They are reported after the commit,
/// because an earlier report would let an observer change objects after validation.
struct SaveChanges {
    /// The changed objects, which can be in the list several times.
    var objects: [ManagedObject] = []
    /// The objects that were inserted after the first report.
    var inserted: Set<ManagedObject> = []
}

extension GraphCore {
    private var hasObservers: Bool { !(context?.observers.isEmpty ?? true) }

    /// The new objects; empty without observers.
    var observedInserts: Set<ManagedObject> {
        hasObservers ? Set(changed.filterUncounted { $0.flags.contains(.inserted) }) : []
    }

    /// Records the objects that changed since the last report or the last call of this method.
    ///
    /// `knownInserts` contains the new objects that were already reported.
    func noteSaveChanges(knownInserts: Set<ManagedObject> = []) {
        guard hasObservers else { return }
        let objects = touched.filterUncounted { $0.state.contains(.touched) }
        objects.forEachUncounted { $0.state.remove(.touched) }
        saveChanges.objects += objects
        for object in objects where object.flags.contains(.inserted) && !knownInserts.contains(object) {
            saveChanges.inserted.insert(object)
        }
    }

    /// Records the objects that get new derived attributes from a commit.
    ///
    /// Must be called before the objects get these attributes.
    func noteDerivedChanges(_ pending: PendingChanges, changes: ChangeSet) {
        guard hasObservers else { return }
        for (objects, records) in [(pending.inserted, changes.inserts), (pending.updated, changes.updates)] {
            objects.forEachWithPosition { index, object in
                guard !object.info.derivedFields.isEmpty, let row = object.row else { return }
                records.withRecord(at: index) { record in
                    guard let bytes = record.bytes.baseAddress else { return }
                    let isEqual = RowAccess.haveEqualContent(
                        row, leftCount: Int(object.byteCount), right: bytes, rightCount: record.bytes.count)
                    if !isEqual { saveChanges.objects.append(object) }
                }
            }
        }
        // The model's rules added the remaining records.
        let count = pending.updated.count
        for index in count..<max(count, changes.updates.count) {
            changes.updates.withRecord(at: index) { record in
                guard let object = registered(record.root, key: record.key) else { return }
                saveChanges.objects.append(object)
            }
        }
    }
}

extension ManagedObjectContext {
    /// Reports the changes that a save, even a failed save, made after its first report.
    func reportSave() {
        let changes = core.saveChanges
        core.saveChanges = SaveChanges()
        guard !changes.objects.isEmpty, !observers.isEmpty else { return }
        var (inserted, updated, deleted): ([ManagedObject], [ManagedObject], [ManagedObject]) = ([], [], [])
        var seen: Set<ManagedObject> = []
        for object in changes.objects where seen.insert(object).inserted {
            let isNew = changes.inserted.contains(object)
            if !object.flags.isDisjoint(with: [.deleted, .orphan]) {
                // Observers never heard of an object that the save inserted and deleted.
                if !isNew { deleted.append(object) }
            } else if isNew {
                inserted.append(object)
            } else {
                updated.append(object)
            }
        }
        guard !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty else { return }
        let change = ObjectsChange(
            inserted: inserted, updated: updated, deleted: deleted, refreshed: [], invalidated: [])
        for observer in observers { observer.body(change) }
    }
}
