public import RoostCore

/// The objects that one event of a context changed.
public struct ObjectsChange {
    /// The objects that this or another context inserted in the event.
    public let inserted: [ManagedObject]
    /// The objects that this context changed in the event, without inserted and deleted objects.
    public let updated: [ManagedObject]
    /// The objects that this context deleted in the event.
    public let deleted: [ManagedObject]
    /// The objects that were refreshed: read again or turned into faults.
    public let refreshed: [ManagedObject]
    /// The objects that another context deleted.
    public let invalidated: [ManagedObject]
}

/// A token that ends its observation when it is released.
///
/// The token does not keep the context alive.
public final class ObservationToken {
    private let end: () -> Void

    init(_ end: @escaping () -> Void) { self.end = end }

    deinit { end() }
}

extension ManagedObjectContext {
    /// Calls `body` at the end of each event that changed or refreshed objects, and after each
    /// merge that affects objects, until the token is released.
    ///
    /// `body` runs in the context's isolation.
    public func observe(_ body: @escaping (ObjectsChange) -> Void) -> ObservationToken {
        nextObserver += 1
        let id = nextObserver
        observers.append((id, body))
        return ObservationToken { [weak self] in self?.observers.removeAll { $0.id == id } }
    }

    /// Calls `body` after each commit of the context to a store, until the token is released.
    public func observeSaves(_ body: @escaping (SaveNotice) -> Void) -> ObservationToken {
        nextObserver += 1
        let id = nextObserver
        saveObservers.append((id, body))
        return ObservationToken { [weak self] in self?.saveObservers.removeAll { $0.id == id } }
    }

    func notifyObservers() {
        // An observer can end the event. The nested call must not report the same changes again.
        let isNested = isNotifying
        let start = isNested ? min(core.notifiedCount, core.touched.count) : 0
        guard start < core.touched.count || !refreshed.isEmpty || !invalidated.isEmpty || !mergedInserts.isEmpty
        else { return }
        let (refreshed, invalidated, merged) = (refreshed, invalidated, mergedInserts)
        (self.refreshed, self.invalidated, mergedInserts) = ([], [], [])
        guard !observers.isEmpty else { return }
        isNotifying = true
        core.notifiedCount = core.touched.count
        defer { isNotifying = isNested }
        var touched = core.touched[start...].filter { $0.state.contains(.touched) }
        if core.undoStack != nil {
            // If undo recording restarted during the event, `core.touched` may contain an object twice.
            var seen: Set<ManagedObject> = []
            touched = touched.filter { seen.insert($0).inserted }
        }
        let change = ObjectsChange(
            inserted: touched.filter(\.isInserted) + merged, updated: touched.filter(\.isUpdated),
            deleted: touched.filter { $0.flags.contains(.deleted) }, refreshed: refreshed, invalidated: invalidated)
        for observer in observers { observer.body(change) }
    }
}
