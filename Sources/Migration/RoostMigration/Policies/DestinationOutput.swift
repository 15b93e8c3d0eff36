internal import RoostCore

/// The store that a migration in three passes fills: a bulk load at first, then commits.
///
/// Commits cost little in a store whose name no other program knows. For one thread.
final class DestinationOutput {
    private enum State {
        case loading(DestinationLoad)
        case open
        case closed
    }

    private let store: any PersistentStore
    private var state: State
    private var openSnapshot: (any StoreSnapshot)?
    /// Whether anything was committed, which is not flushed to the disk in an unpublished store.
    private(set) var hasCommitted = false

    init(_ store: any PersistentStore, load: DestinationLoad) {
        self.store = store
        state = .loading(load)
    }

    /// The load; nil once it is finished.
    var load: DestinationLoad? {
        if case .loading(let load) = state { return load }
        return nil
    }

    /// Whether what was written can be read.
    var isOpen: Bool {
        if case .open = state { return true }
        return false
    }

    /// Throws code `closed` after ``close()``.
    func requireUnfinished() throws(StoreError) {
        if case .closed = state {
            throw StoreError(
                .closed,
                "The objects of the destination were validated; make and change objects in an earlier callback.")
        }
    }

    /// Ends the load, so that what was written can be read.
    func finishLoad() throws(StoreError) {
        guard let load else { return }
        _ = try load.finish()
        state = .open
    }

    /// Returns a snapshot of the store as it is now, the same one until the next commit.
    func snapshot() throws(StoreError) -> any StoreSnapshot {
        if let openSnapshot { return openSnapshot }
        let snapshot = try store.snapshot()
        openSnapshot = snapshot
        return snapshot
    }

    func commit(_ changes: ChangeSet) throws(StoreError) {
        closeSnapshot()
        hasCommitted = true
        _ = try store.commit(changes)
    }

    /// Takes no more changes.
    func close() {
        closeSnapshot()
        state = .closed
    }

    /// Ends the load without its content.
    ///
    /// Commits stay in the store, whose owner discards it.
    func abandon() {
        closeSnapshot()
        load?.abandon()
        state = .closed
    }

    private func closeSnapshot() {
        openSnapshot?.close()
        openSnapshot = nil
    }
}
